// What a process may find when it starts.
#pragma once

namespace hiaton::cli {

/// Where standard input, output or error is closed, puts something in its place that cannot be read or
/// written: else a file that is opened later would take its number, and with it what is meant for people.
/// Where a file may not grow further (ulimit -f), writing is to fail with an error, as on a full disk.
/// A process that a launcher has started may be interrupted, also where the launcher itself may not: MPICH's
/// hands its blocked signals down.
void prepare_process();

}  // namespace hiaton::cli
