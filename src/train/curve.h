// The learning curve as a drawing.
#pragma once

#include <span>
#include <string>

#include "hiaton/train.h"

namespace hiaton::train {

/// An SVG document: loss over the epochs, and, where there was a dev set, accuracy beside it.
std::string draw_curve(std::span<const EpochReport> history);

}  // namespace hiaton::train
