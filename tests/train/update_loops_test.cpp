// Each instruction set gives the bits of the portable loops, for counts that fill vector registers and
// others.
#include "train/update_loops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/support.h"

namespace hiaton::train {
namespace {

using kernels::InstructionSet;

/// A parameter, its gradient and its state.
template <class T>
struct Memory {
  explicit Memory(std::size_t count)
      : w(kernels::random_numbers<T>(static_cast<int64_t>(count), 1)),
        g(kernels::random_numbers<T>(static_cast<int64_t>(count), 2)),
        first(kernels::random_numbers<T>(static_cast<int64_t>(count), 3)),
        second(first) {
    for (T& square : first) square *= square;
    if (count > 2) g[2] = std::numeric_limits<T>::infinity();
  }

  std::vector<T> w, g, first, second;
};

template <class T>
bool are_same_bits(const std::vector<T>& left, const std::vector<T>& right) {
  return left.empty() || std::memcmp(left.data(), right.data(), left.size() * sizeof(T)) == 0;
}

/// All loops, one behind the other, on the same memory.
template <class T>
void go_over(Memory<T>& memory, const UpdateLoops<T>& loops) {
  const std::size_t count = memory.w.size();
  T* const w = memory.w.data();
  const T* const g = memory.g.data();
  T* const first = memory.first.data();
  T* const second = memory.second.data();
  const UpdateScalars<T> scalars{T(0.05), T(0.3), T(0.01)};
  loops.adam(w, g, second, first, count, scalars, {T(0.9), T(0.99), T(1e-6), T(1.7), T(0.4)});
  loops.adagrad(w, g, first, count, scalars, T(1e-6));
  loops.rmsprop(w, g, first, count, scalars, T(0.9), T(1e-6));
  loops.rmsprop_momentum(w, g, first, second, count, scalars, T(0.9), T(1e-6), T(0.7));
  loops.momentum(w, g, second, count, scalars, T(0.7));
  loops.shrink(w, count, T(0.99));
  loops.sgd(w, g, count, scalars);
}

template <class T>
void expect_the_bits_of_the_portable_loops(InstructionSet set, std::size_t count) {
  const UpdateLoops<T>& loops = update_loops<T>(set);
  const UpdateLoops<T>& portable = update_loops<T>(InstructionSet::Portable);
  Memory<T> found(count);
  Memory<T> expected(count);
  go_over(found, loops);
  go_over(expected, portable);
  EXPECT_TRUE(are_same_bits(found.w, expected.w)) << count;
  EXPECT_TRUE(are_same_bits(found.first, expected.first)) << count;
  EXPECT_TRUE(are_same_bits(found.second, expected.second)) << count;

  const std::vector<T> finite = kernels::random_numbers<T>(static_cast<int64_t>(count), 4);
  EXPECT_EQ(loops.sum_of_squares(finite.data(), count), portable.sum_of_squares(finite.data(), count));
}

TEST(UpdateLoops, EachInstructionSetGivesTheSameBits) {
  for (const InstructionSet set : kernels::instruction_sets()) {
    for (const std::size_t count : {0, 1, 3, 4, 7, 8, 15, 16, 17, 31, 33, 64, 129, 1000}) {
      expect_the_bits_of_the_portable_loops<float>(set, count);
      expect_the_bits_of_the_portable_loops<double>(set, count);
    }
  }
}

TEST(UpdateLoops, EachInstructionSetFindsTheElementThatIsOutside) {
  constexpr std::size_t kCount = 5000;
  for (const InstructionSet set : kernels::instruction_sets()) {
    const UpdateLoops<float>& loops = update_loops<float>(set);
    for (const std::size_t place : {std::size_t{0}, std::size_t{17}, std::size_t{4095}, kCount - 1}) {
      std::vector<float> values(kCount, -1);
      EXPECT_TRUE(loops.are_within(values.data(), kCount, 1));
      for (const float outside : {-1.5F, 2.0F, std::nanf(""), -std::numeric_limits<float>::infinity()}) {
        values[place] = outside;
        EXPECT_FALSE(loops.are_within(values.data(), kCount, 1)) << place << ' ' << outside;
      }
    }
  }
}

}  // namespace
}  // namespace hiaton::train
