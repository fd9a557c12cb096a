#include "net/transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "net/disordered.h"
#include "net/processes.h"
#include "net/simulated.h"
#include "net/simulated_transports.h"

namespace hiaton::net {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using namespace std::chrono_literals;

constexpr Delivery kDeliveries[] = {Delivery::InOrder, Delivery::LastFirst, Delivery::Random,
                                    Delivery::StarvedOne, Delivery::Bursts};

/// Work that makes more work: a message of so many hops goes on to others until none is left.
class Hops {
 public:
  Hops(Simulated& simulated, uint64_t seed) : simulated_(simulated), random_(seed) {}

  void send(int from, uint32_t hops) {
    int to = static_cast<int>(random_() % static_cast<unsigned>(simulated_.size() - 1));
    to += to >= from ? 1 : 0;
    // Some are larger than a packet.
    const std::size_t bytes = random_() % 50 == 0 ? 20'000 : random_() % 900;
    const std::vector<std::byte> payload(bytes, static_cast<std::byte>(bytes));
    simulated_[from].send(to, {.channel = hops, .aux = static_cast<uint32_t>(bytes), .name = next_}, payload);
    ++open_[next_++];
  }
  void take(int at, const Header& header, std::span<const std::byte> payload) {
    EXPECT_EQ(payload.size(), header.aux);
    for (std::byte byte : payload) ASSERT_EQ(byte, static_cast<std::byte>(header.aux));
    EXPECT_EQ(--open_[header.name], 0);
    open_.erase(header.name);
    ++taken_;
    if (header.channel == 0) return;
    for (uint64_t i = random_() % 2; i < 2; ++i) send(at, header.channel - 1);
  }
  bool is_over() const { return open_.empty(); }
  int taken() const { return taken_; }

 private:
  Simulated& simulated_;
  std::mt19937_64 random_;
  std::map<uint64_t, int> open_;
  uint64_t next_ = 0;
  int taken_ = 0;
};

void run_until_ended(Simulated& simulated, Hops& hops, std::mt19937_64& random) {
  std::vector<bool> ended(static_cast<std::size_t>(simulated.size()));
  for (int left = 100'000; std::count(ended.begin(), ended.end(), true) < simulated.size(); --left) {
    ASSERT_GT(left, 0) << "no end";
    if (random() % 3 > 0) simulated.network.deliver();
    const int at = static_cast<int>(random() % static_cast<unsigned>(simulated.size()));
    if (ended[static_cast<std::size_t>(at)]) continue;
    const std::size_t handled = simulated[at].poll(
        [&](int, const Header& header, std::span<const std::byte> bytes) { hops.take(at, header, bytes); },
        2);
    if (handled > 0 || random() % 2 == 0) continue;
    ended[static_cast<std::size_t>(at)] = simulated[at].try_end();
    if (ended[static_cast<std::size_t>(at)]) {
      ASSERT_TRUE(hops.is_over()) << "ended too early";
    }
  }
}

TEST(SimulatedTransport, EveryMessageArrivesOnceAndTheEndComesAfterTheLastOne) {
  int taken = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const Delivery delivery = kDeliveries[seed % std::size(kDeliveries)];
    Simulated simulated(2 + static_cast<int>(seed % 3), delivery, seed, {.window = 8});
    simulated.join_all();
    Hops hops(simulated, seed);
    std::mt19937_64 random(seed);
    for (int i = 0; i < simulated.size(); ++i) hops.send(i, 8);
    run_until_ended(simulated, hops, random);
    ASSERT_TRUE(hops.is_over()) << "seed " << seed;
    taken += hops.taken();
  }
  EXPECT_GT(taken, 10'000);
}

TEST(SimulatedTransport, WhatHasNoCreditWaitsAndIsCounted) {
  Simulated simulated(2, Delivery::InOrder, 1, {.window = 8});
  simulated.join_all();
  const std::vector<std::byte> payload(1000);
  for (int i = 0; i < 1000; ++i) simulated[0].send(1, {}, payload);
  simulated[0].flush();
  EXPECT_EQ(simulated.network.packets_under_way(), 8u);
  EXPECT_GT(simulated[0].waiting_bytes(), 900'000u);
  std::size_t handled = 0;
  while (handled < 1000) {
    simulated.network.deliver();
    handled += simulated[1].poll([](int, const Header&, std::span<const std::byte>) {});
    simulated[0].poll([](int, const Header&, std::span<const std::byte>) {});
  }
  EXPECT_EQ(simulated[0].waiting_bytes(), 0u);
}

TEST(SimulatedTransport, APollLeavesTheAnswersToWhatItSendsToTheNextOne) {
  Simulated simulated(2, Delivery::InOrder, 1, {});
  simulated.join_all();
  const std::vector<std::byte> payload(100);
  const auto deliver_all = [&] {
    while (simulated.network.deliver()) {
    }
  };
  simulated[1].send(0, {}, payload);
  simulated[1].flush();
  deliver_all();
  const auto answer_and_get_answered = [&](int, const Header&, std::span<const std::byte>) {
    simulated[0].send(1, {}, payload);
    simulated[0].flush();
    deliver_all();
    simulated[1].poll([&](int, const Header&, std::span<const std::byte>) {
      simulated[1].send(0, {}, payload);
      simulated[1].flush();
    });
    deliver_all();
    simulated[0].keep_alive();  // as by the thread that takes note of what comes meanwhile
  };
  EXPECT_EQ(simulated[0].poll(answer_and_get_answered), 1u);
  EXPECT_EQ(simulated[0].poll([](int, const Header&, std::span<const std::byte>) {}), 1u);
}

std::string failure_of(Transport& transport) {
  try {
    transport.poll([](int, const Header&, std::span<const std::byte>) {});
  } catch (const ProcessFailure& failure) {
    return failure.what();
  } catch (const ProgramError& error) {
    return error.what();
  }
  return "none";
}

TEST(SimulatedTransport, ALostProcessIsNamedByAllWithinTheTime) {
  for (int lost = 0; lost < 3; ++lost) {
    Simulated simulated(3, Delivery::Random, 5, {.longest_silence = 10s});
    simulated.join_all();
    simulated.network.lose(lost);
    int seconds = 0;
    for (; seconds < 60; ++seconds) {
      simulated.network.pass(1s);
      while (simulated.network.deliver()) {
      }
      int noted = 0;
      for (int i = 0; i < 3; ++i) {
        if (i == lost) continue;
        simulated[i].keep_alive();
        noted += failure_of(simulated[i]) != "none" ? 1 : 0;
      }
      if (noted == 2) break;
    }
    EXPECT_GE(seconds, 9);
    EXPECT_LE(seconds, 13);
    while (simulated.network.deliver()) {
    }
    int reports = 0;
    for (int i = 0; i < 3; ++i) {
      if (i == lost) continue;
      EXPECT_THAT(failure_of(simulated[i]),
                  HasSubstr("process " + std::to_string(lost) + " (node" + std::to_string(lost) +
                            ") was killed or cannot be reached: nothing was heard of it for"));
      try {
        simulated[i].try_end();
      } catch (const ProcessFailure& failure) {
        reports += failure.is_reported_here() ? 1 : 0;
        EXPECT_TRUE(failure.is_lost());
      }
    }
    EXPECT_EQ(reports, 1);
  }
}

TEST(SimulatedTransport, ALinkThatIsCutIsNoticedAtBothEnds) {
  Simulated simulated(2, Delivery::InOrder, 5, {.longest_silence = 2s});
  simulated.join_all();
  simulated.network.cut(0, 1);
  for (int i = 0; i < 2; ++i) {
    simulated.network.pass(900ms);
    EXPECT_EQ(failure_of(simulated[0]), "none");
    EXPECT_EQ(failure_of(simulated[1]), "none");
  }
  simulated.network.pass(900ms);
  EXPECT_THAT(failure_of(simulated[0]), HasSubstr("process 1 (node1) was killed or cannot be reached"));
  EXPECT_THAT(failure_of(simulated[1]), HasSubstr("process 0 (node0) was killed or cannot be reached"));
}

TEST(SimulatedTransport, WhoWasStoppedDoesNotTakeTheOthersForLost) {
  Simulated simulated(3, Delivery::Random, 5, {.longest_silence = 10s});
  simulated.join_all();
  simulated.network.pass(60s);  // all of them, as by Ctrl-Z
  for (int i = 0; i < 3; ++i) EXPECT_EQ(failure_of(simulated[i]), "none");
  simulated.network.lose(2);  // from now on the others wait as long as ever
  int seconds = 0;
  for (; failure_of(simulated[0]) == "none" && seconds < 60; ++seconds) {
    simulated.network.pass(1s);
    while (simulated.network.deliver()) {
    }
    simulated[1].keep_alive();
  }
  EXPECT_GE(seconds, 9);
  EXPECT_LE(seconds, 13);
}

TEST(SimulatedTransport, ProcessesThatComputeLongButLiveAreNotLost) {
  Simulated simulated(3, Delivery::Random, 5, {.longest_silence = 10s});
  simulated.join_all();
  for (int seconds = 0; seconds < 100; ++seconds) {
    simulated.network.pass(1s);
    while (simulated.network.deliver()) {
    }
    for (int i = 0; i < 3; ++i) simulated[i].keep_alive();
  }
  for (int i = 0; i < 3; ++i) EXPECT_EQ(failure_of(simulated[i]), "none");
}

TEST(SimulatedTransport, AProcessThatFailsEndsAllWithItsName) {
  Simulated simulated(3, Delivery::Random, 9);
  simulated.join_all();
  simulated[2].fail("division by zero");
  while (simulated.network.deliver()) simulated[0].keep_alive();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(failure_of(simulated[i]), "division by zero (process 2 (node2))");
}

std::string refusal_of(const Identity& other) {
  Simulated simulated(3, Delivery::Random, 3);
  for (int i = 0; i < 3; ++i)
    simulated[i].introduce(i == 1 ? other : Identity{"0.1.0", "avx2", "q.hia 1234", ""});
  std::set<std::string> failures;
  for (int steps = 0; steps < 100 && failures.size() < 3; ++steps) {
    simulated.network.deliver();
    for (int i = 0; i < 3; ++i) {
      try {
        EXPECT_FALSE(simulated[i].try_join() && simulated[0].size() < 3);
      } catch (const ProcessFailure& failure) {
        failures.insert(failure.what());
      }
    }
  }
  EXPECT_EQ(failures.size(), 1u);
  return failures.empty() ? "" : *failures.begin();
}

TEST(Handshake, RefusesAnotherVersionProgramOrInstructionSetByName) {
  EXPECT_EQ(refusal_of({"0.2.0", "avx2", "q.hia 1234", ""}),
            "process 1 (node1) runs hiaton 0.2.0, process 0 hiaton 0.1.0");
  EXPECT_EQ(refusal_of({"0.1.0", "avx512", "q.hia 1234", ""}),
            "process 1 (node1) computes with avx512 instructions, process 0 with avx2");
  EXPECT_EQ(refusal_of({"0.1.0", "avx2", "r.hia 99", ""}),
            "process 1 (node1) has r.hia 99, process 0 q.hia 1234; expected the same program, arguments and "
            "options in "
            "all");
  EXPECT_EQ(refusal_of({"0.1.0", "avx2", "", "cannot read 'q.hia'"}),
            "process 1 (node1): cannot read 'q.hia'");
}

TEST(HostileMessages, AnyDamageOfPacketsIsAnErrorOrAnotherMessage) {
  std::mt19937 random(11);
  int errors = 0;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    SimulatedNetwork network(2, Delivery::InOrder, seed);
    const auto link = network.link(0);
    const auto other = network.link(1);
    Transport receiver(*link, {});
    Transport sender(*other, {});
    receiver.introduce({});
    sender.introduce({});
    const std::string text = "a message";
    for (int round = 0; round < 4; ++round) {
      network.deliver();
      try {
        receiver.try_join();
        if (sender.try_join()) sender.send(0, {}, std::as_bytes(std::span(text)));
        sender.flush();
        receiver.poll([](int, const Header&, std::span<const std::byte>) {});
      } catch (const Error&) {
        break;
      }
    }
    // A packet that another one of its size could have been.
    Packet packet(64 + random() % 100);
    packet.resize(packet.capacity());
    for (std::size_t i = 0; i < packet.size(); ++i) packet.data()[i] = static_cast<std::byte>(random());
    constexpr std::array<uint8_t, 6> kBegin = {0x48, 0x69, 0x74, 0x4E, kWireVersion, 0};
    if (random() % 8 > 0) std::memcpy(packet.data(), kBegin.data(), kBegin.size());
    if (random() % 2 == 0) packet.data()[6] = static_cast<std::byte>(random() % 10);
    if (random() % 2 == 0) std::memset(packet.data() + 8, 0, 4);
    if (random() % 2 == 0) std::memset(packet.data() + 33, 0, 7);
    if (random() % 8 == 0) packet.resize(random() % 20);
    other->send(0, std::move(packet));
    while (network.deliver()) {
    }
    try {
      receiver.poll([](int, const Header&, std::span<const std::byte>) {});
      receiver.try_end();
    } catch (const Error& error) {
      EXPECT_STRNE(error.what(), "");
      ++errors;
    }
  }
  EXPECT_GT(errors, 1000);
}

/// Sends around in a ring of threads.
class RingWork : public Work {
 public:
  RingWork(std::atomic<int>& count, int fails_at) : count_(count), fails_at_(fails_at) {}
  std::string prepare(int /*self*/) override { return "a ring"; }
  void work(Transport& transport) override {
    if (transport.self() == fails_at_) throw RunError(Fault::DivisionByZero, "q.hia:1:2: division by zero");
    const auto take = [&](int, const Header& header, std::span<const std::byte> bytes) {
      ++count_;
      if (header.name > 0) pass(transport, header.name - 1, bytes);
    };
    const std::vector<std::byte> payload(static_cast<std::size_t>(transport.self()) * 9000);
    for (int i = 0; i < 20; ++i) pass(transport, 50, payload);
    transport.end(take);
  }

 private:
  static void pass(Transport& transport, uint64_t hops, std::span<const std::byte> bytes) {
    transport.send((transport.self() + 1) % transport.size(), {.name = hops}, bytes);
  }
  std::atomic<int>& count_;
  int fails_at_;
};

TEST(InProcess, ThreadsWorkAsProcessesAndEndTogether) {
  for (int processes : {2, 3, 4}) {
    std::atomic<int> count = 0;
    work_in_threads(processes, {}, [&] { return std::make_unique<RingWork>(count, -1); });
    EXPECT_EQ(count, processes * 20 * 51);
  }
  class Alone : public Work {
    std::string prepare(int /*self*/) override { return ""; }
    void work(Transport& transport) override { EXPECT_EQ(transport.size(), 1); }
  };
  work_in_threads(1, {}, [] { return std::make_unique<Alone>(); });
}

/// The sender reads what it has sent, while the receiver has it, and so does the receiver when the sender has
/// let go of it.
TEST(InProcess, APayloadArrivesInTheMemoryThatItWasWrittenTo) {
  static constexpr std::size_t kSize = kPacketBytes + 1;
  class Sends : public Work {
   public:
    explicit Sends(std::atomic<const std::byte*>& place) : sent(place) {}
    std::string prepare(int /*self*/) override { return "a test"; }
    void work(Transport& transport) override {
      if (transport.self() == 0) {
        Payload payload = transport.new_payload(1, kSize);
        const std::byte* const bytes = payload.bytes().data();
        sent = bytes;
        EXPECT_EQ(payload.bytes().size(), kSize);
        EXPECT_EQ((reinterpret_cast<uintptr_t>(bytes) - Payload::kBegin) % Packet::kAlignment, 0U);
        std::ranges::fill(payload.writable_bytes(), std::byte{7});
        transport.send(1, {.channel = 8}, std::as_bytes(std::span("before")));
        transport.send_payload(1, {.channel = 9, .aux = 5, .name = 3}, payload);
        EXPECT_EQ(payload.bytes().back(), std::byte{7});
        payload = {};
        return transport.flush();
      }
      Payload kept;
      int small = 0;
      while (kept.bytes().empty() || small == 0) {
        transport.poll_payloads([&](int from, const Header& header, Payload payload) {
          EXPECT_EQ(from, 0);
          if (header.channel == 8) return static_cast<void>(++small);
          EXPECT_EQ(header.aux, 5U);
          EXPECT_EQ(header.name, 3U);
          kept = std::move(payload);
        });
        transport.wait(1ms);
      }
      EXPECT_EQ(kept.bytes().data(), sent);
      EXPECT_EQ(kept.bytes().size(), kSize);
      EXPECT_TRUE(std::ranges::all_of(kept.bytes(), [](std::byte byte) { return byte == std::byte{7}; }));
    }

   private:
    std::atomic<const std::byte*>& sent;
  };
  std::atomic<const std::byte*> place = nullptr;
  work_in_threads(2, {}, [&place] { return std::make_unique<Sends>(place); });
}

TEST(InProcess, TheErrorOfOneProcessIsThrownOnceWithItsName) {
  std::atomic<int> count = 0;
  for (int fails_at : {0, 1, 2}) {
    try {
      work_in_threads(3, {}, [&] { return std::make_unique<RingWork>(count, fails_at); });
      ADD_FAILURE() << "no error";
    } catch (const RunError& error) {
      EXPECT_EQ(fails_at, 0) << error.what();
    } catch (const ProcessFailure& failure) {
      EXPECT_THAT(failure.what(),
                  HasSubstr("q.hia:1:2: division by zero (process " + std::to_string(fails_at)));
      EXPECT_TRUE(failure.is_reported_here());
    }
  }
}

TEST(InProcess, WhoEndsWithoutARunOfTheOthersIsNamed) {
  // Each process begins runs, says how many, and works until it learns that another one has failed.
  const auto error_where = [](const std::vector<uint32_t>& runs) -> std::string {
    const auto act = [&runs](Transport& transport) {
      const uint32_t most = *std::max_element(runs.begin(), runs.end());
      const uint32_t own = runs[static_cast<std::size_t>(transport.self())];
      for (uint32_t i = 0; i < own; ++i) transport.next_run();
      while (own == most) {
        transport.poll([](int, const Header&, std::span<const std::byte>) {});
        transport.wait(1ms);
      }
    };
    try {
      act_in_processes(in_process_links(static_cast<int>(runs.size())), act);
    } catch (const ProcessFailure& failure) {
      EXPECT_TRUE(failure.is_reported_here());
      return failure.what();
    }
    return "";
  };
  EXPECT_THAT(error_where({1, 0}), AllOf(HasSubstr("process 1 ("),
                                         HasSubstr(" has ended after 0 shared runs, while process 0 (")));
  EXPECT_THAT(error_where({1, 2}),
              AllOf(HasSubstr("process 0 ("), HasSubstr(" has ended after 1 shared run, while process 1 (")));
  EXPECT_THAT(error_where({3, 3, 2}), HasSubstr("has begun 3 shared runs; every process must run the same"));
  EXPECT_THAT(error_where({0, 0, 1}), HasSubstr(" has ended after 0 shared runs, while process 2 ("));
}

TEST(InProcess, AnInterruptOfOneProcessReachesProcess0) {
  std::array<std::atomic<bool>, 3> interrupted{};
  const auto links = in_process_links(3);
  std::vector<std::jthread> others;
  const auto act = [&](std::size_t self) {
    Transport transport(*links[self], {.interrupted = &interrupted[self]});
    transport.introduce({"1", "avx2", "a program", ""});
    transport.join();
    if (self == 2) interrupted[self].store(true);
    const auto end = std::chrono::steady_clock::now() + 10s;
    while (!interrupted[0].load() && std::chrono::steady_clock::now() < end) {
      transport.keep_alive();
      std::this_thread::sleep_for(1ms);
    }
    transport.end([](int, const Header&, std::span<const std::byte>) {});
  };
  for (std::size_t self = 1; self < interrupted.size(); ++self) others.emplace_back(act, self);
  act(0);
  others.clear();
  EXPECT_TRUE(interrupted[0].load());
  EXPECT_FALSE(interrupted[1].load());
}

TEST(InProcess, AThreadThatNeverJoinsIsLost) {
  const auto links = in_process_links(2);
  Transport transport(*links[0], {.longest_silence = 300ms});
  transport.introduce({});
  try {
    transport.join();
    ADD_FAILURE() << "joined";
  } catch (const ProcessFailure& failure) {
    EXPECT_THAT(failure.what(), HasSubstr("process 1"));
    EXPECT_THAT(failure.what(), HasSubstr("nothing was heard of it for 0."));
  }
}

}  // namespace
}  // namespace hiaton::net
