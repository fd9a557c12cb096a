// On which core a thread runs.
//
// Linux wakes a thread beside the one that wakes it where it takes the other cores for busy, as it does for a
// while after they were. The thread then runs when the other one has used up its turn, and it takes ten
// milliseconds and more until one of both moves: the time of a whole run. So threads that are to run at the
// same time look where the others are, and move themselves.
#pragma once

#include <atomic>
#include <span>
#include <thread>

namespace hiaton {

inline constexpr int kNoCore = -1;

/// The core that the calling thread runs on now; kNoCore where the system does not tell.
int current_core();

/// Moves the calling thread, where it runs on one of `cores`, to another core that it may run on and that is
/// none of these. It may run on the same cores as before afterwards. Does nothing where there is no such
/// core, or the system has no such call. Reads `cores` relaxed: a thread that has just moved makes it a bad
/// guess, and nothing else.
void leave_cores(std::span<const std::atomic<int>> cores);
inline void leave_core(const std::atomic<int>& core) {
  leave_cores({&core, 1});
}

/// The same for a thread that was just made, and the core of the calling one. Linux often makes it beside the
/// one that makes it, where it does not begin before that one has used up its turn: after some milliseconds.
void move_to_other_core(std::jthread& thread);

}  // namespace hiaton
