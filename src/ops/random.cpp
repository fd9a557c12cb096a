// Random numbers from explicit seeds: the same for any schedule and on every machine.
#include "kernels/random.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "ops/family.h"
#include "ops/gradients.h"
#include "ops/instances.h"
#include "ops/shapes.h"
#include "ops/typed.h"

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

Type categorical_type(const TypeQuestion& question) {
  const Type& logits = question.operands[0];
  const Type& seed = question.operands[1];
  if (!logits.is_tensor() || !is_float(logits.dtype) || !seed.is_scalar() || seed.dtype != DType::I64)
    refuse("logits [.., classes] of f32 or f64 and a seed of type i64", question.operands);
  if (logits.shape.back().size == 0) throw ProgramError("expected one class or more, found none");
  return Type(DType::I64, std::vector<Dim>(logits.shape.begin(), logits.shape.end() - 1));
}

/// The class in whose share of the probabilities, laid end to end, the number in [0, 1) falls.
template <class T>
int64_t drawn_class(std::span<const T> logits, double number) {
  const double largest = static_cast<double>(*std::max_element(logits.begin(), logits.end()));
  const auto share = [&](T logit) { return std::exp(static_cast<double>(logit) - largest); };
  double left = 0;
  for (const T logit : logits) left += share(logit);
  left *= number;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    left -= share(logits[i]);
    if (left < 0) return static_cast<int64_t>(i);
  }
  return std::ssize(logits) - 1;
}

Fault categorical_kernel(const KernelCall& call) {
  const TensorArgument& logits = call.operands[0];
  const auto classes = static_cast<std::size_t>(logits.dims.back());
  const int64_t rows = logits.rows();
  std::vector<float> numbers(static_cast<std::size_t>(rows));
  for_float(logits.dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < call.batch; ++i) {
      kernels::uniform(rows, *call.operands[1].at<int64_t>(i), numbers.data());
      for (std::size_t row = 0; row < numbers.size(); ++row) {
        const std::span<const T> scores(logits.at<T>(i) + row * classes, classes);
        call.result.at<int64_t>(i)[row] = drawn_class(scores, static_cast<double>(numbers[row]));
      }
    }
  });
  return Fault::None;
}

Type log_uniform_type(const TypeQuestion& question) {
  const int64_t limit = question.attributes[0];
  if (limit < 1) throw ProgramError(fmt::format("expected a limit of 1 or more, found {}", limit));
  const TypeQuestion of_shape{.operands = question.operands, .attributes = question.attributes.subspan(1)};
  Type result = random_type(of_shape);
  result.dtype = DType::I64;
  return result;
}

Fault log_uniform_kernel(const KernelCall& call) {
  const int64_t limit = call.attributes[0];
  const double range = std::log1p(static_cast<double>(limit));
  std::vector<float> numbers(static_cast<std::size_t>(call.result.size()));
  for (int64_t i = 0; i < call.batch; ++i) {
    kernels::uniform(call.result.size(), *call.operands[0].at<int64_t>(i), numbers.data());
    std::ranges::transform(numbers, call.result.at<int64_t>(i), [&](float number) {
      const double drawn = std::floor(std::exp(static_cast<double>(number) * range)) - 1;
      if (drawn >= static_cast<double>(limit)) return limit - 1;
      return std::max(static_cast<int64_t>(drawn), int64_t{0});
    });
  }
  return Fault::None;
}

struct FoldIn {
  int64_t operator()(int64_t seed, int64_t number) const { return kernels::fold_in(seed, number); }
};

Type fold_type(const TypeQuestion& question) {
  const Type result = same_number(question);
  if (result.dtype != DType::I64) refuse("a seed and a number of type i64", question.operands);
  return result;
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
          .name = "categorical",
          .doc = "A class for each row of logits [.., classes], drawn with the probabilities that are their "
                 "softmax: the same for the same seed.",
          .operands = {"logits", "seed"},
          .type_rule = categorical_type,
          .tensor_kernel = categorical_kernel,
          .gradient = Gradient::none("the result is a class"),
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({2, 2}, {0, -100, -100, 0}), int64_t{42}},
                       tensor<int64_t>({2}, {0, 1})},
                      {{tensor<float>({2}, {0, 0}), int64_t{42}}, int64_t{1}}},
      },
      {
          .name = "log_uniform",
          .doc = "Integers k in [0, limit), with probability log((k + 2) / (k + 1)) / log(limit + 1), as the "
                 "words of a vocabulary in the order of their frequency: the same for the same seed.",
          .operands = {"seed"},
          .attributes = {{.name = "limit"}, {.name = "shape", .is_list = true}},
          .type_rule = log_uniform_type,
          .tensor_kernel = log_uniform_kernel,
          .gradient = Gradient::none(a_seed),
          .fusion = Fusion::Tensor,
          .samples = {{{int64_t{42}}, tensor<int64_t>({2}, {3, 2}), {10, 2}}},
      },
      {
          .name = "fold_in",
          .doc =
              "A new seed for each number: what is drawn from it has nothing to do with what is drawn from "
              "the first seed, or for another number.",
          .operands = {"seed", "number"},
          .type_rule = fold_type,
          .kernels = binary_kernels<FoldIn, int64_t>(),
          .tensor_kernel = typed_binary<FoldIn, int64_t>,
          .gradient = Gradient::none("the result is a seed"),
          .fusion = Fusion::Elementwise,
          .samples = {{{int64_t{42}, int64_t{1}}, int64_t{-157030514958560967}}},
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
