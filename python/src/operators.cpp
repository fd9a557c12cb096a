// The operators of Python on tensors.
#include <nanobind/operators.h>

#include <array>
#include <string_view>

#include "hiaton/apply.h"
#include "tensors.h"

namespace hiaton::python {
namespace {

const OpDef& op(std::string_view name) {
  return *catalog().find(name);
}

/// An operand of a binary operator; Python tries the other one's operator where it is none of ours.
Operand other(nb::handle object) {
  std::optional<Operand> operand = operand_of(object);
  if (!operand) throw nb::next_overload();
  return std::move(*operand);
}

EagerTensor apply_two(const OpDef& def, const Operand& a, const Operand& b) {
  const std::array operands = {a, b};
  return apply_promoted(def, operands);
}

/// `/`: floats also from integers, as in Python.
EagerTensor quotient(const Operand& a, const Operand& b) {
  const auto as_float = [](const Operand& x) {
    if (!is_integer(x.value.dtype()) || x.weak) return x;
    return Operand{apply_operation(op("f64"), {&x.value, 1})};
  };
  Operand x = as_float(a);
  Operand y = as_float(b);
  // A number of Python beside integers is a float too.
  const bool from_integers = is_integer(a.value.dtype()) && is_integer(b.value.dtype());
  if (from_integers && x.weak) x = {Value(static_cast<double>(x.value.as<int64_t>()))};
  if (from_integers && y.weak) y = {Value(static_cast<double>(y.value.as<int64_t>()))};
  return apply_two(op("div"), x, y);
}

/// `&`, `|`, `^` and `~`: of truth values and of the bits of integers.
struct BitOperation {
  const OpDef* of_truth_values;
  const OpDef* of_integers;

  BitOperation(std::string_view logical, std::string_view bitwise)
      : of_truth_values(&op(logical)), of_integers(&op(bitwise)) {}

  const OpDef& chosen(bool is_of_truth_values) const {
    return is_of_truth_values ? *of_truth_values : *of_integers;
  }
};

bool is_truth_value(const Operand& operand) {
  return operand.value.dtype() == DType::Bool;
}

template <class Rule>
void def_binary(nb::class_<EagerTensor>& tensor, const char* name, const char* reflected, Rule rule) {
  tensor.def(
      name, [rule](const EagerTensor& self, nb::handle b) { return rule(operand_of(self), other(b)); },
      nb::is_operator(), nb::arg("other"));
  tensor.def(
      reflected, [rule](const EagerTensor& self, nb::handle b) { return rule(other(b), operand_of(self)); },
      nb::is_operator(), nb::arg("other"));
}

void def_catalogued(nb::class_<EagerTensor>& tensor, const char* name, const char* reflected,
                    std::string_view op_name) {
  const OpDef* def = catalog().find(op_name);
  def_binary(tensor, name, reflected,
             [def](const Operand& a, const Operand& b) { return apply_two(*def, a, b); });
}

void def_bitwise(nb::class_<EagerTensor>& tensor, const char* name, const char* reflected,
                 const BitOperation& operation) {
  def_binary(tensor, name, reflected, [operation](const Operand& a, const Operand& b) {
    return apply_two(operation.chosen(is_truth_value(a) || is_truth_value(b)), a, b);
  });
}

void def_comparison(nb::class_<EagerTensor>& tensor, const char* name, std::string_view op_name) {
  const OpDef* def = catalog().find(op_name);
  tensor.def(
      name,
      [def](const EagerTensor& self, nb::handle b) { return apply_two(*def, operand_of(self), other(b)); },
      nb::is_operator(), nb::arg("other"));
}

void def_unary(nb::class_<EagerTensor>& tensor, const char* name, std::string_view op_name) {
  const OpDef* def = catalog().find(op_name);
  tensor.def(name, [def](const EagerTensor& self) { return apply_eager(*def, {&self, 1}); });
}

}  // namespace

void bind_operators(nb::class_<EagerTensor>& tensor) {
  def_catalogued(tensor, "__add__", "__radd__", "add");
  def_catalogued(tensor, "__sub__", "__rsub__", "sub");
  def_catalogued(tensor, "__mul__", "__rmul__", "mul");
  def_catalogued(tensor, "__pow__", "__rpow__", "pow");
  def_catalogued(tensor, "__matmul__", "__rmatmul__", "matmul");
  def_catalogued(tensor, "__floordiv__", "__rfloordiv__", "floor_div");
  def_catalogued(tensor, "__mod__", "__rmod__", "floor_mod");
  def_catalogued(tensor, "__lshift__", "__rlshift__", "bitwise_left_shift");
  def_catalogued(tensor, "__rshift__", "__rrshift__", "bitwise_right_shift");
  def_bitwise(tensor, "__and__", "__rand__", {"and", "bitwise_and"});
  def_bitwise(tensor, "__or__", "__ror__", {"or", "bitwise_or"});
  def_bitwise(tensor, "__xor__", "__rxor__", {"ne", "bitwise_xor"});
  def_binary(tensor, "__truediv__", "__rtruediv__", quotient);
  def_comparison(tensor, "__eq__", "eq");
  def_comparison(tensor, "__ne__", "ne");
  def_comparison(tensor, "__lt__", "lt");
  def_comparison(tensor, "__le__", "le");
  def_comparison(tensor, "__gt__", "gt");
  def_comparison(tensor, "__ge__", "ge");
  def_unary(tensor, "__neg__", "neg");
  def_unary(tensor, "__abs__", "abs");
  tensor.def("__invert__", [inverse = BitOperation("not", "bitwise_invert")](const EagerTensor& self) {
    return apply_eager(inverse.chosen(self.value.dtype() == DType::Bool), {&self, 1});
  });
  tensor.def("__pos__", [](const EagerTensor& self) { return self; });
  tensor.attr("__hash__") = nb::none();  // `==` compares the elements
}

}  // namespace hiaton::python
