#include "ops/order_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "kernels/scalar.h"
#include "ops/axis_lines.h"
#include "ops/instances.h"
#include "ops/shapes.h"

namespace hiaton::ops {
namespace {

std::size_t last_attribute_axis(const KernelCall& call, const TensorArgument& argument) {
  return axis_of(call.attributes[call.attributes.size() - 1], argument.dims.size());
}

/// Calls f(line of x, line of the result) for each of them. T: of the elements of x, Out: of the result's.
template <class T, class Out, class F>
void for_lines(const KernelCall& call, F f) {
  const TensorArgument& x = call.operands[0];
  const std::size_t axis = last_attribute_axis(call, x);
  const AxisLines from(x.dims, axis);
  const AxisLines to(call.result.dims, axis);
  for (int64_t i = 0; i < call.batch; ++i) {
    for (int64_t line = 0; line < from.count(); ++line)
      f(from.of<T>(x, i, line), to.of<Out>(call.result, i, line));
  }
}

/// Whether a comes before b; NaN comes last in either order.
template <class T>
bool comes_before(T a, T b, bool descending) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return !std::isnan(a);
  }
  return descending ? b < a : a < b;
}

/// The places of the first `wanted` elements of a line in order; equal ones in the order of their places.
template <class T>
void order(AxisLine<const T> line, int64_t length, int64_t wanted, bool descending,
           std::vector<int64_t>& places) {
  places.resize(static_cast<std::size_t>(length));
  std::iota(places.begin(), places.end(), int64_t{0});
  const auto before = [&](int64_t a, int64_t b) {
    if (comes_before(line[a], line[b], descending)) return true;
    return !comes_before(line[b], line[a], descending) && a < b;
  };
  if (wanted == length) {
    std::sort(places.begin(), places.end(), before);
  } else {
    std::partial_sort(places.begin(), places.begin() + wanted, places.end(), before);
  }
}

/// The elements in order, or, where Out is no element type of x, their places.
template <bool gives_places>
Fault ordered(const KernelCall& call, bool descending) {
  const TensorArgument& x = call.operands[0];
  const std::size_t axis = last_attribute_axis(call, x);
  const int64_t length = x.dims[axis];
  const int64_t wanted = call.result.dims[axis];
  std::vector<int64_t> places;
  for_number(x.dtype, [&]<class T>(T) {
    using Out = std::conditional_t<gives_places, int64_t, T>;
    for_lines<const T, Out>(call, [&](AxisLine<const T> from, AxisLine<Out> to) {
      order(from, length, wanted, descending, places);
      for (int64_t k = 0; k < wanted; ++k) {
        const int64_t place = places[static_cast<std::size_t>(k)];
        if constexpr (gives_places) {
          to[k] = place;
        } else {
          to[k] = from[place];
        }
      }
    });
  });
  return Fault::None;
}

/// Sets what lies above the diagonal (or below it) to zero.
Fault triangle(const KernelCall& call, bool lower) {
  const TensorArgument& x = call.operands[0];
  const int64_t rows = x.dims[x.dims.size() - 2];
  const int64_t columns = x.dims.back();
  const auto width = static_cast<int64_t>(size_of(x.dtype));
  const int64_t diagonal = std::clamp(call.attributes[0], -rows, columns);
  const int64_t matrices = x.size() / std::max<int64_t>(rows * columns, 1);
  for (int64_t i = 0; i < call.batch; ++i) {
    std::copy_n(bytes_at(x, i), bytes_of(x), bytes_at(call.result, i));
    for (int64_t row = 0; row < matrices * rows; ++row) {
      const int64_t edge = row % std::max<int64_t>(rows, 1) + diagonal + (lower ? 1 : 0);
      const int64_t cut = std::clamp<int64_t>(edge, 0, columns);
      std::byte* begin = bytes_at(call.result, i) + row * columns * width;
      std::fill(begin + (lower ? cut * width : 0), begin + (lower ? columns : cut) * width, std::byte{0});
    }
  }
  return Fault::None;
}

/// Calls f(k, place) for the k-th element of a line of indices, as long as the places lie below `length`.
template <class F>
Fault for_places(AxisLine<const int64_t> indices, int64_t count, int64_t length, F f) {
  for (int64_t k = 0; k < count; ++k) {
    const int64_t place = indices[k];
    if (place < 0 || place >= length) return Fault::Index;
    f(k, place);
  }
  return Fault::None;
}

/// Calls f(number of the instance, number of the line, k, place) for all elements of the indices, operand 1,
/// which name places along the axis of the tensor `table`.
template <class F>
Fault for_indices(const KernelCall& call, const TensorArgument& table, F f) {
  const TensorArgument& indices = call.operands[1];
  const std::size_t axis = last_attribute_axis(call, indices);
  const AxisLines lines(indices.dims, axis);
  for (int64_t i = 0; i < call.batch; ++i) {
    for (int64_t line = 0; line < lines.count(); ++line) {
      const Fault fault =
          for_places(lines.of<const int64_t>(indices, i, line), lines.length(), table.dims[axis],
                     [&](int64_t k, int64_t place) { f(i, line, k, place); });
      if (fault != Fault::None) return fault;
    }
  }
  return Fault::None;
}

}  // namespace

Fault cumsum_kernel(const KernelCall& call) {
  const int64_t length = call.result.dims[last_attribute_axis(call, call.result)];
  for_number(call.result.dtype, [&]<class T>(T) {
    for_lines<const T, T>(call, [&](AxisLine<const T> from, AxisLine<T> to) {
      T sum{0};
      for (int64_t k = 0; k < length; ++k) to[k] = sum = kernels::Add{}(sum, from[k]);
    });
  });
  return Fault::None;
}

Fault flip_kernel(const KernelCall& call) {
  const TensorArgument& x = call.operands[0];
  const AxisLines lines(x.dims, last_attribute_axis(call, x));
  const int64_t bytes = lines.inner() * static_cast<int64_t>(size_of(x.dtype));
  for (int64_t i = 0; i < call.batch; ++i) {
    for (int64_t o = 0; o < lines.outer(); ++o) {
      const std::byte* from = bytes_at(x, i) + o * lines.length() * bytes;
      std::byte* to = bytes_at(call.result, i) + (o + 1) * lines.length() * bytes;
      for (int64_t k = 0; k < lines.length(); ++k) std::copy_n(from + k * bytes, bytes, to - (k + 1) * bytes);
    }
  }
  return Fault::None;
}

Fault tril_kernel(const KernelCall& call) {
  return triangle(call, true);
}

Fault triu_kernel(const KernelCall& call) {
  return triangle(call, false);
}

Fault sort_kernel(const KernelCall& call) {
  return ordered<false>(call, call.attributes[0] != 0);
}

Fault argsort_kernel(const KernelCall& call) {
  return ordered<true>(call, call.attributes[0] != 0);
}

Fault top_k_kernel(const KernelCall& call) {
  return ordered<false>(call, true);
}

Fault top_k_indices_kernel(const KernelCall& call) {
  return ordered<true>(call, true);
}

Fault take_along_axis_kernel(const KernelCall& call) {
  const TensorArgument& x = call.operands[0];
  const std::size_t axis = last_attribute_axis(call, x);
  const AxisLines from(x.dims, axis);
  const AxisLines to(call.result.dims, axis);
  const auto width = static_cast<int64_t>(size_of(x.dtype));
  return for_indices(call, x, [&](int64_t i, int64_t line, int64_t k, int64_t place) {
    const auto at = [line](const AxisLines& lines, int64_t index) {
      return (line / lines.inner() * lines.length() + index) * lines.inner() + line % lines.inner();
    };
    std::copy_n(bytes_at(x, i) + at(from, place) * width, width,
                bytes_at(call.result, i) + at(to, k) * width);
  });
}

Fault scatter_along_axis_kernel(const KernelCall& call) {
  std::fill_n(call.result.elements, call.batch * bytes_of(call.result), std::byte{0});
  const TensorArgument& values = call.operands[0];
  const std::size_t axis = last_attribute_axis(call, values);
  const AxisLines from(values.dims, axis);
  const AxisLines to(call.result.dims, axis);
  return for_float(values.dtype, [&]<class T>(T) {
    return for_indices(call, call.result, [&](int64_t i, int64_t line, int64_t k, int64_t place) {
      to.of<T>(call.result, i, line)[place] += from.of<const T>(values, i, line)[k];
    });
  });
}

Fault one_hot_kernel(const KernelCall& call) {
  std::fill_n(call.result.elements, call.batch * bytes_of(call.result), std::byte{0});
  const TensorArgument& labels = call.operands[0];
  const int64_t classes = call.attributes[0];
  for (int64_t i = 0; i < call.batch; ++i) {
    const AxisLine<const int64_t> line{labels.at<int64_t>(i), 1};
    const Fault fault = for_places(line, labels.size(), classes, [&](int64_t k, int64_t place) {
      call.result.at<float>(i)[k * classes + place] = 1;
    });
    if (fault != Fault::None) return fault;
  }
  return Fault::None;
}

}  // namespace hiaton::ops
