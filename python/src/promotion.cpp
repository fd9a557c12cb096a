// Which element type operands get that differ in theirs.
#include <array>
#include <string>
#include <utility>

#include "graphs.h"
#include "hiaton/apply.h"

namespace hiaton::python {
namespace {

/// The one of two types of a kind, integers or floats, that holds the values of both.
DType wider(DType a, DType b) {
  return size_of(a) < size_of(b) ? b : a;
}

/// What a number of Python becomes that stands beside no tensor.
DType default_dtype(DType weak) {
  return weak == DType::F64 ? DType::F32 : weak;
}

/// The element type of all numbers among the operands; nothing where there are none.
std::optional<DType> common_dtype(const OpDef& op, std::span<const Operand> operands) {
  std::optional<DType> common;
  bool weak_float = false;
  bool weak_integer = false;
  for (const Operand& operand : operands) {
    const DType dtype = operand.value.dtype();
    if (operand.weak) {
      (is_float(dtype) ? weak_float : weak_integer) = true;
      continue;
    }
    if (dtype == DType::Bool) continue;
    if (common && is_float(*common) != is_float(dtype)) {
      const std::string text = std::string(op.name.value) +
                               ": expected tensors of integers or tensors of floats, found " +
                               std::string(name_of(*common)) + " and " + std::string(name_of(dtype)) +
                               "; convert one of them with .astype";
      throw nb::type_error(text.c_str());
    }
    common = common ? wider(*common, dtype) : dtype;
  }
  if (common && is_integer(*common) && weak_float) {
    const std::string text = std::string(op.name.value) + ": expected an integer beside a tensor of " +
                             std::string(name_of(*common)) +
                             ", found a float; convert the tensor with .astype";
    throw nb::type_error(text.c_str());
  }
  if (common || !(weak_float || weak_integer)) return common;
  return default_dtype(weak_float ? DType::F64 : DType::I64);
}

/// The integer as one of the type. Throws OverflowError where it does not fit.
template <class T>
Value integer_as(int64_t n) {
  if (!std::in_range<T>(n)) {
    const std::string text = "expected an integer that fits " + std::string(name_of(ScalarTraits<T>::dtype)) +
                             ", found " + std::to_string(n);
    PyErr_SetString(PyExc_OverflowError, text.c_str());
    nb::raise_python_error();
  }
  return static_cast<T>(n);
}

Value number_as(const Value& number, DType dtype) {
  if (number.dtype() == DType::F64) {
    const double x = number.as<double>();
    return dtype == DType::F32 ? Value(static_cast<float>(x)) : Value(x);
  }
  const int64_t n = number.as<int64_t>();
  switch (dtype) {
    case DType::U8:
      return integer_as<uint8_t>(n);
    case DType::I32:
      return integer_as<int32_t>(n);
    case DType::F32:
      return static_cast<float>(n);
    case DType::F64:
      return static_cast<double>(n);
    default:
      return n;
  }
}

EagerTensor as_tensor(const Operand& operand) {
  return {operand.value, operand.mark};
}

EagerTensor converted(const Operand& operand, DType dtype) {
  if (operand.weak) return {number_as(operand.value, dtype)};
  if (operand.value.dtype() == dtype || operand.value.dtype() == DType::Bool) return as_tensor(operand);
  const EagerTensor tensor = as_tensor(operand);
  return apply_eager(*catalog().find(name_of(dtype)), {&tensor, 1});
}

/// Where the operands of an operation need not be of one type: a float takes that of the first tensor of
/// floats.
EagerTensor converted_alone(const Operand& operand, std::span<const Operand> all) {
  if (!operand.weak || operand.value.dtype() == DType::I64) return as_tensor(operand);
  for (const Operand& other : all) {
    if (!other.weak && is_float(other.value.dtype())) return {number_as(operand.value, other.value.dtype())};
  }
  return {number_as(operand.value, DType::F32)};
}

bool have_one_type(std::span<const Operand> operands) {
  for (const Operand& operand : operands) {
    if (operand.weak || operand.value.dtype() != operands[0].value.dtype()) return false;
  }
  return true;
}

}  // namespace

bool reduces(const OpDef& op) {
  return op.arity() == 1 && op.attributes.size() == 1 && op.attributes[0].name == "axes" &&
         op.attributes[0].is_list && op.attributes[0].otherwise.has_value();
}

bool reduces_numbers_of(const OpDef& op, DType dtype) {
  const std::array one = {tensor_type(dtype, {1})};
  try {
    op.result_type({.operands = one});
    return true;
  } catch (const ProgramError&) {
    return false;
  }
}

bool operands_share_a_type(const OpDef& op) {
  return op.fusion.value == Fusion::Elementwise || op.role == Role::Product ||
         op.role == Role::ProductTransposed || op.role == Role::Join;
}

std::optional<Operand> operand_of(nb::handle object) {
  EagerTensor* tensor = nullptr;
  if (nb::try_cast(object, tensor) && tensor != nullptr) return operand_of(*tensor);
  if (PyBool_Check(object.ptr())) return Operand{Value(object.is(Py_True))};
  if (PyFloat_CheckExact(object.ptr())) return Operand{Value(PyFloat_AS_DOUBLE(object.ptr())), true};
  if (PyLong_Check(object.ptr())) {  // also a member of an IntEnum
    const long long n = PyLong_AsLongLong(object.ptr());
    if (n == -1 && PyErr_Occurred() != nullptr) nb::raise_python_error();
    return Operand{Value(static_cast<int64_t>(n)), true};
  }
  if (std::optional<Value> array = array_operand(object)) return Operand{std::move(*array)};
  return std::nullopt;
}

EagerTensor apply_promoted(const OpDef& op, std::span<const Operand> operands,
                           std::span<const int64_t> attributes) {
  std::vector<Value> values(operands.size());
  std::vector<uint64_t> marks(tapes_run() ? operands.size() : 0);
  const auto set = [&](std::size_t i, EagerTensor tensor) {
    values[i] = std::move(tensor.value);
    if (!marks.empty()) marks[i] = tensor.mark;
  };
  if (have_one_type(operands)) {
    for (std::size_t i = 0; i < operands.size(); ++i) set(i, as_tensor(operands[i]));
  } else if (operands_share_a_type(op)) {
    const std::optional<DType> dtype = common_dtype(op, operands);
    for (std::size_t i = 0; i < operands.size(); ++i)
      set(i, dtype ? converted(operands[i], *dtype) : as_tensor(operands[i]));
  } else {
    for (std::size_t i = 0; i < operands.size(); ++i) set(i, converted_alone(operands[i], operands));
  }
  const bool is_reduced = attributes.empty() && reduces(op) && values[0].is_scalar();
  if (is_reduced && reduces_numbers_of(op, values[0].dtype()))
    return {std::move(values[0]), marks.empty() ? 0 : marks[0]};
  return apply_marked(op, values, marks, attributes);
}

}  // namespace hiaton::python
