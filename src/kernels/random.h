// Random numbers that are a function of a seed and a place: the same in any order, on any number of threads
// and on every machine, for one thread.
//
// Philox4x32-10 (Salmon, Moraes, Dror and Shaw 2011: Parallel random numbers, as easy as 1, 2, 3), keyed by
// the seed; word i of its output belongs to element i.
#pragma once

#include <array>
#include <cstdint>

namespace hiaton::kernels {

/// Four words for a counter and a key.
std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

/// out[i] in [0, 1), a multiple of 2^-24, evenly distributed.
void uniform(int64_t n, int64_t seed, float* out);

/// Fills `out` with normally distributed numbers of mean 0 and variance 1.
void normal(int64_t n, int64_t seed, float* out);

/// A seed for each number, made from words that the functions above and below do not use: what is drawn
/// from it has nothing to do with what is drawn from `seed` or for another number.
int64_t fold_in(int64_t seed, int64_t number);

/// out[i] = x[i] / (1 - rate) with probability 1 - rate, else 0. T: float, double.
template <class T>
void dropout(int64_t n, const T* x, T rate, int64_t seed, T* out);

}  // namespace hiaton::kernels
