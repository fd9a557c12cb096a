// loops_to_calls. Its rule: a loop with state s and captured values c,
//   while condition(s, c) do body(s, c)
// becomes a call of a function of its own that calls itself:
//   fn loop(s, c) = if condition(s, c) then loop(body(s, c), c) else s
// so that its iterations are frames like any other, which is what gradients and batches work on.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "hiaton/passes.h"
#include "passes/body_copier.h"
#include "passes/call_graph.h"
#include "passes/captures.h"

namespace hiaton::passes {
namespace {

bool has_loops(const ir::Function& function) {
  for (const ir::Node& node : function.nodes) {
    if (node.kind == ir::NodeKind::While) return true;
  }
  return false;
}

/// What a loop takes from around it, condition and body together.
ir::ValueIds captures_of(const Captures& captures, const ir::Node& loop) {
  ir::ValueIds values = captures.of(loop.blocks[0]);
  for (ir::ValueId value : captures.of(loop.blocks[1])) {
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  }
  return values;
}

/// A loop that is to become a function.
struct Loop {
  std::shared_ptr<const ir::Function> from;  ///< it stands in
  std::shared_ptr<const Captures> captures;
  ir::NodeId node;
  FunctionRef function;
};

class LoopsToCalls {
 public:
  explicit LoopsToCalls(ir::Module module) : builder_(std::move(module)) {}

  /// In the functions that are marked.
  ir::Module run(const std::vector<bool>& chosen) {
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      if (chosen[i] && has_loops(builder_.module().functions[i])) replace(ir::FunctionId(i));
    }
    while (!loops_.empty()) {
      const Loop loop = loops_.back();
      loops_.pop_back();
      define(loop);
    }
    return std::move(builder_.module());
  }

  /// The function of a loop that is met while copying.
  Loop declare(const std::shared_ptr<const ir::Function>& from,
               const std::shared_ptr<const Captures>& captures, ir::NodeId node) {
    std::vector<ir::ValueInfo> params;
    std::vector<Type> results;
    const auto add = [&](ir::ValueId value) {
      params.push_back({(*from)[value].type, fmt::format("v{}", params.size() + 1)});
    };
    for (ir::ValueId param : (*from)[(*from)[node].blocks[0]].params) {
      add(param);
      results.push_back((*from)[param].type);
    }
    for (ir::ValueId value : captures_of(*captures, (*from)[node])) add(value);
    const FunctionRef function =
        builder_.declare(builder_.unused_name(from->name + "_loop"), std::move(params), std::move(results));
    builder_.module()[function.id].span = (*from)[node].span;
    loops_.push_back({from, captures, node, function});
    return loops_.back();
  }

 private:
  void replace(ir::FunctionId id);
  void define(const Loop& loop);

  ModuleBuilder builder_;
  std::vector<Loop> loops_;  ///< declared, not defined
};

/// Copies a body; loops become calls.
class Copier : public BodyCopier {
 public:
  Copier(LoopsToCalls& pass, const std::shared_ptr<const ir::Function>& from,
         const std::shared_ptr<const Captures>& captures, FunctionBuilder& to)
      : BodyCopier(*from, to), pass_(pass), shared_(from), captures_(captures) {}

  /// condition, then the loop again or its end.
  Vars iterate(const Loop& loop) {
    const ir::Node& node = from_[loop.node];
    const ir::Block& condition = from_[node.blocks[0]];
    const ir::Block& body = from_[node.blocks[1]];
    std::vector<Var> state;
    for (std::size_t i = 0; i < condition.params.size(); ++i) state.push_back(to_.param(i));
    const ir::ValueIds captures = captures_of(*captures_, node);
    std::vector<Var> captured;
    for (std::size_t i = 0; i < captures.size(); ++i) {
      captured.push_back(to_.param(state.size() + i));
      map(captures[i], captured.back());
    }
    map_constants();
    map(condition.params, Vars(state));
    copy_nodes(node.blocks[0]);
    begin_at_home(node);
    const ir::BlockId again = to_.begin_block({});
    map(body.params, Vars(state));
    copy_nodes(node.blocks[1]);
    begin_at_home(node);
    std::vector<Var> arguments = mapped(body.results);
    arguments.insert(arguments.end(), captured.begin(), captured.end());
    to_.end_block(again, to_.call(loop.function, arguments));
    const ir::BlockId end = to_.begin_block({});
    to_.end_block(end, Vars(state));
    return to_.finish_if(mapped(condition.results[0]), again, end);
  }

 protected:
  void visit(ir::NodeId id) override {
    const ir::Node& node = from_[id];
    if (node.kind != ir::NodeKind::While) return copy(id);
    const Loop loop = pass_.declare(shared_, captures_, id);
    std::vector<Var> arguments = mapped(node.operands);
    for (ir::ValueId value : captures_of(*captures_, node)) arguments.push_back(mapped(value));
    map(node.results, to_.call(loop.function, arguments));
  }

 private:
  /// The iterations run where the loop does: the call of the loop function has its placement.
  void begin_at_home(const ir::Node& loop) {
    to_.set_span(loop.span);
    to_.set_placement({});
  }

  /// Constants and parameters are not captured: each body has its own.
  void map_constants() {
    for (std::size_t i = 0; i < from_.nodes.size(); ++i) {
      const ir::NodeKind kind = from_.nodes[i].kind;
      if (kind != ir::NodeKind::Const && kind != ir::NodeKind::Param) continue;
      begin(from_.nodes[i]);
      copy(ir::NodeId(i));
    }
  }

  LoopsToCalls& pass_;
  std::shared_ptr<const ir::Function> shared_;
  std::shared_ptr<const Captures> captures_;
};

void LoopsToCalls::replace(ir::FunctionId id) {
  const auto from = std::make_shared<const ir::Function>(builder_.module()[id]);
  const auto captures = std::make_shared<const Captures>(*from);
  builder_.redefine({id}, [&](FunctionBuilder& f) {
    Copier copier(*this, from, captures, f);
    for (std::size_t i = 0; i < from->params.size(); ++i)
      copier.map((*from)[from->body].params[i], f.param(i));
    copier.copy_nodes(from->body);
    return Vars(copier.mapped((*from)[from->body].results));
  });
}

void LoopsToCalls::define(const Loop& loop) {
  builder_.define(loop.function, [&](FunctionBuilder& f) {
    return Copier(*this, loop.from, loop.captures, f).iterate(loop);
  });
}

/// By function: whether a gradient is asked of it, or of one that calls it.
std::vector<bool> reached_by_gradients(const ir::Module& module, std::optional<ir::FunctionId> trained) {
  const CallGraph calls = call_graph(module);
  std::vector<bool> reached(module.functions.size());
  const auto add = [&](ir::FunctionId from) {
    const std::vector<bool> more = reachable(calls, from);
    for (std::size_t i = 0; i < more.size(); ++i) reached[i] = reached[i] || more[i];
  };
  for (const ir::GradientRequest& request : module.gradient_requests) add(request.of);
  if (trained) add(*trained);
  return reached;
}

/// Whether a block, or one inside of it, calls one of these functions.
bool calls_any(const ir::Function& function, ir::BlockId block, const std::vector<bool>& functions) {
  return std::ranges::any_of(function[block].nodes, [&](ir::NodeId id) {
    const ir::Node& node = function[id];
    if (node.kind == ir::NodeKind::Call && functions[node.callee.index()]) return true;
    return std::ranges::any_of(node.blocks,
                               [&](ir::BlockId inner) { return calls_any(function, inner, functions); });
  });
}

}  // namespace

ir::Module loops_to_calls(ir::Module module) {
  const std::vector<bool> all(module.functions.size(), true);
  return LoopsToCalls(std::move(module)).run(all);
}

ir::Module loops_to_calls_that_call(ir::Module module, const std::vector<bool>& functions) {
  std::vector<bool> chosen;
  for (const ir::Function& f : module.functions) {
    chosen.push_back(std::ranges::any_of(f.nodes, [&](const ir::Node& node) {
      return node.kind == ir::NodeKind::While && calls_any(f, node.blocks[1], functions);
    }));
  }
  return LoopsToCalls(std::move(module)).run(chosen);
}

ir::Module loops_to_calls_for_gradients(ir::Module module, std::optional<ir::FunctionId> trained) {
  const std::vector<bool> reached = reached_by_gradients(module, trained);
  return LoopsToCalls(std::move(module)).run(reached);
}

}  // namespace hiaton::passes
