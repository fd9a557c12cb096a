// Numbers to try kernels with.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "kernels/cpu.h"

namespace hiaton::kernels {

/// Numbers between -1 and 1, the same for the same seed.
template <class T>
std::vector<T> random_numbers(int64_t count, uint32_t seed) {
  std::minstd_rand generator(seed);
  std::uniform_real_distribution<T> distribution(-1, 1);
  std::vector<T> numbers(static_cast<size_t>(count));
  for (T& number : numbers) number = distribution(generator);
  return numbers;
}

/// The instruction sets that this machine has.
inline std::vector<InstructionSet> instruction_sets() {
  std::vector<InstructionSet> sets;
  for (const InstructionSet set : {InstructionSet::Portable, InstructionSet::Avx2, InstructionSet::Avx512})
    if (set <= instruction_set()) sets.push_back(set);
  return sets;
}

}  // namespace hiaton::kernels
