// How much a test does.
#pragma once

#include <cstdint>

namespace hiaton {

/// Sanitizers, and builds without optimization, take many times as long for the same.
#if defined(HIATON_SANITIZED) || !defined(NDEBUG)
inline constexpr bool kIsSlowBuild = true;
#else
inline constexpr bool kIsSlowBuild = false;
#endif

/// `usual`, or `slow` where the build is.
template <class T>
constexpr T sized(T usual, T slow) {
  return kIsSlowBuild ? slow : usual;
}

#if defined(HIATON_SANITIZED_THREADS)
inline constexpr bool kSeesOnlyThreads = true;
#else
inline constexpr bool kSeesOnlyThreads = false;
#endif

/// Whether this build sees something in a run of so many threads: the thread sanitizer sees nothing where
/// there is one, and such runs are those of all other builds.
constexpr bool has_to_run(int threads) {
  return threads > 1 || !kSeesOnlyThreads;
}

/// So many random programs of a kind. The thread sanitizer takes longest and has the least to see in them:
/// what threads share, not what each program computes.
constexpr uint64_t sized_programs(uint64_t usual, uint64_t slow) {
  constexpr uint64_t kPart = kSeesOnlyThreads ? 4 : 1;
  return (sized(usual, slow) + kPart - 1) / kPart;
}

}  // namespace hiaton
