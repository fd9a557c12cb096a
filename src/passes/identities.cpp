#include "passes/identities.h"

#include <string_view>

namespace hiaton::passes {
namespace {

Value number(DType dtype, int value) {
  switch (dtype) {
    case DType::Bool:
      return Value(value != 0);
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

using Found = std::optional<Simpler>;

Found unary(std::string_view op, DType dtype, const KnownOperand& a) {
  const bool undoes_itself = op == "neg" || op == "not";
  if (undoes_itself && a.definition != nullptr && a.definition->kind == ir::NodeKind::Op &&
      a.definition->op->name.value == op) {
    return a.definition->operands[0];
  }
  const bool keeps_type = op == name_of(dtype);  // a cast is named after its type
  if (op == "identity" || keeps_type) return a.id;
  return std::nullopt;
}

/// Either both are numbers of one type, or op is a comparison of bools.
Found arithmetic(std::string_view op, DType dtype, const KnownOperand& a, const KnownOperand& b) {
  const bool exact = is_integer(dtype);
  if (op == "add" && exact) {
    if (is(b, 0)) return a.id;
    if (is(a, 0)) return b.id;
  }
  if (op == "sub") {
    if (is(b, 0)) return a.id;
    if (exact && same(a, b)) return number(dtype, 0);
  }
  if (op == "mul") {
    if (is(b, 1)) return a.id;
    if (is(a, 1)) return b.id;
    if (exact && (is(a, 0) || is(b, 0))) return number(dtype, 0);
  }
  if (op == "div" && is(b, 1)) return a.id;
  if (op == "rem" && exact && is(b, 1)) return number(dtype, 0);
  if ((op == "min" || op == "max") && same(a, b)) return a.id;
  return std::nullopt;
}

Found comparison(std::string_view op, DType dtype, const KnownOperand& a, const KnownOperand& b) {
  if (same(a, b) && !is_float(dtype)) {
    if (op == "eq" || op == "le" || op == "ge") return Value(true);
    if (op == "ne" || op == "lt" || op == "gt") return Value(false);
  }
  if (dtype != DType::Bool || (op != "eq" && op != "ne")) return std::nullopt;
  const int neutral = op == "eq" ? 1 : 0;
  if (is(b, neutral)) return a.id;
  if (is(a, neutral)) return b.id;
  if (is(b, 1 - neutral)) return Negated{a.id};
  if (is(a, 1 - neutral)) return Negated{b.id};
  return std::nullopt;
}

Found logic(std::string_view op, const KnownOperand& a, const KnownOperand& b) {
  if (op != "and" && op != "or") return std::nullopt;
  const int neutral = op == "and" ? 1 : 0;
  if (same(a, b) || is(b, neutral)) return a.id;
  if (is(a, neutral)) return b.id;
  if (is(a, 1 - neutral) || is(b, 1 - neutral)) return Value(neutral == 0);
  return std::nullopt;
}

}  // namespace

std::optional<Simpler> simpler_form(const OpDef& op, DType operand, const KnownOperand& a,
                                    const KnownOperand& b) {
  const std::string_view name = op.name.value;
  if (op.arity() == 1) return unary(name, operand, a);
  if (const Found found = arithmetic(name, operand, a, b)) return found;
  if (const Found found = comparison(name, operand, a, b)) return found;
  return logic(name, a, b);
}

}  // namespace hiaton::passes
