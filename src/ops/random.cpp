// Random numbers from explicit seeds: the same for any schedule and on every machine.
#include "kernels/random.h"

#include "ops/family.h"
#include "ops/gradients.h"
#include "ops/instances.h"
#include "ops/shapes.h"

namespace hiaton::ops {
namespace {

constexpr std::string_view a_seed = "the operand is a seed";

Type random_type(const TypeQuestion& question) {
  const Type& seed = question.operands[0];
  if (!seed.is_scalar() || seed.dtype != DType::I64) refuse("a seed of type i64", question.operands);
  if (question.attributes.empty()) throw ProgramError("expected a shape of one or more sizes, found none");
  return Type(DType::F32, shape_of(question.attributes));
}

template <void (*fill)(int64_t, int64_t, float*)>
Fault random_kernel(const KernelCall& call) {
  const int64_t size = call.result.size();
  for (int64_t i = 0; i < call.batch; ++i)
    fill(size, *call.operands[0].at<int64_t>(i), call.result.at<float>(i));
  return Fault::None;
}

Type dropout_type(const TypeQuestion& question) {
  const Type& x = question.operands[0];
  const Type& rate = question.operands[1];
  const Type& seed = question.operands[2];
  if (!x.is_tensor() || !is_float(x.dtype) || !rate.is_scalar() || rate.dtype != x.dtype ||
      !seed.is_scalar() || seed.dtype != DType::I64) {
    refuse("a tensor of f32 or f64, a rate of its element type and a seed of type i64", question.operands);
  }
  return x;
}

Fault dropout_kernel(const KernelCall& call) {
  return for_float(call.result.dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < call.batch; ++i) {
      const T rate = *call.operands[1].at<T>(i);
      if (!(rate >= 0 && rate <= 1)) return Fault::Rate;
      kernels::dropout<T>(call.result.size(), call.operands[0].at<T>(i), rate,
                          *call.operands[2].at<int64_t>(i), call.result.at<T>(i));
    }
    return Fault::None;
  });
}

/// The rate decides about whole elements, and scales those that stay.
Var dropout_rule(const GradientQuestion& q, std::size_t index) {
  if (index == 0) return q.builder.op("dropout", {q.gradient, q.operands[1], q.operands[2]});
  const Var kept = q.builder.op("sum", {q.gradient * q.result}, std::vector<int64_t>());
  return kept / (1.0 - q.operands[1]);
}

}  // namespace

std::span<const OpDef> random() {
  static const OpDef all[] = {
      {
          .name = "uniform",
          .doc = "Numbers of type f32 in [0, 1), evenly distributed: the same for the same seed.",
          .operands = {"seed"},
          .attributes = {{.name = "shape", .is_list = true}},
          .type_rule = random_type,
          .tensor_kernel = random_kernel<kernels::uniform>,
          .gradient = Gradient::none(a_seed),
          .fusion = Fusion::Tensor,
          .samples = {{{int64_t{42}}, tensor<float>({2}, {0x1.39d5ep-1f, 0x1.dfd524p-2f}), {2}}},
      },
      {
          .name = "normal",
          .doc = "Normally distributed numbers of type f32, of mean 0 and variance 1: the same for the same "
                 "seed.",
          .operands = {"seed"},
          .attributes = {{.name = "shape", .is_list = true}},
          .type_rule = random_type,
          .tensor_kernel = random_kernel<kernels::normal>,
          .gradient = Gradient::none(a_seed),
          .fusion = Fusion::Tensor,
          .samples = {{{int64_t{42}}, tensor<float>({2}, {0x1.25ee5p-2f, -0x1.42dc66p-4f}), {2}}},
      },
      {
          .name = "dropout",
          .doc = "Each element with probability 1 - rate, over 1 - rate, else 0: the same ones "
                 "for the same seed. The rate is "
                 "0 to 1.",
          .operands = {"x", "rate", "seed"},
          .type_rule = dropout_type,
          .tensor_kernel = dropout_kernel,
          .gradient = dropout_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({2}, {1, 2}), 0.0f, int64_t{1}}, tensor<float>({2}, {1, 2})},
                      {{tensor<float>({2}, {1, 2}), 1.0f, int64_t{1}}, tensor<float>({2}, {0, 0})}},
      },
  };
  return all;
}

}  // namespace hiaton::ops
