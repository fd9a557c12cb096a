// Random differentiable programs on numbers, vectors, lists and trees: recursion, loops, branches, functions
// that build data and functions that take it apart, shared learned parameters.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hiaton/value.h"
#include "properties/random_choices.h"

namespace hiaton::properties {

/// A program whose function `loss` is a smooth function of its arguments, but for a few corners, with values
/// of moderate size. It ends: functions call each other with less fuel or with parts of their argument only.
struct Differentiable {
  uint64_t seed = 0;
  std::string text;       ///< with kMark behind the results of some functions
  std::string params;     ///< the parameters of `loss`, as in its head
  std::string names;      ///< the names of these parameters
  std::string gradients;  ///< types of the gradients of `loss`, in order
  static constexpr const char* kMark = "<again>";

  /// The program's text with `recompute` in the place of the marks, or nothing.
  std::string program(bool recompute) const;
  /// The same with a function `main` that gives the value and the gradients of `loss`; or, for the second
  /// order, of a function that depends on all gradients of `loss`.
  std::string with_main(bool recompute, int order = 1) const;
};

Differentiable generate_differentiable(uint64_t seed);

/// Arguments for parameters of these types.
std::vector<Value> random_arguments(const std::vector<Type>& types, uint64_t seed);

}  // namespace hiaton::properties
