// The random programs are worth what they cover: what these tests look for must not get lost.
#include "properties/generate.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "exec/direct/compile/direct_passes.h"
#include "hiaton/passes.h"
#include "passes/call_graph.h"
#include "properties/ways.h"

namespace hiaton::properties {
namespace {

// They are made and not run, which is fast in every build.
constexpr uint64_t kGeneratedPrograms = 2'000;
constexpr int kOften = 15;

/// Counts in how many programs a feature occurs.
class Features {
 public:
  void see(const std::string& feature) { in_this_program_.insert(feature); }
  void next_program() {
    for (const std::string& feature : in_this_program_) ++counts_[feature];
    in_this_program_.clear();
  }
  int count(const std::string& feature) const {
    const auto found = counts_.find(feature);
    return found == counts_.end() ? 0 : found->second;
  }

 private:
  std::set<std::string> in_this_program_;
  std::map<std::string, int> counts_;
};

std::string name_of_use(const OpDef& op, DType operand) {
  return std::string(op.name.value).append(" of ").append(name_of(operand));
}

void see_block(const ir::Function& function, ir::BlockId block, bool in_loop, bool in_branch,
               Features& seen) {
  for (const ir::NodeId id : function[block].nodes) {
    const ir::Node& node = function[id];
    if (!node.placement.empty()) seen.see("placed node");
    switch (node.kind) {
      case ir::NodeKind::Const:
        seen.see(std::string("constant ").append(name_of(node.constant.dtype())));
        break;
      case ir::NodeKind::Op:
        seen.see(name_of_use(*node.op, function[node.operands[0]].type.dtype));
        break;
      case ir::NodeKind::Call:
        seen.see(in_loop ? "call in a loop" : in_branch ? "call in a branch" : "call");
        if (node.results.size() > 1) seen.see("call with several results");
        break;
      case ir::NodeKind::Param:
      case ir::NodeKind::Resume:
      case ir::NodeKind::Accumulate:
        break;
      case ir::NodeKind::If:
        seen.see(in_loop ? "branch in a loop" : in_branch ? "branch in a branch" : "branch");
        if (node.results.size() > 1) seen.see("branch with several results");
        break;
      case ir::NodeKind::While:
        seen.see(in_loop ? "loop in a loop" : in_branch ? "loop in a branch" : "loop");
        if (node.results.size() > 2) seen.see("loop with several variables");
        break;
    }
    for (const ir::BlockId inner : node.blocks) {
      const bool is_loop = node.kind == ir::NodeKind::While;
      see_block(function, inner, in_loop || is_loop, in_branch || !is_loop, seen);
    }
  }
}

void see_module(const ir::Module& module, Features& seen) {
  const passes::CallGraph calls = passes::call_graph(module);
  std::vector<int> sites(module.functions.size(), 0);
  for (std::size_t f = 0; f < module.functions.size(); ++f) {
    const ir::Function& function = module.functions[f];
    see_block(function, function.body, false, false, seen);
    if (!function.placement.empty()) seen.see("placed function");
    if (function.params.empty())
      seen.see(function.name == "main" ? "main without parameters" : "function without parameters");
    if (function.results.size() > 1) seen.see("function with several results");
    bool calls_itself = false;
    for (const ir::FunctionId callee : calls.callees[f]) {
      ++sites[callee.index()];
      calls_itself = calls_itself || callee.index() == f;
      if (callee.index() > f) seen.see("call of a later function");
    }
    if (calls_itself) seen.see("self-recursion");
    if (calls.recursive[f] && !calls_itself) seen.see("mutual recursion");
    if (calls.recursive[f] && function.name == "main") seen.see("recursive main");
    if (function.name == "main" && f > 0) seen.see("main after other functions");
  }
  for (const int count : sites) {
    if (count > 1) seen.see("function called from several places");
  }
}

/// What direct code runs at the same time.
void see_groups(const ir::Module& module, Features& seen) {
  using exec::Item;
  std::string reason;
  const auto structure = exec::direct::find_structure(passes::lower(module), reason);
  ASSERT_TRUE(structure) << reason;
  for (const exec::Block& block : structure->blocks) {
    for (std::size_t i = 1; i < block.items.size(); ++i) {
      const Item& one = block.items[i - 1];
      const Item& other = block.items[i];
      if (one.group != other.group) continue;
      const std::string where = block.loop.valid()     ? " in a loop"
                                : block.parent.valid() ? " in a branch"
                                                       : "";
      const auto are = [&](Item::Kind a, Item::Kind b) { return one.kind == a && other.kind == b; };
      if (are(Item::Kind::Call, Item::Kind::Call)) seen.see("calls at once" + where);
      if (are(Item::Kind::Call, Item::Kind::Conditional)) seen.see("a call and a branch at once" + where);
      if (are(Item::Kind::Conditional, Item::Kind::Conditional)) seen.see("branches at once" + where);
      if ((one.kind == Item::Kind::Loop) != (other.kind == Item::Kind::Loop)) {
        seen.see("a loop and others at once" + where);
      }
    }
  }
}

TEST(GeneratedPrograms, HaveEveryFeatureOften) {
  Features seen;
  for (uint64_t seed = 1; seed <= kGeneratedPrograms; ++seed) {
    const Program program = generate(seed);
    see_module(program.module, seen);
    see_groups(program.module, seen);
    seen.next_program();
  }
  for (const char* feature : {"placed node",
                              "placed function",
                              "call",
                              "call in a loop",
                              "call in a branch",
                              "call with several results",
                              "branch",
                              "branch in a loop",
                              "branch in a branch",
                              "branch with several results",
                              "loop",
                              "loop in a loop",
                              "loop in a branch",
                              "loop with several variables",
                              "function without parameters",
                              "main without parameters",
                              "function with several results",
                              "call of a later function",
                              "self-recursion",
                              "mutual recursion",
                              "recursive main",
                              "main after other functions",
                              "function called from several places",
                              "calls at once",
                              "calls at once in a branch",
                              "a call and a branch at once",
                              "a call and a branch at once in a branch",
                              "branches at once",
                              "branches at once in a branch",
                              "branches at once in a loop",
                              "a loop and others at once",
                              "constant bool",
                              "constant u8",
                              "constant i32",
                              "constant i64",
                              "constant f32",
                              "constant f64"}) {
    EXPECT_GE(seen.count(feature), kOften) << feature;
  }
  for (const OpDef* op : catalog().all()) {
    for (const KernelVariant& kernel : op->kernels) {
      EXPECT_GE(seen.count(name_of_use(*op, kernel.operand)), kOften) << name_of_use(*op, kernel.operand);
    }
  }
}

TEST(GeneratedPrograms, RunLongEnoughAndIntoFaults) {
  std::map<Fault, uint64_t> outcomes;
  uint64_t calls = 0;
  for (uint64_t seed = 1; seed <= kGeneratedPrograms; ++seed) {
    const Program program = generate(seed);
    for (const OverflowMode overflow : {OverflowMode::Wrap, OverflowMode::Trap}) {
      const Outcome outcome = Runner(program, overflow).run(ways()[0]);
      EXPECT_FALSE(outcome.is_defect) << "seed " << seed << ": " << outcome.message;
      ++outcomes[outcome.fault];
      calls += outcome.stats.calls;
      EXPECT_LE(outcome.stats.calls, 10'000u) << "seed " << seed;
    }
  }
  EXPECT_GE(outcomes[Fault::None], kGeneratedPrograms);
  for (const Fault fault : {Fault::DivisionByZero, Fault::Overflow, Fault::InvalidCast, Fault::Assumption}) {
    EXPECT_GE(outcomes[fault], kGeneratedPrograms / 150) << name_of(fault);
  }
  EXPECT_GE(calls, 10 * kGeneratedPrograms);
}

TEST(GeneratedPrograms, RunIntoTheFaultTheyMayRunInto) {
  for (uint64_t seed = 1; seed <= kGeneratedPrograms; ++seed) {
    const Program program = generate(seed);
    if (program.danger == Danger::Any) continue;
    const Fault expected = program.danger == Danger::DivisionByZero ? Fault::DivisionByZero
                           : program.danger == Danger::InvalidCast  ? Fault::InvalidCast
                           : program.danger == Danger::Assumption   ? Fault::Assumption
                                                                    : Fault::None;
    const Fault fault = Runner(program, OverflowMode::Wrap).run(ways()[0]).fault;
    EXPECT_TRUE(fault == Fault::None || fault == expected) << "seed " << seed << ": " << name_of(fault);
  }
}

TEST(GeneratedPrograms, AreTheSameForTheSameSeed) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    const Program one = generate(seed);
    const Program other = generate(seed);
    EXPECT_TRUE(ir::equal(one.module, other.module)) << seed;
    EXPECT_EQ(one.arguments, other.arguments) << seed;
  }
}

}  // namespace
}  // namespace hiaton::properties
