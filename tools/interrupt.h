// Ctrl-C during a run.
#pragma once

#include <atomic>

namespace hiaton::cli {

/// From now on the first interrupt (SIGINT) or request to end (SIGTERM) sets the flag that is returned; a
/// second one ends the process as if nobody had asked.
const std::atomic<bool>& cancel_on_interrupt();

}  // namespace hiaton::cli
