// inline_small_functions. Its rule: a call f(a, b) becomes the body of f with a and b for its parameters, if
// f
//   - is small: at most kInlineNodes nodes, not counting constants, after calls in it were replaced likewise;
//   or is
//     called in one place alone, at most kInlineOnceNodes nodes, and computes with scalars and data values
//     without calls or loops, which something else could do at the same time;
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
constexpr std::size_t kInlineOnceNodes = 400;
constexpr std::size_t kMostGrowth = 2;
constexpr std::size_t kAlwaysAllowedGrowth = 10'000;

std::size_t size_of(const ir::Function& function) {
  const auto is_constant = [](const ir::Node& node) { return node.kind == NodeKind::Const; };
  const auto constants = std::count_if(function.nodes.begin(), function.nodes.end(), is_constant);
  return function.nodes.size() - static_cast<std::size_t>(constants);
}

bool is_plain_work(const ir::Function& function) {
  const auto is_plain = [](const ir::Node& node) {
    return node.kind == NodeKind::Const || node.kind == NodeKind::Op || node.kind == NodeKind::If;
  };
  return std::ranges::all_of(function.nodes, is_plain) &&
         std::ranges::none_of(function.values,
                              [](const ir::ValueInfo& value) { return value.type.is_tensor(); });
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

SmallBodies::SmallBodies(const ir::Module& module)
    : bodies_(module.functions.size(), nullptr), calls_(module.functions.size(), 0) {
  std::size_t nodes = 0;
  for (const ir::Function& function : module.functions) {
    nodes += function.nodes.size();
    for (const ir::Node& node : function.nodes) {
      if (node.callee.valid()) ++calls_[node.callee.index()];
    }
  }
  nodes_left_ = (kMostGrowth - 1) * nodes + kAlwaysAllowedGrowth;
}

bool SmallBodies::fits(ir::FunctionId id, const ir::Function& function) const {
  const std::size_t size = size_of(function);
  const bool is_only_call = calls_[id.index()] == 1 && size <= kInlineOnceNodes && is_plain_work(function);
  return size <= kInlineNodes || is_only_call;
}

void SmallBodies::offer(ir::FunctionId id, const ir::Function& function, bool is_recursive) {
  const bool may_be_copied =
      function.placement.empty() && !function.recompute && !is_recursive && function.body.valid();
  bodies_[id.index()] = may_be_copied && fits(id, function) ? &function : nullptr;
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
