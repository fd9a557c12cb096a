// Tensors whose sizes are checked when the program runs: what types say of them holds from there on.
#include <fmt/format.h>

#include "ops/family.h"
#include "ops/gradients.h"
#include "ops/reshaping_kernels.h"
#include "ops/shapes.h"

namespace hiaton::ops {
namespace {

Type check_shape_type(const TypeQuestion& question) {
  Type x = question.operands[0];
  if (!x.is_tensor() || x.shape.size() != question.attributes.size()) {
    refuse(fmt::format("a tensor of {} dimensions", question.attributes.size()), question.operands);
  }
  for (std::size_t i = 0; i < x.shape.size(); ++i) {
    const int64_t wanted = question.attributes[i];
    if (wanted < 0) continue;
    const Dim dim{.size = wanted, .symbol = ""};
    if (!may_equal(x.shape[i], dim)) {
      refuse(fmt::format("{} elements along dimension {}", wanted, i), question.operands);
    }
    x.shape[i] = dim;
  }
  return x;
}

Type check_size_type(const TypeQuestion& question) {
  Type x = question.operands[0];
  const Type& like = question.operands[1];
  if (!x.is_tensor() || !like.is_tensor()) refuse("two tensors", question.operands);
  const std::size_t axis = axis_of(question.attributes[0], x.shape.size());
  const std::size_t like_axis = axis_of(question.attributes[1], like.shape.size());
  Dim& dim = x.shape[axis];
  const Dim& wanted = like.shape[like_axis];
  if (!may_equal(dim, wanted)) {
    refuse(fmt::format("{} elements along dimension {}, as many as {} has along dimension {}", wanted.size,
                       axis, to_string(like), like_axis),
           question.operands.first(1));
  }
  if (!is_fixed(dim)) dim = wanted;
  return x;
}

Type check_dimension_type(const TypeQuestion& question) {
  const Type& x = question.operands[0];
  if (!x.is_tensor() || question.operands[1] != Type(DType::I64)) {
    refuse("a tensor and an i64", question.operands);
  }
  axis_of(question.attributes[0], x.shape.size());
  return x;
}

/// How many elements that are is known only here: types do not tell.
Fault check_dimension_kernel(const KernelCall& call) {
  const TensorArgument& x = call.operands[0];
  const int64_t found = x.dims[axis_of(call.attributes[0], x.dims.size())];
  for (int64_t i = 0; i < call.batch; ++i) {
    if (*call.operands[1].at<int64_t>(i) != found) return Fault::Shape;
  }
  return copy_kernel(call);
}

Type check_rows_type(const TypeQuestion& question) {
  const Type& x = question.operands[0];
  if (!x.is_tensor()) refuse("a tensor", question.operands);
  return x;
}

Fault check_rows_kernel(const KernelCall& call) {
  return call.operands[0].dims[0] == 0 ? Fault::NoRows : copy_kernel(call);
}

struct RangeLength {
  template <class T>
  Fault operator()(T begin, T end, T& out) const {
    out = kernels::Sub{}(end, begin);
    return begin < T{0} || end < begin ? Fault::Index : Fault::None;
  }
};

struct CheckEnd {
  template <class T>
  Fault operator()(T end, T size, T& out) const {
    out = end;
    return end > size ? Fault::Index : Fault::None;
  }
};

struct CheckCount {
  static constexpr int64_t kMostElements = int64_t{1} << 36;  // half a terabyte of numbers

  template <class T>
  Fault operator()(T a, T& out) const {
    out = a;
    return a < 0 || int64_t{a} > kMostElements ? Fault::Size : Fault::None;
  }
};

Var pass_to_first(const GradientQuestion& q, std::size_t index) {
  return index == 0 ? q.gradient : q.builder.op("zeros_like", {q.operands[index]});
}

}  // namespace

std::span<const OpDef> checks() {
  static const OpDef all[] = {
      {
          .name = "check_shape",
          .doc = "x itself, which must have this shape; -1 stands for any size.",
          .operands = {"x"},
          .attributes = {{.name = "shape", .is_list = true}},
          .type_rule = check_shape_type,
          .tensor_kernel = copy_kernel,
          .gradient = pass_to_first,
          .fusion = Fusion::Tensor,
          .role = Role::Reshape,
          .samples = {{{tensor<float>({1, 2}, {1, 2})}, tensor<float>({1, 2}, {1, 2}), {-1, 2}}},
      },
      {
          .name = "check_size",
          .doc = "x itself, whose size along the axis must be that of the other along like_axis.",
          .operands = {"x", "like"},
          .attributes = {{.name = "axis"}, {.name = "like_axis"}},
          .type_rule = check_size_type,
          .tensor_kernel = copy_kernel,
          .gradient = pass_to_first,
          .fusion = Fusion::Tensor,
          .role = Role::Reshape,
          .samples = {{{tensor<float>({2}, {1, 2}), tensor<float>({1, 2}, {0, 0})},
                       tensor<float>({2}, {1, 2}),
                       {0, 1}}},
      },
      {
          .name = "check_dimension",
          .doc = "x itself, which must have so many elements along the axis as size says.",
          .operands = {"x", "size"},
          .attributes = {{.name = "axis"}},
          .type_rule = check_dimension_type,
          .tensor_kernel = check_dimension_kernel,
          .fails_on_elements = true,
          .gradient = pass_to_first,
          .fusion = Fusion::Tensor,
          .role = Role::CheckDimension,
          .samples = {{{tensor<float>({2}, {1, 2}), Value(int64_t{2})}, tensor<float>({2}, {1, 2}), {0}}},
      },
      {
          .name = "check_count",
          .doc = "n itself, which must not be negative, nor more than 2^36, as no size is.",
          .operands = {"n"},
          .type_rule = same_integer,
          .kernels =
              unary_kernels<kernels::Identity, uint8_t>() + unary_kernels<CheckCount, int32_t, int64_t>(),
          .tensor_kernel = pointwise,
          .gradient = Gradient::none(an_integer),
          .fusion = Fusion::Elementwise,
          .samples = {{{3}, 3}, {{0}, 0}},
      },
      {
          .name = "range_length",
          .doc = "How many integers there are from begin up to, but not including, end. A negative begin and "
                 "an end below the begin fail.",
          .operands = {"begin", "end"},
          .type_rule = same_integer,
          .kernels = binary_kernels<RangeLength, uint8_t, int32_t, int64_t>(),
          .tensor_kernel = pointwise,
          .gradient = Gradient::none(an_integer),
          .fusion = Fusion::Elementwise,
          .samples = {{{2, 5}, 3}, {{4, 4}, 0}},
      },
      {
          .name = "check_end",
          .doc = "end itself, the end of a range in so many elements as size says. One beyond them fails.",
          .operands = {"end", "size"},
          .type_rule = same_integer,
          .kernels = binary_kernels<CheckEnd, uint8_t, int32_t, int64_t>(),
          .tensor_kernel = pointwise,
          .gradient = Gradient::none(an_integer),
          .fusion = Fusion::Elementwise,
          .samples = {{{2, 5}, 2}, {{4, 4}, 4}},
      },
      {
          .name = "check_rows",
          .doc = "x itself, which must have at least one row.",
          .operands = {"x"},
          .type_rule = check_rows_type,
          .tensor_kernel = check_rows_kernel,
          .fails_on_elements = true,
          .gradient = pass_to_first,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<float>({2}, {1, 2})}, tensor<float>({2}, {1, 2})}},
      },
  };
  return all;
}

}  // namespace hiaton::ops
