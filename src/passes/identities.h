// Equations that hold for every value, bit for bit, and so in every program.
#pragma once

#include <optional>
#include <variant>

#include "hiaton/ir.h"

namespace hiaton::passes {

/// What identities look at: an operand and what is known about it.
struct KnownOperand {
  ir::ValueId id;
  const Value* constant = nullptr;       ///< null: not a constant
  const ir::Node* definition = nullptr;  ///< null: a parameter
};

/// What an operation amounts to: one of the values there are, a constant, or `not` of a value.
struct Negated {
  ir::ValueId operand;
};
using Simpler = std::variant<ir::ValueId, Value, Negated>;

/// What the equations of the operation make of it on scalars of these types. `b` is without meaning for
/// operations with one operand. Nothing where no equation applies.
std::optional<Simpler> simpler_form(const OpDef& op, DType operand, DType result, const KnownOperand& a,
                                    const KnownOperand& b);

}  // namespace hiaton::passes
