// What operations share that go over images, and over lines, in windows: how many windows there are, and that
// the steps between them make sense.
#pragma once

#include <cstdint>
#include <string_view>

#include "hiaton/type.h"

namespace hiaton::ops {

/// A dimension, counted from the last one, which is 1.
const Dim& from_end(const Type& type, std::size_t place);

/// Throws ProgramError where `value` is less than `least`, or so large that sums of it could overflow.
void require_step(std::string_view name, int64_t value, int64_t least);

/// How the windows along one axis lie.
struct Steps {
  int64_t stride;        ///< from one window to the next
  int64_t padding;       ///< before and behind
  int64_t dilation = 1;  ///< from one element of a window to the next
};

/// How many elements a window of so many reaches over. Throws ProgramError where that is more than a tensor
/// can have.
Dim reach(const Dim& window, const Steps& steps);
/// How many windows there are along a dimension. Throws ProgramError where not one has room.
Dim count_of_windows(const Dim& size, const Dim& window, const Steps& steps);

}  // namespace hiaton::ops
