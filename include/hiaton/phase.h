// Phases of functions: what arrives and leaves together.
#pragma once

#include <cstddef>
#include <string_view>

#pragma GCC visibility push(default)
namespace hiaton {

/// Parameters and results of a function that belong together. The parameters of a phase may depend, through
/// the caller, on the results of the phases before: the gradients of results come after the results. A
/// function has one phase, its extension for gradients one more.
struct Phase {
  std::size_t params = 0;
  std::size_t results = 0;

  friend bool operator==(const Phase&, const Phase&) = default;
};

/// An extension has the name of its function, with this behind it.
inline constexpr std::string_view kExtendedSuffix = "_extended";

/// A run of consecutive indices.
struct Range {
  std::size_t begin = 0;
  std::size_t count = 0;

  std::size_t end() const { return begin + count; }
};

}  // namespace hiaton
#pragma GCC visibility pop
