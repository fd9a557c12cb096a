// Every interleaving of calls between processes that send each other calls, and refuse some.
#include "exec/direct/run/sent_protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "net/walk.h"
#include "sized.h"

namespace hiaton::exec::direct {
namespace {

using net::walk_to_ends;
using net::Walked;

enum class SentKind : uint8_t { Call, Again, Refuse, Taken, Return };

struct SentMessage {
  SentKind kind = SentKind::Call;
  int from = 0;
  int to = 0;
  uint64_t name = 0;
  int id = 0;     ///< tells the call apart; the processes do not know it
  int depth = 0;  ///< how many calls the callee makes inside of each other

  friend auto operator<=>(const SentMessage&, const SentMessage&) = default;
};

/// What the wrong ones do otherwise.
struct RightRules {
  using Names = CallNames;
  static bool may_take(bool is_short, bool is_busy) { return may_take_call(is_short, is_busy); }
  static constexpr bool kGivesBackRefused = false;
  static constexpr bool kForgetsRefused = false;
  static constexpr bool kKeepsResent = false;
};
struct TakesAll : RightRules {
  static bool may_take(bool /*is_short*/, bool /*is_busy*/) { return true; }
};
struct RefusesAllWhenShort : RightRules {
  static bool may_take(bool is_short, bool /*is_busy*/) { return !is_short; }
};
struct GivesNamesBackWhenRefused : RightRules {
  static constexpr bool kGivesBackRefused = true;
};
struct ForgetsRefused : RightRules {
  static constexpr bool kForgetsRefused = true;
};
struct SendsTwice : RightRules {
  static constexpr bool kKeepsResent = true;
};

/// Does not count how often a place was used.
struct NamesAreUsedAgain : RightRules {
  struct Names : CallNames {
    uint64_t take() { return CallNames::take() & UINT32_MAX; }
    std::optional<uint32_t> place_of(uint64_t name) const {
      for (uint64_t times = 0; times < kMostTimes; ++times) {
        if (const std::optional<uint32_t> place = CallNames::place_of(times << 32 | name)) return place;
      }
      return std::nullopt;
    }
    static constexpr uint64_t kMostTimes = 16;
    friend auto operator<=>(const Names&, const Names&) = default;
  };
};

/// A call that runs here; it may wait for one of its own.
struct SentTaken {
  int caller = 0;
  uint64_t name = 0;
  int id = 0;
  int depth = 0;
  int waits_for = -1;  ///< the id of that one

  friend auto operator<=>(const SentTaken&, const SentTaken&) = default;
};

template <class Names>
struct SentMember {
  Names names;
  std::vector<int> ids;      ///< by place: of the call that has it
  std::vector<int> unknown;  ///< ids of calls that were refused, and are not known to be taken
  std::vector<SentTaken> taken;
  std::vector<SentMessage> refused;

  friend auto operator<=>(const SentMember&, const SentMember&) = default;
};

/// Process 0 makes calls to process 1, which calls back, and so on. Each can hold one call of the other.
template <class Rules>
struct SentState {
  static constexpr std::size_t kRoom = 1;

  using Taken = SentTaken;
  using Member = SentMember<typename Rules::Names>;
  int calls;
  int to_begin;
  int depth;
  int next_id = 0;
  int returned = 0;  ///< calls of the program
  std::vector<Member> members = std::vector<Member>(2);
  std::vector<SentMessage> under_way;
  std::string found;

  SentState(int how_many, int how_deep) : calls(how_many), to_begin(how_many), depth(how_deep) {}
  friend auto operator<=>(const SentState&, const SentState&) = default;

  static bool runs(const Taken& call) { return call.waits_for < 0; }

  void put(SentMessage message) {
    under_way.insert(std::lower_bound(under_way.begin(), under_way.end(), message), message);
  }
  void call(int from, int levels) {
    Member& caller = members[static_cast<std::size_t>(from)];
    const uint64_t name = caller.names.take();
    caller.ids.resize(caller.names.size(), -1);
    caller.ids[*caller.names.place_of(name)] = next_id;
    put({SentKind::Call, from, 1 - from, name, next_id++, levels});
  }

  std::vector<SentState> next() const {
    std::vector<SentState> states;
    if (to_begin > 0) {
      SentState after = *this;
      --after.to_begin;
      after.call(0, depth);
      states.push_back(after);
    }
    for (std::size_t i = 0; i < members.size(); ++i) {
      add_work(static_cast<int>(i), states);
      for (std::size_t k = 0; k < members[i].refused.size(); ++k) {
        SentState after = *this;
        std::vector<SentMessage>& refused = after.members[i].refused;
        after.put(refused[k]);
        if (!Rules::kKeepsResent || after.under_way.size() > 2)
          refused.erase(refused.begin() + static_cast<std::ptrdiff_t>(k));
        states.push_back(after);
      }
    }
    for (std::size_t k = 0; k < under_way.size(); ++k) {
      if (k > 0 && under_way[k] == under_way[k - 1]) continue;
      SentState after = *this;
      after.under_way.erase(after.under_way.begin() + static_cast<std::ptrdiff_t>(k));
      after.take(under_way[k]);
      states.push_back(after);
    }
    return states;
  }

  void add_work(int process, std::vector<SentState>& states) const {
    const Member& member = members[static_cast<std::size_t>(process)];
    for (std::size_t k = 0; k < member.taken.size(); ++k) {
      if (!runs(member.taken[k])) continue;
      SentState after = *this;
      std::vector<Taken>& taken = after.members[static_cast<std::size_t>(process)].taken;
      if (taken[k].depth > 0) {
        taken[k].waits_for = next_id;
        after.call(process, taken[k].depth - 1);
      } else {
        after.put({SentKind::Return, process, taken[k].caller, taken[k].name, taken[k].id, 0});
        taken.erase(taken.begin() + static_cast<std::ptrdiff_t>(k));
      }
      states.push_back(after);
    }
  }

  void take(const SentMessage& message) {
    Member& member = members[static_cast<std::size_t>(message.to)];
    if (message.kind == SentKind::Call || message.kind == SentKind::Again) return take_call(message, member);
    const std::optional<uint32_t> place = member.names.place_of(message.name);
    if (message.kind == SentKind::Taken && !place) return;  // its results were faster
    if (!place || member.ids[*place] != message.id) {
      found = "an answer for another call";
      return;
    }
    std::erase(member.unknown, message.id);
    if (message.kind == SentKind::Taken) return;
    if (message.kind == SentKind::Refuse) {
      member.unknown.push_back(message.id);
      if (Rules::kGivesBackRefused) member.names.give_back(*place);
      if (Rules::kForgetsRefused) return;
      member.refused.push_back(
          {SentKind::Again, message.to, message.from, message.name, message.id, message.depth});
      return;
    }
    member.names.give_back(*place);
    member.ids[*place] = -1;
    const auto caller = std::find_if(member.taken.begin(), member.taken.end(),
                                     [&](const Taken& call) { return call.waits_for == message.id; });
    if (caller == member.taken.end()) {
      ++returned;
    } else {
      caller->waits_for = -1;
      caller->depth = 0;
    }
  }

  void take_call(const SentMessage& message, Member& member) {
    const bool is_short = member.taken.size() >= kRoom;
    const bool is_busy = std::any_of(member.taken.begin(), member.taken.end(), runs);
    const auto answer = [&](SentKind kind) {
      put({kind, message.to, message.from, message.name, message.id, message.depth});
    };
    if (!Rules::may_take(is_short, is_busy)) return answer(SentKind::Refuse);
    if (is_short && is_busy) found = "a process takes more than it can hold";
    if (message.kind == SentKind::Again) answer(SentKind::Taken);
    member.taken.push_back({message.from, message.name, message.id, message.depth, -1});
    std::sort(member.taken.begin(), member.taken.end());
  }

  std::string wrong() const { return found; }
  bool may_rest() const {
    return to_begin == 0 && returned == calls && under_way.empty() &&
           std::all_of(members.begin(), members.end(), [](const Member& one) {
             return one.taken.empty() && one.refused.empty() && one.unknown.empty();
           });
  }
};

TEST(SentProtocol, EachCallReturnsOnceAndNobodyHoldsTooMuch) {
  for (const auto& [calls, depth] :
       {std::pair(3, 0), std::pair(2, 1), std::pair(sized(2, 1), 2), std::pair(1, 4)}) {
    const Walked walked = walk_to_ends(SentState<RightRules>(calls, depth));
    EXPECT_EQ(walked.wrong, "") << calls << " calls, " << depth << " deep";
    EXPECT_GT(walked.ends, 0u);
  }
  EXPECT_GT(walk_to_ends(SentState<RightRules>(2, 1)).states, 200u);
}

TEST(SentProtocol, WrongVariantsAreFound) {
  EXPECT_EQ(walk_to_ends(SentState<TakesAll>(3, 0)).wrong, "a process takes more than it can hold");
  EXPECT_EQ(walk_to_ends(SentState<RefusesAllWhenShort>(2, 2)).wrong, "it may go on for ever");
  EXPECT_EQ(walk_to_ends(SentState<GivesNamesBackWhenRefused>(3, 0)).wrong, "an answer for another call");
  EXPECT_EQ(walk_to_ends(SentState<ForgetsRefused>(3, 0)).wrong, "nothing can happen any more");
  EXPECT_EQ(walk_to_ends(SentState<NamesAreUsedAgain>(4, 0)).wrong, "an answer for another call");
  EXPECT_EQ(walk_to_ends(SentState<SendsTwice>(3, 0)).wrong, "an answer for another call");
}

TEST(CallNames, AreNeverUsedTwice) {
  CallNames names;
  const uint64_t first = names.take();
  const uint64_t second = names.take();
  EXPECT_NE(names.place_of(first), names.place_of(second));
  names.give_back(*names.place_of(first));
  EXPECT_FALSE(names.place_of(first).has_value());
  const uint64_t third = names.take();
  EXPECT_NE(third, first);
  EXPECT_EQ(names.place_of(third), uint32_t{0});
  EXPECT_EQ(names.size(), 2u);
  EXPECT_FALSE(names.place_of(~uint64_t{0}).has_value());
}

}  // namespace
}  // namespace hiaton::exec::direct
