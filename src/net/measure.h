// How fast the way from process 0 to each other one is, and how far apart their clocks are.
#pragma once

#include <vector>

#include "net/transport.h"

namespace hiaton::net {

struct Measured {
  double round_trip_seconds = 0;
  double bytes_per_second = 0;
  /// How much the other clock is ahead of that of process 0.
  double clock_offset_seconds = 0;
};

/// To be called by all processes. Process 0 gets a row for each process, one for itself first.
std::vector<Measured> measure(Transport& transport);

}  // namespace hiaton::net
