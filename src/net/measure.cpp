#include "net/measure.h"

#include <algorithm>

namespace hiaton::net {
namespace {

/// What a message asks for, or answers, as Header::aux.
enum Step : uint32_t { kPing, kPong, kBulk, kBulkEnds, kBulkIsHere, kMeasured };

constexpr int kPings = 200;
constexpr std::size_t kPieceBytes = std::size_t{256} * 1024;
constexpr std::size_t kLeastPieces = 4;
constexpr std::size_t kMostPieces = 1024;
/// A transfer that takes so long is long enough to tell the speed.
constexpr double kEnoughSeconds = 0.05;
constexpr std::chrono::milliseconds kWait(100);

int64_t clock_of_this_machine() {
  using std::chrono::system_clock;
  return std::chrono::duration_cast<std::chrono::nanoseconds>(system_clock::now().time_since_epoch()).count();
}

double seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

/// Process 0.
class Measuring {
 public:
  explicit Measuring(Transport& transport) : transport_(transport) {}

  Measured measure(int process) {
    Measured found;
    ping(process, found);
    for (std::size_t pieces = kLeastPieces; pieces <= kMostPieces; pieces *= 4) {
      const double took = transfer(process, pieces);
      found.bytes_per_second = static_cast<double>(pieces * kPieceBytes) / took;
      if (took > kEnoughSeconds) break;
    }
    return found;
  }

  void end() {
    for (int i = 1; i < transport_.size(); ++i) transport_.send(i, {.aux = kMeasured}, {});
    transport_.flush();
  }

 private:
  /// The fastest of many: the others were held up somewhere.
  void ping(int process, Measured& found) {
    found.round_trip_seconds = 1e9;
    for (int i = 0; i < kPings; ++i) {
      const int64_t sent = clock_of_this_machine();
      const std::chrono::nanoseconds begin = transport_.now();
      transport_.send(process, {.aux = kPing}, {});
      const uint64_t there = answer(kPong);
      const double took = seconds(transport_.now() - begin);
      if (took >= found.round_trip_seconds) continue;
      found.round_trip_seconds = took;
      const double ahead = static_cast<double>(static_cast<int64_t>(there) - sent) * 1e-9;
      found.clock_offset_seconds = ahead - took / 2;
    }
  }

  double transfer(int process, std::size_t pieces) {
    const std::vector<std::byte> piece(kPieceBytes);
    const std::chrono::nanoseconds begin = transport_.now();
    const auto ignore = [](int, const Header&, std::span<const std::byte>) {};
    for (std::size_t i = 0; i < pieces; ++i) {
      transport_.send(process, {.aux = kBulk}, piece);
      while (transport_.waiting_bytes() > 0) transport_.poll(ignore);
    }
    transport_.send(process, {.aux = kBulkEnds, .name = pieces}, {});
    answer(kBulkIsHere);
    return seconds(transport_.now() - begin);
  }

  uint64_t answer(Step expected) {
    transport_.flush();
    uint64_t name = 0;
    bool is_here = false;
    while (!is_here) {
      const auto take = [&](int /*from*/, const Header& header, std::span<const std::byte> /*payload*/) {
        is_here |= header.aux == expected;
        name = header.name;
      };
      if (transport_.poll(take) == 0) transport_.wait(kWait);
    }
    return name;
  }

  Transport& transport_;
};

/// All others. Messages may arrive in any order: the last piece after the message that there are no more.
void answer_until_over(Transport& transport) {
  bool is_over = false;
  uint64_t arrived = 0;
  uint64_t expected = 0;
  const auto take = [&](int from, const Header& header, std::span<const std::byte> /*payload*/) {
    if (header.aux == kPing)
      transport.send(from, {.aux = kPong, .name = static_cast<uint64_t>(clock_of_this_machine())}, {});
    if (header.aux == kBulk) ++arrived;
    if (header.aux == kBulkEnds) expected = header.name;
    if (header.aux == kMeasured) is_over = true;
    if (expected == 0 || arrived < expected) return;
    arrived = expected = 0;
    transport.send(from, {.aux = kBulkIsHere}, {});
  };
  while (!is_over) {
    if (transport.poll(take) == 0) transport.wait(kWait);
    transport.flush();
  }
}

}  // namespace

std::vector<Measured> measure(Transport& transport) {
  if (transport.self() != 0) {
    answer_until_over(transport);
    return {};
  }
  Measuring measuring(transport);
  std::vector<Measured> rows(1);
  for (int i = 1; i < transport.size(); ++i) rows.push_back(measuring.measure(i));
  measuring.end();
  return rows;
}

}  // namespace hiaton::net
