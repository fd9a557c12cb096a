// One analysis says which calls are tail calls; direct code and flow both follow it.
#include <gtest/gtest.h>

#include <string>

#include "exec/flow/flow_plan.h"
#include "exec/graph_names.h"
#include "exec/programs.h"
#include "exec/structure.h"

namespace hiaton::exec {
namespace {

/// The callees of the tail calls of the program, each followed by a blank, in the order of the call sites.
std::string tail_callees(std::string_view text) {
  const Graph graph = testing::graph_of(text);
  const Structure structure = find_blocks(graph, std::vector<bool>(graph.functions().size(), true));
  const std::vector<bool> tail_calls = find_tail_calls(graph, structure);
  std::string callees;
  for (std::size_t s = 0; s < tail_calls.size(); ++s) {
    if (tail_calls[s]) callees += graph[graph.sites()[s].callee].name + " ";
  }
  return callees;
}

constexpr std::string_view kBranches =
    "fn f(n: i64) -> i64 = if n < 0 then f(-n) else if n > 9 then g(f(n - 1)) else n\n"
    "fn g(n: i64) -> i64 = n * n\n"
    "fn main(n: i64) -> i64 = f(n) + 1\n";

TEST(TailCalls, GiveTheResultThroughEndsOfBranches) {
  EXPECT_EQ(tail_callees(kBranches), "f g ");
}

TEST(TailCalls, AreNoneWhereSomethingIsDoneWithTheResult) {
  EXPECT_EQ(tail_callees("fn f(n: i64) -> i64 = if n == 0 then 1 else n * f(n - 1)\n"
                         "fn main(n: i64) -> i64 = f(n)\n"),
            "f ");  // that of main
  EXPECT_EQ(tail_callees("fn f(n: i64) -> i64 = n * n\n"
                         "fn main(n: i64) -> (i64, i64) = let x = f(n) in (x, x)\n"),
            "");
}

TEST(TailCalls, GiveAllResultsInTheirOrder) {
  const std::string functions = "fn f(n: i64) -> (i64, i64) = (n, n * n)\n";
  EXPECT_EQ(tail_callees(functions + "fn main(n: i64) -> (i64, i64) = f(n)\n"), "f ");
  EXPECT_EQ(tail_callees(functions + "fn main(n: i64) -> (i64, i64) = let (a, b) = f(n) in (b, a)\n"), "");
  EXPECT_EQ(tail_callees(functions + "fn main(n: i64) -> i64 = let (a, b) = f(n) in b\n"), "");
}

TEST(TailCalls, AreNoneInLoops) {
  EXPECT_EQ(tail_callees("fn f(n: i64) -> i64 = n + 1\n"
                         "fn main(n: i64) -> i64 = with x = n for i in 0..n do f(x)\n"),
            "");
}

TEST(TailCalls, OfFlowLeaveOutTheItemsThatHandOnTheResults) {
  const Graph graph = testing::graph_of(kBranches);
  const flow::Plan plan = flow::compile(graph, OverflowMode::Wrap);
  std::string forwarded;
  for (const flow::Function& function : plan.functions) {
    for (const flow::Call& call : function.calls) {
      if (call.forwarded > 0) forwarded += graph[plan.functions[call.callee].id].name + " ";
    }
  }
  EXPECT_EQ(forwarded, "f g ");
}

}  // namespace
}  // namespace hiaton::exec
