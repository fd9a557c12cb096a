#include "hiaton/apply.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/check.h"
#include "exec/fault.h"
#include "exec/firing.h"

namespace hiaton::exec {
namespace {

Value apply_to_scalars(DType result, const KernelVariant& variant, std::span<const Value> operands,
                       OverflowMode mode, Fault& fault) {
  constexpr std::size_t kMostOperands = 8;
  std::array<Slot, kMostOperands> slots;
  HIATON_CHECK(operands.size() <= kMostOperands);
  for (std::size_t i = 0; i < operands.size(); ++i) slots[i] = operands[i].slot();
  Slot out;
  fault = (mode == OverflowMode::Trap ? variant.trap : variant.wrap)(slots.data(), &out);
  return {result, out};
}

/// The kernel for these operands where all are scalars; nullptr: there is none.
const KernelVariant* scalar_kernel(const OpDef& op, std::span<const Value> operands) {
  const bool scalar = !operands.empty() && std::ranges::all_of(operands, &Value::is_scalar);
  return scalar ? op.find_kernel(operands[0].dtype()) : nullptr;
}

std::vector<Type> operand_types(std::span<const Value> operands) {
  std::vector<Type> types;
  types.reserve(operands.size());
  for (const Value& operand : operands) types.push_back(operand.type());
  return types;
}

/// A scalar as a tensor of rank 0, in place.
TensorArgument argument_of(const Value& value) {
  if (value.is_scalar()) {
    auto* slot = const_cast<Slot*>(&value.slot());
    return {reinterpret_cast<std::byte*>(slot), {}, value.dtype(), 0};
  }
  const TensorObject& object = *value.slot().tensor;
  return {object.elements, {object.dims.data(), object.rank}, object.dtype, 0};
}

/// By the tensor kernel, to a result of a type with fixed dimensions.
Value apply_to_tensors(const OpDef& op, std::span<const int64_t> attributes, const Type& type,
                       std::span<const Value> operands, OverflowMode mode, Fault& fault) {
  SmallVector<TensorArgument, 4> arguments;
  for (const Value& operand : operands) arguments.push_back(argument_of(operand));
  KernelCall call{&op, arguments, {}, attributes, 1, mode};
  if (type.is_scalar()) {
    Slot out;
    call.result = {reinterpret_cast<std::byte*>(&out), {}, type.dtype, 0};
    fault = op.tensor_kernel.value(call);
    return {type.dtype, out};
  }
  SmallVector<int64_t, kMaxRank> dims;
  for (const Dim& dim : type.shape) dims.push_back(dim.size);
  Tensor made(type.dtype, dims);
  call.result = {made.mutable_data<std::byte>(), made.dims(), type.dtype, 0};
  fault = op.tensor_kernel.value(call);
  return made;
}

template <class T>
void add_to(T* sum, const T* part, int64_t count) {
  for (int64_t i = 0; i < count; ++i) sum[i] += part[i];
}

template <class T>
const T* elements_of(const Value& value) {
  if (value.is_scalar()) return reinterpret_cast<const T*>(&value.slot());
  return reinterpret_cast<const T*>(value.slot().tensor->elements);
}

/// The last dimension, and how many rows of it there are.
struct Rows {
  int64_t count = 1;
  int64_t width = 1;
};
Rows rows_of(const Value& value) {
  const TensorObject& object = *value.slot().tensor;
  Rows rows{.width = object.dims[object.rank - 1u]};
  for (std::size_t i = 0; i + 1 < object.rank; ++i) rows.count *= object.dims[i];
  return rows;
}

/// A number that is none of the table's rows is passed over: the gather of it ends the run.
template <class T>
void add_rows(const Value& numbers, const T* values, std::size_t parameter, Gradients& gradients) {
  Tensor& sum = gradients.values(parameter);
  const int64_t row_count = sum.dims()[0];
  const int64_t count = numbers.is_scalar() ? 1 : numbers.tensor().size();
  const int64_t width = row_count == 0 ? 0 : sum.size() / row_count;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t row = elements_of<int64_t>(numbers)[i];
    if (row < 0 || row >= row_count) continue;
    gradients.touch(parameter, row);
    add_to(sum.mutable_data<T>() + row * width, values + i * width, width);
  }
}

template <class T>
void accumulate_as(const graph::Node& node, std::span<const Value> operands, Gradients& gradients) {
  const auto parameter = static_cast<std::size_t>(node.parameter);
  switch (static_cast<Accumulation>(node.attributes[0])) {
    case Accumulation::Dense: {
      Tensor& sum = gradients.dense(parameter);
      return add_to(sum.mutable_data<T>(), elements_of<T>(operands[0]), sum.size());
    }
    case Accumulation::Rows:
      return add_rows(operands[0], elements_of<T>(operands[1]), parameter, gradients);
    case Accumulation::Outer: {
      T* sum = gradients.dense(parameter).template mutable_data<T>();
      const Rows x = rows_of(operands[0]);
      const Rows g = rows_of(operands[1]);
      for (int64_t n = 0; n < x.count; ++n) {
        const T* x_row = elements_of<T>(operands[0]) + n * x.width;
        const T* g_row = elements_of<T>(operands[1]) + n * g.width;
        for (int64_t i = 0; i < x.width; ++i) {
          for (int64_t j = 0; j < g.width; ++j) sum[i * g.width + j] += x_row[i] * g_row[j];
        }
      }
    }
  }
}

}  // namespace

Fault apply(const graph::Node& node, std::span<const Value> operands, OverflowMode mode, Value& result) {
  const OpDef& op = *node.op;
  if (op.value_kernel != nullptr) return op.value_kernel(operands, node.attributes, result);
  Fault fault = Fault::None;
  const KernelVariant* variant = node.type.is_scalar() ? scalar_kernel(op, operands) : nullptr;
  if (variant != nullptr) {
    result = apply_to_scalars(node.type.dtype, *variant, operands, mode, fault);
    return fault;
  }
  Type type;
  try {
    type = op.type_rule.value({operand_types(operands), node.attributes, &node.type});
  } catch (const ProgramError&) {
    return Fault::Shape;
  }
  if (!is_fixed(type)) return Fault::Shape;
  result = apply_to_tensors(op, node.attributes, type, operands, mode, fault);
  return fault;
}

const Value& constant_of(const graph::Node& node, const RunOptions& options) {
  if (node.parameter < 0) return node.constant;
  HIATON_CHECK(static_cast<std::size_t>(node.parameter) < options.parameters.size());
  return options.parameters[static_cast<std::size_t>(node.parameter)];
}

void accumulate(const graph::Node& node, std::span<const Value> operands, Gradients* gradients) {
  if (gradients == nullptr) return;
  if (node.type.dtype == DType::F64) {
    accumulate_as<double>(node, operands, *gradients);
  } else {
    accumulate_as<float>(node, operands, *gradients);
  }
}

}  // namespace hiaton::exec

namespace hiaton {
namespace {

/// Also says which operation it is that refuses its operands.
Type checked_result_type(const OpDef& op, std::span<const Value> operands,
                         std::span<const int64_t> attributes) {
  const std::string_view name = op.name.value;
  if (op.fusion.value == Fusion::Data || op.takes_type)
    throw ProgramError(fmt::format("{}: expected an operation on numbers and tensors", name));
  if (!op.takes(operands.size())) {
    throw ProgramError(fmt::format("{}: expected {}{} operands, found {}", name,
                                   op.is_variadic() ? "at least " : "",
                                   op.arity() - (op.is_variadic() ? 1 : 0), operands.size()));
  }
  if (!op.takes_attributes(attributes.size())) {
    throw ProgramError(
        fmt::format("{}: expected {} attributes, found {}", name, op.attributes.size(), attributes.size()));
  }
  try {
    return op.result_type({exec::operand_types(operands), attributes});
  } catch (const ProgramError& error) {
    throw ProgramError(fmt::format("{}: {}", name, error.what()));
  }
}

}  // namespace

Value apply_operation(const OpDef& op, std::span<const Value> operands, std::span<const int64_t> attributes,
                      OverflowMode mode) {
  for (const Value& operand : operands) {
    if (operand.is_data())
      throw ProgramError(fmt::format("{}: expected numbers or tensors, found a data value", op.name.value));
  }
  const Type type = checked_result_type(op, operands, attributes);
  const KernelVariant* variant = type.is_scalar() ? exec::scalar_kernel(op, operands) : nullptr;
  Fault fault = Fault::None;
  Value result = variant != nullptr ? exec::apply_to_scalars(type.dtype, *variant, operands, mode, fault)
                                    : exec::apply_to_tensors(op, attributes, type, operands, mode, fault);
  if (fault == Fault::None) return result;
  throw RunError(fault, exec::operation_message(op, attributes, type, operands, fault), {}, 0,
                 exec::assumption_of(fault, attributes));
}

}  // namespace hiaton
