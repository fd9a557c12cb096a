// Errors and statistics of a run as bytes.
#pragma once

#include <chrono>
#include <vector>

#include "hiaton/error.h"
#include "hiaton/run.h"
#include "net/bytes.h"

namespace hiaton::exec::direct {

void write_error(const RunError& error, net::ByteWriter& out);
/// Throws ProgramError where the bytes are no error.
RunError read_error(net::ByteReader& in);

/// How long something took. Throws ProgramError where the bytes are no such time.
std::chrono::nanoseconds read_time(net::ByteReader& in);

/// What the processes of a run add up.
void write_stats(const RunStats& stats, net::ByteWriter& out);
/// What the processes but the first say about their part of a run when it has ended.
class StatsOfOthers {
 public:
  /// What the process `from` says, whose regions are `regions`. Throws ProgramError where the bytes are no
  /// such thing.
  void take(int from, const std::vector<RegionStats>& regions, net::ByteReader& in);
  /// How many have spoken.
  int count() const { return count_; }
  /// Adds it all to the part of the first.
  void add_to(RunStats& stats) const;

 private:
  int count_ = 0;
  std::vector<uint64_t> calls_;  ///< by process, that it ran for others
  RunStats sum_;
};

}  // namespace hiaton::exec::direct
