// Convolutions along one axis and along two. The gradients of a convolution are convolutions of the other two
// kinds; a transposed one is the gradient of the images, as an operation of its own.
#include <fmt/format.h>

#include "ops/convolution_kernels.h"
#include "ops/family.h"
#include "ops/gradients.h"
#include "ops/shapes.h"
#include "ops/windows.h"

namespace hiaton::ops {
namespace {

/// The attributes of a convolution along so many axes.
template <std::size_t axes>
struct Geometry {
  explicit Geometry(std::span<const int64_t> attributes) : all(attributes) {
    for (std::size_t i = 0; i < axes; ++i) {
      require_step("stride", all[i], 1);
      require_step("padding", all[axes + i], 0);
      require_step("dilation", all[2 * axes + i], 1);
    }
    require_step("number of groups", groups(), 1);
  }

  Steps steps(std::size_t axis) const { return {all[axis], all[axes + axis], all[2 * axes + axis]}; }
  int64_t groups() const { return all[3 * axes]; }
  /// Further elements at the end of the axis of a transposed convolution's result.
  int64_t output_padding(std::size_t axis) const { return all[3 * axes + 1 + axis]; }

  std::span<const int64_t> all;
};

template <std::size_t axes>
std::string forms() {
  return fmt::format("images [.., k, {0}] and filters [o, k / groups, {1}] of f32 or f64, the same for both",
                     axes == 1 ? "n" : "h, w", axes == 1 ? "u" : "u, v");
}

template <std::size_t axes>
bool are_images(const Type& type) {
  const std::size_t rank = type.shape.size();
  return (rank == axes + 1 || rank == axes + 2) && is_float(type.dtype);
}

bool is_multiple(const Dim& dim, int64_t of) {
  return !is_fixed(dim) || dim.size % of == 0;
}

/// So many times as large.
Dim times(const Dim& dim, int64_t factor) {
  if (factor == 1 || !is_fixed(dim)) return factor == 1 ? dim : unknown_dim();
  return {.size = dim.size * factor, .symbol = ""};
}

/// Whether these may be images and filters, but for how many channels there are.
template <std::size_t axes>
bool fit(const Type& x, const Type& w) {
  return are_images<axes>(x) && w.is_tensor() && w.shape.size() == axes + 2 && w.dtype == x.dtype;
}

/// The result of a convolution.
template <std::size_t axes>
Type convolved(const Type& x, const Type& w, const TypeQuestion& question) {
  const Geometry<axes> geometry(question.attributes);
  const int64_t groups = geometry.groups();
  const bool fits = fit<axes>(x, w) && may_equal(from_end(x, axes + 1), times(w.shape[1], groups)) &&
                    is_multiple(w.shape[0], groups);
  if (!fits) refuse(forms<axes>(), question.operands);
  Type result = x;
  const std::size_t first = x.shape.size() - axes;
  result.shape[first - 1] = w.shape[0];
  for (std::size_t i = 0; i < axes; ++i)
    result.shape[first + i] = count_of_windows(x.shape[first + i], w.shape[2 + i], geometry.steps(i));
  return result;
}

template <std::size_t axes>
Type convolution_type(const TypeQuestion& question) {
  return convolved<axes>(question.operands[0], question.operands[1], question);
}

/// The result's gradient, and the two that were convolved.
template <std::size_t axes>
void require_gradient(const Type& g, const Type& x, const Type& w, const TypeQuestion& question) {
  const Type y = convolved<axes>(x, w, question);
  if (g.dtype != y.dtype || g.is_data() || !may_equal(g.shape, y.shape)) {
    refuse(fmt::format("a gradient of type {}", to_string(y)), question.operands);
  }
}

template <std::size_t axes>
Type input_gradient_type(const TypeQuestion& question) {
  require_gradient<axes>(question.operands[0], question.operands[2], question.operands[1], question);
  return question.operands[2];
}

template <std::size_t axes>
Type filter_gradient_type(const TypeQuestion& question) {
  require_gradient<axes>(question.operands[0], question.operands[1], question.operands[2], question);
  return question.operands[2];
}

/// The size of images whose convolution is as large as `size`.
Dim unwound(const Dim& size, const Dim& window, const Steps& steps, int64_t output_padding) {
  const Dim reached = reach(window, steps);
  if (!is_fixed(size) || !is_fixed(reached)) return unknown_dim();
  const int64_t before = (size.size - 1) * steps.stride + reached.size + output_padding;
  if (size.size < 1 || window.size < 1 || before <= 2 * steps.padding) {
    throw ProgramError(fmt::format("expected an image of 1 element or more, found {} and padding of {}",
                                   before, steps.padding));
  }
  return {.size = before - 2 * steps.padding, .symbol = ""};
}

template <std::size_t axes>
Type transposed_type(const TypeQuestion& question) {
  const Type& x = question.operands[0];
  const Type& w = question.operands[1];
  const Geometry<axes> geometry(question.attributes);
  const bool fits = fit<axes>(x, w) && may_equal(from_end(x, axes + 1), w.shape[0]) &&
                    is_multiple(w.shape[0], geometry.groups());
  if (!fits) {
    refuse(
        fmt::format("images [.., o, {0}] and filters [o, k / groups, {1}] of f32 or f64, the same for both",
                    axes == 1 ? "n" : "h, w", axes == 1 ? "u" : "u, v"),
        question.operands);
  }
  Type result = x;
  const std::size_t first = x.shape.size() - axes;
  result.shape[first - 1] = times(w.shape[1], geometry.groups());
  for (std::size_t i = 0; i < axes; ++i) {
    const Steps steps = geometry.steps(i);
    const int64_t more = geometry.output_padding(i);
    if (more < 0 || more >= steps.stride) {
      throw ProgramError(fmt::format(
          "expected an output_padding from 0 to less than the stride, found {} and {}", more, steps.stride));
    }
    result.shape[first + i] = unwound(x.shape[first + i], w.shape[2 + i], steps, more);
  }
  return result;
}

// Gradients.

template <std::size_t axes>
constexpr std::string_view kForward = axes == 1 ? "conv1d" : "conv2d";
template <std::size_t axes>
constexpr std::string_view kInputGradient = axes == 1 ? "conv1d_input_gradient" : "conv2d_input_gradient";
template <std::size_t axes>
constexpr std::string_view kFilterGradient = axes == 1 ? "conv1d_filter_gradient" : "conv2d_filter_gradient";

/// An operation with the attributes of the one whose gradient it is part of.
template <std::size_t axes>
Var of_same_windows(const GradientQuestion& q, std::string_view name, const std::vector<Var>& operands) {
  const auto windows = q.attributes.first(3 * axes + 1);
  return q.builder.op(name, operands, Attributes(windows.begin(), windows.end()));
}

template <std::size_t axes>
Var convolution_rule(const GradientQuestion& q, std::size_t index) {
  const Var x = q.operands[0];
  const Var w = q.operands[1];
  return index == 0 ? of_same_windows<axes>(q, kInputGradient<axes>, {q.gradient, w, x})
                    : of_same_windows<axes>(q, kFilterGradient<axes>, {q.gradient, x, w});
}

template <std::size_t axes>
Var input_gradient_rule(const GradientQuestion& q, std::size_t index) {
  const Var g = q.operands[0];
  const Var w = q.operands[1];
  if (index == 0) return of_same_windows<axes>(q, kForward<axes>, {q.gradient, w});
  if (index == 1) return of_same_windows<axes>(q, kFilterGradient<axes>, {g, q.gradient, w});
  return zeros_of(q, index);
}

template <std::size_t axes>
Var filter_gradient_rule(const GradientQuestion& q, std::size_t index) {
  const Var g = q.operands[0];
  const Var x = q.operands[1];
  if (index == 0) return of_same_windows<axes>(q, kForward<axes>, {x, q.gradient});
  if (index == 1) return of_same_windows<axes>(q, kInputGradient<axes>, {g, q.gradient, x});
  return zeros_of(q, index);
}

template <std::size_t axes>
Var transposed_rule(const GradientQuestion& q, std::size_t index) {
  const Var x = q.operands[0];
  const Var w = q.operands[1];
  return index == 0 ? of_same_windows<axes>(q, kForward<axes>, {q.gradient, w})
                    : of_same_windows<axes>(q, kFilterGradient<axes>, {x, q.gradient, w});
}

std::vector<AttributeDef> windows_of(std::size_t axes) {
  return {{.name = "stride", .otherwise = 1, .count = axes},
          {.name = "padding", .otherwise = 0, .count = axes},
          {.name = "dilation", .otherwise = 1, .count = axes},
          {.name = "groups", .otherwise = 1}};
}

std::vector<AttributeDef> transposed_windows_of(std::size_t axes) {
  std::vector<AttributeDef> all = windows_of(axes);
  all.push_back({.name = "output_padding", .otherwise = 0, .count = axes});
  return all;
}

}  // namespace

std::span<const OpDef> convolution() {
  static const OpDef all[] = {
      {
          .name = "conv1d",
          .doc =
              "The convolution of lines [.., k, n] with filters [o, k / groups, u]: each output adds up the "
              "products of a filter and the window it lies on. Windows are stride apart, over lines with so "
              "many zeros on each side; elements of a window are dilation apart. With groups, each output "
              "sees the channels of its group alone.",
          .operands = {"x", "w"},
          .attributes = windows_of(1),
          .type_rule = convolution_type<1>,
          .tensor_kernel = convolution_kernel<1>,
          .gradient = convolution_rule<1>,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({1, 3}, {1, 2, 3}), tensor<float>({1, 1, 2}, {1, 10})},
                       tensor<float>({1, 2}, {21, 32}),
                       {1, 0, 1, 1}},
                      {{tensor<float>({1, 3}, {1, 2, 3}), tensor<float>({1, 1, 2}, {1, 10})},
                       tensor<float>({1, 3}, {20, 31, 2}),
                       {1, 1, 2, 1}}},
      },
      {
          .name = "conv1d_input_gradient",
          .doc = "The gradient of the lines of a conv1d, from the gradient g of its result.",
          .operands = {"g", "w", "like"},
          .attributes = windows_of(1),
          .type_rule = input_gradient_type<1>,
          .tensor_kernel = convolution_input_gradient_kernel<1>,
          .gradient = input_gradient_rule<1>,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({1, 2}, {1, 0}), tensor<float>({1, 1, 2}, {1, 10}),
                        tensor<float>({1, 3}, {0, 0, 0})},
                       tensor<float>({1, 3}, {1, 10, 0}),
                       {1, 0, 1, 1}}},
      },
      {
          .name = "conv1d_filter_gradient",
          .doc = "The gradient of the filters of a conv1d, from the gradient g of its result.",
          .operands = {"g", "x", "like"},
          .attributes = windows_of(1),
          .type_rule = filter_gradient_type<1>,
          .tensor_kernel = convolution_filter_gradient_kernel<1>,
          .gradient = filter_gradient_rule<1>,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({1, 2}, {1, 0}), tensor<float>({1, 3}, {1, 2, 3}),
                        tensor<float>({1, 1, 2}, {1, 10})},
                       tensor<float>({1, 1, 2}, {1, 2}),
                       {1, 0, 1, 1}}},
      },
      {
          .name = "conv_transpose1d",
          .doc =
              "The transposed convolution of lines [.., o, n] with filters [o, k / groups, u]: each element "
              "of x adds its multiple of a filter to a window of the result, which output_padding makes "
              "longer at its end. A conv1d of the result with the same filters has the shape of x.",
          .operands = {"x", "w"},
          .attributes = transposed_windows_of(1),
          .type_rule = transposed_type<1>,
          .tensor_kernel = convolution_input_gradient_kernel<1>,
          .gradient = transposed_rule<1>,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({1, 2}, {1, 2}), tensor<float>({1, 1, 2}, {1, 10})},
                       tensor<float>({1, 5}, {1, 10, 2, 20, 0}),
                       {2, 0, 1, 1, 1}}},
      },
      {
          .name = "conv2d",
          .doc =
              "The convolution of images [.., k, h, w] with filters [o, k / groups, u, v]: each output adds "
              "up the products of a filter and the window it lies on. Windows are stride apart, over images "
              "with so many zeros on each side; elements of a window are dilation apart. With groups, each "
              "output sees the channels of its group alone. Attributes may differ by axis: stride=[2, 1].",
          .operands = {"x", "w"},
          .attributes = windows_of(2),
          .type_rule = convolution_type<2>,
          .tensor_kernel = convolution_kernel<2>,
          .gradient = convolution_rule<2>,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({1, 2, 3}, {1, 2, 3, 4, 5, 6}), tensor<float>({1, 1, 1, 2}, {1, 10})},
                       tensor<float>({1, 2, 2}, {21, 32, 54, 65}),
                       {1, 1, 0, 0, 1, 1, 1}},
                      {{tensor<float>({2, 1, 2}, {1, 2, 3, 4}), tensor<float>({2, 1, 1, 1}, {1, 10})},
                       tensor<float>({2, 1, 2}, {1, 2, 30, 40}),
                       {1, 1, 0, 0, 1, 1, 2}}},
      },
      {
          .name = "conv2d_input_gradient",
          .doc = "The gradient of the images of a conv2d, from the gradient g of its result.",
          .operands = {"g", "w", "like"},
          .attributes = windows_of(2),
          .type_rule = input_gradient_type<2>,
          .tensor_kernel = convolution_input_gradient_kernel<2>,
          .gradient = input_gradient_rule<2>,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({1, 2, 2}, {1, 0, 0, 0}), tensor<float>({1, 1, 1, 2}, {1, 10}),
                        tensor<float>({1, 2, 3}, {0, 0, 0, 0, 0, 0})},
                       tensor<float>({1, 2, 3}, {1, 10, 0, 0, 0, 0}),
                       {1, 1, 0, 0, 1, 1, 1}}},
      },
      {
          .name = "conv2d_filter_gradient",
          .doc = "The gradient of the filters of a conv2d, from the gradient g of its result.",
          .operands = {"g", "x", "like"},
          .attributes = windows_of(2),
          .type_rule = filter_gradient_type<2>,
          .tensor_kernel = convolution_filter_gradient_kernel<2>,
          .gradient = filter_gradient_rule<2>,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({1, 2, 2}, {1, 0, 0, 0}), tensor<float>({1, 2, 3}, {1, 2, 3, 4, 5, 6}),
                        tensor<float>({1, 1, 1, 2}, {1, 10})},
                       tensor<float>({1, 1, 1, 2}, {1, 2}),
                       {1, 1, 0, 0, 1, 1, 1}}},
      },
      {
          .name = "conv_transpose2d",
          .doc =
              "The transposed convolution of images [.., o, h, w] with filters [o, k / groups, u, v]: each "
              "element of x adds its multiple of a filter to a window of the result, which output_padding "
              "makes larger at its lower and right edge. A conv2d of the result with the same filters has "
              "the shape of x.",
          .operands = {"x", "w"},
          .attributes = transposed_windows_of(2),
          .type_rule = transposed_type<2>,
          .tensor_kernel = convolution_input_gradient_kernel<2>,
          .gradient = transposed_rule<2>,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({1, 1, 2}, {1, 2}), tensor<float>({1, 1, 1, 2}, {1, 10})},
                       tensor<float>({1, 1, 4}, {1, 10, 2, 20}),
                       {1, 2, 0, 0, 1, 1, 1, 0, 0}}},
      },
  };
  return all;
}

}  // namespace hiaton::ops
