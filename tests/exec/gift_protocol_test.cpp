// Every interleaving of processes that give each other calls, in two runs that follow each other.
#include "exec/direct/run/gift_protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "net/walk.h"
#include "sized.h"

namespace hiaton::exec::direct {
namespace {

using net::walk_to_ends;
using net::Walked;

constexpr uint32_t kGiftRuns = 2;

enum class GiftKind : uint8_t { Ask, Refuse, Gift, Return, End, Done };

struct GiftMessage {
  GiftKind kind = GiftKind::Ask;
  int from = 0;
  int to = 0;
  uint32_t run = 0;
  int name = 0;
  int id = 0;  ///< tells the call apart; the processes do not know it

  friend auto operator<=>(const GiftMessage&, const GiftMessage&) = default;
};

struct RightGifts {
  static Judgement judge(uint32_t of, uint32_t own, bool is_question) {
    return judge_message(of, own, own + 1, is_question);
  }
  static constexpr bool kAsksAgain = false;
  static constexpr bool kOneName = false;
};
struct DropsQuestionsOfTheNextRun : RightGifts {
  static Judgement judge(uint32_t of, uint32_t own, bool /*is_question*/) {
    return of == own ? Judgement::Take : Judgement::Drop;
  }
};
struct TakesMessagesOfOtherRuns : RightGifts {
  static Judgement judge(uint32_t /*of*/, uint32_t /*own*/, bool /*is_question*/) { return Judgement::Take; }
};
struct AsksAgainAtOnce : RightGifts {
  static constexpr bool kAsksAgain = true;
};
struct NamesAllAlike : RightGifts {
  static constexpr bool kOneName = true;
};

/// A call that a process runs for another one.
struct GiftTaken {
  int name = 0;
  int id = 0;

  friend auto operator<=>(const GiftTaken&, const GiftTaken&) = default;
};

struct GiftMember {
  Questions questions;
  uint32_t run = 0;
  std::vector<int> asked{};        ///< who waits for an answer of this one
  std::vector<GiftTaken> taken{};  ///< one at most, where nobody asks twice
  bool has_ended = false;

  friend auto operator<=>(const GiftMember&, const GiftMember&) = default;
};

/// Process 0 has calls that it runs itself or gives away, in each of two runs.
template <class Rules>
struct GiftState {
  using Taken = GiftTaken;
  using Member = GiftMember;
  int calls;
  std::vector<Member> members;
  std::vector<GiftMessage> under_way;
  // What process 0 knows, in its run.
  int free_calls;
  int next_name = 0;
  std::vector<Taken> given;
  int returned = 0;
  int done = 0;
  std::string found;

  GiftState(int processes, int how_many) : calls(how_many), free_calls(how_many) {
    for (int i = 0; i < processes; ++i) members.push_back({Questions(i, processes)});
  }
  friend auto operator<=>(const GiftState&, const GiftState&) = default;

  Member& member(int process) { return members[static_cast<std::size_t>(process)]; }
  int size() const { return static_cast<int>(members.size()); }
  void put(const GiftMessage& message) {
    under_way.insert(std::lower_bound(under_way.begin(), under_way.end(), message), message);
  }

  std::vector<GiftState> next() const {
    std::vector<GiftState> states;
    if (!found.empty()) return states;
    for (int i = 0; i < size(); ++i) add_work(i, states);
    for (std::size_t k = 0; k < under_way.size(); ++k) {
      if (k > 0 && under_way[k] == under_way[k - 1]) continue;
      GiftState after = *this;
      after.under_way.erase(after.under_way.begin() + static_cast<std::ptrdiff_t>(k));
      after.take(under_way[k]);
      states.push_back(after);
    }
    return states;
  }

  void add_work(int process, std::vector<GiftState>& states) const {
    const Member& own = members[static_cast<std::size_t>(process)];
    if (own.run == kGiftRuns || own.has_ended) return;
    const auto add = [&](auto change) {
      GiftState after = *this;
      change(after, after.member(process));
      states.push_back(after);
    };
    if (!own.asked.empty()) add([&](GiftState& after, Member& here) { after.answer(process, here); });
    if (process == 0 && free_calls > 0) {
      add([](GiftState& after, Member&) {
        --after.free_calls;
        ++after.returned;
      });
    }
    if (process == 0 && returned == calls) {
      add([](GiftState& after, Member& here) {
        here.has_ended = true;
        for (int i = 1; i < after.size(); ++i) after.put({GiftKind::End, 0, i, here.run, 0, 0});
      });
    }
    if (!own.taken.empty()) {
      add([&](GiftState& after, Member& here) {
        const Taken call = here.taken.back();
        here.taken.pop_back();
        after.put({GiftKind::Return, process, 0, here.run, call.name, call.id});
      });
    } else if (process != 0 && (Rules::kAsksAgain || !own.questions.is_open())) {
      add([&](GiftState& after, Member& here) {
        if (here.questions.is_open()) after.found = "a process asks while it waits for an answer";
        after.put({GiftKind::Ask, process, here.questions.ask(), here.run, 0, 0});
      });
    }
  }

  void answer(int process, Member& here) {
    const int to = here.asked.front();
    here.asked.erase(here.asked.begin());
    if (process != 0 || free_calls == 0) return put({GiftKind::Refuse, process, to, here.run, 0, 0});
    const Taken call{Rules::kOneName ? 0 : next_name, free_calls--};
    ++next_name;
    given.push_back(call);
    put({GiftKind::Gift, 0, to, here.run, call.name, call.id});
  }

  void take(const GiftMessage& message) {
    Member& here = member(message.to);
    const Judgement judgement = Rules::judge(message.run, here.run, message.kind == GiftKind::Ask);
    if (judgement == Judgement::Refuse)
      return put({GiftKind::Refuse, message.to, message.from, message.run, 0, 0});
    if (judgement == Judgement::Drop) return;
    if (message.kind == GiftKind::Done) {
      if (++done == size() - 1) begin_next(here);
      return;
    }
    if (here.has_ended) return;
    switch (message.kind) {
      case GiftKind::Ask:
        here.asked.push_back(message.from);
        return;
      case GiftKind::Refuse:
      case GiftKind::Gift:
        if (!here.questions.is_open()) found = "an answer to no question";
        if (message.kind == GiftKind::Refuse) {
          here.questions.refused();
        } else {
          here.questions.given();
          here.taken.push_back({message.name, message.id});
        }
        return;
      case GiftKind::Return: {
        const auto call = std::find_if(given.begin(), given.end(),
                                       [&](const Taken& one) { return one.name == message.name; });
        if (call == given.end() || call->id != message.id) {
          found = "results for another call";
          return;
        }
        given.erase(call);
        ++returned;
        return;
      }
      case GiftKind::End:
        put({GiftKind::Done, message.to, 0, message.run, 0, 0});
        begin_next(here);
        return;
      case GiftKind::Done:
        return;
    }
  }

  void begin_next(Member& here) {
    const int self = static_cast<int>(&here - members.data());
    here = {Questions(self, size()), here.run + 1};
    if (self != 0) return;
    free_calls = calls;
    given.clear();
    next_name = returned = done = 0;
  }

  /// Who waits for an answer gets one, or its run ends.
  bool is_answered(int process) const {
    const Member& own = members[static_cast<std::size_t>(process)];
    if (!own.questions.is_open()) return true;
    if (members[0].run != own.run || members[0].has_ended) return true;
    const bool waits = std::any_of(members.begin(), members.end(), [&](const Member& other) {
      return other.run == own.run &&
             std::find(other.asked.begin(), other.asked.end(), process) != other.asked.end();
    });
    return waits || std::any_of(under_way.begin(), under_way.end(), [&](const GiftMessage& message) {
             if (message.run != own.run) return false;
             const bool is_answer = message.kind == GiftKind::Gift || message.kind == GiftKind::Refuse;
             return message.kind == GiftKind::Ask ? message.from == process
                                                  : is_answer && message.to == process;
           });
  }

  std::string wrong() const {
    if (!found.empty()) return found;
    for (int i = 1; i < size(); ++i) {
      if (!is_answered(i)) return "a question that nobody answers";
    }
    return {};
  }
  bool may_rest() const {
    return std::all_of(members.begin(), members.end(),
                       [](const Member& one) { return one.run == kGiftRuns; });
  }
};

TEST(GiftProtocol, EachCallComesBackOnceAndEachQuestionIsAnswered) {
  for (const auto& [processes, calls] : {std::pair(2, 2), std::pair(sized(3, 2), 1)}) {
    const Walked walked = walk_to_ends(GiftState<RightGifts>(processes, calls));
    EXPECT_EQ(walked.wrong, "") << processes << " processes";
    EXPECT_GT(walked.states, 100u) << processes << " processes";
    EXPECT_GT(walked.ends, 0u) << processes << " processes";
  }
}

TEST(GiftProtocol, WrongVariantsAreFound) {
  EXPECT_EQ(walk_to_ends(GiftState<DropsQuestionsOfTheNextRun>(3, 1)).wrong,
            "a question that nobody answers");
  EXPECT_NE(walk_to_ends(GiftState<TakesMessagesOfOtherRuns>(3, 1)).wrong, "");
  EXPECT_EQ(walk_to_ends(GiftState<AsksAgainAtOnce>(2, 2)).wrong,
            "a process asks while it waits for an answer");
  EXPECT_EQ(walk_to_ends(GiftState<NamesAllAlike>(3, 2)).wrong, "results for another call");
}

}  // namespace
}  // namespace hiaton::exec::direct
