// What items wait for.
#pragma once

#include "exec/flow/plan.h"

namespace hiaton::exec::flow {

/// Takes back that an item waits for another one where it also waits for a third that comes after that one:
/// an item that fires has fewer others to tell. What fires, and after what, stays the same.
void drop_implied_waits(Plan& plan);

/// Gives each item that waits for several others a counter.
void number_counters(Plan& plan);

}  // namespace hiaton::exec::flow
