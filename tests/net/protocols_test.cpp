// Every interleaving of the protocols between two and three processes; and variants of them that are known to
// be wrong, which the same walk must find.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <tuple>

#include "net/credits.h"
#include "net/dealing.h"
#include "net/ending.h"
#include "net/walk.h"
#include "sized.h"

namespace hiaton::net {
namespace {

using testing::HasSubstr;

template <class T>
void insert_sorted(std::vector<T>& list, const T& one) {
  list.insert(std::upper_bound(list.begin(), list.end(), one), one);
}

template <class T>
std::vector<T> without(std::vector<T> list, std::size_t index) {
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(index));
  return list;
}

// --- Credits ---------------------------------------------------------------------------------------------

constexpr uint32_t kWindow = 4;

struct CreditPacket {
  int to = 0;
  uint32_t weight = 0;  ///< 0: nothing but credits
  uint32_t credits = 0;

  friend auto operator<=>(const CreditPacket&, const CreditPacket&) = default;
};

/// Two processes that send each other packets of weight 1 and 2.
template <class C>
struct CreditState {
  struct Side {
    C credits{kWindow};
    int light = 0;  ///< still to be sent
    int heavy = 0;
    std::vector<uint32_t> unhandled;

    friend auto operator<=>(const Side&, const Side&) = default;
  };
  std::array<Side, 2> sides;
  std::vector<CreditPacket> under_way;
  bool broken = false;

  friend auto operator<=>(const CreditState&, const CreditState&) = default;

  CreditState with_sent(std::size_t from, uint32_t weight) const {
    CreditState after = *this;
    insert_sorted(after.under_way,
                  {static_cast<int>(1 - from), weight, after.sides[from].credits.take_owed()});
    if (weight > 0) after.sides[from].credits.sent(weight);
    if (weight == 1) --after.sides[from].light;
    if (weight == 2) --after.sides[from].heavy;
    return after;
  }

  std::vector<CreditState> next() const {
    std::vector<CreditState> states;
    for (std::size_t i = 0; i < 2; ++i) {
      const Side& side = sides[i];
      if (side.light > 0 && side.credits.may_send(1)) states.push_back(with_sent(i, 1));
      if (side.heavy > 0 && side.credits.may_send(2)) states.push_back(with_sent(i, 2));
      if (side.credits.must_return()) states.push_back(with_sent(i, 0));
      for (std::size_t k = 0; k < side.unhandled.size(); ++k) {
        CreditState after = *this;
        after.sides[i].credits.handled(side.unhandled[k]);
        after.sides[i].unhandled = without(side.unhandled, k);
        states.push_back(after);
      }
    }
    for (std::size_t k = 0; k < under_way.size(); ++k) {
      const CreditPacket& packet = under_way[k];
      CreditState after = *this;
      after.under_way = without(under_way, k);
      Side& side = after.sides[static_cast<std::size_t>(packet.to)];
      after.broken = !side.credits.returned(packet.credits);
      if (packet.weight > 0) {
        insert_sorted(side.unhandled, packet.weight);
        side.credits.arrived(packet.weight);
      }
      states.push_back(after);
    }
    return states;
  }

  std::string wrong() const {
    if (broken) return "more credits than were used";
    for (std::size_t i = 0; i < 2; ++i) {
      uint32_t held = 0;
      int credits_alone = 0;
      for (uint32_t weight : sides[i].unhandled) held += weight;
      for (const CreditPacket& packet : under_way) {
        if (packet.to != static_cast<int>(i)) continue;
        held += packet.weight;
        credits_alone += packet.weight == 0 ? 1 : 0;
      }
      if (held > kWindow) return "more under way than the window";
      if (credits_alone > 2) return "too many packets with nothing but credits";
    }
    return {};
  }
  bool may_rest() const { return sides[0].light + sides[0].heavy + sides[1].light + sides[1].heavy == 0; }
};

struct RightCredits : Credits {
  using Credits::Credits;
  void arrived(uint32_t /*weight*/) {}
  friend auto operator<=>(const RightCredits&, const RightCredits&) = default;
};
/// Waits until something else goes there.
struct NeverAlone : RightCredits {
  using RightCredits::RightCredits;
  bool must_return() const { return false; }
  friend auto operator<=>(const NeverAlone&, const NeverAlone&) = default;
};
/// Returns credits only for a whole window.
struct TooLate : RightCredits {
  using RightCredits::RightCredits;
  uint32_t owed = 0;
  void handled(uint32_t weight) {
    Credits::handled(weight);
    owed += weight;
  }
  uint32_t take_owed() {
    owed = 0;
    return Credits::take_owed();
  }
  bool must_return() const { return owed >= kWindow; }
  friend auto operator<=>(const TooLate&, const TooLate&) = default;
};
/// Returns credits for what has come, though nobody has handled it.
struct TooEarly : RightCredits {
  using RightCredits::RightCredits;
  void arrived(uint32_t weight) { Credits::handled(weight); }
  void handled(uint32_t /*weight*/) {}
  friend auto operator<=>(const TooEarly&, const TooEarly&) = default;
};
/// Returns the same credits once more with the next packet.
struct Twice : RightCredits {
  using RightCredits::RightCredits;
  uint32_t last = 0;
  uint32_t take_owed() {
    const uint32_t owed = Credits::take_owed();
    return owed + std::exchange(last, owed);
  }
  friend auto operator<=>(const Twice&, const Twice&) = default;
};

template <class C>
Walked walk_credits() {
  CreditState<C> first;
  first.sides[0].light = sized(3, 2);
  first.sides[0].heavy = 2;
  first.sides[1].light = 2;
  first.sides[1].heavy = 1;
  return walk(first);
}

TEST(CreditProtocol, BoundsWhatIsUnderWayAndNeverStops) {
  const Walked walked = walk_credits<RightCredits>();
  EXPECT_EQ(walked.wrong, "");
  EXPECT_GT(walked.states, 1'000u);
  EXPECT_GT(walked.ends, 0u);
}

TEST(CreditProtocol, WrongVariantsAreFound) {
  EXPECT_EQ(walk_credits<NeverAlone>().wrong, "nothing can happen any more");
  EXPECT_EQ(walk_credits<TooLate>().wrong, "nothing can happen any more");
  EXPECT_EQ(walk_credits<TooEarly>().wrong, "more under way than the window");
  EXPECT_THAT(walk_credits<Twice>().wrong, HasSubstr("more"));
}

// --- Ending ----------------------------------------------------------------------------------------------

constexpr uint32_t kMostWaves = 4;

/// Process 0 and others that send each other a few messages; a message makes who gets it active.
template <class Waves, bool kAnswersWhenActive = false>
struct EndingState {
  struct Member {
    bool is_active = true;
    uint64_t sent = 0;
    uint64_t handled = 0;
    EndingAnswers answers;

    friend auto operator<=>(const Member&, const Member&) = default;
  };
  Waves waves;
  std::vector<Member> members;
  int messages_left = 0;
  std::vector<int> messages;                    ///< under way, by receiver
  std::vector<std::pair<int, uint32_t>> asked;  ///< waves under way
  std::vector<std::tuple<uint32_t, uint64_t, uint64_t>> reports;
  uint32_t last_wave = 0;
  bool ended = false;

  EndingState(int processes, int messages_at_most)
      : waves(processes), members(static_cast<std::size_t>(processes)), messages_left(messages_at_most) {}
  friend auto operator<=>(const EndingState&, const EndingState&) = default;

  std::vector<EndingState> next() const {
    std::vector<EndingState> states;
    if (ended) return states;
    add_work(states);
    add_waves(states);
    return states;
  }

  void add_work(std::vector<EndingState>& states) const {
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (!members[i].is_active) continue;
      EndingState rests = *this;
      rests.members[i].is_active = false;
      states.push_back(rests);
      for (std::size_t to = 0; to < members.size() && messages_left > 0; ++to) {
        if (to == i) continue;
        EndingState sends = *this;
        --sends.messages_left;
        ++sends.members[i].sent;
        insert_sorted(sends.messages, static_cast<int>(to));
        states.push_back(sends);
      }
    }
    for (std::size_t k = 0; k < messages.size(); ++k) {
      EndingState after = *this;
      Member& receiver = after.members[static_cast<std::size_t>(messages[k])];
      receiver.is_active = true;
      ++receiver.handled;
      after.messages = without(messages, k);
      states.push_back(after);
    }
  }

  void add_waves(std::vector<EndingState>& states) const {
    if ((!members[0].is_active || kAnswersWhenActive) && last_wave < kMostWaves) {
      EndingState after = *this;
      if (const auto wave = after.waves.next_wave()) {
        after.last_wave = *wave;
        for (std::size_t i = 1; i < members.size(); ++i)
          insert_sorted(after.asked, {static_cast<int>(i), *wave});
        after.ended = after.waves.take({*wave, members[0].sent, members[0].handled});
        states.push_back(after);
      }
    }
    for (std::size_t k = 0; k < asked.size(); ++k) {
      EndingState after = *this;
      after.members[static_cast<std::size_t>(asked[k].first)].answers.asked(asked[k].second);
      after.asked = without(asked, k);
      states.push_back(after);
    }
    for (std::size_t i = 1; i < members.size(); ++i) {
      if (members[i].is_active && !kAnswersWhenActive) continue;
      EndingState after = *this;
      const auto report = after.members[i].answers.answer(members[i].sent, members[i].handled);
      if (!report) continue;
      insert_sorted(after.reports, {report->wave, report->sent, report->handled});
      states.push_back(after);
    }
    for (std::size_t k = 0; k < reports.size(); ++k) {
      EndingState after = *this;
      const auto [wave, sent, handled] = reports[k];
      after.ended = after.waves.take({wave, sent, handled});
      after.reports = without(reports, k);
      states.push_back(after);
    }
  }

  bool all_rest() const {
    return messages.empty() &&
           std::none_of(members.begin(), members.end(), [](const Member& one) { return one.is_active; });
  }
  std::string wrong() const { return ended && !all_rest() ? "the end came too early" : ""; }
  /// Where the walk is cut off after some waves, nothing is said.
  bool may_rest() const { return ended || last_wave == kMostWaves; }
};

/// Ends as soon as one wave finds as many messages handled as sent.
struct OneWave {
  explicit OneWave(int count) : processes(count) {}
  int processes;
  int missing = 0;
  uint32_t wave = 0;
  uint64_t sent = 0;
  uint64_t handled = 0;
  std::optional<uint32_t> next_wave() {
    if (missing > 0) return std::nullopt;
    missing = processes;
    sent = handled = 0;
    return ++wave;
  }
  bool take(const EndingReport& report) {
    sent += report.sent;
    handled += report.handled;
    return --missing == 0 && sent == handled;
  }
  friend auto operator<=>(const OneWave&, const OneWave&) = default;
};

/// Ends when two waves have found as many messages sent, whether or not they have been handled.
struct SentTwice : OneWave {
  using OneWave::OneWave;
  uint64_t before = 0;
  bool take(const EndingReport& report) {
    const uint64_t last = missing == processes ? 0 : sent;
    sent = last + report.sent;
    if (--missing > 0) return false;
    return std::exchange(before, sent) == sent && wave > 1;
  }
  friend auto operator<=>(const SentTwice&, const SentTwice&) = default;
};

TEST(EndingProtocol, EndsWhenNothingIsLeftAndNotBefore) {
  for (const auto& [processes, messages] : {std::pair(2, 4), std::pair(3, 2)}) {
    const Walked walked = walk(EndingState<EndingWaves>(processes, messages));
    EXPECT_EQ(walked.wrong, "") << processes;
    EXPECT_GT(walked.states, 1'000u) << processes;
    EXPECT_GT(walked.ends, 0u) << processes;
  }
}

TEST(EndingProtocol, WrongVariantsAreFound) {
  EXPECT_EQ(walk(EndingState<OneWave>(2, 4)).wrong, "the end came too early");
  EXPECT_EQ(walk(EndingState<SentTwice>(2, 4)).wrong, "the end came too early");
  EXPECT_EQ(walk(EndingState<EndingWaves, true>(2, 2)).wrong, "the end came too early");
}

// --- Dealing ---------------------------------------------------------------------------------------------

constexpr int kAsks = 2;  ///< with more, the walk takes minutes

enum class DealKind { Ask, Range, Over, Results };

struct DealMessage {
  DealKind kind = DealKind::Ask;
  std::size_t process = 0;
  Range range;

  friend auto operator<=>(const DealMessage&, const DealMessage&) = default;
};

/// Process 0 works too, and deals a list of some things out.
template <class To>
struct DealState {
  struct Member {
    To dealt;
    std::vector<Range> ranges;
    bool has_begun = false;
    bool has_left = false;

    friend auto operator<=>(const Member&, const Member&) = default;
  };
  Dealer dealer;
  std::vector<Member> members;
  std::vector<DealMessage> under_way;
  std::vector<int> times_done;
  bool arrived_after_end = false;

  DealState(std::size_t processes, std::size_t size)
      : dealer(size, processes, 2), members(processes), times_done(size) {}
  friend auto operator<=>(const DealState&, const DealState&) = default;

  void note_done(const Range& range) {
    dealer.done(range);
    for (std::size_t i = 0; i < range.count; ++i) ++times_done[range.begin + i];
  }

  std::vector<DealState> next() const {
    std::vector<DealState> states;
    DealState works = *this;
    if (const auto range = works.dealer.next()) {
      works.note_done(*range);
      states.push_back(works);
    }
    for (std::size_t i = 1; i < members.size(); ++i) add_steps(i, states);
    for (std::size_t k = 0; k < under_way.size(); ++k) {
      DealState after = *this;
      after.under_way = without(under_way, k);
      after.take(under_way[k]);
      states.push_back(after);
    }
    return states;
  }

  void add_steps(std::size_t i, std::vector<DealState>& states) const {
    DealState after = *this;
    Member& member = after.members[i];
    if (!member.has_begun) {
      member.has_begun = true;
      for (int asks = member.dealt.begin(kAsks); asks > 0; --asks)
        insert_sorted(after.under_way, {DealKind::Ask, i, {}});
    } else if (!member.ranges.empty()) {
      insert_sorted(after.under_way, {DealKind::Results, i, member.ranges.front()});
      member.ranges = without(member.ranges, 0);
      member.dealt.finished();
    } else if (member.dealt.is_over() && !member.has_left) {
      member.has_left = true;
    } else {
      return;
    }
    states.push_back(after);
  }

  void take(const DealMessage& message) {
    Member& member = members[message.process];
    if (message.kind == DealKind::Results) note_done(message.range);
    if (message.kind == DealKind::Results || message.kind == DealKind::Ask) {
      const auto range = dealer.next();
      return insert_sorted(
          under_way, {range ? DealKind::Range : DealKind::Over, message.process, range.value_or(Range())});
    }
    arrived_after_end |= member.has_left;
    member.dealt.answered(message.kind == DealKind::Over);
    if (message.kind == DealKind::Range) member.ranges.push_back(message.range);
  }

  std::string wrong() const {
    if (arrived_after_end) return "a message for a process that has left";
    for (int times : times_done) {
      if (times > 1) return "done twice";
    }
    return {};
  }
  bool may_rest() const {
    return dealer.all_done() &&
           std::all_of(members.begin() + 1, members.end(), [](const Member& one) { return one.has_left; }) &&
           std::all_of(times_done.begin(), times_done.end(), [](int times) { return times == 1; });
  }
};

struct RightDealtTo : DealtTo {
  void answered(bool /*is_over*/) { DealtTo::answered(); }
  friend auto operator<=>(const RightDealtTo&, const RightDealtTo&) = default;
};
/// Leaves when it first hears that there is nothing more.
struct LeavesAtOnce : DealtTo {
  bool heard = false;
  void answered(bool is_over) { heard |= is_over; }
  bool is_over() const { return heard; }
  friend auto operator<=>(const LeavesAtOnce&, const LeavesAtOnce&) = default;
};
/// Does not ask again.
struct AsksNoMore : RightDealtTo {
  void finished() {}
  friend auto operator<=>(const AsksNoMore&, const AsksNoMore&) = default;
};

TEST(DealingProtocol, DoesEachThingOnceAndEverybodyLeaves) {
  for (const auto& [processes, size] : {std::pair(2u, 6u), std::pair(3u, 5u), std::pair(2u, 0u)}) {
    const Walked walked = walk(DealState<RightDealtTo>(processes, size));
    EXPECT_EQ(walked.wrong, "") << processes;
    EXPECT_GT(walked.ends, 0u) << processes;
  }
}

TEST(DealingProtocol, WrongVariantsAreFound) {
  EXPECT_EQ(walk(DealState<LeavesAtOnce>(2, 3)).wrong, "a message for a process that has left");
  EXPECT_EQ(walk(DealState<AsksNoMore>(2, 3)).wrong, "nothing can happen any more");
}

}  // namespace
}  // namespace hiaton::net
