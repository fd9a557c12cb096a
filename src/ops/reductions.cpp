// Tensors reduced along axes.
#include <cmath>
#include <limits>

#include "ops/family.h"
#include "ops/gradients.h"
#include "ops/reduction_kernels.h"
#include "ops/shapes.h"

namespace hiaton::ops {
namespace {

Type reduced(const TypeQuestion& question, bool (*accepts)(DType), std::string_view expected) {
  const Type& x = question.operands[0];
  if (!x.is_tensor() || !accepts(x.dtype)) refuse(expected, question.operands);
  const std::vector<bool> chosen = axes_of(question.attributes, x.shape.size());
  Type result(x.dtype);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (!chosen[i]) result.shape.push_back(x.shape[i]);
  }
  return result;
}

Type reduced_numbers(const TypeQuestion& question) {
  return reduced(question, is_number, "a tensor of numbers");
}
Type reduced_floats(const TypeQuestion& question) {
  return reduced(question, is_float, "a tensor of f32 or f64");
}
Type reduced_truth(const TypeQuestion& question) {
  return reduced(question, is_bool, "a tensor of bool");
}
Type argmax_type(const TypeQuestion& question) {
  Type result = reduced_numbers(question);
  result.dtype = DType::I64;
  return result;
}

std::vector<int64_t> list(const GradientQuestion& q) {
  return {q.attributes.begin(), q.attributes.end()};
}
/// Something of the result's shape, repeated along the reduced axes.
Var expand(const GradientQuestion& q, Var x) {
  return q.builder.op("expand_like", {x, q.operands[0]}, list(q));
}

Var sum_rule(const GradientQuestion& q, std::size_t) {
  return expand(q, q.gradient);
}

/// How many elements become one.
Var count(const GradientQuestion& q) {
  const Type x = q.operands[0].type();  // a copy: new nodes move the types
  const std::vector<bool> chosen = axes_of(q.attributes, x.shape.size());
  Var product = q.builder.constant(int64_t{1});
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (chosen[i]) product = product * q.builder.op("size", {q.operands[0]}, {static_cast<int64_t>(i)});
  }
  return q.builder.cast(product, x.dtype);
}
Var mean_rule(const GradientQuestion& q, std::size_t) {
  return expand(q, q.gradient / count(q));
}

/// The elements that are the result share the gradient.
Var extreme_rule(const GradientQuestion& q, std::size_t) {
  const Var is_result = q.builder.cast(q.operands[0] == expand(q, q.result), q.operands[0].type().dtype);
  return expand(q, q.gradient / q.builder.op("sum", {is_result}, list(q))) * is_result;
}

/// 0 where all summed elements are minus infinity, as is the result.
Var logsumexp_rule(const GradientQuestion& q, std::size_t) {
  const Var nothing = q.result == -std::numeric_limits<double>::infinity();
  const Var by = q.builder.op("where", {nothing, constant_like(q.result, 0.0), q.result});
  return expand(q, q.gradient) * q.builder.op("exp", {q.operands[0] - expand(q, by)});
}

}  // namespace

std::span<const OpDef> reductions() {
  static const OpDef all[] = {
      {
          .name = "sum",
          .doc = "The sum along the axes, which go; without axes, of all elements. Integers wrap around.",
          .operands = {"x"},
          .attributes = {{.name = "axes", .is_list = true, .otherwise = 0}},
          .type_rule = reduced_numbers,
          .tensor_kernel = sum_kernel,
          .gradient = sum_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({2, 2}, {1, 2, 3, 4})}, 10.0f},
                      {{tensor<float>({2, 2}, {1, 2, 3, 4})}, tensor<float>({2}, {4, 6}), {0}},
                      {{tensor<float>({2, 2}, {1, 2, 3, 4})}, tensor<float>({2}, {3, 7}), {-1}},
                      {{tensor<float>({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})},
                       tensor<float>({2}, {14, 22}),
                       {0, 2}}},
      },
      {
          .name = "mean",
          .doc = "The mean along the axes, which go; without axes, of all elements.",
          .operands = {"x"},
          .attributes = {{.name = "axes", .is_list = true, .otherwise = 0}},
          .type_rule = reduced_floats,
          .tensor_kernel = mean_kernel,
          .gradient = mean_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({2, 2}, {1, 2, 3, 4})}, 2.5f},
                      {{tensor<float>({2, 2}, {1, 2, 3, 4})}, tensor<float>({2}, {2, 3}), {0}}},
      },
      {
          .name = "reduce_max",
          .doc = "The largest element along the axes, which go; without axes, of all elements. "
                 "NaN where there is one.",
          .operands = {"x"},
          .attributes = {{.name = "axes", .is_list = true, .otherwise = 0}},
          .type_rule = reduced_numbers,
          .tensor_kernel = reduce_max_kernel,
          .gradient = extreme_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({2, 2}, {1, 2, 4, 3})}, 4.0f},
                      {{tensor<float>({2, 2}, {1, 2, 4, 3})}, tensor<float>({2}, {4, 3}), {0}},
                      {{tensor<float>({2, 2}, {1, 2, 4, 3})}, tensor<float>({2}, {2, 4}), {1}}},
      },
      {
          .name = "reduce_min",
          .doc = "The smallest element along the axes, which go; without axes, of all elements. "
                 "NaN where there is one.",
          .operands = {"x"},
          .attributes = {{.name = "axes", .is_list = true, .otherwise = 0}},
          .type_rule = reduced_numbers,
          .tensor_kernel = reduce_min_kernel,
          .gradient = extreme_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({2, 2}, {1, 2, 4, 3})}, 1.0f},
                      {{tensor<float>({2, 2}, {1, 2, 4, 3})}, tensor<float>({2}, {1, 2}), {0}},
                      {{tensor<float>({2, 2}, {1, 2, 4, 3})}, tensor<float>({2}, {1, 3}), {1}}},
      },
      {
          .name = "any",
          .doc = "Whether an element along the axes, which go, is true; without axes, any element. False of "
                 "none.",
          .operands = {"x"},
          .attributes = {{.name = "axes", .is_list = true, .otherwise = 0}},
          .type_rule = reduced_truth,
          .tensor_kernel = any_kernel,
          .gradient = Gradient::none(a_truth_value),
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<bool>({2, 2}, {true, false, false, false})}, true},
                      {{tensor<bool>({2, 2}, {true, false, false, false})},
                       tensor<bool>({2}, {true, false}),
                       {0}}},
      },
      {
          .name = "all",
          .doc = "Whether all elements along the axes, which go, are true; without axes, all elements. True "
                 "of none.",
          .operands = {"x"},
          .attributes = {{.name = "axes", .is_list = true, .otherwise = 0}},
          .type_rule = reduced_truth,
          .tensor_kernel = all_kernel,
          .gradient = Gradient::none(a_truth_value),
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<bool>({2, 2}, {true, true, false, true})}, false},
                      {{tensor<bool>({2, 2}, {true, true, false, true})},
                       tensor<bool>({2}, {true, false}),
                       {1}}},
      },
      {
          .name = "logsumexp",
          .doc = "The logarithm of the sum of the exponentials along the axes, which go; without "
                 "axes, of all elements.",
          .operands = {"x"},
          .attributes = {{.name = "axes", .is_list = true, .otherwise = 0}},
          .type_rule = reduced_floats,
          .tensor_kernel = logsumexp_kernel,
          .gradient = logsumexp_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<double>({2}, {1000, 1000})}, 1000.0 + std::log(2.0)}},
      },
      {
          .name = "argmax",
          .doc = "The index along the axis, which goes, of the first largest element, or of the first "
                 "NaN.",
          .operands = {"x"},
          .attributes = {{.name = "axis", .otherwise = -1}},
          .type_rule = argmax_type,
          .tensor_kernel = argmax_kernel,
          .fails_on_elements = true,
          .gradient = Gradient::none(a_step),
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({2, 2}, {1, 2, 4, 3})}, tensor<int64_t>({2}, {1, 0}), {-1}},
                      {{tensor<float>({3}, {1, 5, 5})}, int64_t{1}, {0}}},
      },
  };
  return all;
}

}  // namespace hiaton::ops
