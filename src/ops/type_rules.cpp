#include <fmt/format.h>

#include "ops/family.h"

namespace hiaton::ops {
namespace {

/// Fails unless all operands have one scalar type that `accepts` takes; `expected` names such types.
Type require_same(std::span<const Type> operands, bool (*accepts)(DType), std::string_view expected) {
  bool fits = true;
  for (const Type& type : operands)
    fits = fits && type == operands[0] && type.is_scalar() && accepts(type.dtype);
  if (fits) return operands[0];
  std::string found;
  for (const Type& type : operands) found += (found.empty() ? "" : " and ") + to_string(type);
  throw ProgramError(fmt::format("expected {}, found {}", expected, found));
}

bool is_bool(DType dtype) {
  return dtype == DType::Bool;
}
bool is_any(DType) {
  return true;
}

std::string_view pick(std::span<const Type> operands, std::string_view one, std::string_view several) {
  return operands.size() == 1 ? one : several;
}

}  // namespace

Type same_number(std::span<const Type> operands) {
  return require_same(operands, is_number, pick(operands, "a number", "numbers of one type"));
}
Type same_float(std::span<const Type> operands) {
  return require_same(operands, is_float, pick(operands, "f32 or f64", "f32 or f64, the same for both"));
}
Type same_bool(std::span<const Type> operands) {
  return require_same(operands, is_bool, pick(operands, "bool", "bool and bool"));
}
Type any_type(std::span<const Type> operands) {
  return operands[0];
}
Type compare_any(std::span<const Type> operands) {
  require_same(operands, is_any, "values of one type");
  return DType::Bool;
}
Type compare_numbers(std::span<const Type> operands) {
  require_same(operands, is_number, "numbers of one type");
  return DType::Bool;
}

}  // namespace hiaton::ops
