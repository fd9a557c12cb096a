#include "net/collect.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace hiaton::net {
namespace {

enum CollectStep : uint32_t { kAskClock, kTellClock, kTellEarliest, kTellMade };

constexpr int kRoundTrips = 100;
constexpr std::chrono::milliseconds kCollectWait(100);

std::chrono::nanoseconds steady_now() {
  return std::chrono::steady_clock::now().time_since_epoch();
}

uint64_t as_name(std::chrono::nanoseconds moment) {
  return static_cast<uint64_t>(moment.count());
}

std::chrono::nanoseconds as_moment(uint64_t name) {
  return std::chrono::nanoseconds(static_cast<int64_t>(name));
}

struct Told {
  uint32_t step;
  uint64_t name;
  std::vector<std::byte> payload;
};

/// The next message that belongs here; nothing where none came for a while.
std::optional<Told> next_told(Transport& transport) {
  std::optional<Told> told;
  const auto take = [&told](int /*from*/, const Header& header, std::span<const std::byte> payload) {
    if (header.channel == kCollectChannel)
      told = Told{header.aux, header.name, {payload.begin(), payload.end()}};
  };
  transport.flush();
  if (transport.poll(take, 1) == 0) transport.wait(kCollectWait);
  return told;
}

Told wait_told(Transport& transport, CollectStep step) {
  for (;;) {
    std::optional<Told> told = next_told(transport);
    if (told && told->step == step) return *std::move(told);
  }
}

/// What process 0 knows of another one.
struct OtherClock {
  std::chrono::nanoseconds ahead;  ///< how far it is ahead of the clock of process 0
  std::chrono::nanoseconds begin;  ///< on its own clock
};

OtherClock compare_clocks(Transport& transport, int process) {
  OtherClock found{};
  std::chrono::nanoseconds fastest = std::chrono::nanoseconds::max();
  for (int i = 0; i < kRoundTrips; ++i) {
    const std::chrono::nanoseconds asked = steady_now();
    transport.send(process, {.channel = kCollectChannel, .aux = kAskClock}, {});
    const Told told = wait_told(transport, kTellClock);
    const std::chrono::nanoseconds took = steady_now() - asked;
    if (took >= fastest) continue;
    fastest = took;
    found.ahead = as_moment(told.name) - asked - took / 2;
    ByteReader in(told.payload, transport.name(process));
    found.begin = as_moment(in.number<uint64_t>());
  }
  return found;
}

std::vector<std::vector<std::byte>> collect_from_others(
    Transport& transport, std::chrono::nanoseconds begin,
    const std::function<std::vector<std::byte>(std::chrono::nanoseconds)>& make) {
  std::vector<OtherClock> clocks{{{}, begin}};
  for (int i = 1; i < transport.size(); ++i) clocks.push_back(compare_clocks(transport, i));
  std::chrono::nanoseconds earliest = begin;
  for (const OtherClock& clock : clocks) earliest = std::min(earliest, clock.begin - clock.ahead);
  std::vector<std::vector<std::byte>> made{make(earliest)};
  for (int i = 1; i < transport.size(); ++i) {
    const std::chrono::nanoseconds there = earliest + clocks[static_cast<std::size_t>(i)].ahead;
    transport.send(i, {.channel = kCollectChannel, .aux = kTellEarliest, .name = as_name(there)}, {});
    made.push_back(wait_told(transport, kTellMade).payload);
  }
  return made;
}

void answer(Transport& transport, std::chrono::nanoseconds begin,
            const std::function<std::vector<std::byte>(std::chrono::nanoseconds)>& make) {
  ByteWriter own;
  own.number(as_name(begin));
  for (;;) {
    const std::optional<Told> told = next_told(transport);
    if (!told) continue;
    if (told->step == kAskClock) {
      transport.send(0, {.channel = kCollectChannel, .aux = kTellClock, .name = as_name(steady_now())},
                     own.bytes());
    } else if (told->step == kTellEarliest) {
      transport.send(0, {.channel = kCollectChannel, .aux = kTellMade}, make(as_moment(told->name)));
      return transport.flush();
    }
  }
}

}  // namespace

std::vector<std::vector<std::byte>> collect(
    Transport& transport, std::chrono::nanoseconds begin,
    const std::function<std::vector<std::byte>(std::chrono::nanoseconds)>& make) {
  if (transport.self() == 0) return collect_from_others(transport, begin, make);
  answer(transport, begin, make);
  return {};
}

}  // namespace hiaton::net
