// A run that ends by an error is looked at: a plan that counts wrongly is found, wherever the run ends.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "exec/direct/direct_plan.h"
#include "exec/direct/run/direct_run.h"
#include "exec/direct/run/interpret.h"
#include "exec/programs.h"
#include "hiaton/error.h"
#include "net/disordered.h"

namespace hiaton::exec::direct::testing {
using namespace exec::testing;

namespace {

constexpr std::string_view kLengths =
    "fn made(n: i64) -> List[i64] = if n == 0 then Nil else Cons(n, made(n - 1))\n"
    "fn length(xs: List[i64], so_far: i64) -> i64 =\n"
    "  match xs\n"
    "    Nil -> so_far\n"
    "    Cons(_, rest) -> length(rest, so_far + 1)\n"
    "fn measured(n: i64) -> i64 = let xs = made(n) length(xs, 0) * length(xs, 1)\n"
    "fn main(n: i64) -> i64 = 10 / (measured(n) - measured(n))\n";

constexpr std::string_view kPairs =
    "data Pair = Pair(first: List[i64], second: List[i64])\n"
    "fn made(n: i64) -> List[i64] = if n == 0 then Nil else Cons(n, made(n - 1))\n"
    "fn pair(xs: List[i64]) -> Pair = Pair(xs, xs)\n"
    "fn first(p: Pair) -> i64 =\n"
    "  match p\n"
    "    Pair(Cons(x, _), _) -> x\n"
    "    Pair(Nil, _) -> 0\n"
    "fn main(n: i64) -> (Pair, i64) = let p = pair(made(n)) (p, 10 / (first(p) - n))\n";

/// How many counts are not explained where the run fails, once all instructions of one kind do what those of
/// another do.
uint64_t unexplained(std::string_view text, Opcode from, Opcode to) {
  const graph::Graph graph = graph_of(text);
  std::string reason;
  const std::shared_ptr<const Plan> compiled = compile(graph, PlanOptions{}, reason);
  EXPECT_NE(compiled, nullptr) << reason;
  Plan& plan = const_cast<Plan&>(*compiled);
  bool is_there = false;
  for (Opcode& opcode : plan.opcodes) {
    if (opcode != from) continue;
    opcode = to;
    is_there = true;
  }
  EXPECT_TRUE(is_there) << to_text(plan, graph);
  set_handlers(plan);
  RunStats stats;
  LastRun last;
  const std::vector<Value> arguments{Value(int64_t{3})};
  EXPECT_THROW(run_plan(graph, plan, arguments, {.stats = &stats, .checks_counts = true}, last), RunError);
  EXPECT_EQ(stats.frames_live_at_end, 0u);
  return stats.values_live_at_end;
}

/// The same in two processes, which give each other calls: what all of them find.
uint64_t unexplained_in_processes(std::string_view text, Opcode from, Opcode to) {
  const graph::Graph graph = graph_of(text);
  std::string reason;
  const std::shared_ptr<const Plan> compiled = compile(graph, PlanOptions{.forking = true}, reason);
  EXPECT_NE(compiled, nullptr) << reason;
  Plan& plan = const_cast<Plan&>(*compiled);
  std::ranges::replace(plan.opcodes, from, to);
  set_handlers(plan);
  RunStats stats;
  const std::vector<Value> arguments{Value(int64_t{3})};
  net::act_in_processes(net::disordered_links(2, net::Delivery::InOrder, 1), [&](net::Transport& transport) {
    RunStats own;
    LastRun last;
    const RunOptions options{
        .stats = &own, .share_every_call = true, .checks_counts = true, .processes = &transport};
    if (transport.self() != 0) {
      run_plan(graph, plan, arguments, options, last);
      return;
    }
    EXPECT_THROW(run_plan(graph, plan, arguments, options, last), RunError);
    stats = own;
  });
  EXPECT_EQ(stats.frames_live_at_end, 0u);
  return stats.values_live_at_end;
}

TEST(CountsAfterErrors, AreLookedAtInAllProcesses) {
  EXPECT_EQ(unexplained_in_processes(kLengths, Opcode::Release, Opcode::Release), 0u);
  EXPECT_GT(unexplained_in_processes(kLengths, Opcode::Release, Opcode::Retain), 0u);
}

TEST(CountsAfterErrors, AreRightInPlansAsTheyAre) {
  EXPECT_EQ(unexplained(kLengths, Opcode::Release, Opcode::Release), 0u);
  EXPECT_EQ(unexplained(kPairs, Opcode::Retain, Opcode::Retain), 0u);
}

TEST(CountsAfterErrors, ThatWereNotLoweredAreFound) {
  EXPECT_GT(unexplained(kLengths, Opcode::Release, Opcode::Retain), 0u);
}

TEST(CountsAfterErrors, ThatWereNotRaisedAreFound) {
  EXPECT_GT(unexplained(kPairs, Opcode::Retain, Opcode::UnlessObject), 0u);
}

}  // namespace
}  // namespace hiaton::exec::direct::testing
