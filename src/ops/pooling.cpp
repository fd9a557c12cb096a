// Pooling: windows of images, each reduced to one number.
#include <fmt/format.h>

#include "ops/family.h"
#include "ops/gradients.h"
#include "ops/pool2d_kernels.h"
#include "ops/shapes.h"
#include "ops/windows.h"

namespace hiaton::ops {
namespace {

/// Throws ProgramError where the attributes size, stride and padding of pooling make no sense.
void require_windows(std::span<const int64_t> attributes) {
  for (std::size_t i = 0; i < 2; ++i) {
    const int64_t size = attributes[i];
    const int64_t padding = attributes[4 + i];
    require_step("size", size, 1);
    require_step("stride", attributes[2 + i], 1);
    if (padding >= 0 && padding < size) continue;
    throw ProgramError(fmt::format(
        "expected a padding from 0 to less than the size of a window, found {} and {}", padding, size));
  }
}

Type pooled(const Type& x, std::span<const int64_t> attributes, std::span<const Type> all) {
  const bool fits = (x.shape.size() == 3 || x.shape.size() == 4) && is_float(x.dtype);
  if (!fits) refuse("images [.., k, h, w] of f32 or f64", all);
  require_windows(attributes);
  Type result = x;
  for (std::size_t i = 0; i < 2; ++i) {
    Dim& dim = result.shape[x.shape.size() - 2 + i];
    const Dim window{.size = attributes[i], .symbol = ""};
    dim = count_of_windows(dim, window, {.stride = attributes[2 + i], .padding = attributes[4 + i]});
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
  return q.builder.op(name, operands, Attributes(q.attributes.begin(), q.attributes.end()));
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

std::vector<AttributeDef> windows() {
  return {{.name = "size", .count = 2},
          {.name = "stride", .count = 2},
          {.name = "padding", .otherwise = 0, .count = 2}};
}

}  // namespace

std::span<const OpDef> pooling() {
  static const OpDef all[] = {
      {
          .name = "avg_pool2d",
          .doc = "The mean of each window of images [.., k, h, w], of size rows and columns, stride apart. "
                 "Padding counts as zeros. Attributes may differ by axis: size=[2, 3].",
          .operands = {"x"},
          .attributes = windows(),
          .type_rule = pool_type,
          .tensor_kernel = avg_pool2d_kernel,
          .gradient = avg_pool2d_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({1, 2, 4}, {1, 2, 3, 4, 5, 6, 9, 8})},
                       tensor<float>({1, 1, 2}, {3.5, 6}),
                       {2, 2, 2, 2, 0, 0}}},
      },
      {
          .name = "avg_pool2d_gradient",
          .doc = "The gradient of the images of an avg_pool2d, from the gradient g of its result.",
          .operands = {"g", "like"},
          .attributes = windows(),
          .type_rule = avg_pool2d_gradient_type,
          .tensor_kernel = avg_pool2d_gradient_kernel,
          .gradient = avg_pool2d_gradient_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({1, 1, 2}, {4, 8}), tensor<float>({1, 2, 4}, {1, 2, 3, 4, 5, 6, 9, 8})},
                       tensor<float>({1, 2, 4}, {1, 1, 2, 2, 1, 1, 2, 2}),
                       {2, 2, 2, 2, 0, 0}}},
      },
      {
          .name = "max_pool2d",
          .doc = "The largest element of each window of images [.., k, h, w], of size rows and columns, "
                 "stride apart. Padding is never taken. NaN where there is one.",
          .operands = {"x"},
          .attributes = windows(),
          .type_rule = pool_type,
          .tensor_kernel = max_pool2d_kernel,
          .gradient = max_pool2d_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({1, 2, 4}, {1, 2, 3, 4, 5, 6, 9, 8})},
                       tensor<float>({1, 1, 2}, {6, 9}),
                       {2, 2, 2, 2, 0, 0}}},
      },
      {
          .name = "take_largest2d",
          .doc = "What stands in v where x is largest, for each window of images as in max_pool2d.",
          .operands = {"x", "v"},
          .attributes = windows(),
          .type_rule = take_largest2d_type,
          .tensor_kernel = take_largest2d_kernel,
          .gradient = take_largest2d_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({1, 2, 4}, {1, 2, 3, 4, 5, 6, 9, 8}),
                        tensor<float>({1, 2, 4}, {0, 1, 2, 3, 4, 5, 6, 7})},
                       tensor<float>({1, 1, 2}, {5, 6}),
                       {2, 2, 2, 2, 0, 0}}},
      },
      {
          .name = "take_largest2d_gradient",
          .doc = "The gradient of the images of a max_pool2d, or of v of a take_largest2d, from "
                 "the gradient g of its result.",
          .operands = {"x", "g"},
          .attributes = windows(),
          .type_rule = take_largest2d_gradient_type,
          .tensor_kernel = take_largest2d_gradient_kernel,
          .gradient = take_largest2d_gradient_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({1, 2, 4}, {1, 2, 3, 4, 5, 6, 9, 8}), tensor<float>({1, 1, 2}, {3, 7})},
                       tensor<float>({1, 2, 4}, {0, 0, 0, 0, 0, 3, 7, 0}),
                       {2, 2, 2, 2, 0, 0}}},
      },
  };
  return all;
}

}  // namespace hiaton::ops
