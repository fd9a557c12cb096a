// The order in which examples are learned from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "train/random_stream.h"

namespace hiaton::train {

/// How many blocks are in memory at once: their examples are mixed with each other.
inline constexpr std::size_t kBlocksMixed = 64;

/// The numbers below `count` in a random order. Where `block` is above 0, those of so many numbers in a row
/// come near each other: blocks are shuffled, then what stands in kBlocksMixed of them.
std::vector<uint32_t> shuffled(std::size_t count, std::size_t block, Random& random);

}  // namespace hiaton::train
