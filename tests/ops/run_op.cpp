#include "ops/run_op.h"

#include <algorithm>
#include <cstring>

namespace hiaton {

std::vector<const OpDef*> computing_operations() {
  std::vector<const OpDef*> ops;
  for (const OpDef* op : catalog().all()) {
    if (op->fusion.value != Fusion::Data) ops.push_back(op);
  }
  return ops;
}
namespace {

std::vector<int64_t> dims_of(const Type& type) {
  std::vector<int64_t> dims;
  for (const Dim& dim : type.shape) dims.push_back(dim.size);
  return dims;
}

std::size_t bytes_of(const Type& type) {
  std::size_t bytes = size_of(type.dtype);
  for (const Dim& dim : type.shape) bytes *= static_cast<std::size_t>(dim.size);
  return bytes;
}

const std::byte* elements_of(const Value& value) {
  if (value.is_scalar()) return reinterpret_cast<const std::byte*>(&value.slot());
  return value.slot().tensor->elements;
}

Value value_of(const Type& type, const std::byte* elements) {
  if (type.is_scalar()) {
    Slot slot;
    std::memcpy(&slot, elements, size_of(type.dtype));
    return Value(type.dtype, slot);
  }
  Tensor made(type.dtype, dims_of(type));
  std::copy_n(elements, bytes_of(type), made.mutable_data<std::byte>());
  return made;
}

}  // namespace

std::string text_of(const OpDef& op, const std::vector<Value>& operands) {
  std::string text(op.name.value);
  for (const Value& operand : operands) text += " " + to_string(operand.type()) + " " + to_string(operand);
  return text;
}

Type type_of_result(const OpDef& op, const std::vector<Value>& operands,
                    const std::vector<int64_t>& attributes) {
  std::vector<Type> types;
  for (const Value& operand : operands) types.push_back(operand.type());
  return op.type_rule.value({.operands = types, .attributes = attributes});
}

Outcome run_op(const OpDef& op, const std::vector<Value>& operands, const std::vector<int64_t>& attributes,
               OverflowMode mode) {
  const Type type = type_of_result(op, operands, attributes);
  const KernelVariant* variant = op.find_kernel(operands[0].dtype());
  const bool scalars = type.is_scalar() && std::all_of(operands.begin(), operands.end(),
                                                       [](const Value& v) { return v.is_scalar(); });
  if (scalars && variant != nullptr) {
    std::vector<Slot> slots;
    for (const Value& operand : operands) slots.push_back(operand.slot());
    Slot out;
    const Fault fault = (mode == OverflowMode::Trap ? variant->trap : variant->wrap)(slots.data(), &out);
    return {fault, Value(type.dtype, out)};
  }
  const BatchOutcome outcome =
      run_batch(op, {operands}, std::vector<bool>(operands.size(), true), attributes);
  return {outcome.fault, outcome.fault == Fault::None ? outcome.results[0] : Value()};
}

BatchOutcome run_batch(const OpDef& op, const std::vector<std::vector<Value>>& operands,
                       const std::vector<bool>& shared, const std::vector<int64_t>& attributes) {
  const std::size_t count = operands[0].size();
  const auto batch = static_cast<int64_t>(operands.size());
  std::vector<std::vector<std::byte>> memory(count);
  std::vector<std::vector<int64_t>> dims(count);
  std::vector<TensorArgument> arguments;
  for (std::size_t k = 0; k < count; ++k) {
    const Type type = operands[0][k].type();
    dims[k] = dims_of(type);
    for (std::size_t i = 0; i < (shared[k] ? 1 : operands.size()); ++i) {
      const std::byte* elements = elements_of(operands[i][k]);
      memory[k].insert(memory[k].end(), elements, elements + bytes_of(type));
    }
    const auto size = static_cast<int64_t>(bytes_of(type) / size_of(type.dtype));
    arguments.push_back({memory[k].data(), dims[k], type.dtype, shared[k] ? 0 : size});
  }
  const Type type = type_of_result(op, operands[0], attributes);
  const std::vector<int64_t> result_dims = dims_of(type);
  const std::size_t bytes = bytes_of(type);
  std::vector<std::byte> results(bytes * operands.size(), std::byte{0xAA});
  const TensorArgument result{results.data(), result_dims, type.dtype,
                              static_cast<int64_t>(bytes / size_of(type.dtype))};
  BatchOutcome outcome;
  outcome.fault = op.tensor_kernel.value({&op, arguments, result, attributes, batch, OverflowMode::Wrap});
  for (std::size_t i = 0; i < operands.size(); ++i) {
    outcome.results.push_back(value_of(type, results.data() + i * bytes));
  }
  return outcome;
}

}  // namespace hiaton
