// Random choices that a seed decides, the same on every machine; and what the environment says about seeds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "hiaton/value.h"

namespace hiaton::properties {

/// The number that the variable of the environment holds.
inline uint64_t from_environment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::stoull(text);
}

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t next() {  // SplitMix64
    uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  /// 0 <= result < count.
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(next() % count); }
  /// from <= result <= to.
  int between(int from, int to) {
    return from + static_cast<int>(below(static_cast<std::size_t>(to - from + 1)));
  }
  bool percent(int chance) { return below(100) < static_cast<std::size_t>(chance); }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[below(from.size())];
  }
  template <class T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  uint64_t state_;
};

DType random_type(Random& random);
Value random_value(Random& random, DType type);

/// Equal, or both not a number.
bool same(const Value& a, const Value& b);

}  // namespace hiaton::properties
