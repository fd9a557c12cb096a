// What each process has to say to process 0 when a run is over, with moments that mean the same for all.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "net/transport.h"

namespace hiaton::net {

/// Messages of collect() have this channel; those of runs have small numbers. They come early to a process
/// that waits for the last message of a run while process 0 has all: it holds them for collect().
inline constexpr uint32_t kCollectChannel = 0xc0115ec7;

/// To be called by all processes. `begin` is a moment of this process, on its steady clock. `make` is called
/// once in each process with the earliest of those moments, as the steady clock of this process tells it:
/// clocks are compared by the fastest of many round trips. Process 0 gets what each has made, by number; the
/// others get nothing. Messages of a run that is over may still arrive, and are dropped.
std::vector<std::vector<std::byte>> collect(
    Transport& transport, std::chrono::nanoseconds begin,
    const std::function<std::vector<std::byte>(std::chrono::nanoseconds earliest)>& make);

}  // namespace hiaton::net
