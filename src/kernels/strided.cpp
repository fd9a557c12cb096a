#include "kernels/strided.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#include "base/check.h"
#include "kernels/launch_helpers.h"

namespace hiaton::kernels {
namespace {

struct Axis {
  int64_t size;
  int64_t from;  ///< stride
  int64_t to;    ///< stride
};

/// The axes of a copy, the one with the smallest steps in `to` last.
struct Axes {
  Axis axis[kMaxCopyRank];
  int rank = 0;
};

/// Orders the axes, leaves out those of size 1, and merges neighbours that walk as one in both arrays.
Axes simplified(std::span<const int64_t> shape, std::span<const int64_t> from, std::span<const int64_t> to) {
  Axes all;
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d] != 1) all.axis[all.rank++] = {shape[d], from[d], to[d]};
  std::stable_sort(all.axis, all.axis + all.rank,
                   [](const Axis& a, const Axis& b) { return std::abs(a.to) > std::abs(b.to); });
  Axes merged;
  for (int d = 0; d < all.rank; ++d) {
    const Axis& next = all.axis[d];
    Axis* const last = merged.rank == 0 ? nullptr : &merged.axis[merged.rank - 1];
    if (last != nullptr && last->from == next.from * next.size && last->to == next.to * next.size)
      *last = {last->size * next.size, next.from, next.to};
    else
      merged.axis[merged.rank++] = next;
  }
  return merged;
}

template <class Element>
void copy_line(const Axis& axis, const Element* from, Element* to) {
  if (axis.size == 0) return;
  if (axis.to == 1 && axis.from == 1)
    std::memcpy(to, from, static_cast<size_t>(axis.size) * sizeof(Element));
  else if (axis.to == 1 && axis.from == 0)
    std::fill_n(to, axis.size, *from);
  else
    for (int64_t i = 0; i < axis.size; ++i) to[i * axis.to] = from[i * axis.from];
}

/// A plane in tiles that the first-level cache holds, where `from` and `to` run along different axes.
template <class Element>
void copy_plane(const Axis& rows, const Axis& columns, const Element* from, Element* to) {
  constexpr int64_t kTile = 16;
  for (int64_t c = 0; c < columns.size; c += kTile) {
    const int64_t width = std::min(kTile, columns.size - c);
    for (int64_t r = 0; r < rows.size; r += kTile) {
      const int64_t height = std::min(kTile, rows.size - r);
      for (int64_t i = 0; i < height; ++i) {
        const Element* const source = from + (r + i) * rows.from + c * columns.from;
        Element* const target = to + (r + i) * rows.to + c * columns.to;
        for (int64_t j = 0; j < width; ++j) target[j * columns.to] = source[j * columns.from];
      }
    }
  }
}

/// Walks over the axes from `depth` on; the last two, or the last, are copied at once.
template <class Element>
void copy_axes(const Axes& axes, int depth, const Element* from, Element* to, bool planes) {
  const int left = axes.rank - depth;
  if (left == 0) {
    *to = *from;
  } else if (left == 1) {
    copy_line(axes.axis[depth], from, to);
  } else if (left == 2 && planes) {
    copy_plane(axes.axis[depth], axes.axis[depth + 1], from, to);
  } else {
    const Axis& axis = axes.axis[depth];
    for (int64_t i = 0; i < axis.size; ++i)
      copy_axes(axes, depth + 1, from + i * axis.from, to + i * axis.to, planes);
  }
}

template <class Element>
void copy_elements(Axes axes, const void* from, void* to) {
  bool planes = false;
  if (axes.rank >= 2 && std::abs(axes.axis[axes.rank - 1].from) > 1) {
    // The axis with the smallest steps in `from` comes next to last: the two make the planes.
    const auto nearest = [](const Axis& a, const Axis& b) {
      return (a.from == 0 ? INT64_MAX : std::abs(a.from)) < (b.from == 0 ? INT64_MAX : std::abs(b.from));
    };
    Axis* const last = axes.axis + axes.rank - 1;
    Axis* const side = std::min_element(axes.axis, last, nearest);
    planes = nearest(*side, *last);
    if (planes) std::rotate(side, side + 1, last);
  }
  copy_axes(axes, 0, static_cast<const Element*>(from), static_cast<Element*>(to), planes);
}

/// `size` is a function, so that one which gives a constant makes each copy a few instructions.
template <class Size>
void copy_blocks_of(Size size, int64_t count, const char* from, int64_t from_stride, char* to,
                    int64_t to_stride) {
  for (int64_t b = 0; b < count; ++b, from += from_stride, to += to_stride) std::memcpy(to, from, size());
}

/// Some of the blocks, on this thread.
void copy_some_blocks(int64_t count, int64_t size, const char* from, int64_t from_stride, char* to,
                      int64_t to_stride) {
  const auto copy = [&](auto block_size) {
    copy_blocks_of(block_size, count, from, from_stride, to, to_stride);
  };
  if (from_stride == size && to_stride == size) {
    std::memcpy(to, from, static_cast<size_t>(count * size));
  } else if (size == 4) {
    copy(std::integral_constant<size_t, 4>());
  } else if (size == 8) {
    copy(std::integral_constant<size_t, 8>());
  } else if (size == 16) {
    copy(std::integral_constant<size_t, 16>());
  } else {
    copy([&] { return static_cast<size_t>(size); });
  }
}

}  // namespace

void copy_blocks(int64_t count, int64_t size, const void* from, int64_t from_stride, void* to,
                 int64_t to_stride) {
  constexpr int64_t kBytesOfElement = 8;
  if (size == 0 || count == 0) return;
  const auto* source = static_cast<const char*>(from);
  auto* target = static_cast<char*>(to);
  if (count < kLeastElements && count * size < kLeastElements * kBytesOfElement) [[likely]]
    return copy_some_blocks(count, size, source, from_stride, target, to_stride);
  const int64_t elements = std::max(count, count * size / kBytesOfElement);
  if (count == 1 || (from_stride == size && to_stride == size)) {
    return in_element_ranges(count * size / kBytesOfElement, [&](int64_t begin, int64_t end) {
      const bool is_last = end == count * size / kBytesOfElement;
      begin *= kBytesOfElement;
      end = is_last ? count * size : end * kBytesOfElement;
      std::memcpy(target + begin, source + begin, static_cast<size_t>(end - begin));
    });
  }
  in_ranges(count, 1, kWorkOfElement * elements, [&](int64_t begin, int64_t end) {
    copy_some_blocks(end - begin, size, source + begin * from_stride, from_stride, target + begin * to_stride,
                     to_stride);
  });
}

void copy_strided(int64_t element_size, std::span<const int64_t> shape, const void* from,
                  std::span<const int64_t> from_strides, void* to, std::span<const int64_t> to_strides) {
  HIATON_CHECK(shape.size() <= kMaxCopyRank && from_strides.size() == shape.size() &&
               to_strides.size() == shape.size());
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return;
  const Axes axes = simplified(shape, from_strides, to_strides);
  switch (element_size) {
    case 1:
      return copy_elements<uint8_t>(axes, from, to);
    case 2:
      return copy_elements<uint16_t>(axes, from, to);
    case 4:
      return copy_elements<uint32_t>(axes, from, to);
    default:
      HIATON_CHECK(element_size == 8);
      return copy_elements<uint64_t>(axes, from, to);
  }
}

}  // namespace hiaton::kernels
