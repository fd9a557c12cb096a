// Flow moves a data value where it is read for the last time.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "exec/flow/flow_plan.h"
#include "exec/programs.h"

namespace hiaton::exec {
namespace {

/// Sources that are data values in slots: how many are read for the last time, and how many more.
struct DataReads {
  int last = 0;
  int other = 0;

  void add(const flow::Function& function, const std::vector<flow::Source>& sources) {
    for (const flow::Source& source : sources) {
      const bool is_slot = source.from == flow::Source::From::Slot;
      if (is_slot && function.slots[source.index] == flow::SlotKind::Data) ++(source.last ? last : other);
    }
  }
  std::string text() const { return fmt::format("{} last, {} other", last, other); }
};

/// Of the function f: what becomes fields of data values, and what is returned.
std::string reads_of(const std::string& f) {
  const graph::Graph graph =
      testing::graph_of("data Tree = Leaf(x: f32[2]) | Node(left: Tree, right: Tree)\n" + f +
                        "fn main(t: Tree) -> Tree = f(t)\n");
  const flow::Plan plan = flow::compile(graph, OverflowMode::Wrap);
  DataReads fields, results;
  for (const flow::Function& function : plan.functions) {
    if (graph[function.id].name != "f") continue;
    for (const flow::Item& item : function.items) {
      if (item.kind == flow::ItemKind::Return) results.add(function, function.returns[item.index].results);
      if (item.kind != flow::ItemKind::Region) continue;
      for (const flow::Step& step : plan.regions[item.index].steps) {
        if (step.code == flow::Step::Code::Make) fields.add(function, step.operands);
      }
    }
  }
  return fmt::format("fields: {}; results: {}", fields.text(), results.text());
}

TEST(LastUses, OfDataValuesAreThoseThatMakeAndReturnOthers) {
  EXPECT_EQ(reads_of("fn f(t: Tree) -> Tree = match t\n"
                     "  Leaf(x) -> Leaf(tanh(x))\n"
                     "  Node(left, right) -> Node(f(right), f(left))\n"),
            "fields: 2 last, 0 other; results: 2 last, 0 other");
}

TEST(LastUses, AreTheLastOfSeveralInOneStep) {
  EXPECT_EQ(reads_of("fn f(t: Tree) -> Tree = match t\n"
                     "  Leaf(x) -> Leaf(tanh(x))\n"
                     "  Node(left, _) -> let both = f(left) in Node(both, both)\n"),
            "fields: 1 last, 1 other; results: 2 last, 0 other");
}

TEST(LastUses, AreNoneOfArguments) {  // an error shows them
  EXPECT_EQ(reads_of("fn f(t: Tree) -> Tree = Node(t, t)\n"),
            "fields: 0 last, 2 other; results: 1 last, 0 other");
}

TEST(LastUses, AreOnDifferentSidesOfABranch) {
  EXPECT_EQ(reads_of("fn depth(t: Tree) -> i64 = match t\n"
                     "  Leaf(_) -> 0\n"
                     "  Node(left, _) -> 1 + depth(left)\n"
                     "fn f(t: Tree) -> Tree = match t\n"
                     "  Leaf(_) -> t\n"
                     "  Node(left, right) ->\n"
                     "    let a = f(left)\n"
                     "    let b = f(right)\n"
                     "    if depth(a) > 3 then Node(a, b) else Node(b, a)\n"),
            "fields: 4 last, 0 other; results: 1 last, 1 other");
}

// The call of f and what makes the data value run in any order.
TEST(LastUses, AreNoneWhereAnotherItemMayReadLater) {
  EXPECT_EQ(reads_of("fn g(t: Tree, u: Tree) -> Tree = u\n"
                     "fn f(t: Tree) -> Tree = match t\n"
                     "  Leaf(_) -> t\n"
                     "  Node(left, _) -> let a = f(left) in g(Node(a, a), f(a))\n"),
            "fields: 0 last, 2 other; results: 1 last, 1 other");
}

}  // namespace
}  // namespace hiaton::exec
