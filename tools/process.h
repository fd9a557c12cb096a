// What this process agrees with the system about: its standard streams, and signals.
#pragma once

#include <atomic>
#include <csignal>

namespace hiaton::cli {

/// To be called first of all. Where standard input, output or error is closed, puts something in its place
/// that cannot be read or written: else a file that is opened later would take its number, and with it what
/// is meant for people. Where a file may not grow further (ulimit -f), writing is to fail with an error, as
/// on a full disk. A process that a launcher has started may be interrupted, also where the launcher itself
/// may not: MPICH's hands its blocked signals down.
void prepare_process();

/// What `hiaton --hosts` sends to its processes by the launcher where it is interrupted: both MPIs pass this
/// signal on, while at SIGINT and SIGTERM their launchers kill the processes sooner or later.
constexpr int kInterruptOfLaunched = SIGUSR1;

/// From now on the first interrupt (SIGINT) or request to end (SIGTERM) sets the flag that is returned; a
/// second one ends the process as if nobody had asked. kInterruptOfLaunched does the same: a launcher may
/// have started this process alone.
const std::atomic<bool>& cancel_on_interrupt();

/// The same flag: what interrupts another process sets it, too (net/transport.h).
std::atomic<bool>& interrupt_flag();

/// From now on an interrupt or request to end ends the process: there is nothing left to stop in order.
void end_on_interrupt();

}  // namespace hiaton::cli
