// Tensors joined along an axis, and slices of them.
#include <fmt/format.h>

#include <array>
#include <optional>

#include "ops/blocks.h"
#include "ops/family.h"
#include "ops/gradients.h"
#include "ops/shapes.h"

namespace hiaton::ops {
namespace {

const Type& tensor_operand(const TypeQuestion& question) {
  refuse_data(question.operands);
  const Type& type = question.operands[0];
  if (type.is_scalar()) refuse("a tensor", question.operands);
  return type;
}

/// Fails unless they are tensors of one element type and of one shape, except along the axis.
void require_joinable(std::span<const Type> parts, std::size_t axis) {
  for (const Type& part : parts) {
    Shape shape = part.shape;
    if (shape.size() == parts[0].shape.size()) shape[axis] = parts[0].shape[axis];
    if (!part.is_data() && part.dtype == parts[0].dtype && may_equal(shape, parts[0].shape)) continue;
    refuse(fmt::format("tensors of one element type and of equal dimensions but for axis {}", axis), parts);
  }
}

Type joined(std::span<const Type> parts, int64_t axis_attribute) {
  for (const Type& part : parts) {
    if (!part.is_tensor()) refuse("tensors", parts);
  }
  const std::size_t axis = axis_of(axis_attribute, parts[0].shape.size());
  require_joinable(parts, axis);
  Type result = parts[0];
  for (const Type& part : parts.subspan(1)) {
    for (std::size_t i = 0; i < result.shape.size(); ++i) {
      Dim& dim = result.shape[i];
      if (i != axis) {
        dim = unify(dim, part.shape[i]);
      } else if (is_fixed(dim) && is_fixed(part.shape[i])) {
        dim.size = sum_of_sizes(dim.size, part.shape[i].size);
      } else {
        dim = unknown_dim();
      }
    }
  }
  return result;
}

Type concat_type(const TypeQuestion& question) {
  if (question.operands.empty()) throw ProgramError("expected at least one tensor, found none");
  return joined(question.operands, question.attributes[0]);
}

Type stack_type(const TypeQuestion& question) {
  if (question.operands.empty()) throw ProgramError("expected at least one number or tensor, found none");
  Type result = question.operands[0];
  for (const Type& part : question.operands) {
    if (part.is_data() || part.dtype != result.dtype || !may_equal(part.shape, result.shape)) {
      refuse("numbers or tensors of one type", question.operands);
    }
    for (std::size_t i = 0; i < part.shape.size(); ++i) {
      result.shape[i] = unify(result.shape[i], part.shape[i]);
    }
  }
  const std::size_t axis = axis_of(question.attributes[0], result.shape.size() + 1);
  const Dim count{.size = static_cast<int64_t>(question.operands.size()), .symbol = ""};
  result.shape.insert(result.shape.begin() + static_cast<std::ptrdiff_t>(axis), count);
  return result;
}

Type slice_type(const TypeQuestion& question) {
  Type result = tensor_operand(question);
  Dim& dim = result.shape[axis_of(question.attributes[0], result.shape.size())];
  const int64_t start = question.attributes[1];
  const int64_t length = question.attributes[2];
  if (start < 0 || length < 0 || (is_fixed(dim) && (start > dim.size || length > dim.size - start))) {
    throw ProgramError(fmt::format("expected a slice inside of {}, found start {} and length {}",
                                   to_string(question.operands[0]), start, length));
  }
  dim = {.size = length, .symbol = ""};
  return result;
}

Type take_type(const TypeQuestion& question) {
  Type result = tensor_operand(question);
  const std::size_t axis = axis_of(question.attributes[0], result.shape.size());
  const Dim& dim = result.shape[axis];
  const int64_t index = question.attributes[1];
  if (index < 0 || (is_fixed(dim) && index >= dim.size)) {
    throw ProgramError(fmt::format("expected an index inside of {} along axis {}, found {}",
                                   to_string(question.operands[0]), axis, index));
  }
  result.shape.erase(result.shape.begin() + static_cast<std::ptrdiff_t>(axis));
  return result;
}

Type slice_half_type(const TypeQuestion& question) {
  Type result = tensor_operand(question);
  Dim& dim = result.shape[axis_of(question.attributes[0], result.shape.size())];
  const int64_t index = question.attributes[1];
  if (index != 0 && index != 1) throw ProgramError(fmt::format("expected index 0 or 1, found {}", index));
  dim = is_fixed(dim) ? Dim{.size = (dim.size + index) / 2, .symbol = ""} : unknown_dim();
  return result;
}

Type pad_type(const TypeQuestion& question) {
  Type result = tensor_operand(question);
  Dim& dim = result.shape[axis_of(question.attributes[0], result.shape.size())];
  const int64_t before = question.attributes[1];
  const int64_t after = question.attributes[2];
  if (before < 0 || after < 0) {
    throw ProgramError(fmt::format("expected widths of 0 or more, found {} and {}", before, after));
  }
  const int64_t added = sum_of_sizes(before, after);
  dim = is_fixed(dim) ? Dim{.size = sum_of_sizes(dim.size, added), .symbol = ""} : unknown_dim();
  return result;
}

Type pad_like_type(const TypeQuestion& question) {
  const Type& part = tensor_operand(question);
  const Type& like = question.operands[1];
  if (!like.is_tensor() || like.dtype != part.dtype || like.shape.size() != part.shape.size()) {
    refuse("tensors of one element type and of one rank", question.operands);
  }
  const std::size_t axis = axis_of(question.attributes[0], like.shape.size());
  const int64_t start = question.attributes[1];
  for (std::size_t i = 0; i < like.shape.size(); ++i) {
    const Dim& inner = part.shape[i];
    const Dim& outer = like.shape[i];
    const bool fits = i == axis ? !is_fixed(inner) || !is_fixed(outer) || start <= outer.size - inner.size
                                : may_equal(outer, inner);
    if (!fits || start < 0) {
      refuse(fmt::format("a tensor that from {} on lies in the second along axis {}", start, axis),
             question.operands);
    }
  }
  return like;
}

Type slice_like_type(const TypeQuestion& question) {
  const Type& whole = tensor_operand(question);
  const std::array<Type, 2> part_and_whole{question.operands[1], whole};
  pad_like_type({.operands = part_and_whole, .attributes = question.attributes});
  return question.operands[1];
}

/// A tensor, and where in it something begins.
const Type& tensor_and_start(const TypeQuestion& question) {
  const Type& x = question.operands[0];
  if (!x.is_tensor() || question.operands[1] != Type(DType::I64))
    refuse("a tensor and a start of type i64", question.operands);
  return x;
}

Type slice_at_type(const TypeQuestion& question) {
  Type result = tensor_and_start(question);
  Dim& dim = result.shape[axis_of(question.attributes[0], result.shape.size())];
  const int64_t length = question.attributes[1];
  if (length < 0 || (is_fixed(dim) && length > dim.size)) {
    throw ProgramError(fmt::format("expected a length from 0 to the size of {} along the axis, found {}",
                                   to_string(question.operands[0]), length));
  }
  dim = {.size = length, .symbol = ""};
  return result;
}

/// Whether a part of this type lies somewhere along the axis in the whole.
void require_part(const Type& part, const Type& whole, int64_t axis_attribute,
                  std::span<const Type> operands) {
  bool fits = part.is_tensor() && whole.is_tensor() && part.dtype == whole.dtype &&
              part.shape.size() == whole.shape.size();
  const std::size_t axis = fits ? axis_of(axis_attribute, whole.shape.size()) : 0;
  for (std::size_t i = 0; fits && i < whole.shape.size(); ++i) {
    const Dim& inner = part.shape[i];
    const Dim& outer = whole.shape[i];
    fits = i == axis ? !is_fixed(inner) || !is_fixed(outer) || inner.size <= outer.size
                     : may_equal(inner, outer);
  }
  if (!fits) refuse("a part, a start, and a tensor in which the part lies along the axis", operands);
}

Type slice_at_like_type(const TypeQuestion& question) {
  const Type& whole = tensor_and_start(question);
  const Type& like = question.operands[2];
  require_part(like, whole, question.attributes[0], question.operands);
  return like;
}

Type pad_at_type(const TypeQuestion& question) {
  const Type& part = tensor_and_start(question);
  const Type& like = question.operands[2];
  require_part(part, like, question.attributes[0], question.operands);
  return like;
}

Type part_type(const TypeQuestion& question) {
  const Type& whole = tensor_operand(question);
  const std::span<const Type> parts = question.operands.subspan(1);
  const auto index = static_cast<std::size_t>(question.attributes[1]);
  if (question.attributes[1] < 0 || index >= parts.size()) {
    throw ProgramError(fmt::format("expected a part from 0 to {}, found {}",
                                   static_cast<int64_t>(parts.size()) - 1, question.attributes[1]));
  }
  const Type all = joined(parts, question.attributes[0]);
  if (all.dtype != whole.dtype || !may_equal(all.shape, whole.shape)) {
    refuse("a tensor and the parts that are joined to one of its type", question.operands);
  }
  return parts[index];
}

/// The axis counted from the front: what the gradient's attributes name.
int64_t front_axis(const GradientQuestion& q, const Type& type) {
  return static_cast<int64_t>(axis_of(q.attributes[0], type.shape.size()));
}

/// The number of elements along the axis in front of part `index`; none where only the run knows.
std::optional<int64_t> start_of(std::span<const Var> parts, std::size_t axis, std::size_t index) {
  int64_t start = 0;
  for (std::size_t i = 0; i <= index; ++i) {
    const Dim& dim = parts[i].type().shape[axis];
    if (!is_fixed(dim)) return std::nullopt;
    if (i < index) start += dim.size;
  }
  return start;
}

Var concat_rule(const GradientQuestion& q, std::size_t index) {
  const int64_t axis = front_axis(q, q.operands[0].type());
  const auto at = static_cast<std::size_t>(axis);
  if (const std::optional<int64_t> start = start_of(q.operands, at, index)) {
    return q.builder.op("slice", {q.gradient}, {axis, *start, q.operands[index].type().shape[at].size});
  }
  std::vector<Var> operands{q.gradient};
  operands.insert(operands.end(), q.operands.begin(), q.operands.end());
  return q.builder.op("concat_part", operands, {axis, static_cast<int64_t>(index)});
}

/// Zeros around the gradient of a slice of `whole`.
Var padded(const GradientQuestion& q, Var part, Var whole, int64_t axis, int64_t start) {
  const Dim& dim = whole.type().shape[static_cast<std::size_t>(axis)];
  const Dim& length = part.type().shape[static_cast<std::size_t>(axis)];
  if (!is_fixed(dim) || !is_fixed(length)) return q.builder.op("pad_like", {part, whole}, {axis, start});
  return q.builder.op("pad", {part}, {axis, start, dim.size - start - length.size});
}

Var slice_rule(const GradientQuestion& q, std::size_t) {
  return padded(q, q.gradient, q.operands[0], front_axis(q, q.operands[0].type()), q.attributes[1]);
}

Var pad_rule(const GradientQuestion& q, std::size_t) {
  const int64_t axis = front_axis(q, q.operands[0].type());
  const Dim& dim = q.operands[0].type().shape[static_cast<std::size_t>(axis)];
  if (is_fixed(dim)) return q.builder.op("slice", {q.gradient}, {axis, q.attributes[1], dim.size});
  return q.builder.op("slice_like", {q.gradient, q.operands[0]}, {axis, q.attributes[1]});
}

Var pad_like_rule(const GradientQuestion& q, std::size_t index) {
  if (index == 1) return zeros_of(q, index);
  return q.builder.op("slice_like", {q.gradient, q.operands[0]},
                      {front_axis(q, q.operands[0].type()), q.attributes[1]});
}

Var slice_like_rule(const GradientQuestion& q, std::size_t index) {
  if (index == 1) return zeros_of(q, index);
  return q.builder.op("pad_like", {q.gradient, q.operands[0]},
                      {front_axis(q, q.operands[0].type()), q.attributes[1]});
}

Var slice_at_rule(const GradientQuestion& q, std::size_t index) {
  if (index > 0) return zeros_of(q, index);
  return q.builder.op("pad_at", {q.gradient, q.operands[1], q.operands[0]},
                      {front_axis(q, q.operands[0].type())});
}

Var pad_at_rule(const GradientQuestion& q, std::size_t index) {
  if (index > 0) return zeros_of(q, index);
  return q.builder.op("slice_at_like", {q.gradient, q.operands[1], q.operands[0]},
                      {front_axis(q, q.operands[0].type())});
}

/// Zeros where the other parts stand.
Var part_rule(const GradientQuestion& q, std::size_t index) {
  if (index > 0) return zeros_of(q, index);
  std::vector<Var> parts;
  for (std::size_t i = 1; i < q.operands.size(); ++i) {
    const bool own = static_cast<int64_t>(i) == q.attributes[1] + 1;
    parts.push_back(own ? q.gradient : zeros_of(q, i));
  }
  return q.builder.op("concat", parts, {front_axis(q, q.operands[0].type())});
}

Var stack_rule(const GradientQuestion& q, std::size_t index) {
  return q.builder.op("take", {q.gradient}, {q.attributes[0], static_cast<int64_t>(index)});
}

Var take_rule(const GradientQuestion& q, std::size_t) {
  const int64_t axis = front_axis(q, q.operands[0].type());
  return padded(q, q.builder.op("stack", {q.gradient}, {axis}), q.operands[0], axis, q.attributes[1]);
}

/// Zeros where the other half is.
Var slice_half_rule(const GradientQuestion& q, std::size_t) {
  const int64_t axis = front_axis(q, q.operands[0].type());
  const int64_t index = q.attributes[1];
  const Var zeros =
      q.builder.op("zeros_like", {q.builder.op("slice_half", {q.operands[0]}, {axis, 1 - index})});
  return q.builder.op("concat", index == 0 ? std::vector{q.gradient, zeros} : std::vector{zeros, q.gradient},
                      {axis});
}

}  // namespace

std::span<const OpDef> joining() {
  static const OpDef all[] = {
      {
          .name = "concat",
          .doc = "Tensors joined into one along the axis, in their order.",
          .operands = {"parts..."},
          .attributes = {{.name = "axis"}},
          .type_rule = concat_type,
          .tensor_kernel = concat_kernel,
          .gradient = concat_rule,
          .fusion = Fusion::Tensor,
          .role = Role::Join,
          .samples = {{{tensor<float>({2}, {1, 2}), tensor<float>({1}, {3})},
                       tensor<float>({3}, {1, 2, 3}),
                       {0}},
                      {{tensor<float>({2, 1}, {1, 2}), tensor<float>({2, 2}, {3, 4, 5, 6})},
                       tensor<float>({2, 3}, {1, 3, 4, 2, 5, 6}),
                       {-1}}},
      },
      {
          .name = "stack",
          .doc = "Numbers or tensors of one type side by side along a new axis.",
          .operands = {"parts..."},
          .attributes = {{.name = "axis", .otherwise = 0}},
          .type_rule = stack_type,
          .tensor_kernel = concat_kernel,
          .gradient = stack_rule,
          .fusion = Fusion::Tensor,
          .role = Role::Join,
          .samples = {{{1.0f, 2.0f}, tensor<float>({2}, {1, 2}), {0}},
                      {{tensor<float>({2}, {1, 2}), tensor<float>({2}, {3, 4})},
                       tensor<float>({2, 2}, {1, 3, 2, 4}),
                       {1}}},
      },
      {
          .name = "slice",
          .doc = "The part of a tensor from start on, so long, along the axis.",
          .operands = {"x"},
          .attributes = {{.name = "axis"}, {.name = "start"}, {.name = "length"}},
          .type_rule = slice_type,
          .tensor_kernel = slice_kernel,
          .gradient = slice_rule,
          .fusion = Fusion::Tensor,
          .role = Role::Slice,
          .samples = {{{tensor<float>({4}, {1, 2, 3, 4})}, tensor<float>({2}, {2, 3}), {0, 1, 2}},
                      {{tensor<float>({2, 2}, {1, 2, 3, 4})}, tensor<float>({2, 1}, {2, 4}), {-1, 1, 1}}},
      },
      {
          .name = "slice_at",
          .doc =
              "The part of a tensor from a start on that the run tells, so long, along the axis. A part that "
              "does not lie inside fails.",
          .operands = {"x", "start"},
          .attributes = {{.name = "axis"}, {.name = "length"}},
          .type_rule = slice_at_type,
          .tensor_kernel = slice_at_kernel,
          .fails_on_elements = true,
          .gradient = slice_at_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({4}, {1, 2, 3, 4}), int64_t{1}}, tensor<float>({2}, {2, 3}), {0, 2}},
                      {{tensor<float>({2, 2}, {1, 2, 3, 4}), int64_t{1}},
                       tensor<float>({2, 1}, {2, 4}),
                       {-1, 1}}},
      },
      {
          .name = "slice_at_like",
          .doc =
              "The part of a tensor from a start on that the run tells, as long as another along the axis. A "
              "part that does not lie inside fails.",
          .operands = {"x", "start", "like"},
          .attributes = {{.name = "axis"}},
          .type_rule = slice_at_like_type,
          .tensor_kernel = slice_at_kernel,
          .fails_on_elements = true,
          .gradient = slice_at_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({3}, {1, 2, 3}), int64_t{1}, tensor<float>({2}, {7, 7})},
                       tensor<float>({2}, {2, 3}),
                       {0}}},
      },
      {
          .name = "pad_at",
          .doc =
              "Zeros in the shape of another, with a part in them from a start on that the run tells, along "
              "the axis. A part that does not lie inside fails.",
          .operands = {"part", "start", "like"},
          .attributes = {{.name = "axis"}},
          .type_rule = pad_at_type,
          .tensor_kernel = pad_at_kernel,
          .fails_on_elements = true,
          .gradient = pad_at_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({2}, {5, 6}), int64_t{1}, tensor<float>({4}, {7, 7, 7, 7})},
                       tensor<float>({4}, {0, 5, 6, 0}),
                       {0}}},
      },
      {
          .name = "take",
          .doc = "What stands at one index of an axis, without that axis.",
          .operands = {"x"},
          .attributes = {{.name = "axis"}, {.name = "index"}},
          .type_rule = take_type,
          .tensor_kernel = take_kernel,
          .gradient = take_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({2, 2}, {1, 2, 3, 4})}, tensor<float>({2}, {2, 4}), {1, 1}},
                      {{tensor<float>({2}, {1, 2})}, 2.0f, {0, 1}}},
      },
      {
          .name = "slice_half",
          .doc = "The first (index 0) or the second half of a tensor along the axis; of an odd size, the "
                 "second has one more.",
          .operands = {"x"},
          .attributes = {{.name = "axis"}, {.name = "index"}},
          .type_rule = slice_half_type,
          .tensor_kernel = slice_half_kernel,
          .gradient = slice_half_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({3}, {1, 2, 3})}, tensor<float>({2}, {2, 3}), {0, 1}},
                      {{tensor<float>({2, 2}, {1, 2, 3, 4})}, tensor<float>({2, 1}, {1, 3}), {1, 0}}},
      },
      {
          .name = "pad",
          .doc = "A tensor with so many zeros before and after it along the axis.",
          .operands = {"x"},
          .attributes = {{.name = "axis"}, {.name = "before"}, {.name = "after"}},
          .type_rule = pad_type,
          .tensor_kernel = pad_kernel,
          .gradient = pad_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({1}, {5})}, tensor<float>({4}, {0, 5, 0, 0}), {0, 1, 2}},
                      {{tensor<float>({2, 1}, {1, 2})}, tensor<float>({2, 2}, {1, 0, 2, 0}), {1, 0, 1}}},
      },
      {
          .name = "pad_like",
          .doc = "A tensor from start on along the axis, in zeros of the shape of another.",
          .operands = {"x", "like"},
          .attributes = {{.name = "axis"}, {.name = "start"}},
          .type_rule = pad_like_type,
          .tensor_kernel = pad_kernel,
          .gradient = pad_like_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({1}, {5}), tensor<float>({3}, {7, 7, 7})},
                       tensor<float>({3}, {0, 5, 0}),
                       {0, 1}}},
      },
      {
          .name = "slice_like",
          .doc = "The part of a tensor from start on along the axis, as long as another.",
          .operands = {"x", "like"},
          .attributes = {{.name = "axis"}, {.name = "start"}},
          .type_rule = slice_like_type,
          .tensor_kernel = slice_like_kernel,
          .gradient = slice_like_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({3}, {1, 2, 3}), tensor<float>({2}, {7, 7})},
                       tensor<float>({2}, {2, 3}),
                       {0, 1}}},
      },
      {
          .name = "concat_part",
          .doc = "What stands where a part does when the parts are joined along the axis.",
          .operands = {"whole", "parts..."},
          .attributes = {{.name = "axis"}, {.name = "index"}},
          .type_rule = part_type,
          .tensor_kernel = part_kernel,
          .gradient = part_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({3}, {1, 2, 3}), tensor<float>({1}, {0}), tensor<float>({2}, {0, 0})},
                       tensor<float>({2}, {2, 3}),
                       {0, 1}}},
      },
  };
  return all;
}

}  // namespace hiaton::ops
