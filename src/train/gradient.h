// Questions about parameters and gradients that do not depend on the optimizer.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/part_tree.h"
#include "hiaton/optimizer.h"

namespace hiaton::train {

/// Throws ProgramError where names are not all different, or shapes and values do not go together: a defect
/// of what is trained.
void check_form(const std::vector<ParameterValues>& parameters);

/// The sum of the squares; not finite exactly where an element is not.
double squares_of(const Numbers& values);

/// The squares of dense gradients are added up in pieces of about 512 elements, and these sums in order, so
/// that processes that have pieces of their own get the bits of one that has all. A piece is whole rows, or
/// part of a longer one.
class Pieces {
 public:
  Pieces(std::size_t rows, std::size_t width);

  std::size_t count() const { return rows_ == 0 ? 0 : groups() * in_row_; }
  /// The elements of a piece.
  PartRange elements(std::size_t piece) const;
  /// The elements of consecutive pieces.
  PartRange elements(PartRange pieces) const;
  /// How many rows are a piece, or one that is several pieces.
  std::size_t rows_of_group() const { return rows_of_group_; }
  /// How many of these groups of rows there are.
  std::size_t groups() const { return (rows_ + rows_of_group_ - 1) / rows_of_group_; }
  /// The pieces of a group.
  PartRange of_group(std::size_t group) const { return {group * in_row_, (group + 1) * in_row_}; }

 private:
  static constexpr std::size_t kElements = 512;

  std::size_t rows_;
  std::size_t width_;
  std::size_t rows_of_group_;
  std::size_t in_row_;  ///< how many pieces a group is
};

/// Appends the sum of the squares of each of these pieces of a gradient, whose elements begin at `values`.
void append_squares(DType dtype, const std::byte* values, const Pieces& of, PartRange pieces,
                    std::vector<double>& squares);
/// The sum of the squares of `count` elements.
double squares_of(DType dtype, const std::byte* values, std::size_t count);

/// By parameter, the sum of the squares of its gradient; not finite exactly where an element is not.
std::vector<double> squares_of(std::span<const Gradient> gradients,
                               const std::vector<ParameterValues>& parameters);
double squares_of(const Gradient& gradient, const ParameterValues& parameter);

/// The norm of all gradients together, of which these are the squares.
double norm_of_squares(std::span<const double> squares);

/// The name of the first parameter whose gradient has an element that is not finite; empty where all are.
std::string first_not_finite(std::span<const double> squares, const std::vector<ParameterValues>& parameters);

/// For messages, where the loss is not finite or a gradient is not: which of them.
std::string name_not_finite(double loss, std::span<const double> squares,
                            const std::vector<ParameterValues>& parameters);

}  // namespace hiaton::train
