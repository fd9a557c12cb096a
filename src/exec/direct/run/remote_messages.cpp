#include "exec/direct/run/remote_messages.h"

#include <fmt/format.h>

#include <array>

namespace hiaton::exec::direct {
namespace {

/// More are not sent, and so none are read: each process keeps some from both ends of its own chain.
constexpr std::size_t kMostRecords = 1000;

constexpr std::array kAddedUp = {&RunStats::calls,
                                 &RunStats::frames_allocated,
                                 &RunStats::frames_live_most,
                                 &RunStats::frames_live_at_end,
                                 &RunStats::values_live_at_end,
                                 &RunStats::bytes,
                                 &RunStats::steals,
                                 &RunStats::atomic_operations,
                                 &RunStats::remote_calls,
                                 &RunStats::remote_tokens,
                                 &RunStats::remote_bytes};

uint64_t read_count(net::ByteReader& in, std::string_view what) {
  const uint64_t count = in.compact();
  if (count > kMostRecords)
    in.fail(fmt::format("expected at most {} {}, found {}", kMostRecords, what, count));
  return count;
}

/// Adds those of one process to those of others.
void add_stats(const RunStats& one, RunStats& sum) {
  for (const auto member : kAddedUp) sum.*member += one.*member;
  sum.kernel_seconds += one.kernel_seconds;
  if (sum.regions.empty()) {
    sum.regions = one.regions;
    return;
  }
  for (std::size_t i = 0; i < std::min(one.regions.size(), sum.regions.size()); ++i)
    sum.regions[i].firings += one.regions[i].firings;
}

}  // namespace

void write_error(const RunError& error, net::ByteWriter& out) {
  out.number(static_cast<uint8_t>(error.fault()));
  out.number(error.assumption());
  out.text(error.message());
  out.compact(error.chain_length());
  const std::size_t count = std::min(error.chain().size(), kMostRecords);
  out.compact(count);
  for (std::size_t i = 0; i < count; ++i) {
    const CallRecord& record = error.chain()[i];
    out.text(record.function);
    out.text(record.call_place);
    out.text(record.call_line);
    out.text(record.tail_called_from);
    out.compact(std::min(record.arguments.size(), kMostRecords));
    for (std::size_t j = 0; j < std::min(record.arguments.size(), kMostRecords); ++j)
      out.text(record.arguments[j]);
  }
}

RunError read_error(net::ByteReader& in) {
  const auto fault = in.number<uint8_t>();
  if (fault > static_cast<uint8_t>(Fault::OutOfMemory))
    in.fail(fmt::format("expected a kind of error, found number {}", fault));
  const auto assumption = in.number<int64_t>();
  std::string message = in.text();
  const uint64_t length = in.compact();
  std::vector<CallRecord> chain(read_count(in, "calls"));
  for (CallRecord& record : chain) {
    record.function = in.text();
    record.call_place = in.text();
    record.call_line = in.text();
    record.tail_called_from = in.text();
    record.arguments.resize(read_count(in, "arguments"));
    for (std::string& argument : record.arguments) argument = in.text();
  }
  return {static_cast<Fault>(fault), std::move(message), std::move(chain), length, assumption};
}

std::chrono::nanoseconds read_time(net::ByteReader& in) {
  constexpr std::chrono::nanoseconds kMost = std::chrono::hours(1000);
  const std::chrono::nanoseconds time(in.number<int64_t>());
  if (time < std::chrono::nanoseconds::zero() || time > kMost)
    in.fail(fmt::format("expected the nanoseconds of a call, found {}", time.count()));
  return time;
}

void write_stats(const RunStats& stats, net::ByteWriter& out) {
  for (const auto member : kAddedUp) out.compact(stats.*member);
  out.number(stats.kernel_seconds);
  for (const RegionStats& region : stats.regions) out.compact(region.firings);
}

void StatsOfOthers::take(int from, const std::vector<RegionStats>& regions, net::ByteReader& in) {
  RunStats stats;
  stats.regions = regions;
  for (const auto member : kAddedUp) stats.*member = in.compact();
  stats.kernel_seconds = in.number<double>();
  for (RegionStats& region : stats.regions) region.firings = in.compact();
  in.require_end();
  ++count_;
  const auto process = static_cast<std::size_t>(from);
  if (calls_.size() <= process) calls_.resize(process + 1);
  calls_[process] = stats.remote_calls;
  add_stats(stats, sum_);
}

void StatsOfOthers::add_to(RunStats& stats) const {
  stats.remote_calls_by_process = calls_;
  if (!calls_.empty()) stats.remote_calls_by_process[0] = stats.remote_calls;
  add_stats(sum_, stats);
}

}  // namespace hiaton::exec::direct
