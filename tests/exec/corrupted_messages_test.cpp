// Messages between processes of which a byte is not what was sent. No process crashes, reads outside of what
// is its own, or waits for ever: a run ends with values, whichever they are, or with an error.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "exec/in_processes.h"
#include "exec/literal_run.h"
#include "sized.h"

namespace hiaton::exec::testing {
namespace {

/// Changes a byte of some messages.
class CorruptingLink : public net::Link {
 public:
  CorruptingLink(std::unique_ptr<net::Link> link, uint32_t seed) : link_(std::move(link)), random_(seed) {}

  int self() const override { return link_->self(); }
  int size() const override { return link_->size(); }
  std::string host(int process) const override { return link_->host(process); }
  void send(int to, net::Packet packet) override {
    constexpr std::size_t kKind = 6;
    constexpr std::byte kMessages{2};
    if (packet.data()[kKind] == kMessages && random_() % kOneIn == 0) change_a_message(packet);
    link_->send(to, std::move(packet));
  }
  bool receive(net::Arrival& arrival) override { return link_->receive(arrival); }
  bool all_sent() override { return link_->all_sent(); }
  void wait(const Wait& wait) override { link_->wait(wait); }
  bool wake() override { return link_->wake(); }
  std::chrono::nanoseconds now() const override { return link_->now(); }
  void close() override { link_->close(); }
  void abort(int status) override { link_->abort(status); }

  /// How many packets it has changed.
  int changed() const { return changed_; }

 private:
  static constexpr uint32_t kOneIn = 4;

  /// The name or the payload of one: messages of another run are dropped, as are those of a channel that
  /// nobody listens to, and a link loses none.
  void change_a_message(net::Packet& packet) {
    constexpr std::size_t kPacketHeader = 16;
    constexpr std::size_t kName = 8;
    constexpr std::size_t kSize = 16;
    constexpr std::size_t kPayload = 24;
    std::vector<std::size_t> bytes;
    for (std::size_t at = kPacketHeader; at < packet.size();) {
      uint64_t size = 0;
      std::memcpy(&size, packet.data() + at + kSize, sizeof size);
      for (std::size_t i = kName; i < kPayload + size; ++i) {
        if (i < kSize || i >= kPayload) bytes.push_back(at + i);
      }
      at += kPayload + size;
    }
    packet.data()[bytes[random_() % bytes.size()]] ^= std::byte(1u << random_() % 8);
    ++changed_;
  }

  std::unique_ptr<net::Link> link_;
  std::mt19937 random_;
  int changed_ = 0;
};

struct Corrupted {
  std::string name;
  std::string_view text;
  int64_t argument;
  Executor executor = Executor::Production;
  bool share_every_call = false;
};

constexpr std::string_view kNumbersToAndFro =
    "fn even(n: i64) -> i64 on \"process:0\" = if n <= 0 then 1 else 2 * odd(n - 1) % 998244353\n"
    "fn odd(n: i64) -> i64 on \"process:1\" = if n <= 0 then 0 else 3 * even(n - 1) % 998244353\n"
    "fn main(n: i64) -> i64 = even(n)\n";
constexpr std::string_view kDataToAndFro =
    "data Tree = Leaf(value: i64) | Node(left: Tree, right: Tree)\n"
    "fn grown(n: i64, at: i64) -> Tree on \"process:1\" =\n"
    "  if n <= 0 then Leaf(at) else Node(grown(n - 1, 2 * at), grown(n - 1, 2 * at + 1))\n"
    "fn sum(t: Tree) -> i64 on \"process:0\" =\n"
    "  match t\n"
    "    Leaf(value) -> value\n"
    "    Node(left, right) -> on \"process:1\" (on \"\" sum(left) + on \"\" sum(right))\n"
    "fn main(n: i64) -> i64 = sum(grown(n, 1))\n";
constexpr std::string_view kRowsToAndFro =
    "fn f(x: f32[4], n: i64) -> f32[4] =\n"
    "  if n <= 0 then x else on \"process:1\" tanh(on \"\" f(x * 0.5, n - 1) + on \"\" f(x, n - 1))\n"
    "fn main(n: i64) -> f32 = sum(f([0.1, 0.2, 0.3, 0.4], n))\n";
constexpr std::string_view kSharedRows =
    "fn f(x: f32[4], n: i64) -> f32[4] = if n <= 0 then tanh(x) else f(x * 0.5, n - 1) + f(x, n - 1)\n"
    "fn main(n: i64) -> f32 = sum(f([0.1, 0.2, 0.3, 0.4], n))\n";

/// What each process does; the reference runs the literal form.
void run_in_one_process(const graph::Graph& graph, const std::vector<Value>& arguments, RunOptions options) {
  if (options.executor == Executor::Reference) {
    options.executor = Executor::Production;
    run_literal(graph, partition::split(graph, {.processes = options.processes->size()}), arguments, options);
  } else {
    PlanCache plans;
    exec::run(graph, arguments, options, plans);
  }
}

class CorruptedMessages : public ::testing::TestWithParam<Corrupted> {};

TEST_P(CorruptedMessages, EndTheRunWithValuesOrAnError) {
  const Corrupted& tested = GetParam();
  const graph::Graph graph = graph_of(tested.text);
  RunOptions options;
  options.executor = tested.executor;
  options.share_every_call = tested.share_every_call;
  options.timeout = std::chrono::milliseconds(50);  // for a name that is nobody's any more
  options.max_bytes = uint64_t{1} << 26;
  int changed = 0;
  int failed = 0;
  for (uint32_t seed = 0; seed < sized(100u, 20u); ++seed) {
    std::vector<std::unique_ptr<net::Link>> links;
    std::vector<const CorruptingLink*> corrupting;
    for (std::unique_ptr<net::Link>& link : net::in_process_links(2)) {
      auto made =
          std::make_unique<CorruptingLink>(std::move(link), 2 * seed + static_cast<uint32_t>(links.size()));
      corrupting.push_back(made.get());
      links.push_back(std::move(made));
    }
    try {
      net::act_in_processes(links, [&](net::Transport& transport) {
        RunOptions own = options;
        own.processes = &transport;
        run_in_one_process(graph, {Value(tested.argument)}, own);
      });
    } catch (const Error&) {
      ++failed;
    }
    for (const CorruptingLink* link : corrupting) changed += link->changed();
  }
  EXPECT_GT(changed, 0);
  EXPECT_GT(failed, 0);
}

INSTANTIATE_TEST_SUITE_P(Programs, CorruptedMessages,
                         ::testing::Values(Corrupted{"numbers", kNumbersToAndFro, 100},
                                           Corrupted{"data", kDataToAndFro, 5},
                                           Corrupted{"rows", kRowsToAndFro, 5},
                                           Corrupted{"literal", kNumbersToAndFro, 30, Executor::Reference},
                                           Corrupted{"shared", kSharedRows, 5, Executor::Flow, true}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace hiaton::exec::testing
