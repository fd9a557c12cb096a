// drop_dead. Its rules:
//   a node whose results nobody needs goes, unless it may fail or never end (effects.h)
//   a result of a branch, or a variable of a loop, that nobody needs goes; one stays where all would go
//   a function that the entry does not reach goes
#include "hiaton/passes.h"
#include "passes/call_graph.h"
#include "passes/effects.h"
#include "passes/liveness.h"
#include "passes/rewrite.h"
#include "passes/simplifications.h"

namespace hiaton::passes {
namespace {

using ir::NodeKind;

ir::ValueIds pick(const ir::ValueIds& from, const std::vector<std::size_t>& indices) {
  ir::ValueIds picked;
  picked.reserve(indices.size());
  for (const std::size_t i : indices) picked.push_back(from[i]);
  return picked;
}

class DropDead : public Rewriter {
 public:
  explicit DropDead(const Liveness& liveness) : liveness_(liveness) {}

 protected:
  void visit(const ir::Node& node) override {
    if (!liveness_.needed(node)) return;
    if (node.blocks.empty()) return emit_copy(node);
    const std::vector<std::size_t> kept = liveness_.needed_results(node);
    ir::Node trimmed{.kind = node.kind, .span = node.span, .placement = node.placement};
    if (node.kind == NodeKind::If) {
      trimmed.operands = mapped(node.operands);
      for (const ir::BlockId block : node.blocks) trimmed.blocks.push_back(rebuild(block, {}, kept));
    } else {
      const std::size_t only[] = {0};
      trimmed.operands = mapped(pick(node.operands, kept));
      trimmed.blocks.push_back(rebuild(node.blocks[0], kept, only));
      trimmed.blocks.push_back(rebuild(node.blocks[1], kept, kept));
    }
    emit(std::move(trimmed), pick(node.results, kept));
  }

 private:
  const Liveness& liveness_;
};

}  // namespace

void drop_dead_in(ir::Function& function, const Effects& effects) {
  const Liveness liveness(function, effects);
  if (!liveness.needs_all()) function = DropDead(liveness).rewrite(function);
}

void drop_unreachable(ir::Module& module) {
  const std::optional<ir::FunctionId> start = module.start();
  if (!start) return;
  const std::vector<bool> kept = reachable(call_graph(module), *start);
  std::vector<ir::FunctionId> new_ids(module.functions.size());
  std::vector<ir::Function> functions;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (!kept[i]) continue;
    new_ids[i] = ir::FunctionId(functions.size());
    functions.push_back(std::move(module.functions[i]));
  }
  module.functions = std::move(functions);
  if (module.entry.valid()) module.entry = new_ids[module.entry.index()];
  for (ir::Function& function : module.functions) {
    for (ir::Node& node : function.nodes) {
      if (node.callee.valid()) node.callee = new_ids[node.callee.index()];
    }
  }
  std::erase_if(module.gradient_requests,
                [&](const ir::GradientRequest& request) { return !kept[request.function.index()]; });
  for (ir::GradientRequest& request : module.gradient_requests) {
    request.function = new_ids[request.function.index()];
    request.of = new_ids[request.of.index()];
  }
}

ir::Module drop_dead(ir::Module module, OverflowMode overflow) {
  const Effects effects(module, overflow);
  for (ir::Function& function : module.functions) {
    if (function.body.valid()) drop_dead_in(function, effects);
  }
  drop_unreachable(module);
  return module;
}

}  // namespace hiaton::passes
