// Questions about parameters and gradients that do not depend on the optimizer.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "hiaton/optimizer.h"

namespace hiaton::train {

/// Throws ProgramError where names are not all different, or shapes and values do not go together: a defect
/// of what is trained.
void check_form(const std::vector<ParameterValues>& parameters);

/// The sum of the squares; not finite exactly where an element is not.
double squares_of(const Numbers& values);

/// The squares of dense gradients are added up in pieces of so many elements, and these sums in order, so
/// that processes that have pieces of their own get the bits of one that has all.
inline constexpr std::size_t kSquaresPiece = 512;

/// Appends the sum of the squares of each piece of these elements.
void append_squares(DType dtype, const std::byte* values, std::size_t count, std::vector<double>& squares);

/// The sum of the squares of `count` elements.
double squares_of(DType dtype, const std::byte* values, std::size_t count);

/// By parameter, the sum of the squares of its gradient; not finite exactly where an element is not.
std::vector<double> squares_of(std::span<const Gradient> gradients,
                               const std::vector<ParameterValues>& parameters);
double squares_of(const Gradient& gradient, const ParameterValues& parameter);

/// Throws where the squares, by parameter, are not all finite.
using CheckSquares = std::function<void(std::span<const double> squares)>;

/// How far a step goes. The gradients are those of a sum of losses; `scale` times these are those of the
/// mean, whose norm is at most `clip`, where that is above 0.
struct StepSizes {
  double learning_rate;
  double scale;
  double clip;
};

/// The norm of all gradients together, of which these are the squares.
double norm_of_squares(std::span<const double> squares);

/// The name of the first parameter whose gradient has an element that is not finite; empty where all are.
std::string first_not_finite(std::span<const double> squares, const std::vector<ParameterValues>& parameters);

/// For messages, where the loss is not finite or a gradient is not: which of them.
std::string name_not_finite(double loss, std::span<const double> squares,
                            const std::vector<ParameterValues>& parameters);

/// Throws ProgramError where the loss is not finite, or the norm of gradients with these squares is not.
void require_finite(double loss, std::span<const double> squares,
                    const std::vector<ParameterValues>& parameters);

}  // namespace hiaton::train
