// Choosing between values by a truth value, without a branch.
#include "ops/family.h"
#include "ops/gradients.h"
#include "ops/shapes.h"
#include "ops/typed.h"

namespace hiaton::ops {
namespace {

Type where_type(const TypeQuestion& question) {
  const std::span<const Type> types = question.operands;
  refuse_data(types);
  if (types[0].dtype != DType::Bool || types[1].dtype != types[2].dtype) {
    refuse("bool, and two values of one element type", types);
  }
  return Type(types[1].dtype, broadcast(types));
}

/// The bits of the one or the other, of any type.
Fault choose(const Slot* operands, Slot* out) {
  *out = operands[0].boolean ? operands[1] : operands[2];
  return Fault::None;
}

template <class T>
Fault where_as(const KernelCall& call) {
  return Lines(call).for_each([&](const Line& line) {
    const auto condition = stepped<bool>(call, line, 0);
    const auto a = stepped<T>(call, line, 1);
    const auto b = stepped<T>(call, line, 2);
    T* out = call.result.at<T>(0) + line.out;
    for (int64_t i = 0; i < line.length; ++i) out[i] = condition[i] ? a[i] : b[i];
    return Fault::None;
  });
}

Fault where_kernel(const KernelCall& call) {
  switch (call.result.dtype) {
    case DType::Bool:
      return where_as<bool>(call);
    case DType::U8:
      return where_as<uint8_t>(call);
    case DType::I32:
      return where_as<int32_t>(call);
    case DType::I64:
      return where_as<int64_t>(call);
    case DType::F32:
      return where_as<float>(call);
    case DType::F64:
      return where_as<double>(call);
  }
  return Fault::None;
}

Var where_first(const GradientQuestion& q) {
  return q.builder.op("where", {q.operands[0], q.gradient, constant_like(q.gradient, 0.0)});
}
Var where_second(const GradientQuestion& q) {
  return q.builder.op("where", {q.operands[0], constant_like(q.gradient, 0.0), q.gradient});
}

}  // namespace

std::span<const OpDef> choice() {
  static const OpDef all[] = {
      {
          .name = "where",
          .doc = "a where the condition holds, else b; both are computed.",
          .operands = {"condition", "a", "b"},
          .type_rule = where_type,
          .kernels = {{DType::Bool, choose, false, choose, false}},
          .tensor_kernel = where_kernel,
          .gradient = by_operand<pass, where_first, where_second>,
          .fusion = Fusion::Elementwise,
          .samples = {{{true, 2, 3}, 2},
                      {{tensor<bool>({2}, {true, false}), 1.5f, tensor<float>({2}, {7, 8})},
                       tensor<float>({2}, {1.5f, 8})}},
      },
  };
  return all;
}

}  // namespace hiaton::ops
