#include "ops/windows.h"

#include <fmt/format.h>

#include "hiaton/error.h"
#include "ops/shapes.h"

namespace hiaton::ops {

const Dim& from_end(const Type& type, std::size_t place) {
  return type.shape[type.shape.size() - place];
}

void require_step(std::string_view name, int64_t value, int64_t least) {
  constexpr int64_t kMostStep = int64_t{1} << 30;  // larger ones make no sense
  if (value >= least && value <= kMostStep) return;
  throw ProgramError(fmt::format("expected a {} from {} to {}, found {}", name, least, kMostStep, value));
}

Dim reach(const Dim& window, const Steps& steps) {
  if (!is_fixed(window)) return unknown_dim();
  constexpr int64_t kMost = int64_t{1} << 44;  // no tensor has more elements
  int64_t elements = 0;
  if (__builtin_mul_overflow(window.size - 1, steps.dilation, &elements) || elements >= kMost) {
    throw ProgramError(fmt::format("expected a window of at most {} elements, found {} of them, {} apart",
                                   kMost, window.size, steps.dilation));
  }
  return {.size = elements + 1, .symbol = ""};
}

Dim count_of_windows(const Dim& size, const Dim& window, const Steps& steps) {
  if (is_fixed(window) && window.size < 1) {
    throw ProgramError(fmt::format("expected a window of 1 element or more, found {}", window.size));
  }
  const Dim reached = reach(window, steps);
  if (!is_fixed(size) || !is_fixed(reached)) return unknown_dim();
  const int64_t room = size.size + 2 * steps.padding;
  if (reached.size > room) {
    throw ProgramError(fmt::format("expected a window of 1 to {}, found {}", room, reached.size));
  }
  return {.size = (room - reached.size) / steps.stride + 1, .symbol = ""};
}

}  // namespace hiaton::ops
