// On which core a thread runs.
#pragma once

namespace hiaton {

/// The core that the calling thread runs on now; -1 where the system does not tell.
int current_core();

/// Moves the calling thread to another of the cores that it may run on, where it is on this one. It may run on
/// the same cores as before afterwards. Does nothing where there is no other one, or the system has no such
/// call.
void leave_core(int core);

}  // namespace hiaton
