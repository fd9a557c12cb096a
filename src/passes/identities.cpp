#include "passes/identities.h"

namespace hiaton::passes {
namespace {

Value number(DType dtype, int value) {
  switch (dtype) {
    case DType::Bool:
      return Value(value != 0);
    case DType::U8:
      return Value(static_cast<uint8_t>(value));
    case DType::I32:
      return Value(int32_t{value});
    case DType::I64:
      return Value(int64_t{value});
    case DType::F32:
      return Value(static_cast<float>(value));
    case DType::F64:
      return Value(static_cast<double>(value));
  }
  return Value();
}

bool is(const KnownOperand& operand, int value) {
  return operand.constant != nullptr && *operand.constant == number(operand.constant->dtype(), value);
}

bool same(const KnownOperand& a, const KnownOperand& b) {
  return a.id == b.id;
}

/// The x of an equation's left side, where the operation with these operands is that side.
std::optional<ir::ValueId> matched(const Equation& equation, const OpDef& op, const KnownOperand& a,
                                   const KnownOperand& b) {
  switch (equation.form) {
    case Equation::Form::Alone:
      return a.id;
    case Equation::Form::Twice:
      if (a.definition != nullptr && a.definition->op == &op) return a.definition->operands[0];
      break;
    case Equation::Form::WithItself:
      if (same(a, b)) return a.id;
      break;
    case Equation::Form::WithNumber:
      if (is(b, equation.number)) return a.id;
      if (op.is_commutative && is(a, equation.number)) return b.id;
      break;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Simpler> simpler_form(const OpDef& op, DType operand, DType result, const KnownOperand& a,
                                    const KnownOperand& b) {
  for (const Equation& equation : op.equations) {
    if (equation.holds_for != nullptr && !equation.holds_for(operand)) continue;
    const std::optional<ir::ValueId> x = matched(equation, op, a, b);
    if (!x) continue;
    switch (equation.result) {
      case Equation::Result::X:
        return *x;
      case Equation::Result::NotX:
        return Negated{*x};
      case Equation::Result::Number:
        return number(result, equation.result_number);
    }
  }
  return std::nullopt;
}

}  // namespace hiaton::passes
