// Images: convolutions and pooling. The gradients of a convolution are convolutions of the other two kinds.
#include <fmt/format.h>

#include "ops/family.h"
#include "ops/gradients.h"
#include "ops/images_kernels.h"
#include "ops/shapes.h"

namespace hiaton::ops {
namespace {

bool are_images(const Type& type) {
  return (type.shape.size() == 3 || type.shape.size() == 4) && is_float(type.dtype);
}

const Dim& from_end(const Type& type, std::size_t place) {
  return type.shape[type.shape.size() - place];
}

/// How many places a window has along a dimension.
Dim places(const Dim& size, const Dim& window, int64_t stride, int64_t padding) {
  if (!is_fixed(size) || !is_fixed(window)) return unknown_dim();
  if (window.size < 1 || window.size - padding > size.size + padding) {
    throw ProgramError(
        fmt::format("expected a window of 1 to {}, found {}", size.size + 2 * padding, window.size));
  }
  return {.size = (size.size + 2 * padding - window.size) / stride + 1, .symbol = ""};
}

/// Larger ones make no sense, and their sums stay far from overflow.
constexpr int64_t kMostStep = int64_t{1} << 30;

void require_step(std::string_view name, int64_t value, int64_t least) {
  if (value >= least && value <= kMostStep) return;
  throw ProgramError(fmt::format("expected a {} from {} to {}, found {}", name, least, kMostStep, value));
}

constexpr std::string_view kConvolutionForms =
    "images [.., k, h, w] and filters [o, k, u, v] of f32 or f64, the same for both";

/// The result of a convolution.
Type convolved(const Type& x, const Type& w, std::span<const int64_t> attributes, std::span<const Type> all) {
  if (!are_images(x) || w.shape.size() != 4 || w.dtype != x.dtype || !may_equal(from_end(x, 3), w.shape[1])) {
    refuse(kConvolutionForms, all);
  }
  require_step("stride", attributes[0], 1);
  require_step("padding", attributes[1], 0);
  Type result = x;
  const std::size_t rank = x.shape.size();
  result.shape[rank - 3] = w.shape[0];
  for (std::size_t i : {0u, 1u}) {
    result.shape[rank - 2 + i] = places(x.shape[rank - 2 + i], w.shape[2 + i], attributes[0], attributes[1]);
  }
  return result;
}

Type conv2d_type(const TypeQuestion& question) {
  return convolved(question.operands[0], question.operands[1], question.attributes, question.operands);
}

/// The result's gradient, and the two that were convolved.
void require_gradient(const Type& g, const Type& x, const Type& w, const TypeQuestion& question) {
  const Type y = convolved(x, w, question.attributes, question.operands);
  if (g.dtype != y.dtype || g.is_data() || !may_equal(g.shape, y.shape)) {
    refuse(fmt::format("a gradient of type {}", to_string(y)), question.operands);
  }
}

Type conv2d_input_gradient_type(const TypeQuestion& question) {
  require_gradient(question.operands[0], question.operands[2], question.operands[1], question);
  return question.operands[2];
}

Type conv2d_filter_gradient_type(const TypeQuestion& question) {
  require_gradient(question.operands[0], question.operands[1], question.operands[2], question);
  return question.operands[2];
}

Type pooled(const Type& x, std::span<const int64_t> attributes, std::span<const Type> all) {
  if (!are_images(x)) refuse("images [.., k, h, w] of f32 or f64", all);
  require_step("size", attributes[0], 1);
  require_step("stride", attributes[1], 1);
  Type result = x;
  const Dim window{.size = attributes[0], .symbol = ""};
  for (std::size_t i = x.shape.size() - 2; i < x.shape.size(); ++i) {
    result.shape[i] = places(x.shape[i], window, attributes[1], 0);
  }
  return result;
}

Type pool_type(const TypeQuestion& question) {
  return pooled(question.operands[0], question.attributes, question.operands);
}

Type avg_pool2d_gradient_type(const TypeQuestion& question) {
  const Type y = pooled(question.operands[1], question.attributes, question.operands);
  const Type& g = question.operands[0];
  if (g.is_data() || g.dtype != y.dtype || !may_equal(g.shape, y.shape)) {
    refuse(fmt::format("a gradient of type {}", to_string(y)), question.operands);
  }
  return question.operands[1];
}

Type take_largest2d_type(const TypeQuestion& question) {
  const Type& x = question.operands[0];
  const Type& v = question.operands[1];
  if (v.is_data() || v.dtype != x.dtype || !may_equal(v.shape, x.shape)) {
    refuse("images of one type", question.operands);
  }
  return pool_type(question);
}

Type take_largest2d_gradient_type(const TypeQuestion& question) {
  const Type y = pool_type(question);
  const Type& g = question.operands[1];
  if (g.is_data() || g.dtype != y.dtype || !may_equal(g.shape, y.shape)) {
    refuse(fmt::format("a gradient of type {}", to_string(y)), question.operands);
  }
  return question.operands[0];
}

/// An operation with the attributes of the one whose gradient it is part of.
Var with_attributes(const GradientQuestion& q, std::string_view name, const std::vector<Var>& operands) {
  return q.builder.op(name, operands, {q.attributes[0], q.attributes[1]});
}

Var conv2d_rule(const GradientQuestion& q, std::size_t index) {
  const Var x = q.operands[0];
  const Var w = q.operands[1];
  return index == 0 ? with_attributes(q, "conv2d_input_gradient", {q.gradient, w, x})
                    : with_attributes(q, "conv2d_filter_gradient", {q.gradient, x, w});
}
Var conv2d_input_gradient_rule(const GradientQuestion& q, std::size_t index) {
  const Var g = q.operands[0];
  const Var w = q.operands[1];
  if (index == 0) return with_attributes(q, "conv2d", {q.gradient, w});
  if (index == 1) return with_attributes(q, "conv2d_filter_gradient", {g, q.gradient, w});
  return zeros_of(q, index);
}
Var conv2d_filter_gradient_rule(const GradientQuestion& q, std::size_t index) {
  const Var g = q.operands[0];
  const Var x = q.operands[1];
  if (index == 0) return with_attributes(q, "conv2d", {x, q.gradient});
  if (index == 1) return with_attributes(q, "conv2d_input_gradient", {g, q.gradient, x});
  return zeros_of(q, index);
}

Var avg_pool2d_rule(const GradientQuestion& q, std::size_t) {
  return with_attributes(q, "avg_pool2d_gradient", {q.gradient, q.operands[0]});
}
Var avg_pool2d_gradient_rule(const GradientQuestion& q, std::size_t index) {
  return index == 0 ? with_attributes(q, "avg_pool2d", {q.gradient}) : zeros_of(q, index);
}
Var max_pool2d_rule(const GradientQuestion& q, std::size_t) {
  return with_attributes(q, "take_largest2d_gradient", {q.operands[0], q.gradient});
}
Var take_largest2d_rule(const GradientQuestion& q, std::size_t index) {
  return index == 1 ? with_attributes(q, "take_largest2d_gradient", {q.operands[0], q.gradient})
                    : zeros_of(q, index);
}
Var take_largest2d_gradient_rule(const GradientQuestion& q, std::size_t index) {
  return index == 1 ? with_attributes(q, "take_largest2d", {q.operands[0], q.gradient}) : zeros_of(q, index);
}

}  // namespace

std::span<const OpDef> images() {
  static const OpDef all[] = {
      {
          .name = "conv2d",
          .doc = "The convolution of images [.., k, h, w] with filters [o, k, u, v]: each output "
                 "adds up the products of a filter and the window it lies on. Windows are stride "
                 "apart, over images with so many zeros on each side.",
          .operands = {"x", "w"},
          .attributes = {{.name = "stride", .otherwise = 1}, {.name = "padding", .otherwise = 0}},
          .type_rule = conv2d_type,
          .tensor_kernel = conv2d_kernel,
          .gradient = conv2d_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({1, 2, 3}, {1, 2, 3, 4, 5, 6}), tensor<float>({1, 1, 1, 2}, {1, 10})},
                       tensor<float>({1, 2, 2}, {21, 32, 54, 65}),
                       {1, 0}}},
      },
      {
          .name = "conv2d_input_gradient",
          .doc = "The gradient of the images of a conv2d, from the gradient g of its result.",
          .operands = {"g", "w", "like"},
          .attributes = {{.name = "stride", .otherwise = 1}, {.name = "padding", .otherwise = 0}},
          .type_rule = conv2d_input_gradient_type,
          .tensor_kernel = conv2d_input_gradient_kernel,
          .gradient = conv2d_input_gradient_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({1, 2, 2}, {1, 0, 0, 0}), tensor<float>({1, 1, 1, 2}, {1, 10}),
                        tensor<float>({1, 2, 3}, {0, 0, 0, 0, 0, 0})},
                       tensor<float>({1, 2, 3}, {1, 10, 0, 0, 0, 0}),
                       {1, 0}}},
      },
      {
          .name = "conv2d_filter_gradient",
          .doc = "The gradient of the filters of a conv2d, from the gradient g of its result.",
          .operands = {"g", "x", "like"},
          .attributes = {{.name = "stride", .otherwise = 1}, {.name = "padding", .otherwise = 0}},
          .type_rule = conv2d_filter_gradient_type,
          .tensor_kernel = conv2d_filter_gradient_kernel,
          .gradient = conv2d_filter_gradient_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({1, 2, 2}, {1, 0, 0, 0}), tensor<float>({1, 2, 3}, {1, 2, 3, 4, 5, 6}),
                        tensor<float>({1, 1, 1, 2}, {1, 10})},
                       tensor<float>({1, 1, 1, 2}, {1, 2}),
                       {1, 0}}},
      },
      {
          .name = "avg_pool2d",
          .doc = "The mean of each window of images [.., k, h, w], size by size and stride apart.",
          .operands = {"x"},
          .attributes = {{.name = "size"}, {.name = "stride"}},
          .type_rule = pool_type,
          .tensor_kernel = avg_pool2d_kernel,
          .gradient = avg_pool2d_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({1, 2, 4}, {1, 2, 3, 4, 5, 6, 9, 8})},
                       tensor<float>({1, 1, 2}, {3.5, 6}),
                       {2, 2}}},
      },
      {
          .name = "avg_pool2d_gradient",
          .doc = "The gradient of the images of an avg_pool2d, from the gradient g of its result.",
          .operands = {"g", "like"},
          .attributes = {{.name = "size"}, {.name = "stride"}},
          .type_rule = avg_pool2d_gradient_type,
          .tensor_kernel = avg_pool2d_gradient_kernel,
          .gradient = avg_pool2d_gradient_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({1, 1, 2}, {4, 8}), tensor<float>({1, 2, 4}, {1, 2, 3, 4, 5, 6, 9, 8})},
                       tensor<float>({1, 2, 4}, {1, 1, 2, 2, 1, 1, 2, 2}),
                       {2, 2}}},
      },
      {
          .name = "max_pool2d",
          .doc = "The largest element of each window of images [.., k, h, w], size by size and "
                 "stride apart. NaN where there is one.",
          .operands = {"x"},
          .attributes = {{.name = "size"}, {.name = "stride"}},
          .type_rule = pool_type,
          .tensor_kernel = max_pool2d_kernel,
          .gradient = max_pool2d_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({1, 2, 4}, {1, 2, 3, 4, 5, 6, 9, 8})},
                       tensor<float>({1, 1, 2}, {6, 9}),
                       {2, 2}}},
      },
      {
          .name = "take_largest2d",
          .doc = "What stands in v where x is largest, for each window of images as in max_pool2d.",
          .operands = {"x", "v"},
          .attributes = {{.name = "size"}, {.name = "stride"}},
          .type_rule = take_largest2d_type,
          .tensor_kernel = take_largest2d_kernel,
          .gradient = take_largest2d_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({1, 2, 4}, {1, 2, 3, 4, 5, 6, 9, 8}),
                        tensor<float>({1, 2, 4}, {0, 1, 2, 3, 4, 5, 6, 7})},
                       tensor<float>({1, 1, 2}, {5, 6}),
                       {2, 2}}},
      },
      {
          .name = "take_largest2d_gradient",
          .doc = "The gradient of the images of a max_pool2d, or of v of a take_largest2d, from "
                 "the gradient g of its result.",
          .operands = {"x", "g"},
          .attributes = {{.name = "size"}, {.name = "stride"}},
          .type_rule = take_largest2d_gradient_type,
          .tensor_kernel = take_largest2d_gradient_kernel,
          .gradient = take_largest2d_gradient_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({1, 2, 4}, {1, 2, 3, 4, 5, 6, 9, 8}), tensor<float>({1, 1, 2}, {3, 7})},
                       tensor<float>({1, 2, 4}, {0, 0, 0, 0, 0, 3, 7, 0}),
                       {2, 2}}},
      },
  };
  return all;
}

}  // namespace hiaton::ops
