// How much a test does.
#pragma once

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

}  // namespace hiaton
