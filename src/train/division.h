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
  Elements,  ///< consecutive pieces, where its gradient is dense
  Rows,      ///< groups of rows in turn; the gradient is most often sparse
};

/// Of consecutive elements, those of one of the processes: whole pieces. Of each `group` consecutive
/// processes only the first has any.
inline PartRange elements_of_process(std::size_t process, std::size_t processes, std::size_t group,
                                     const Pieces& pieces) {
  return pieces.elements(owned_parts(process, processes, group, pieces.count()));
}

/// The process that a row belongs to. Frequent words often have neighbouring rows: these are dealt out.
inline std::size_t process_of_row(std::size_t row, std::size_t processes, const Pieces& pieces) {
  return row / pieces.rows_of_group() % processes;
}

/// Calls act(elements) with each contiguous range of the elements of one of the processes, in order. They are
/// divided by elements or by rows.
template <class Act>
void for_each_owned_range(DividedBy divided, std::size_t process, std::size_t processes, const Pieces& pieces,
                          const Act& act) {
  if (divided == DividedBy::Elements) return act(elements_of_process(process, processes, 1, pieces));
  for (std::size_t group = process; group < pieces.groups(); group += processes)
    act(pieces.elements(pieces.of_group(group)));
}

}  // namespace hiaton::train
