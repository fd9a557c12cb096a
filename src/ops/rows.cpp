// Rows of a table, chosen by number.
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "ops/family.h"
#include "ops/gradients.h"
#include "ops/order_kernels.h"
#include "ops/shapes.h"

namespace hiaton::ops {
namespace {

bool are_row_numbers(const Type& type) {
  return !type.is_data() && type.dtype == DType::I64;
}

/// What `rows` choose from a table.
Type chosen(const Type& table, const Type& rows) {
  std::vector<Dim> shape(rows.shape.begin(), rows.shape.end());
  shape.insert(shape.end(), table.shape.begin() + 1, table.shape.end());
  return Type(table.dtype, std::move(shape));
}

bool are_added_to(const Type& table, const Type& rows, const Type& values) {
  return table.is_tensor() && is_number(table.dtype) && are_row_numbers(rows) && !values.is_data() &&
         values.dtype == table.dtype && may_equal(values.shape, chosen(table, rows).shape);
}

Type gather_type(const TypeQuestion& question) {
  if (!question.operands[0].is_tensor() || !are_row_numbers(question.operands[1])) {
    refuse("a tensor and row numbers of type i64", question.operands);
  }
  return chosen(question.operands[0], question.operands[1]);
}

Type scatter_rows_type(const TypeQuestion& question) {
  const std::span<const Type> types = question.operands;
  if (are_added_to(types[2], types[1], types[0])) return types[2];
  refuse("values [.., k] of numbers, row numbers [..] of i64 and a tensor [r, k]", types);
}

Type scatter_add_type(const TypeQuestion& question) {
  const std::span<const Type> types = question.operands;
  if (are_added_to(types[0], types[1], types[2])) return types[0];
  refuse("a tensor [r, k] of numbers, row numbers [..] of i64 and values [.., k]", types);
}

/// Whether these can be the numbers of a place: one for each of the first axes of the tensor.
bool is_place_in(const Type& tensor, std::span<const Type> place) {
  return !place.empty() && tensor.shape.size() >= place.size() &&
         std::ranges::all_of(place, [](const Type& n) { return n == Type(DType::I64); });
}

/// The operands are a tensor, what is to stand in it, and numbers of a place, one for each of its first axes.
Type set_at_type(const TypeQuestion& question) {
  const Type& into = question.operands[0];
  const Type& value = question.operands[1];
  const std::span<const Type> place = question.operands.subspan(2);
  const bool fits = into.is_tensor() && is_place_in(into, place) && !value.is_data() &&
                    value.dtype == into.dtype &&
                    may_equal(value.shape, std::span(into.shape).subspan(place.size()));
  if (fits) return into;
  refuse("a tensor, what is to stand in it, and an i64 for each of the axes that this does not have",
         question.operands);
}

/// The operands are a tensor and numbers of a place, one for each of its first axes.
Type at_type(const TypeQuestion& question) {
  const Type& x = question.operands[0];
  const std::span<const Type> place = question.operands.subspan(1);
  if (!x.is_tensor() || !is_place_in(x, place)) {
    refuse("a tensor and an i64 for each of its first axes, or for all of them", question.operands);
  }
  return Type(x.dtype, std::vector<Dim>(x.shape.begin() + std::ssize(place), x.shape.end()));
}

/// The dimension of so many rows more or less. What has none to give up fails when it runs.
Dim resized(const Dim& rows, int64_t by) {
  if (!is_fixed(rows)) return unknown_dim();
  return {.size = std::max<int64_t>(0, sum_of_sizes(rows.size, by)), .symbol = ""};
}

Type append_row_type(const TypeQuestion& question) {
  const Type& x = question.operands[0];
  const Type& row = question.operands[1];
  const bool fits = x.is_tensor() && !row.is_data() && row.dtype == x.dtype &&
                    may_equal(row.shape, std::span(x.shape).subspan(1));
  if (!fits) refuse("a tensor [r, ...] and one more row [...] of it", question.operands);
  Type result = x;
  result.shape[0] = resized(x.shape[0], 1);
  for (std::size_t i = 0; i < row.shape.size(); ++i)
    result.shape[i + 1] = unify(x.shape[i + 1], row.shape[i]);
  return result;
}

Type drop_last_row_type(const TypeQuestion& question) {
  const Type& x = question.operands[0];
  if (!x.is_tensor()) refuse("a tensor", question.operands);
  Type result = x;
  result.shape[0] = resized(x.shape[0], -1);
  return result;
}

Type segment_sum_type(const TypeQuestion& question) {
  const Type& values = question.operands[0];
  const Type& segments = question.operands[1];
  const int64_t count = question.attributes[0];
  if (count < 0) throw ProgramError(fmt::format("expected a count of 0 or more, found {}", count));
  const std::size_t rank = segments.shape.size();
  const bool fits = values.is_tensor() && is_float(values.dtype) && !segments.is_data() &&
                    segments.dtype == DType::I64 && rank <= values.shape.size() &&
                    may_equal(std::span(values.shape).first(rank), segments.shape);
  if (!fits) refuse("values [.., k] of f32 or f64 and segment numbers [..] of i64", question.operands);
  std::vector<Dim> shape{{.size = count, .symbol = ""}};
  shape.insert(shape.end(), values.shape.begin() + static_cast<std::ptrdiff_t>(rank), values.shape.end());
  return Type(values.dtype, std::move(shape));
}

/// The operands are a tensor, what is added, and numbers of a place, one for each of the first axes.
Type add_at_type(const TypeQuestion& question) {
  if (!question.operands[0].is_data() && is_number(question.operands[0].dtype)) return set_at_type(question);
  refuse("a tensor of numbers, what is added to it, and an i64 for each of the axes that this does not have",
         question.operands);
}

Var gather_rule(const GradientQuestion& q, std::size_t) {
  return q.builder.op("scatter_rows", {q.gradient, q.operands[1], q.operands[0]});
}
Var gather_adding_rule(const GradientQuestion& q, Var sum) {
  return q.builder.op("scatter_add", {sum, q.operands[1], q.gradient});
}
Var scatter_rows_rule(const GradientQuestion& q, std::size_t index) {
  if (index == 2) return zeros_of(q, index);
  return q.builder.op("gather", {q.gradient, q.operands[1]});
}
Var segment_sum_rule(const GradientQuestion& q, std::size_t) {
  return q.builder.op("gather", {q.gradient, q.operands[1]});
}
Var scatter_add_rule(const GradientQuestion& q, std::size_t index) {
  return index == 0 ? q.gradient : q.builder.op("gather", {q.gradient, q.operands[1]});
}
/// An operation named `name` on these operands and the place, with the attributes of the operation asked
/// about.
Var at_place(const GradientQuestion& q, std::string_view name, std::vector<Var> operands,
             std::span<const Var> place) {
  operands.insert(operands.end(), place.begin(), place.end());
  return q.builder.op(name, operands, q.attributes);
}
Var value_rule(const GradientQuestion& q) {
  return at_place(q, "at", {q.gradient}, q.operands.subspan(2));
}
Var set_at_rule(const GradientQuestion& q, std::size_t index) {
  if (index == 1) return value_rule(q);
  return at_place(q, "set_at", {q.gradient, zeros_of(q, 1)}, q.operands.subspan(2));
}
Var add_at_rule(const GradientQuestion& q, std::size_t index) {
  return index == 0 ? q.gradient : value_rule(q);
}
Var at_rule(const GradientQuestion& q, std::size_t) {
  return at_place(q, "set_at", {zeros_of(q, 0), q.gradient}, q.operands.subspan(1));
}
Var at_adding_rule(const GradientQuestion& q, Var sum) {
  return at_place(q, "add_at", {sum, q.gradient}, q.operands.subspan(1));
}

Var last_row(const GradientQuestion& q, Var x) {
  return q.builder.op("at", {x, q.builder.constant(int64_t{-1})}, {1});
}
Var append_row_rule(const GradientQuestion& q, std::size_t index) {
  return index == 0 ? q.builder.op("drop_last_row", {q.gradient}) : last_row(q, q.gradient);
}
Var drop_last_row_rule(const GradientQuestion& q, std::size_t) {
  const Var zeros = q.builder.op("zeros_like", {last_row(q, q.operands[0])});
  return q.builder.op("append_row", {q.gradient, zeros});
}

}  // namespace

std::span<const OpDef> rows() {
  static const OpDef all[] = {
      {
          .name = "gather",
          .doc = "The rows of x with these numbers. A number that is none of its rows fails.",
          .operands = {"x", "rows"},
          .type_rule = gather_type,
          .tensor_kernel = gather_kernel,
          .fails_on_elements = true,
          .gradient = Gradient(gather_rule, gather_adding_rule),
          .fusion = Fusion::Tensor,
          .role = Role::Gather,
          .samples = {{{tensor<float>({2, 2}, {1, 2, 3, 4}), int64_t{1}}, tensor<float>({2}, {3, 4})},
                      {{tensor<float>({2, 1}, {1, 2}), tensor<int64_t>({3}, {1, 0, 1})},
                       tensor<float>({3, 1}, {2, 1, 2})},
                      {{tensor<float>({2}, {7, 8}), int64_t{0}}, 7.0f}},
      },
      {
          .name = "scatter_rows",
          .doc = "Zeros in the shape of another, with the values added to the rows with these numbers.",
          .operands = {"values", "rows", "like"},
          .type_rule = scatter_rows_type,
          .tensor_kernel = scatter_rows_kernel,
          .fails_on_elements = true,
          .gradient = scatter_rows_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({2}, {1, 2}), int64_t{1}, tensor<float>({2, 2}, {9, 9, 9, 9})},
                       tensor<float>({2, 2}, {0, 0, 1, 2})},
                      {{tensor<float>({2}, {1, 2}), tensor<int64_t>({2}, {0, 0}), tensor<float>({2}, {0, 0})},
                       tensor<float>({2}, {3, 0})}},
      },
      {
          .name = "segment_sum",
          .doc =
              "The sums of the values of each segment, of which there are `count`. A number that is none of "
              "its segments fails.",
          .operands = {"values", "segments"},
          .attributes = {{.name = "count"}},
          .type_rule = segment_sum_type,
          .tensor_kernel = scatter_rows_kernel,
          .fails_on_elements = true,
          .gradient = segment_sum_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({3, 1}, {1, 2, 4}), tensor<int64_t>({3}, {1, 0, 1})},
                       tensor<float>({2, 1}, {2, 5}),
                       {2}}},
      },
      {
          .name = "scatter_add",
          .doc = "x, with the values added to the rows with these numbers. Integers wrap around.",
          .operands = {"x", "rows", "values"},
          .type_rule = scatter_add_type,
          .tensor_kernel = scatter_add_kernel,
          .in_place = InPlace::Elements,
          .fails_on_elements = true,
          .gradient = scatter_add_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({2, 1}, {5, 6}), tensor<int64_t>({2}, {1, 1}),
                        tensor<float>({2, 1}, {1, 2})},
                       tensor<float>({2, 1}, {5, 9})},
                      {{tensor<int64_t>({2}, {5, 6}), tensor<int64_t>({3}, {1, 1, 0}),
                        tensor<int64_t>({3}, {1, 2, 4})},
                       tensor<int64_t>({2}, {9, 9})}},
      },
      {
          .name = "at",
          .doc =
              "What stands in x at the place that numbers tell, one for each of its first axes: an element "
              "where there are as many as x has axes; in programs x[i, j]. A place outside of x fails. With "
              "from_end=1, negative numbers count from the end.",
          .operands = {"x", "place..."},
          .attributes = {{.name = "from_end", .otherwise = 0}},
          .type_rule = at_type,
          .tensor_kernel = at_kernel,
          .fails_on_elements = true,
          .gradient = Gradient(at_rule, at_adding_rule),
          .fusion = Fusion::Tensor,
          .role = Role::At,
          .samples = {{{tensor<float>({2, 2}, {1, 2, 3, 4}), int64_t{1}, int64_t{0}}, 3.0f, {0}},
                      {{tensor<int64_t>({1, 2, 2}, {5, 6, 7, 8}), int64_t{0}, int64_t{1}},
                       tensor<int64_t>({2}, {7, 8}),
                       {0}},
                      {{tensor<int64_t>({3}, {5, 6, 7}), int64_t{-1}}, int64_t{7}, {1}}},
      },
      {
          .name = "set_at",
          .doc =
              "x, with the value at the place that numbers tell, one for each of its first axes; in programs "
              "x with [i, j] = value. A place outside of x fails. With from_end=1, negative numbers count "
              "from "
              "the end. Where nothing else holds x any more, it is changed in place.",
          .operands = {"x", "value", "place..."},
          .attributes = {{.name = "from_end", .otherwise = 0}},
          .type_rule = set_at_type,
          .tensor_kernel = set_at_kernel,
          .in_place = InPlace::Elements,
          .fails_on_elements = true,
          .gradient = set_at_rule,
          .fusion = Fusion::Tensor,
          .role = Role::SetAt,
          .samples = {{{tensor<float>({2, 1}, {5, 6}), tensor<float>({1}, {7}), int64_t{1}},
                       tensor<float>({2, 1}, {5, 7}),
                       {0}},
                      {{tensor<int64_t>({2, 2}, {5, 6, 7, 8}), int64_t{9}, int64_t{0}, int64_t{1}},
                       tensor<int64_t>({2, 2}, {5, 9, 7, 8}),
                       {0}}},
      },
      {
          .name = "add_at",
          .doc =
              "x, with the value added at the place that numbers tell, as in set_at. Integers wrap around. A "
              "place outside of x fails. Where nothing else holds x any more, it is changed in place.",
          .operands = {"x", "value", "place..."},
          .attributes = {{.name = "from_end", .otherwise = 0}},
          .type_rule = add_at_type,
          .tensor_kernel = add_at_kernel,
          .in_place = InPlace::Elements,
          .fails_on_elements = true,
          .gradient = add_at_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({2, 1}, {5, 6}), tensor<float>({1}, {7}), int64_t{1}},
                       tensor<float>({2, 1}, {5, 13}),
                       {0}},
                      {{tensor<int64_t>({2, 2}, {5, 6, 7, 8}), int64_t{9}, int64_t{0}, int64_t{-1}},
                       tensor<int64_t>({2, 2}, {5, 15, 7, 8}),
                       {1}}},
      },
      {
          .name = "append_row",
          .doc =
              "x with one more row behind its last one: of a tensor of rank 1, a number. Where nothing else "
              "holds x any more, it grows in place, and n rows are appended in a time in proportion to n.",
          .operands = {"x", "row"},
          .type_rule = append_row_type,
          .tensor_kernel = append_row_kernel,
          .in_place = InPlace::Length,
          .gradient = append_row_rule,
          .fusion = Fusion::Tensor,
          .role = Role::AppendRow,
          .samples = {{{tensor<int64_t>({2}, {5, 6}), int64_t{7}}, tensor<int64_t>({3}, {5, 6, 7})},
                      {{tensor<float>({0, 2}, {}), tensor<float>({2}, {1, 2})},
                       tensor<float>({1, 2}, {1, 2})}},
      },
      {
          .name = "drop_last_row",
          .doc = "x without its last row. One without rows fails. Where nothing else holds x any more, it "
                 "shrinks in place.",
          .operands = {"x"},
          .type_rule = drop_last_row_type,
          .tensor_kernel = drop_last_row_kernel,
          .in_place = InPlace::Length,
          .fails_on_elements = true,
          .gradient = drop_last_row_rule,
          .fusion = Fusion::Tensor,
          .role = Role::DropLastRow,
          .samples = {{{tensor<int64_t>({3}, {5, 6, 7})}, tensor<int64_t>({2}, {5, 6})},
                      {{tensor<float>({1, 2}, {1, 2})}, tensor<float>({0, 2}, {})}},
      },
  };
  return all;
}

}  // namespace hiaton::ops
