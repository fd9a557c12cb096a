// Which calls are worth giving to another worker.
#pragma once

#include "exec/flow/plan.h"

namespace hiaton::exec::flow {

/// Sets Call::worth. After the tail calls are found.
void weigh_calls(Plan& plan);

}  // namespace hiaton::exec::flow
