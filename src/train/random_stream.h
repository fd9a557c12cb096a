// Random numbers from a seed and a counter: the same on every machine, and resumable by the counter alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>

namespace hiaton::train {

/// The finalizer of SplitMix64: a bijection whose outputs for successive counters look independent.
inline uint64_t mix_bits(uint64_t bits) {
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u;
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
  return bits ^ (bits >> 31);
}

/// Tells texts apart; the same on every machine.
inline uint64_t hash_of(std::string_view bytes) {
  uint64_t hash = bytes.size();
  while (!bytes.empty()) {
    uint64_t word = 0;
    const std::size_t taken = std::min(bytes.size(), sizeof word);
    std::memcpy(&word, bytes.data(), taken);
    hash = mix_bits(hash ^ word);
    bytes.remove_prefix(taken);
  }
  return hash;
}

/// One stream of random numbers; streams of one seed are independent.
class Random {
 public:
  explicit Random(uint64_t seed, uint64_t stream = 0) : key_(mix_bits(mix_bits(seed + kGamma) + stream)) {}

  uint64_t next() { return mix_bits(key_ + kGamma * ++counter_); }

  /// Uniform over 0 to count - 1, without bias. `count` > 0.
  uint32_t below(uint32_t count) {
    // Lemire: the high half is uniform unless the low half is below 2^32 mod count.
    uint64_t product = (next() >> 32) * count;
    if (static_cast<uint32_t>(product) < count) {
      const uint32_t biased = (std::numeric_limits<uint32_t>::max() - count + 1) % count;
      while (static_cast<uint32_t>(product) < biased) product = (next() >> 32) * count;
    }
    return static_cast<uint32_t>(product >> 32);
  }

  /// Uniform over first to last, both included.
  int32_t between(int32_t first, int32_t last) {
    return first + static_cast<int32_t>(below(static_cast<uint32_t>(last - first) + 1));
  }

 private:
  static constexpr uint64_t kGamma = 0x9E3779B97F4A7C15u;

  uint64_t key_;
  uint64_t counter_ = 0;
};

}  // namespace hiaton::train
