// Elements repeated along an axis, each in its place or mirrored at the ends. A result is a list of places of
// the operand; its gradient adds up what goes back to each.
#include <fmt/format.h>

#include <vector>

#include "ops/axis_lines.h"
#include "ops/family.h"
#include "ops/gradients.h"
#include "ops/shapes.h"

namespace hiaton::ops {
namespace {

// Attributes: the axis, then those that the places depend on.

/// The size of the axis of the result.
using Size = Dim (*)(const Dim& size, std::span<const int64_t> attributes);
/// The place in a line of `length` elements that element `k` of the result is.
using Place = int64_t (*)(int64_t k, int64_t length, std::span<const int64_t> attributes);

Dim repeated_size(const Dim& size, std::span<const int64_t> attributes) {
  const int64_t times = attributes[1];
  if (times < 0) throw ProgramError(fmt::format("expected 0 times or more, found {}", times));
  if (!is_fixed(size)) return unknown_dim();
  int64_t all = 0;
  if (__builtin_mul_overflow(size.size, times, &all))
    throw ProgramError(fmt::format("expected a size that fits i64, found {} times {}", times, size.size));
  return {.size = all, .symbol = ""};
}
int64_t repeated_place(int64_t k, int64_t, std::span<const int64_t> attributes) {
  return k / attributes[1];
}

Dim mirrored_size(const Dim& size, std::span<const int64_t> attributes) {
  const int64_t before = attributes[1];
  const int64_t after = attributes[2];
  const bool fits = !is_fixed(size) || (before < size.size && after < size.size);
  if (before < 0 || after < 0 || !fits) {
    throw ProgramError(
        fmt::format("expected from 0 to less than the {} elements of the axis, found {} and {}",
                    is_fixed(size) ? fmt::to_string(size.size) : "unknown number of", before, after));
  }
  if (!is_fixed(size)) return unknown_dim();
  return {.size = size.size + before + after, .symbol = ""};
}
int64_t mirrored_place(int64_t k, int64_t length, std::span<const int64_t> attributes) {
  const int64_t place = k - attributes[1];
  if (place < 0) return -place;
  return place < length ? place : 2 * (length - 1) - place;
}

template <Size size>
Type spread(const Type& x, std::span<const int64_t> attributes) {
  Type result = x;
  Dim& dim = result.shape[axis_of(attributes[0], x.shape.size())];
  dim = size(dim, attributes);
  return result;
}

template <Size size>
Type spread_type(const TypeQuestion& question) {
  const Type& x = question.operands[0];
  if (!x.is_tensor()) refuse("a tensor", question.operands);
  return spread<size>(x, question.attributes);
}

template <Size size>
Type gathered_type(const TypeQuestion& question) {
  const Type& g = question.operands[0];
  const Type& like = question.operands[1];
  if (!like.is_tensor() || !is_float(like.dtype)) refuse("tensors of f32 or f64", question.operands);
  const Type whole = spread<size>(like, question.attributes);
  if (!g.is_tensor() || g.dtype != whole.dtype || !may_equal(g.shape, whole.shape))
    refuse(fmt::format("a gradient of type {}", to_string(whole)), question.operands);
  return like;
}

/// Calls f(line of the operand, line of the result) for all lines along the axis.
template <class T, class F>
void for_axis_lines(const KernelCall& call, F f) {
  const TensorArgument& x = call.operands[0];
  const std::size_t axis = axis_of(call.attributes[0], x.dims.size());
  const AxisLines from(x.dims, axis);
  const AxisLines to(call.result.dims, axis);
  for (int64_t i = 0; i < call.batch; ++i) {
    for (int64_t line = 0; line < from.count(); ++line)
      f(from.of<const T>(x, i, line), from.length(), to.of<T>(call.result, i, line), to.length());
  }
}

template <Place place>
Fault spread_kernel(const KernelCall& call) {
  const auto copy = [&]<class T>(T) {
    for_axis_lines<T>(call, [&](AxisLine<const T> from, int64_t length, AxisLine<T> to, int64_t count) {
      for (int64_t k = 0; k < count; ++k) to[k] = from[place(k, length, call.attributes)];
    });
  };
  switch (size_of(call.result.dtype)) {
    case 1:
      copy(uint8_t{});
      break;
    case 4:
      copy(uint32_t{});
      break;
    default:
      copy(uint64_t{});
  }
  return Fault::None;
}

template <Place place>
Fault gathered_kernel(const KernelCall& call) {
  for_float(call.result.dtype, [&]<class T>(T) {
    for_axis_lines<T>(call, [&](AxisLine<const T> from, int64_t count, AxisLine<T> to, int64_t length) {
      for (int64_t k = 0; k < length; ++k) to[k] = 0;
      for (int64_t k = 0; k < count; ++k) to[place(k, length, call.attributes)] += from[k];
    });
  });
  return Fault::None;
}

Var of_same_places(const GradientQuestion& q, std::string_view name, const std::vector<Var>& operands) {
  return q.builder.op(name, operands, Attributes(q.attributes.begin(), q.attributes.end()));
}

Var repeat_rule(const GradientQuestion& q, std::size_t) {
  return of_same_places(q, "repeat_gradient", {q.gradient, q.operands[0]});
}
Var repeat_gradient_rule(const GradientQuestion& q, std::size_t index) {
  return index == 0 ? of_same_places(q, "repeat", {q.gradient}) : zeros_of(q, index);
}
Var reflect_pad_rule(const GradientQuestion& q, std::size_t) {
  return of_same_places(q, "reflect_pad_gradient", {q.gradient, q.operands[0]});
}
Var reflect_pad_gradient_rule(const GradientQuestion& q, std::size_t index) {
  return index == 0 ? of_same_places(q, "reflect_pad", {q.gradient}) : zeros_of(q, index);
}

}  // namespace

std::span<const OpDef> repetition() {
  static const OpDef all[] = {
      {
          .name = "repeat",
          .doc = "Each element along the axis so many times, one after the other: images become larger, by "
                 "their "
                 "nearest neighbours, when both of their axes are repeated.",
          .operands = {"x"},
          .attributes = {{.name = "axis"}, {.name = "times"}},
          .type_rule = spread_type<repeated_size>,
          .tensor_kernel = spread_kernel<repeated_place>,
          .gradient = repeat_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({2}, {1, 2})}, tensor<float>({4}, {1, 1, 2, 2}), {0, 2}},
                      {{tensor<int64_t>({2, 2}, {1, 2, 3, 4})},
                       tensor<int64_t>({4, 2}, {1, 2, 1, 2, 3, 4, 3, 4}),
                       {0, 2}}},
      },
      {
          .name = "repeat_gradient",
          .doc = "The gradient of the operand of a repeat, from the gradient g of its result.",
          .operands = {"g", "like"},
          .attributes = {{.name = "axis"}, {.name = "times"}},
          .type_rule = gathered_type<repeated_size>,
          .tensor_kernel = gathered_kernel<repeated_place>,
          .gradient = repeat_gradient_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({4}, {1, 2, 4, 8}), tensor<float>({2}, {0, 0})},
                       tensor<float>({2}, {3, 12}),
                       {0, 2}}},
      },
      {
          .name = "reflect_pad",
          .doc = "x, and so many of its elements before and after it along the axis, mirrored at its first "
                 "and its "
                 "last element, which are not repeated.",
          .operands = {"x"},
          .attributes = {{.name = "axis"}, {.name = "before"}, {.name = "after"}},
          .type_rule = spread_type<mirrored_size>,
          .tensor_kernel = spread_kernel<mirrored_place>,
          .gradient = reflect_pad_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({3}, {1, 2, 3})}, tensor<float>({6}, {3, 2, 1, 2, 3, 2}), {0, 2, 1}}},
      },
      {
          .name = "reflect_pad_gradient",
          .doc = "The gradient of the operand of a reflect_pad, from the gradient g of its result.",
          .operands = {"g", "like"},
          .attributes = {{.name = "axis"}, {.name = "before"}, {.name = "after"}},
          .type_rule = gathered_type<mirrored_size>,
          .tensor_kernel = gathered_kernel<mirrored_place>,
          .gradient = reflect_pad_gradient_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({6}, {1, 2, 4, 8, 16, 32}), tensor<float>({3}, {0, 0, 0})},
                       tensor<float>({3}, {4, 42, 17}),
                       {0, 2, 1}}},
      },
  };
  return all;
}

}  // namespace hiaton::ops
