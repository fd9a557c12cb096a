// inline_small_functions. Its rule: a call f(a, b) becomes the body of f with a and b for its parameters, if
// f
//   - is small: at most kInlineNodes nodes, not counting constants, after calls in it were replaced likewise
//   - does not call itself, directly or through others
//   - has no placement, and neither has the call: who places something wants to find it there;
//   - is not to be computed again by gradients: what they keep goes by its calls.
// Nodes keep their places in the program's text. The module grows at most kMostGrowth times.
#include <algorithm>

#include "hiaton/passes.h"
#include "passes/call_graph.h"
#include "passes/rewrite.h"
#include "passes/simplifications.h"

namespace hiaton::passes {
namespace {

using ir::NodeKind;

constexpr std::size_t kInlineNodes = 40;
constexpr std::size_t kMostGrowth = 2;
constexpr std::size_t kAlwaysAllowedGrowth = 10'000;

std::size_t size_of(const ir::Function& function) {
  const auto is_constant = [](const ir::Node& node) { return node.kind == NodeKind::Const; };
  const auto constants = std::count_if(function.nodes.begin(), function.nodes.end(), is_constant);
  return function.nodes.size() - static_cast<std::size_t>(constants);
}

class Inline : public Rewriter {
 public:
  explicit Inline(SmallBodies& bodies) : bodies_(bodies) {}

 protected:
  void visit(const ir::Node& node) override {
    const ir::Function* body = bodies_.body_for(node);
    if (body == nullptr) return emit_copy(node);
    bodies_.spend(body->nodes.size());
    const std::vector<ir::ValueId> results = splice(*body, mapped(node.operands));
    for (std::size_t i = 0; i < results.size(); ++i) map(node.results[i], results[i]);
  }

 private:
  SmallBodies& bodies_;
};

}  // namespace

SmallBodies::SmallBodies(const ir::Module& module) : bodies_(module.functions.size(), nullptr) {
  std::size_t nodes = 0;
  for (const ir::Function& function : module.functions) nodes += function.nodes.size();
  nodes_left_ = (kMostGrowth - 1) * nodes + kAlwaysAllowedGrowth;
}

void SmallBodies::offer(ir::FunctionId id, const ir::Function& function, bool is_recursive) {
  const bool fits = size_of(function) <= kInlineNodes && function.placement.empty() && !function.recompute &&
                    !is_recursive && function.body.valid();
  bodies_[id.index()] = fits ? &function : nullptr;
}

const ir::Function* SmallBodies::body_for(const ir::Node& call) const {
  if (call.kind != NodeKind::Call || !call.placement.empty()) return nullptr;
  const ir::Function* body = bodies_[call.callee.index()];
  return body != nullptr && body->nodes.size() <= nodes_left_ ? body : nullptr;
}

bool inline_small_functions_in(ir::Function& function, SmallBodies& bodies) {
  const bool any = std::any_of(function.nodes.begin(), function.nodes.end(),
                               [&](const ir::Node& node) { return bodies.body_for(node) != nullptr; });
  if (any) function = Inline(bodies).rewrite(function);
  return any;
}

ir::Module inline_small_functions(ir::Module module) {
  SmallBodies bodies(module);
  const CallGraph calls = call_graph(module);
  for (const ir::FunctionId id : calls.bottom_up) {
    if (module[id].body.valid()) inline_small_functions_in(module[id], bodies);
    bodies.offer(id, module[id], calls.recursive[id.index()]);
  }
  return module;
}

}  // namespace hiaton::passes
