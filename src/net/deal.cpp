#include "net/deal.h"

#include <fmt/format.h>

#include <deque>
#include <map>
#include <memory>
#include <utility>

#include "base/check.h"

namespace hiaton::net {
namespace {

/// What a message is, as Header::aux.
enum DealMessage : uint32_t { kAsk, kRange, kOver, kResults };

constexpr std::chrono::milliseconds kLongestWait(100);
/// Process 0 looks at messages between two ranges of its own, and a large packet crosses in several steps,
/// each of which waits for such a look: so many ranges are on their way to a process, or wait there.
constexpr int kAsksAtFirst = 4;

using Bytes = std::vector<std::byte>;

Bytes bytes_in(std::span<const std::byte> bytes) {
  return {bytes.begin(), bytes.end()};
}

/// Process 0: deals out, works itself, and puts the results in order.
class Dealing {
 public:
  Dealing(Transport& transport, Dealt& dealt, std::size_t most)
      : transport_(transport),
        dealt_(dealt),
        dealer_(dealt.size(), static_cast<std::size_t>(transport.size()), most) {}

  void run() {
    while (!dealer_.all_done()) {
      answer();
      if (const std::optional<Range> range = dealer_.next()) {
        work_on(*range);
      } else if (!dealer_.all_done()) {
        transport_.wait(kLongestWait);
      }
    }
  }

  void answer() {
    const auto take = [this](int from, const Header& header, Payload payload) {
      if (header.aux == kResults) take_results(from, header.name, std::move(payload));
      this->answer(from, header);
    };
    while (transport_.poll_payloads(take) > 0) {
    }
    transport_.flush();
  }

  /// A question: results are one too.
  void answer(int from, const Header& header) {
    if (header.aux != kAsk && header.aux != kResults)
      throw ProgramError(fmt::format("{}: expected a question or results, found a message {}",
                                     transport_.name(from), header.aux));
    const std::optional<Range> range = dealer_.next();
    if (!range) return transport_.send(from, {.channel = kDealChannel, .aux = kOver}, {});
    things_.clear();
    dealt_.write(*range, things_);
    under_way_.emplace(range->begin, UnderWay{from, *range});
    transport_.send(from, {.channel = kDealChannel, .aux = kRange, .name = range->begin}, things_.bytes());
  }

 private:
  struct UnderWay {
    int process;
    Range range;
  };

  void work_on(const Range& range) { done(range, dealt_.work_here(range)); }

  void take_results(int from, uint64_t begin, Payload payload) {
    const auto found = under_way_.find(begin);
    if (found == under_way_.end() || found->second.process != from) {
      throw ProgramError(
          fmt::format("{}: expected results of what it was given, found others", transport_.name(from)));
    }
    const Range range = found->second.range;
    under_way_.erase(found);
    done(range, [this, range, from, results = std::make_shared<Payload>(std::move(payload))] {
      const std::string sender = "results of " + transport_.name(from);
      ByteReader in(results->bytes(), sender);
      dealt_.take(range, in);
      in.require_end();
    });
  }

  void done(const Range& range, std::function<void()> take) {
    dealer_.done(range);
    done_.emplace(range.begin, Done{range.count, std::move(take)});
    for (auto next = done_.begin(); next != done_.end() && next->first == taken_; next = done_.erase(next)) {
      next->second.take();
      taken_ += next->second.count;
    }
  }

  struct Done {
    std::size_t count;
    std::function<void()> take;
  };

  Transport& transport_;
  Dealt& dealt_;
  Dealer dealer_;
  std::map<std::size_t, UnderWay> under_way_;  ///< by begin
  std::map<std::size_t, Done> done_;           ///< by begin, until those before are done too
  std::size_t taken_ = 0;
  ByteWriter things_;
};

/// All others.
class DealtWork {
 public:
  DealtWork(Transport& transport, Dealt& dealt) : transport_(transport), dealt_(dealt) {}

  void run() {
    for (int asks = state_.begin(kAsksAtFirst); asks > 0; --asks)
      transport_.send(0, {.channel = kDealChannel, .aux = kAsk}, {});
    for (;;) {
      transport_.flush();
      const std::size_t arrived = transport_.poll(
          [this](int, const Header& header, std::span<const std::byte> payload) { take(header, payload); });
      if (!waiting_.empty()) {
        work_on_first();
      } else if (state_.is_over()) {
        return;
      } else if (arrived == 0) {
        transport_.wait(kLongestWait);
      }
    }
  }

 private:
  struct Waiting {
    uint64_t begin;
    Bytes things;
  };

  void take(const Header& header, std::span<const std::byte> payload) {
    if (header.aux != kRange && header.aux != kOver) {
      throw ProgramError(
          fmt::format("{}: expected a range or the end, found a message {}", transport_.name(0), header.aux));
    }
    state_.answered();
    if (header.aux == kRange) waiting_.push_back({header.name, bytes_in(payload)});
  }

  void work_on_first() {
    const Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    ByteReader things(next.things, "message from process 0");
    ByteWriter results;
    dealt_.work(things, results);
    transport_.send(0, {.channel = kDealChannel, .aux = kResults, .name = next.begin}, results.bytes());
    state_.finished();
  }

  Transport& transport_;
  Dealt& dealt_;
  DealtTo state_;
  std::deque<Waiting> waiting_;
};

}  // namespace

std::function<void()> Dealt::work_here(const Range& range) {
  ByteWriter things;
  write(range, things);
  ByteReader in(things.bytes(), "what this process has written");
  ByteWriter results;
  work(in, results);
  return [this, range, bytes = std::move(results).take()] {
    ByteReader written(bytes, "results of this process");
    take(range, written);
    written.require_end();
  };
}

void deal(Transport& transport, Dealt& dealt, std::size_t most) {
  if (transport.self() != 0) {
    DealtWork(transport, dealt).run();
    return;
  }
  Dealing dealing(transport, dealt, most);
  dealing.run();
  transport.end([&dealing](int from, const Header& header, std::span<const std::byte> /*payload*/) {
    dealing.answer(from, header);
  });
}

}  // namespace hiaton::net
