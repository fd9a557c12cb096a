// Lines of a tensor along one axis: sums up to each place, order, and elements chosen by number.
#include <fmt/format.h>

#include "ops/family.h"
#include "ops/gradients.h"
#include "ops/order_kernels.h"
#include "ops/shapes.h"

namespace hiaton::ops {
namespace {

/// The last attribute.
std::size_t axis_in(const TypeQuestion& question, const Type& x) {
  return axis_of(question.attributes.back(), x.shape.size());
}

Type along_axis(const TypeQuestion& question) {
  const Type& x = question.operands[0];
  if (!x.is_tensor() || x.is_data()) refuse("a tensor", question.operands);
  axis_in(question, x);
  return x;
}
Type numbers_along_axis(const TypeQuestion& question) {
  const Type& x = question.operands[0];
  if (!x.is_tensor() || !is_number(x.dtype)) refuse("a tensor of numbers", question.operands);
  axis_in(question, x);
  return x;
}
Type places_along_axis(const TypeQuestion& question) {
  Type result = numbers_along_axis(question);
  result.dtype = DType::I64;
  return result;
}
Type top_k_type(const TypeQuestion& question) {
  Type result = numbers_along_axis(question);
  const int64_t k = question.attributes[0];
  Dim& dim = result.shape[axis_in(question, result)];
  if (k < 1 || (is_fixed(dim) && k > dim.size))
    refuse(fmt::format("a tensor with at least k = {} elements along the axis, k above 0", k),
           question.operands);
  dim = Dim{k, ""};
  return result;
}
Type top_k_places(const TypeQuestion& question) {
  Type result = top_k_type(question);
  result.dtype = DType::I64;
  return result;
}
Type matrices(const TypeQuestion& question) {
  const Type& x = question.operands[0];
  if (!x.is_tensor() || x.is_data() || x.shape.size() < 2)
    refuse("a tensor of two or more axes", question.operands);
  return x;
}

/// Whether indices choose from a table along an axis: of one size along all others.
bool choose_from(const Type& indices, const Type& table, std::size_t axis) {
  if (!indices.is_tensor() || indices.dtype != DType::I64 || !table.is_tensor()) return false;
  if (indices.shape.size() != table.shape.size()) return false;
  for (std::size_t i = 0; i < indices.shape.size(); ++i) {
    if (i != axis && !may_equal(indices.shape[i], table.shape[i])) return false;
  }
  return true;
}
Type take_along_axis_type(const TypeQuestion& question) {
  const Type& x = question.operands[0];
  const Type& indices = question.operands[1];
  if (!x.is_tensor() || !choose_from(indices, x, axis_in(question, x)))
    refuse("a tensor and indices of type i64 that have its sizes but along the axis", question.operands);
  Type result(x.dtype, indices.shape);
  return result;
}
Type scatter_along_axis_type(const TypeQuestion& question) {
  const Type& values = question.operands[0];
  const Type& indices = question.operands[1];
  const Type& like = question.operands[2];
  const bool fits = like.is_tensor() && is_float(like.dtype) && values.is_tensor() &&
                    values.dtype == like.dtype && choose_from(indices, like, axis_in(question, like)) &&
                    may_equal(values.shape, indices.shape);
  if (!fits) {
    refuse(
        "values and indices (i64) of one shape, and a tensor of f32 or f64 that has their sizes but along "
        "the axis",
        question.operands);
  }
  return like;
}
Type one_hot_type(const TypeQuestion& question) {
  const Type& labels = question.operands[0];
  const int64_t classes = question.attributes[0];
  if (labels.is_data() || labels.dtype != DType::I64 || classes < 1)
    refuse("labels of type i64, and at least one class", question.operands);
  Type result(DType::F32, labels.shape);
  result.shape.push_back(Dim{classes, ""});
  return result;
}

int64_t axis_of_question(const GradientQuestion& q) {
  return q.attributes[q.attributes.size() - 1];
}
Var flip(const GradientQuestion& q, Var x) {
  return q.builder.op("flip", {x}, {axis_of_question(q)});
}
/// What a place gets from those behind it.
Var cumsum_rule(const GradientQuestion& q, std::size_t) {
  return flip(q, q.builder.op("cumsum", {flip(q, q.gradient)}, {axis_of_question(q)}));
}
Var flip_rule(const GradientQuestion& q, std::size_t) {
  return flip(q, q.gradient);
}
Var tril_rule(const GradientQuestion& q, std::size_t) {
  return q.builder.op("tril", {q.gradient}, {q.attributes[0]});
}
Var triu_rule(const GradientQuestion& q, std::size_t) {
  return q.builder.op("triu", {q.gradient}, {q.attributes[0]});
}
/// To the places where the elements came from.
Var scatter_back(const GradientQuestion& q, std::string_view places) {
  const Var x = q.operands[0];
  const Var from = q.builder.op(places, {x}, {q.attributes[0], axis_of_question(q)});
  return q.builder.op("scatter_along_axis", {q.gradient, from, x}, {axis_of_question(q)});
}
Var sort_rule(const GradientQuestion& q, std::size_t) {
  return scatter_back(q, "argsort");
}
Var top_k_rule(const GradientQuestion& q, std::size_t) {
  return scatter_back(q, "top_k_indices");
}
Var take_along_axis_rule(const GradientQuestion& q, std::size_t) {
  return q.builder.op("scatter_along_axis", {q.gradient, q.operands[1], q.operands[0]},
                      {axis_of_question(q)});
}
Var scatter_along_axis_rule(const GradientQuestion& q, std::size_t index) {
  if (index == 2) return zeros_of(q, index);
  return q.builder.op("take_along_axis", {q.gradient, q.operands[1]}, {axis_of_question(q)});
}

}  // namespace

std::span<const OpDef> order() {
  static const OpDef all[] = {
      {
          .name = "cumsum",
          .doc =
              "The sum of the elements along the axis up to each, that one included. Integers wrap around.",
          .operands = {"x"},
          .attributes = {{.name = "axis", .otherwise = -1}},
          .type_rule = numbers_along_axis,
          .tensor_kernel = cumsum_kernel,
          .gradient = cumsum_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({3}, {1, 2, 3})}, tensor<float>({3}, {1, 3, 6}), {-1}},
                      {{tensor<int64_t>({2, 2}, {1, 2, 3, 4})}, tensor<int64_t>({2, 2}, {1, 2, 4, 6}), {0}}},
      },
      {
          .name = "flip",
          .doc = "The elements along the axis from the last to the first.",
          .operands = {"x"},
          .attributes = {{.name = "axis", .otherwise = -1}},
          .type_rule = along_axis,
          .tensor_kernel = flip_kernel,
          .gradient = flip_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({3}, {1, 2, 3})}, tensor<float>({3}, {3, 2, 1}), {-1}},
                      {{tensor<int64_t>({2, 2}, {1, 2, 3, 4})}, tensor<int64_t>({2, 2}, {3, 4, 1, 2}), {0}}},
      },
      {
          .name = "tril",
          .doc = "The matrices of the last two axes with zeros above the diagonal; above the one that lies "
                 "`diagonal` "
                 "places to the right, or to the left where that is negative.",
          .operands = {"x"},
          .attributes = {{.name = "diagonal", .otherwise = 0}},
          .type_rule = matrices,
          .tensor_kernel = tril_kernel,
          .gradient = tril_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({2, 2}, {1, 2, 3, 4})}, tensor<float>({2, 2}, {1, 0, 3, 4}), {0}},
                      {{tensor<float>({2, 2}, {1, 2, 3, 4})}, tensor<float>({2, 2}, {0, 0, 3, 0}), {-1}}},
      },
      {
          .name = "triu",
          .doc = "The matrices of the last two axes with zeros below the diagonal; below the one that lies "
                 "`diagonal` "
                 "places to the right, or to the left where that is negative.",
          .operands = {"x"},
          .attributes = {{.name = "diagonal", .otherwise = 0}},
          .type_rule = matrices,
          .tensor_kernel = triu_kernel,
          .gradient = triu_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({2, 2}, {1, 2, 3, 4})}, tensor<float>({2, 2}, {1, 2, 0, 4}), {0}},
                      {{tensor<float>({2, 2}, {1, 2, 3, 4})}, tensor<float>({2, 2}, {0, 2, 0, 0}), {1}}},
      },
      {
          .name = "sort",
          .doc = "The elements along the axis in ascending order, or descending (1); NaN comes last.",
          .operands = {"x"},
          .attributes = {{.name = "descending", .otherwise = 0}, {.name = "axis", .otherwise = -1}},
          .type_rule = numbers_along_axis,
          .tensor_kernel = sort_kernel,
          .gradient = sort_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({3}, {2, 3, 1})}, tensor<float>({3}, {1, 2, 3}), {0, -1}},
                      {{tensor<float>({3}, {2, 3, 1})}, tensor<float>({3}, {3, 2, 1}), {1, -1}}},
      },
      {
          .name = "argsort",
          .doc = "The indices of the elements along the axis in ascending order, or descending (1); "
                 "equal ones in the order of their indices, NaN last.",
          .operands = {"x"},
          .attributes = {{.name = "descending", .otherwise = 0}, {.name = "axis", .otherwise = -1}},
          .type_rule = places_along_axis,
          .tensor_kernel = argsort_kernel,
          .gradient = Gradient::none(a_step),
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({3}, {2, 3, 1})}, tensor<int64_t>({3}, {2, 0, 1}), {0, -1}},
                      {{tensor<float>({3}, {2, 2, 3})}, tensor<int64_t>({3}, {2, 0, 1}), {1, -1}}},
      },
      {
          .name = "top_k",
          .doc = "The k largest elements along the axis, the largest first.",
          .operands = {"x"},
          .attributes = {{.name = "k"}, {.name = "axis", .otherwise = -1}},
          .type_rule = top_k_type,
          .tensor_kernel = top_k_kernel,
          .gradient = top_k_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({3}, {2, 3, 1})}, tensor<float>({2}, {3, 2}), {2, -1}}},
      },
      {
          .name = "top_k_indices",
          .doc = "The indices along the axis of the k largest elements, the largest first; equal ones "
                 "in the order of their indices.",
          .operands = {"x"},
          .attributes = {{.name = "k"}, {.name = "axis", .otherwise = -1}},
          .type_rule = top_k_places,
          .tensor_kernel = top_k_indices_kernel,
          .gradient = Gradient::none(a_step),
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({3}, {2, 3, 1})}, tensor<int64_t>({2}, {1, 0}), {2, -1}}},
      },
      {
          .name = "take_along_axis",
          .doc = "The elements of x at these indices along the axis, each in its own line. An index "
                 "out of range fails.",
          .operands = {"x", "indices"},
          .attributes = {{.name = "axis", .otherwise = -1}},
          .type_rule = take_along_axis_type,
          .tensor_kernel = take_along_axis_kernel,
          .fails_on_elements = true,
          .gradient = take_along_axis_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({2, 2}, {1, 2, 3, 4}), tensor<int64_t>({2, 1}, {1, 0})},
                       tensor<float>({2, 1}, {2, 3}),
                       {-1}}},
      },
      {
          .name = "scatter_along_axis",
          .doc = "Zeros in the shape of another, with each value added at its index along the axis.",
          .operands = {"values", "indices", "like"},
          .attributes = {{.name = "axis", .otherwise = -1}},
          .type_rule = scatter_along_axis_type,
          .tensor_kernel = scatter_along_axis_kernel,
          .fails_on_elements = true,
          .gradient = scatter_along_axis_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({2}, {5, 6}), tensor<int64_t>({2}, {1, 1}),
                        tensor<float>({3}, {9, 9, 9})},
                       tensor<float>({3}, {0, 11, 0}),
                       {-1}}},
      },
      {
          .name = "one_hot",
          .doc = "For each label a row of so many classes in f32: 1 at the label, 0 elsewhere. A label that "
                 "is no class "
                 "fails.",
          .operands = {"labels"},
          .attributes = {{.name = "classes"}},
          .type_rule = one_hot_type,
          .tensor_kernel = one_hot_kernel,
          .fails_on_elements = true,
          .gradient = Gradient::none(a_step),
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<int64_t>({2}, {1, 0})}, tensor<float>({2, 3}, {0, 1, 0, 1, 0, 0}), {3}},
                      {{int64_t{2}}, tensor<float>({3}, {0, 0, 1}), {3}}},
      },
  };
  return all;
}

}  // namespace hiaton::ops
