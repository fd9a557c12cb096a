#include "ops/definitions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

namespace hiaton {
namespace {

double number_at(const Value& value, int64_t i) {
  const auto read = [&]<class T>(const T*) {
    return static_cast<double>(value.is_tensor() ? value.tensor().data<T>()[i] : value.as<T>());
  };
  switch (value.dtype()) {
    case DType::Bool:
      return read(static_cast<bool*>(nullptr));
    case DType::U8:
      return read(static_cast<uint8_t*>(nullptr));
    case DType::I32:
      return read(static_cast<int32_t*>(nullptr));
    case DType::I64:
      return read(static_cast<int64_t*>(nullptr));
    case DType::F32:
      return read(static_cast<float*>(nullptr));
    case DType::F64:
      return read(static_cast<double*>(nullptr));
  }
  return 0;
}

}  // namespace

Array array_of(const Value& value) {
  Array array;
  for (const Dim& dim : value.type().shape) array.dims.push_back(dim.size);
  const int64_t count = value.is_tensor() ? value.tensor().size() : 1;
  for (int64_t i = 0; i < count; ++i) array.elements.push_back(number_at(value, i));
  return array;
}

void for_each_index(const Index& dims, const std::function<void(const Index&)>& visit) {
  Index index(dims.size());
  const std::function<void(std::size_t)> go = [&](std::size_t axis) {
    if (axis == dims.size()) return visit(index);
    for (index[axis] = 0; index[axis] < dims[axis]; ++index[axis]) go(axis + 1);
    index[axis] = 0;
  };
  go(0);
}

double logsumexp(const std::vector<double>& of) {
  double total = 0;
  for (const double x : of) total += std::exp(x);
  return std::log(total);
}

namespace {

Index with(Index index, int64_t axis, int64_t place) {
  index[static_cast<std::size_t>(axis)] = place;
  return index;
}
Index inserted(Index index, int64_t axis, int64_t place) {
  index.insert(index.begin() + axis, place);
  return index;
}

/// The elements of x that a reduction along the axes takes together for the index.
std::vector<double> reduced(const Call& c) {
  std::vector<bool> goes(c.x().dims.size(), c.attributes.empty());
  for (const int64_t axis : c.attributes) goes[static_cast<std::size_t>(c.x().axis(axis))] = true;
  std::vector<double> found;
  for_each_index(c.x().dims, [&](const Index& index) {
    Index kept;
    for (std::size_t i = 0; i < index.size(); ++i) {
      if (!goes[i]) kept.push_back(index[i]);
    }
    if (kept == c.index) found.push_back(c.x().at(index));
  });
  return found;
}

std::vector<double> line(const Array& x, const Index& index, int64_t axis) {
  std::vector<double> found;
  for (int64_t i = 0; i < x.size(axis); ++i) found.push_back(x.at(with(index, axis, i)));
  return found;
}

double sum(const std::vector<double>& of) {
  return std::accumulate(of.begin(), of.end(), 0.0);
}
/// The places of a line in order; of equal elements, the first comes first.
std::vector<int64_t> order(const std::vector<double>& of, bool descending) {
  std::vector<int64_t> places(of.size());
  std::iota(places.begin(), places.end(), 0);
  const auto comes_before = [&](int64_t a, int64_t b) {
    const double x = of[static_cast<std::size_t>(a)];
    const double y = of[static_cast<std::size_t>(b)];
    if (std::isnan(x) || std::isnan(y)) return !std::isnan(x) && std::isnan(y);
    return descending ? x > y : x < y;
  };
  std::stable_sort(places.begin(), places.end(), comes_before);
  return places;
}

/// What the normalised line of elements has for one of them.
double normalized(const std::vector<double>& among, double x, double epsilon) {
  const double mean = sum(among) / static_cast<double>(among.size());
  double variance = 0;
  for (const double other : among) variance += (other - mean) * (other - mean);
  return (x - mean) / std::sqrt(variance / static_cast<double>(among.size()) + epsilon);
}

/// x normalised over the elements whose index is like this one but along `axes`.
double normalized_along(const Call& c, const std::vector<bool>& axes, double epsilon) {
  std::vector<double> among;
  for_each_index(c.x().dims, [&](const Index& other) {
    for (std::size_t i = 0; i < other.size(); ++i) {
      if (!axes[i] && other[i] != c.index[i]) return;
    }
    among.push_back(c.x().at(other));
  });
  return normalized(among, c.x().at(c.index), epsilon);
}

double normalized_channel(const Call& c, const std::vector<bool>& axes, int64_t channel) {
  const Index place{c.place(channel)};
  return normalized_along(c, axes, c.in[3].elements[0]) * c.in[1].at(place) + c.in[2].at(place);
}

/// Strides, paddings and dilations by axis, and the number of groups.
struct Window {
  Window(const Index& attributes, int64_t axes) : all(attributes), axes(static_cast<std::size_t>(axes)) {}
  int64_t stride(std::size_t axis) const { return all[axis]; }
  int64_t padding(std::size_t axis) const { return all[axes + axis]; }
  int64_t dilation(std::size_t axis) const { return all[2 * axes + axis]; }
  int64_t groups() const { return all[3 * axes]; }

  const Index& all;
  std::size_t axes;
};

/// The axes of images stand behind those of examples and that of channels.
template <int kAxes>
double convolution(const Call& c) {
  const Array& x = c.in[0];
  const Array& w = c.in[1];
  const Window window(c.attributes, kAxes);
  const int64_t channels = x.rank() - kAxes - 1;
  const int64_t filter = c.place(channels);
  const int64_t group = filter / (w.dims[0] / window.groups());
  double total = 0;
  for_each_index({w.dims.begin() + 1, w.dims.end()}, [&](const Index& tap) {
    Index from = with(c.index, channels, group * w.dims[1] + tap[0]);
    for (std::size_t i = 0; i < kAxes; ++i) {
      int64_t& place = from[static_cast<std::size_t>(channels) + 1 + i];
      place = place * window.stride(i) - window.padding(i) + tap[1 + i] * window.dilation(i);
      if (place < 0 || place >= x.dims[static_cast<std::size_t>(channels) + 1 + i]) return;
    }
    total += x.at(from) * w.at(inserted(tap, 0, filter));
  });
  return total;
}

/// Each element of x is added wherever the convolution would have read the result for it.
template <int kAxes>
double transposed_convolution(const Call& c) {
  const Array& x = c.in[0];
  const Array& w = c.in[1];
  const Window window(c.attributes, kAxes);
  const int64_t channels = x.rank() - kAxes - 1;
  const int64_t per_group = w.dims[1];
  const int64_t group = c.place(channels) / per_group;
  double total = 0;
  for_each_index(w.dims, [&](const Index& tap) {
    const bool is_of_group = tap[0] / (w.dims[0] / window.groups()) == group;
    if (!is_of_group || group * per_group + tap[1] != c.place(channels)) return;
    Index from = with(c.index, channels, tap[0]);
    for (std::size_t i = 0; i < kAxes; ++i) {
      int64_t& place = from[static_cast<std::size_t>(channels) + 1 + i];
      const int64_t read = place + window.padding(i) - tap[2 + i] * window.dilation(i);
      if (read < 0 || read % window.stride(i) != 0) return;
      place = read / window.stride(i);
      if (place >= x.dims[static_cast<std::size_t>(channels) + 1 + i]) return;
    }
    total += x.at(from) * w.at(tap);
  });
  return total;
}

/// The elements of a window of images; empty where a place of it is padding.
std::vector<std::optional<double>> pooled(const Call& c) {
  const Index& a = c.attributes;
  const int64_t rows = c.x().rank() - 2;
  std::vector<std::optional<double>> found;
  for (int64_t u = 0; u < a[0]; ++u) {
    for (int64_t v = 0; v < a[1]; ++v) {
      const int64_t row = c.place(rows) * a[2] - a[4] + u;
      const int64_t column = c.place(rows + 1) * a[3] - a[5] + v;
      const bool is_inside =
          row >= 0 && row < c.x().size(rows) && column >= 0 && column < c.x().size(rows + 1);
      found.push_back(is_inside ? std::optional(c.x().at(with(with(c.index, rows, row), rows + 1, column)))
                                : std::nullopt);
    }
  }
  return found;
}

double average(const Call& c) {
  double total = 0;
  for (const std::optional<double>& element : pooled(c)) total += element.value_or(0);
  return total / static_cast<double>(c.attributes[0] * c.attributes[1]);
}

double largest(const Call& c) {
  double found = -std::numeric_limits<double>::infinity();
  for (const std::optional<double>& element : pooled(c)) found = std::max(found, element.value_or(found));
  return found;
}

/// Matrices behind axes that are stretched; a vector is a row on the left and a column on the right.
double product(const Call& c) {
  Array a = c.in[0];
  Array b = c.in[1];
  Index index = c.index;
  if (b.rank() == 1) {
    b.dims.push_back(1);
    index.push_back(0);
  }
  if (a.rank() == 1) {
    a.dims.insert(a.dims.begin(), 1);
    index.insert(index.end() - 1, 0);
  }
  const auto element = [&](const Array& of, int64_t row, int64_t column) {
    Index at(of.dims.size());
    for (std::size_t i = 0; i + 2 < at.size(); ++i) {
      const std::size_t aligned = index.size() - at.size() + i;
      at[i] = of.dims[i] == 1 ? 0 : index[aligned];
    }
    at[at.size() - 2] = row;
    at[at.size() - 1] = column;
    return of.at(at);
  };
  double total = 0;
  for (int64_t k = 0; k < a.size(-1); ++k)
    total += element(a, index[index.size() - 2], k) * element(b, k, index.back());
  return total;
}

/// The number of a place along an axis, which an operand gives. Negative ones may count from the end.
int64_t number_of_place(const Call& c, std::size_t operand, std::size_t axis) {
  const auto number = static_cast<int64_t>(c.in[operand].at({}));
  return c.attributes[0] != 0 && number < 0 ? number + c.x().dims[axis] : number;
}

/// What stands in the second operand for this element of the first one; none: it is not at the place that the
/// operands behind these tell.
std::optional<double> value_at_place(const Call& c) {
  const std::size_t axes = c.in.size() - 2;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    if (number_of_place(c, 2 + axis, axis) != c.index[axis]) return std::nullopt;
  }
  return c.in[1].at(Index(c.index.begin() + static_cast<std::ptrdiff_t>(axes), c.index.end()));
}

/// Adds the rows of `values` to what is there, at the rows that `rows` names.
double scattered(const Call& c, double before, const Array& values, const Array& rows) {
  const Index in_row(c.index.begin() + 1, c.index.end());
  double total = before;
  for_each_index(rows.dims, [&](const Index& which) {
    if (static_cast<int64_t>(rows.at(which)) != c.index[0]) return;
    Index at = which;
    at.insert(at.end(), in_row.begin(), in_row.end());
    total += values.at(at);
  });
  return total;
}

}  // namespace

const std::map<std::string_view, Definition>& definitions() {
  static const std::map<std::string_view, Definition> all = {
      {"matmul", product},
      {"conv1d", convolution<1>},
      {"conv2d", convolution<2>},
      {"conv_transpose1d", transposed_convolution<1>},
      {"conv_transpose2d", transposed_convolution<2>},
      {"avg_pool2d", average},
      {"max_pool2d", largest},
      {"sum", [](const Call& c) { return sum(reduced(c)); }},
      {"mean", [](const Call& c) { return sum(reduced(c)) / static_cast<double>(reduced(c).size()); }},
      {"reduce_max", [](const Call& c) { return std::ranges::max(reduced(c)); }},
      {"reduce_min", [](const Call& c) { return std::ranges::min(reduced(c)); }},
      {"any", [](const Call& c) { return sum(reduced(c)) > 0; }},
      {"all", [](const Call& c) { return std::ranges::min(reduced(c)) > 0; }},
      {"logsumexp", [](const Call& c) { return logsumexp(reduced(c)); }},
      {"softmax",
       [](const Call& c) {
         return std::exp(c.x().at(c.index) - logsumexp(line(c.x(), c.index, c.axis(0))));
       }},
      {"log_softmax",
       [](const Call& c) { return c.x().at(c.index) - logsumexp(line(c.x(), c.index, c.axis(0))); }},
      {"cross_entropy",
       [](const Call& c) {
         const std::vector<double> logits =
             line(c.x(), inserted(c.index, c.x().rank() - 1, 0), -1 + c.x().rank());
         return logsumexp(logits) - logits[static_cast<std::size_t>(c.in[1].at(c.index))];
       }},
      {"argmax",
       [](const Call& c) { return order(line(c.x(), inserted(c.index, c.axis(0), 0), c.axis(0)), true)[0]; }},
      {"cumsum",
       [](const Call& c) {
         const std::vector<double> all_of_it = line(c.x(), c.index, c.axis(0));
         return sum({all_of_it.begin(), all_of_it.begin() + c.place(c.axis(0)) + 1});
       }},
      {"flip",
       [](const Call& c) {
         const int64_t axis = c.axis(0);
         return c.x().at(with(c.index, axis, c.x().size(axis) - 1 - c.place(axis)));
       }},
      {"tril",
       [](const Call& c) {
         const int64_t row = c.x().rank() - 2;
         return c.place(row + 1) - c.place(row) <= c.attributes[0] ? c.x().at(c.index) : 0;
       }},
      {"triu",
       [](const Call& c) {
         const int64_t row = c.x().rank() - 2;
         return c.place(row + 1) - c.place(row) >= c.attributes[0] ? c.x().at(c.index) : 0;
       }},
      {"sort",
       [](const Call& c) {
         const int64_t axis = c.axis(1);
         const std::vector<double> unsorted = line(c.x(), c.index, axis);
         const int64_t place = order(unsorted, c.attributes[0] == 1)[static_cast<std::size_t>(c.place(axis))];
         return unsorted[static_cast<std::size_t>(place)];
       }},
      {"argsort",
       [](const Call& c) {
         const int64_t axis = c.axis(1);
         return order(line(c.x(), c.index, axis),
                      c.attributes[0] == 1)[static_cast<std::size_t>(c.place(axis))];
       }},
      {"top_k",
       [](const Call& c) {
         const int64_t axis = c.axis(1);
         const std::vector<double> unsorted = line(c.x(), c.index, axis);
         const int64_t place = order(unsorted, true)[static_cast<std::size_t>(c.place(axis))];
         return unsorted[static_cast<std::size_t>(place)];
       }},
      {"top_k_indices",
       [](const Call& c) {
         const int64_t axis = c.axis(1);
         return order(line(c.x(), c.index, axis), true)[static_cast<std::size_t>(c.place(axis))];
       }},
      {"take_along_axis",
       [](const Call& c) {
         return c.x().at(with(c.index, c.axis(0), static_cast<int64_t>(c.in[1].at(c.index))));
       }},
      {"scatter_along_axis",
       [](const Call& c) {
         const int64_t axis = c.axis(0);
         double total = 0;
         for (int64_t i = 0; i < c.x().size(axis); ++i) {
           const Index from = with(c.index, axis, i);
           if (static_cast<int64_t>(c.in[1].at(from)) == c.place(axis)) total += c.x().at(from);
         }
         return total;
       }},
      {"one_hot",
       [](const Call& c) {
         const Index of_label(c.index.begin(), c.index.end() - 1);
         return static_cast<int64_t>(c.x().at(of_label)) == c.index.back();
       }},
      {"repeat",
       [](const Call& c) {
         return c.x().at(with(c.index, c.axis(0), c.place(c.axis(0)) / c.attributes[1]));
       }},
      {"reflect_pad",
       [](const Call& c) {
         const int64_t axis = c.axis(0);
         const int64_t last = c.x().size(axis) - 1;
         const int64_t place = std::abs(c.place(axis) - c.attributes[1]);
         return c.x().at(with(c.index, axis, last - std::abs(last - place)));
       }},
      {"gather",
       [](const Call& c) {
         const std::ptrdiff_t axes = c.in[1].rank();
         const Index which(c.index.begin(), c.index.begin() + axes);
         Index at{static_cast<int64_t>(c.in[1].at(which))};
         at.insert(at.end(), c.index.begin() + axes, c.index.end());
         return c.x().at(at);
       }},
      {"segment_sum", [](const Call& c) { return scattered(c, 0, c.in[0], c.in[1]); }},
      {"scatter_rows", [](const Call& c) { return scattered(c, 0, c.in[0], c.in[1]); }},
      {"scatter_add", [](const Call& c) { return scattered(c, c.x().at(c.index), c.in[2], c.in[1]); }},
      {"at",
       [](const Call& c) {
         Index at;
         for (std::size_t axis = 1; axis < c.in.size(); ++axis)
           at.push_back(number_of_place(c, axis, axis - 1));
         at.insert(at.end(), c.index.begin(), c.index.end());
         return c.x().at(at);
       }},
      {"set_at", [](const Call& c) { return value_at_place(c).value_or(c.x().at(c.index)); }},
      {"append_row",
       [](const Call& c) {
         const bool is_new = c.index[0] == c.x().size(0);
         return is_new ? c.in[1].at({c.index.begin() + 1, c.index.end()}) : c.x().at(c.index);
       }},
      {"drop_last_row", [](const Call& c) { return c.x().at(c.index); }},
      {"add_at", [](const Call& c) { return c.x().at(c.index) + value_at_place(c).value_or(0); }},
      {"layer_norm",
       [](const Call& c) {
         std::vector<bool> axes(c.index.size());
         axes.back() = true;
         return normalized_channel(c, axes, c.x().rank() - 1);
       }},
      {"batch_norm",
       [](const Call& c) {
         std::vector<bool> axes(c.index.size(), true);
         axes[1] = false;
         return normalized_channel(c, axes, 1);
       }},
      {"instance_norm",
       [](const Call& c) {
         std::vector<bool> axes(c.index.size());
         axes[axes.size() - 1] = axes[axes.size() - 2] = true;
         return normalized_channel(c, axes, c.x().rank() - 3);
       }},
      {"concat",
       [](const Call& c) {
         const int64_t axis = c.axis(0);
         int64_t place = c.place(axis);
         std::size_t part = 0;
         while (place >= c.in[part].size(axis)) place -= c.in[part++].size(axis);
         return c.in[part].at(with(c.index, axis, place));
       }},
      {"slice",
       [](const Call& c) {
         return c.x().at(with(c.index, c.axis(0), c.place(c.axis(0)) + c.attributes[1]));
       }},
      {"take", [](const Call& c) { return c.x().at(inserted(c.index, c.axis(0), c.attributes[1])); }},
      {"iota_like", [](const Call& c) { return c.place(c.axis(0)); }},
  };
  return all;
}

}  // namespace hiaton
