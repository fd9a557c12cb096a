// Which elements of a parameter each of several processes adds up the gradients of, and updates.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/part_tree.h"
#include "train/gradient.h"

namespace hiaton::train {

/// How the processes divide a parameter: each adds up and updates some of its elements, and gives their new
/// values to the others.
enum class DividedBy : uint8_t {
  Nothing,   ///< each updates all of it
  Elements,  ///< consecutive elements, where the gradient is dense
  Rows,      ///< rows in turn: the gradient is always sparse
};

/// Fewer elements are not divided: to update them takes less time than a message.
inline constexpr std::size_t kLeastDivided = 4096;

/// How many pieces of kSquaresPiece elements `size` elements are.
inline std::size_t pieces_of(std::size_t size) {
  return (size + kSquaresPiece - 1) / kSquaresPiece;
}

/// The elements, of `size` consecutive ones, that one of the processes has: whole pieces of kSquaresPiece, so
/// that no two processes add in one vector register, and each has whole pieces of the norm. Only the first of
/// each `group` consecutive processes has any.
inline PartRange elements_of_process(std::size_t process, std::size_t processes, std::size_t group,
                                     std::size_t size) {
  const PartRange pieces = owned_parts(process, processes, group, pieces_of(size));
  return {std::min(pieces.begin * kSquaresPiece, size), std::min(pieces.end * kSquaresPiece, size)};
}

/// The process that a row belongs to. Frequent words often have neighbouring rows: these are dealt out.
inline std::size_t process_of_row(std::size_t row, std::size_t processes) {
  return row % processes;
}

/// Calls act(elements) with each contiguous range of the elements of one of the processes, in order. The
/// parameter is divided by elements or by rows.
template <class Act>
void for_each_owned_range(DividedBy divided, std::size_t process, std::size_t processes, std::size_t rows,
                          std::size_t width, const Act& act) {
  if (divided == DividedBy::Elements) return act(elements_of_process(process, processes, 1, rows * width));
  for (std::size_t row = process; row < rows; row += processes)
    act(PartRange{row * width, (row + 1) * width});
}

}  // namespace hiaton::train
