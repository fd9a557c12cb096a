// Normalisation: a tensor brought to mean 0 and variance 1 along some of its axes. The three that models name
// differ in these axes, and in the axis whose places have a gain and a bias each, the channels.
#include <fmt/format.h>

#include "kernels/reduce.h"
#include "ops/family.h"
#include "ops/gradients.h"
#include "ops/reduction.h"
#include "ops/shapes.h"

namespace hiaton::ops {
namespace {

/// Which axes of a tensor are normalised together, and which one has the channels.
struct Normalized {
  std::vector<int64_t> axes;
  std::size_t channel;
};

struct Form {
  std::size_t least_rank, most_rank;
  std::string_view text;
};

// What each of them is: its form, its axes, and what normalises, scales and shifts one instance.

struct Layers {
  static constexpr Form kForm{1, kMaxRank, "x [.., k]"};
  static Normalized normalized(std::size_t rank) { return {{static_cast<int64_t>(rank) - 1}, rank - 1}; }
  template <class T>
  static void run(std::span<const int64_t> dims, const T* x, T epsilon, const T* gain, const T* bias,
                  T* out) {
    const int64_t rows = product(dims.first(dims.size() - 1));
    kernels::normalize_rows(rows, dims.back(), x, epsilon, gain, bias, out);
  }
};

struct Batches {
  static constexpr Form kForm{2, kMaxRank, "x [n, k, ..]"};
  static Normalized normalized(std::size_t rank) {
    Normalized all{{0}, 1};
    for (std::size_t i = 2; i < rank; ++i) all.axes.push_back(static_cast<int64_t>(i));
    return all;
  }
  template <class T>
  static void run(std::span<const int64_t> dims, const T* x, T epsilon, const T* gain, const T* bias,
                  T* out) {
    const int64_t size = product(dims.subspan(2));
    if (size > 1) return kernels::normalize_channels(dims[0], dims[1], size, x, epsilon, gain, bias, out);
    kernels::normalize({.outer = 1, .axis = dims[0], .inner = dims[1]}, x, epsilon, out);
    for (int64_t i = 0; i < dims[0]; ++i, out += dims[1]) {
      for (int64_t c = 0; c < dims[1]; ++c) out[c] = out[c] * gain[c] + bias[c];
    }
  }
};

struct Instances {
  static constexpr Form kForm{3, 4, "x [.., k, h, w]"};
  static Normalized normalized(std::size_t rank) {
    const auto last = static_cast<int64_t>(rank) - 1;
    return {{last - 1, last}, rank - 3};
  }
  template <class T>
  static void run(std::span<const int64_t> dims, const T* x, T epsilon, const T* gain, const T* bias,
                  T* out) {
    const std::size_t channel = dims.size() - 3;
    const int64_t images = product(dims.first(channel));
    const int64_t channels = dims[channel];
    const int64_t size = product(dims.last(2));
    for (int64_t i = 0; i < images; ++i, x += channels * size, out += channels * size)
      kernels::normalize_channels(1, channels, size, x, epsilon, gain, bias, out);
  }
};

// Types.

bool is_epsilon(const Type& epsilon, const Type& x) {
  return epsilon.is_scalar() && epsilon.dtype == x.dtype;
}

Type normalize_type(const TypeQuestion& question) {
  const Type& x = question.operands[0];
  if (!x.is_tensor() || !is_float(x.dtype) || !is_epsilon(question.operands[1], x))
    refuse("a tensor of f32 or f64 and an epsilon of its element type", question.operands);
  axes_of(question.attributes, x.shape.size());
  return x;
}

template <class Kind>
Type scaled_type(const TypeQuestion& question) {
  const Type& x = question.operands[0];
  const Form& form = Kind::kForm;
  const auto fits = [&](const Type& each) {
    return each.dtype == x.dtype && each.shape.size() == 1 && !each.is_data() &&
           may_equal(each.shape[0], x.shape[Kind::normalized(x.shape.size()).channel]);
  };
  const bool right = x.is_tensor() && is_float(x.dtype) && x.shape.size() >= form.least_rank &&
                     x.shape.size() <= form.most_rank && fits(question.operands[1]) &&
                     fits(question.operands[2]) && is_epsilon(question.operands[3], x);
  if (!right) {
    refuse(fmt::format("{}, gain [k], bias [k] and an epsilon, all of f32 or all of f64", form.text),
           question.operands);
  }
  return x;
}

// Kernels.

template <class T>
void normalize_all(const KernelCall& call) {
  const TensorArgument& x = call.operands[0];
  Reduced reduced = arrange(x.dims, axes_of(call.attributes, x.dims.size()));
  const auto epsilon_of = [&](int64_t i) { return *call.operands[1].at<T>(i); };
  if (reduced.permuted_dims.empty()) {
    const bool at_once = is_dense(call, x) && (call.operands[1].stride == 0 || call.batch == 1);
    if (at_once) reduced.layout.outer *= call.batch;
    for (int64_t i = 0; i < (at_once ? 1 : call.batch); ++i)
      kernels::normalize(reduced.layout, x.at<T>(i), epsilon_of(i), call.result.at<T>(i));
    return;
  }
  std::vector<T> arranged(static_cast<std::size_t>(x.size()));
  std::vector<T> normalized(arranged.size());
  for (int64_t i = 0; i < call.batch; ++i) {
    permute(reduced, x.dtype, bytes_at(x, i), reinterpret_cast<std::byte*>(arranged.data()));
    kernels::normalize(reduced.layout, arranged.data(), epsilon_of(i), normalized.data());
    permute_back(reduced, x.dtype, reinterpret_cast<const std::byte*>(normalized.data()),
                 bytes_at(call.result, i));
  }
}

Fault normalize_kernel(const KernelCall& call) {
  for_float(call.result.dtype, [&]<class T>(T) { normalize_all<T>(call); });
  return Fault::None;
}

template <class Kind>
Fault scaled_kernel(const KernelCall& call) {
  for_float(call.result.dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < call.batch; ++i) {
      Kind::template run<T>(call.result.dims, call.operands[0].at<T>(i), *call.operands[3].at<T>(i),
                            call.operands[1].at<T>(i), call.operands[2].at<T>(i), call.result.at<T>(i));
    }
  });
  return Fault::None;
}

// Gradients.

/// What of a normalised tensor y = (x - mean) s, with s = 1 / sqrt(variance + epsilon), gradients are made
/// of.
struct Parts {
  Var mean_along(Var of) const { return along(builder.op("mean", {of}, axes)); }
  Var along(Var reduced) const { return builder.op("expand_like", {reduced, x}, axes); }
  /// s, for each element.
  Var scale() const {
    const Var difference = x - mean_along(x);
    return along(builder.op("rsqrt", {builder.op("mean", {square(difference)}, axes) + epsilon}));
  }
  /// The gradient of x, from that of y.
  Var of_x(Var g) const { return scale() * (g - mean_along(g) - y * mean_along(g * y)); }
  Var of_epsilon(Var g) const {
    const Var s = scale();
    return -0.5 * builder.op("sum", {g * y * s * s}, std::vector<int64_t>());
  }

  FunctionBuilder& builder;
  Var x, epsilon, y;
  std::vector<int64_t> axes;
};

Var normalize_rule(const GradientQuestion& q, std::size_t index) {
  const Parts parts{
      q.builder, q.operands[0], q.operands[1], q.result, {q.attributes.begin(), q.attributes.end()}};
  return index == 0 ? parts.of_x(q.gradient) : parts.of_epsilon(q.gradient);
}

/// y gain + bias.
template <class Kind>
Var scaled_rule(const GradientQuestion& q, std::size_t index) {
  const Var x = q.operands[0];
  const std::size_t rank = x.type().shape.size();
  const Normalized normalized = Kind::normalized(rank);
  std::vector<int64_t> others;  // the axes but that of the channels
  for (std::size_t i = 0; i < rank; ++i) {
    if (i != normalized.channel) others.push_back(static_cast<int64_t>(i));
  }
  const auto of_channels = [&](Var each) {
    return others.empty() ? each : q.builder.op("sum", {each}, others);
  };
  if (index == 2) return of_channels(q.gradient);
  const Var y = q.builder.op("normalize", {x, q.operands[3]}, normalized.axes);
  if (index == 1) return of_channels(q.gradient * y);
  const Var gain = others.empty() ? q.operands[1] : q.builder.op("expand_like", {q.operands[1], x}, others);
  const Parts parts{q.builder, x, q.operands[3], y, normalized.axes};
  return index == 0 ? parts.of_x(q.gradient * gain) : parts.of_epsilon(q.gradient * gain);
}

/// A normalised tensor, scaled and shifted by channel.
template <class Kind>
OpDef scaled(std::string_view name, std::string_view doc, const Sample& sample) {
  return {
      .name = name,
      .doc = doc,
      .operands = {"x", "gain", "bias", "epsilon"},
      .type_rule = scaled_type<Kind>,
      .tensor_kernel = scaled_kernel<Kind>,
      .gradient = scaled_rule<Kind>,
      .fusion = Fusion::Tensor,
      .samples = {sample},
  };
}

}  // namespace

std::span<const OpDef> normalization() {
  static const OpDef all[] = {
      {
          .name = "normalize",
          .doc =
              "(x - mean) / sqrt(variance + epsilon), with the mean and the variance along the axes; without "
              "axes, of all elements.",
          .operands = {"x", "epsilon"},
          .attributes = {{.name = "axes", .is_list = true, .otherwise = 0}},
          .type_rule = normalize_type,
          .tensor_kernel = normalize_kernel,
          .gradient = normalize_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<double>({3}, {-2, 0, 2}), 4.0 / 3.0}, tensor<double>({3}, {-1, 0, 1})},
                      {{tensor<double>({2, 2}, {1, 3, 5, 9}), 0.0},
                       tensor<double>({2, 2}, {-1, 1, -1, 1}),
                       {1}}},
      },
      scaled<Layers>("layer_norm", "x [.., k] normalised along its last axis, times gain [k], plus bias [k].",
                     {{tensor<double>({2, 2}, {1, 3, 5, 9}), tensor<double>({2}, {1, 2}),
                       tensor<double>({2}, {0, 10}), 0.0},
                      tensor<double>({2, 2}, {-1, 12, -1, 12})}),
      scaled<Batches>(
          "batch_norm",
          "x [n, k, ..] normalised for each of its k channels, over all examples and places, times gain [k], "
          "plus bias [k]. The mean and the variance are those of x.",
          {{tensor<double>({2, 2}, {1, 5, 3, 9}), tensor<double>({2}, {1, 2}), tensor<double>({2}, {0, 10}),
            0.0},
           tensor<double>({2, 2}, {-1, 8, 1, 12})}),
      scaled<Instances>(
          "instance_norm",
          "Images x [.., k, h, w], each channel of each normalised by itself, times gain [k], plus bias [k].",
          {{tensor<double>({2, 1, 2}, {1, 3, 5, 9}), tensor<double>({2}, {1, 2}),
            tensor<double>({2}, {0, 10}), 0.0},
           tensor<double>({2, 1, 2}, {-1, 1, 8, 12})}),
  };
  return all;
}

}  // namespace hiaton::ops
