#include "ops/family.h"
#include "ops/shapes.h"

namespace hiaton::ops {
namespace {

/// Fails unless all operands have one element type that `accepts` takes; `expected` names such types. Scalars
/// and tensors, which broadcast.
Type require_same(std::span<const Type> operands, bool (*accepts)(DType), std::string_view expected) {
  bool fits = true;
  bool all_scalar = true;
  for (const Type& type : operands) {
    fits = fits && !type.is_data() && type.dtype == operands[0].dtype && accepts(type.dtype);
    all_scalar = all_scalar && type.is_scalar();
  }
  if (fits) return all_scalar ? Type(operands[0].dtype) : Type(operands[0].dtype, broadcast(operands));
  refuse(expected, operands);
}

bool is_any(DType) {
  return true;
}

Type as_bool(Type type) {
  type.dtype = DType::Bool;
  return type;
}

std::string_view pick(std::span<const Type> operands, std::string_view one, std::string_view several) {
  return operands.size() == 1 ? one : several;
}

}  // namespace

Type same_number(const TypeQuestion& question) {
  return require_same(question.operands, is_number,
                      pick(question.operands, "a number", "numbers of one type"));
}
Type same_float(const TypeQuestion& question) {
  return require_same(question.operands, is_float,
                      pick(question.operands, "f32 or f64", "f32 or f64, the same for both"));
}
Type same_integer(const TypeQuestion& question) {
  return require_same(question.operands, is_integer,
                      pick(question.operands, "u8, i32 or i64", "u8, i32 or i64, the same for all"));
}
Type same_bool(const TypeQuestion& question) {
  return require_same(question.operands, is_bool, pick(question.operands, "bool", "bool and bool"));
}
Type any_type(const TypeQuestion& question) {
  return question.operands[0];
}
Type compare_any(const TypeQuestion& question) {
  return as_bool(require_same(question.operands, is_any, "scalars or tensors of one type"));
}
Type compare_numbers(const TypeQuestion& question) {
  return as_bool(require_same(question.operands, is_number, "numbers of one type"));
}

}  // namespace hiaton::ops
