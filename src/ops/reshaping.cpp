// Tensors of another shape: filled, repeated, summed up and put in another order.
#include <fmt/format.h>

#include "ops/family.h"
#include "ops/gradients.h"
#include "ops/reshaping_kernels.h"
#include "ops/shapes.h"

namespace hiaton::ops {

using namespace kernels;

namespace {

constexpr std::string_view a_size = "the result depends on the shape alone";

Type same_as_operand(const TypeQuestion& question) {
  refuse_data(question.operands);
  return question.operands[0];
}

void require_one_element_type(const TypeQuestion& question) {
  refuse_data(question.operands);
  if (question.operands[0].dtype != question.operands[1].dtype) {
    refuse("values of one element type", question.operands);
  }
}

/// Whether broadcasting makes `from` into `to`.
bool stretches(const Type& from, std::span<const Dim> to) {
  if (from.shape.size() > to.size()) return false;
  const std::size_t skipped = to.size() - from.shape.size();
  for (std::size_t i = 0; i < from.shape.size(); ++i) {
    if (from.shape[i].size != 1 && !may_equal(from.shape[i], to[skipped + i])) return false;
  }
  return true;
}

Type iota_type(const TypeQuestion& question) {
  const Type& like = question.operands[0];
  if (!like.is_tensor()) refuse("a tensor", question.operands);
  axis_of(question.attributes[0], like.shape.size());
  return Type(DType::I64, like.shape);
}

Type sum_like_type(const TypeQuestion& question) {
  require_one_element_type(question);
  const Type& x = question.operands[0];
  const Type& like = question.operands[1];
  if (!is_number(x.dtype) || !stretches(like, x.shape)) {
    refuse("numbers and a shape that broadcasting makes into theirs", question.operands);
  }
  return like;
}

Type broadcast_like_type(const TypeQuestion& question) {
  require_one_element_type(question);
  const Type& like = question.operands[1];
  if (!stretches(question.operands[0], like.shape)) {
    refuse("a shape that broadcasting makes into the second", question.operands);
  }
  return like;
}

Type broadcast_to_type(const TypeQuestion& question) {
  refuse_data(question.operands);
  const Type& x = question.operands[0];
  Type result(x.dtype, shape_of(question.attributes));
  if (!stretches(x, result.shape)) {
    refuse(fmt::format("a shape that broadcasting makes into [{}]", fmt::join(question.attributes, ", ")),
           question.operands);
  }
  return result;
}

Type expand_like_type(const TypeQuestion& question) {
  require_one_element_type(question);
  const Type& x = question.operands[0];
  const Type& like = question.operands[1];
  if (like.is_scalar() && !question.attributes.empty()) refuse("a tensor as the second", question.operands);
  const std::vector<bool> chosen = axes_of(question.attributes, like.shape.size());
  std::vector<Dim> kept;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (!chosen[i]) kept.push_back(like.shape[i]);
  }
  if (!may_equal(x.shape, kept)) refuse("the shape of the second without the axes", question.operands);
  return like;
}

Type reshape_type(const TypeQuestion& question) {
  refuse_data(question.operands);
  const Type& x = question.operands[0];
  std::vector<int64_t> sizes(question.attributes.begin(), question.attributes.end());
  const auto open = std::find(sizes.begin(), sizes.end(), -1);
  if (open == sizes.end()) {
    Type result(x.dtype, shape_of(sizes));
    if (is_fixed(x.shape) && size_of(x.shape) != size_of(result.shape)) {
      refuse(fmt::format("{} elements", size_of(result.shape)), question.operands);
    }
    return result;
  }
  *open = 1;
  const int64_t rest = size_of(shape_of(sizes));
  if (rest == 0) throw ProgramError("expected no 0 beside the size that is left open (-1)");
  Type result(x.dtype, shape_of(sizes));
  Dim& dim = result.shape[static_cast<std::size_t>(open - sizes.begin())];
  if (!is_fixed(x.shape)) {
    dim = unknown_dim();
  } else if (size_of(x.shape) % rest != 0) {
    refuse(fmt::format("a multiple of {} elements", rest), question.operands);
  } else {
    dim.size = size_of(x.shape) / rest;
  }
  return result;
}

Type reshape_like_type(const TypeQuestion& question) {
  require_one_element_type(question);
  const Type& x = question.operands[0];
  const Type& like = question.operands[1];
  if (is_fixed(x.shape) && is_fixed(like.shape) && size_of(x.shape) != size_of(like.shape)) {
    refuse("equally many elements", question.operands);
  }
  return like;
}

Type transpose_type(const TypeQuestion& question) {
  refuse_data(question.operands);
  const Type& x = question.operands[0];
  if (x.is_scalar()) refuse("a tensor", question.operands);
  Type result(x.dtype);
  for (std::size_t axis : permutation_of(question.attributes, x.shape.size())) {
    result.shape.push_back(x.shape[axis]);
  }
  return result;
}

Type size_type(const TypeQuestion& question) {
  const Type& x = question.operands[0];
  if (!x.is_tensor()) refuse("a tensor", question.operands);
  axis_of(question.attributes[0], x.shape.size());
  return DType::I64;
}

/// The operation on the gradient and the operand.
Var on_gradient_and_operand(const GradientQuestion& q, std::string_view name) {
  return apply(q, name, {q.gradient, first(q)});
}
std::vector<int64_t> list(std::span<const int64_t> attributes) {
  return {attributes.begin(), attributes.end()};
}

Var sum_like_rule(const GradientQuestion& q, std::size_t index) {
  return index == 0 ? on_gradient_and_operand(q, "broadcast_like") : zeros_of(q, index);
}
Var broadcast_rule(const GradientQuestion& q, std::size_t index) {
  return index == 0 ? on_gradient_and_operand(q, "sum_like") : zeros_of(q, index);
}
Var expand_like_rule(const GradientQuestion& q, std::size_t index) {
  if (index == 1) return zeros_of(q, index);
  if (q.gradient.type() == q.operands[0].type()) return q.gradient;
  return q.builder.op("sum", {q.gradient}, list(q.attributes));
}
Var reshape_rule(const GradientQuestion& q, std::size_t index) {
  if (index == 1) return zeros_of(q, index);
  const Type& type = q.operands[0].type();
  if (!is_fixed(type.shape)) return on_gradient_and_operand(q, "reshape_like");
  return q.builder.op("reshape", {q.gradient}, sizes_of(type.shape));
}
Var transpose_rule(const GradientQuestion& q, std::size_t) {
  const std::vector<std::size_t> from = permutation_of(q.attributes, q.operands[0].type().shape.size());
  std::vector<int64_t> back(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) back[from[i]] = static_cast<int64_t>(i);
  return q.builder.op("transpose", {q.gradient}, back);
}

}  // namespace

std::span<const OpDef> reshaping() {
  static const OpDef all[] = {
      {
          .name = "zeros_like",
          .doc = "Zeros in the shape of the operand.",
          .operands = {"x"},
          .type_rule = same_as_operand,
          .kernels = unary_kernels<Zero, bool, uint8_t, int32_t, int64_t, float, double>(),
          .tensor_kernel = zeros_kernel,
          .gradient = Gradient::none(a_size),
          .fusion = Fusion::Elementwise,
          .samples = {{{tensor<float>({2}, {1, 2})}, tensor<float>({2}, {0, 0})}, {{3.5}, 0.0}},
      },
      {
          .name = "ones_like",
          .doc = "Ones in the shape of the operand.",
          .operands = {"x"},
          .type_rule = same_as_operand,
          .kernels = unary_kernels<One, bool, uint8_t, int32_t, int64_t, float, double>(),
          .tensor_kernel = ones_kernel,
          .gradient = Gradient::none(a_size),
          .fusion = Fusion::Elementwise,
          .samples = {{{tensor<float>({2}, {3, 2})}, tensor<float>({2}, {1, 1})}, {{3.5}, 1.0}},
      },
      {
          .name = "iota_like",
          .doc = "The index of each element of a tensor along the axis, as i64.",
          .operands = {"like"},
          .attributes = {{.name = "axis", .otherwise = 0}},
          .type_rule = iota_type,
          .tensor_kernel = iota_kernel,
          .gradient = Gradient::none(a_size),
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({3}, {7, 7, 7})}, tensor<int64_t>({3}, {0, 1, 2}), {0}},
                      {{tensor<float>({2, 2}, {7, 7, 7, 7})}, tensor<int64_t>({2, 2}, {0, 1, 0, 1}), {-1}}},
      },
      {
          .name = "sum_like",
          .doc = "x, summed up over what broadcasting the other to its shape would repeat. Integers wrap "
                 "around.",
          .operands = {"x", "like"},
          .type_rule = sum_like_type,
          .kernels = binary_kernels<First, uint8_t, int32_t, int64_t, float, double>(),
          .tensor_kernel = sum_like_kernel,
          .gradient = sum_like_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({2, 2}, {1, 2, 3, 4}), tensor<float>({2}, {0, 0})},
                       tensor<float>({2}, {4, 6})},
                      {{tensor<float>({2, 2}, {1, 2, 3, 4}), 0.0f}, 10.0f},
                      {{tensor<float>({2, 2}, {1, 2, 3, 4}), tensor<float>({2, 1}, {0, 0})},
                       tensor<float>({2, 1}, {3, 7})},
                      {{2.5, 1.0}, 2.5}},
      },
      {
          .name = "broadcast_like",
          .doc = "x, stretched to the shape of another, as in elementwise operations.",
          .operands = {"x", "like"},
          .type_rule = broadcast_like_type,
          .kernels = binary_kernels<First, bool, uint8_t, int32_t, int64_t, float, double>(),
          .tensor_kernel = broadcast_kernel,
          .gradient = broadcast_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({2}, {1, 2}), tensor<float>({2, 2}, {0, 0, 0, 0})},
                       tensor<float>({2, 2}, {1, 2, 1, 2})},
                      {{2.5f, tensor<float>({2}, {0, 0})}, tensor<float>({2}, {2.5, 2.5})}},
      },
      {
          .name = "broadcast_to",
          .doc = "x, stretched to the shape, as in elementwise operations.",
          .operands = {"x"},
          .attributes = {{.name = "shape", .is_list = true}},
          .type_rule = broadcast_to_type,
          .kernels = unary_kernels<Identity, bool, uint8_t, int32_t, int64_t, float, double>(),
          .tensor_kernel = broadcast_kernel,
          .gradient = broadcast_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({2, 1}, {1, 2})}, tensor<float>({2, 2}, {1, 1, 2, 2}), {2, 2}},
                      {{2.5f}, tensor<float>({2}, {2.5, 2.5}), {2}}},
      },
      {
          .name = "expand_like",
          .doc = "x, repeated along axes that it lacks until it has the shape of another; without "
                 "axes, a number along all of them.",
          .operands = {"x", "like"},
          .attributes = {{.name = "axes", .is_list = true, .otherwise = 0}},
          .type_rule = expand_like_type,
          .kernels = binary_kernels<First, bool, uint8_t, int32_t, int64_t, float, double>(),
          .tensor_kernel = expand_kernel,
          .gradient = expand_like_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({2}, {1, 2}), tensor<float>({2, 2}, {0, 0, 0, 0})},
                       tensor<float>({2, 2}, {1, 1, 2, 2}),
                       {1}},
                      {{2.5f, tensor<float>({2}, {0, 0})}, tensor<float>({2}, {2.5, 2.5})}},
      },
      {
          .name = "reshape",
          .doc =
              "The elements of x in their order, in another shape; one size may be -1, for all that is left.",
          .operands = {"x"},
          .attributes = {{.name = "shape", .is_list = true}},
          .type_rule = reshape_type,
          .kernels = unary_kernels<Identity, bool, uint8_t, int32_t, int64_t, float, double>(),
          .tensor_kernel = copy_kernel,
          .gradient = reshape_rule,
          .fusion = Fusion::Tensor,
          .role = Role::Reshape,
          .samples = {{{tensor<float>({4}, {1, 2, 3, 4})}, tensor<float>({2, 2}, {1, 2, 3, 4}), {2, -1}},
                      {{tensor<float>({1}, {5})}, 5.0f}},
      },
      {
          .name = "reshape_like",
          .doc = "The elements of x in their order, in the shape of another.",
          .operands = {"x", "like"},
          .type_rule = reshape_like_type,
          .kernels = binary_kernels<First, bool, uint8_t, int32_t, int64_t, float, double>(),
          .tensor_kernel = copy_kernel,
          .gradient = reshape_rule,
          .fusion = Fusion::Tensor,
          .role = Role::Reshape,
          .samples = {{{tensor<float>({4}, {1, 2, 3, 4}), tensor<float>({2, 2}, {0, 0, 0, 0})},
                       tensor<float>({2, 2}, {1, 2, 3, 4})}},
      },
      {
          .name = "transpose",
          .doc = "The axes in another order: axis i of the result is axis permutation[i] of x. "
                 "Without a permutation, in reverse order.",
          .operands = {"x"},
          .attributes = {{.name = "permutation", .is_list = true, .otherwise = 0}},
          .type_rule = transpose_type,
          .tensor_kernel = transpose_kernel,
          .gradient = transpose_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({2, 2}, {1, 2, 3, 4})}, tensor<float>({2, 2}, {1, 3, 2, 4})},
                      {{tensor<float>({1, 2, 2}, {1, 2, 3, 4})},
                       tensor<float>({1, 2, 2}, {1, 3, 2, 4}),
                       {0, 2, 1}}},
      },
      {
          .name = "size",
          .doc = "The size of a tensor along the axis.",
          .operands = {"x"},
          .attributes = {{.name = "axis", .otherwise = 0}},
          .type_rule = size_type,
          .tensor_kernel = size_kernel,
          .gradient = Gradient::none(a_size),
          .fusion = Fusion::Tensor,
          .role = Role::Size,
          .samples = {{{tensor<float>({1, 2}, {1, 2})}, int64_t{2}, {-1}}},
      },
  };
  return all;
}

}  // namespace hiaton::ops
