// Index types that cannot be mixed up.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>

#pragma GCC visibility push(default)
namespace hiaton {

/// A 32-bit index of one kind of thing; `Kind` is an empty tag type. A default one is invalid.
template <class Kind>
struct StrongId {
  static constexpr uint32_t kInvalid = std::numeric_limits<uint32_t>::max();

  constexpr StrongId() = default;
  constexpr explicit StrongId(std::size_t index) : value(static_cast<uint32_t>(index)) {}

  constexpr bool valid() const { return value != kInvalid; }
  constexpr std::size_t index() const { return value; }
  friend constexpr auto operator<=>(const StrongId&, const StrongId&) = default;

  uint32_t value = kInvalid;
};

}  // namespace hiaton
#pragma GCC visibility pop

template <class Kind>
struct std::hash<hiaton::StrongId<Kind>> {
  std::size_t operator()(hiaton::StrongId<Kind> id) const noexcept { return id.value; }
};
