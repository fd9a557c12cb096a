// The operation that fills in what a suspension was made for. It is in no catalogue: only the pass `suspend`
// makes it, and only direct code runs it.
#pragma once

#include "hiaton/op.h"

namespace hiaton {

/// settle(value, suspension): gives the value, and makes it what the suspension holds from then on, in its
/// place in memory. Attribute: the variant that the suspension is of; variant 0 holds a value.
const OpDef& settle_operation();

}  // namespace hiaton
