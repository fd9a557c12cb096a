// The parts of a value's gradient as they come in, and their sum.
#pragma once

#include <optional>
#include <vector>

#include "passes/data_gradients.h"

namespace hiaton::passes {

/// A part of the gradient of a value: all of it, that of a slice of a tensor, that of a field of a data
/// value, or what an operation that reads a part of a tensor adds to it.
struct Contribution {
  struct Slice {
    int64_t axis = 0;
    int64_t start = 0;
    int64_t length = 0;
  };
  struct FieldIndex {
    std::size_t variant = 0;
    std::size_t field = 0;
    friend auto operator<=>(const FieldIndex&, const FieldIndex&) = default;
  };

  /// An operation in the extended function whose first operand the value is.
  struct Reading {
    const OpDef* op = nullptr;
    std::vector<Var> operands{};
    Var result;
    Attributes attributes{};
  };

  Var gradient;  ///< of the value, the slice, the field, or the result of the reading operation
  std::optional<Slice> slice{};
  std::optional<FieldIndex> field{};
  std::optional<Reading> reading{};
};

/// The gradient of a value of type `type`; `parts` is not empty. Slices that are contiguous and
/// leave nothing out are joined, fields of one variant become one value, everything else is added up. What
/// operations add that read parts comes last: where nothing else holds the sum, they change it in place.
Var sum_of(std::vector<Contribution> parts, const Type& type, DataGradients& data);

}  // namespace hiaton::passes
