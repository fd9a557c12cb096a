// How long a process of a round sleeps.
#include "net/rounds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "net/disordered.h"

namespace hiaton::net {
namespace {

/// Remembers for how many packets it was told to wait, at most.
class WatchedLink : public DisorderedLink {
 public:
  WatchedLink(std::unique_ptr<Link> link, std::atomic<uint32_t>& most)
      : DisorderedLink(std::move(link), Delivery::InOrder, 0), most_(most) {}

  void wait(const Wait& wait) override {
    most_.store(std::max(most_.load(), wait.packets));
    DisorderedLink::wait(wait);
  }

 private:
  std::atomic<uint32_t>& most_;
};

/// For how many packets the first of so many processes waits, at most, while none of the others has sent
/// anything yet.
uint32_t packets_waited_for(int processes, bool serves) {
  std::atomic<uint32_t> most{0};
  std::atomic<bool> has_joined{false};
  std::vector<std::unique_ptr<Link>> links = in_process_links(processes);
  links[0] = std::make_unique<WatchedLink>(std::move(links[0]), most);
  act_in_processes(links, [&](Transport& transport) {
    if (transport.self() == 0) {
      most.store(0);
      has_joined.store(true);
    }
    while (transport.self() != 0 && (!has_joined.load() || most.load() == 0)) std::this_thread::yield();
    Rounds rounds(transport);
    if (serves) rounds.serve();
    rounds.exchange(std::vector<ByteWriter>(static_cast<std::size_t>(transport.size())));
  });
  return most.load();
}

TEST(Rounds, SleepUntilAllHaveSent) {
  EXPECT_EQ(packets_waited_for(2, false), 1u);
  EXPECT_EQ(packets_waited_for(4, false), 3u);
}

TEST(Rounds, LookAtEachMessageWhereOthersMayAsk) {
  EXPECT_EQ(packets_waited_for(4, true), 1u);
}

}  // namespace
}  // namespace hiaton::net
