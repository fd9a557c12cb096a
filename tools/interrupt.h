// Ctrl-C during a run.
#pragma once

#include <atomic>
#include <csignal>

namespace hiaton::cli {

/// What `hiaton --hosts` sends to its processes by the launcher where it is interrupted: both MPIs pass this
/// signal on, while at SIGINT and SIGTERM their launchers kill the processes sooner or later.
constexpr int kInterruptOfLaunched = SIGUSR1;

/// From now on the first interrupt (SIGINT) or request to end (SIGTERM) sets the flag that is returned; a
/// second one ends the process as if nobody had asked. In a process that a launcher has started,
/// kInterruptOfLaunched does the same.
const std::atomic<bool>& cancel_on_interrupt();

}  // namespace hiaton::cli
