// How many elements, or bytes, sizes make that anybody may have written down.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>

namespace hiaton {

/// `factor` times each of the sizes, one after the other; nothing where one of these products is above
/// `most`, or a size negative. So whoever multiplies them in this order stays below `most`, too, also where a
/// later size is zero. `size_of` tells the size of what the range holds.
template <class Sizes, class SizeOf = std::identity>
constexpr std::optional<uint64_t> product_of_sizes(uint64_t factor, const Sizes& sizes,
                                                   uint64_t most = std::numeric_limits<uint64_t>::max(),
                                                   SizeOf size_of = {}) {
  uint64_t product = factor;
  for (const auto& one : sizes) {
    const auto size = static_cast<int64_t>(std::invoke(size_of, one));
    const bool overflows = __builtin_mul_overflow(product, static_cast<uint64_t>(size), &product);
    if (size < 0 || overflows || product > most) return std::nullopt;
  }
  return product;
}

}  // namespace hiaton
