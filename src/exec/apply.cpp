#include "exec/apply.h"

#include <algorithm>
#include <array>

#include "base/check.h"

namespace hiaton::exec {
namespace {

Fault apply_to_scalars(const graph::Node& node, std::span<const Value> operands, OverflowMode mode,
                       const KernelVariant& variant, Value& result) {
  constexpr std::size_t kMostOperands = 8;
  std::array<Slot, kMostOperands> slots;
  HIATON_CHECK(operands.size() <= kMostOperands);
  for (std::size_t i = 0; i < operands.size(); ++i) slots[i] = operands[i].slot();
  Slot out;
  const Fault fault = (mode == OverflowMode::Trap ? variant.trap : variant.wrap)(slots.data(), &out);
  result = Value(node.type.dtype, out);
  return fault;
}

/// The result's type for these operands.
Type result_type(const graph::Node& node, std::span<const Value> operands) {
  std::vector<Type> types;
  for (const Value& operand : operands) types.push_back(operand.type());
  return node.op->type_rule.value({types, node.attributes, &node.type});
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

Fault apply_to_tensors(const graph::Node& node, std::span<const Value> operands, OverflowMode mode,
                       Value& result) {
  Type type;
  try {
    type = result_type(node, operands);
  } catch (const ProgramError&) {
    return Fault::Shape;
  }
  if (!is_fixed(type)) return Fault::Shape;
  std::vector<TensorArgument> arguments;
  for (const Value& operand : operands) arguments.push_back(argument_of(operand));
  KernelCall call{node.op, arguments, {}, node.attributes, 1, mode};
  if (type.is_scalar()) {
    Slot out;
    call.result = {reinterpret_cast<std::byte*>(&out), {}, type.dtype, 0};
    const Fault fault = node.op->tensor_kernel.value(call);
    result = Value(type.dtype, out);
    return fault;
  }
  std::vector<int64_t> dims;
  for (const Dim& dim : type.shape) dims.push_back(dim.size);
  Tensor made(type.dtype, dims);
  call.result = {made.mutable_data<std::byte>(), made.dims(), type.dtype, 0};
  const Fault fault = node.op->tensor_kernel.value(call);
  result = Value(std::move(made));
  return fault;
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

template <class T>
void accumulate_as(const graph::Node& node, std::span<const Value> operands, Gradients& gradients) {
  const auto parameter = static_cast<std::size_t>(node.parameter);
  switch (static_cast<Accumulation>(node.attributes[0])) {
    case Accumulation::Dense: {
      Tensor& sum = gradients.dense(parameter);
      return add_to(sum.mutable_data<T>(), elements_of<T>(operands[0]), sum.size());
    }
    case Accumulation::Rows: {
      Tensor& sum = gradients.values(parameter);
      const int64_t row = operands[0].as<int64_t>();
      gradients.touch(parameter, row);
      const int64_t width = sum.size() / sum.dims()[0];
      return add_to(sum.mutable_data<T>() + row * width, elements_of<T>(operands[1]), width);
    }
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
  if (node.op->value_kernel != nullptr) {
    return node.op->value_kernel(operands, node.attributes, result);
  }
  const bool scalar =
      node.type.is_scalar() && !operands.empty() &&
      std::all_of(operands.begin(), operands.end(), [](const Value& v) { return v.is_scalar(); });
  const KernelVariant* variant = scalar ? node.op->find_kernel(operands[0].dtype()) : nullptr;
  if (variant != nullptr) return apply_to_scalars(node, operands, mode, *variant, result);
  return apply_to_tensors(node, operands, mode, result);
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
