// Parameters, gradients and losses, from the engine's form to the trainer's and back.
#pragma once

#include "hiaton/optimizer.h"

namespace hiaton::train {

/// A loss.
double number_in(const Value& value);

}  // namespace hiaton::train
