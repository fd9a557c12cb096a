// What every operation should give, computed in another way than the kernels: integers with 128 bits, floats
// with the C library in a wider type or, where that rounds twice, by the definition.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "hiaton/error.h"
#include "hiaton/op.h"

namespace hiaton {

/// A result or a fault.
struct Outcome {
  Fault fault = Fault::None;
  Value value;  ///< without meaning after a fault
};

/// nullopt for an operation that is not known here.
std::optional<Outcome> naive(std::string_view op, const std::vector<Value>& operands, OverflowMode mode);

/// Whether the results agree: exactly, except that math functions may differ by a few units in the last
/// place.
bool agree(std::string_view op, const Value& kernel, const Value& naive);

}  // namespace hiaton
