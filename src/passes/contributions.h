// The parts of a value's gradient as they come in, and their sum.
#pragma once

#include <optional>
#include <vector>

#include "passes/data_gradients.h"

namespace hiaton::passes {

/// A part of the gradient of a value: all of it, that of a slice of a tensor, or that of a field of a data
/// value.
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

  Var gradient;
  std::optional<Slice> slice{};
  std::optional<FieldIndex> field{};
};

/// The gradient of a value of type `type`; `parts` is not empty. Slices that are contiguous and
/// leave nothing out are joined, fields of one variant become one value, everything else is added up.
Var sum_of(std::vector<Contribution> parts, const Type& type, DataGradients& data);

}  // namespace hiaton::passes
