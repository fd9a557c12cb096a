// inline_small_functions. Its rule: a call f(a, b) becomes the body of f with a and b for its parameters, if
// f
//   - is small: at most kInlineNodes nodes, not counting constants, after calls in it were replaced likewise
//   - does not call itself, directly or through others
//   - has no placement, and neither has the call: who places something wants to find it there.
// Nodes keep their places in the program's text. The module grows at most kMostGrowth times.
#include <algorithm>

#include "hiaton/passes.h"
#include "passes/call_graph.h"
#include "passes/rewrite.h"

namespace hiaton::passes {
namespace {

using ir::NodeKind;

constexpr std::size_t kInlineNodes = 20;
constexpr std::size_t kMostGrowth = 2;
constexpr std::size_t kAlwaysAllowedGrowth = 10'000;

std::size_t size_of(const ir::Function& function) {
  const auto is_constant = [](const ir::Node& node) { return node.kind == NodeKind::Const; };
  const auto constants = std::count_if(function.nodes.begin(), function.nodes.end(), is_constant);
  return function.nodes.size() - static_cast<std::size_t>(constants);
}

/// What may be put in place of calls, and how many nodes in all that may add.
struct Inlinable {
  std::vector<const ir::Function*> bodies;  ///< by function; null: calls of it stay
  std::size_t nodes_left;
};

class Inline : public Rewriter {
 public:
  explicit Inline(Inlinable& inlinable) : inlinable_(inlinable) {}

 protected:
  void visit(const ir::Node& node) override {
    const ir::Function* body = body_for(node);
    if (body == nullptr) return emit_copy(node);
    inlinable_.nodes_left -= body->nodes.size();
    const std::vector<ir::ValueId> results = splice(*body, mapped(node.operands));
    for (std::size_t i = 0; i < results.size(); ++i) map(node.results[i], results[i]);
  }

 private:
  const ir::Function* body_for(const ir::Node& node) const {
    if (node.kind != NodeKind::Call || !node.placement.empty()) return nullptr;
    const ir::Function* body = inlinable_.bodies[node.callee.index()];
    return body != nullptr && body->nodes.size() <= inlinable_.nodes_left ? body : nullptr;
  }

  Inlinable& inlinable_;
};

}  // namespace

ir::Module inline_small_functions(const ir::Module& module) {
  std::size_t nodes = 0;
  for (const ir::Function& function : module.functions) nodes += function.nodes.size();
  Inlinable inlinable{.bodies = std::vector<const ir::Function*>(module.functions.size(), nullptr),
                      .nodes_left = (kMostGrowth - 1) * nodes + kAlwaysAllowedGrowth};
  ir::Module inlined{.source = module.source, .functions = {}};
  inlined.functions.resize(module.functions.size());
  const CallGraph calls = call_graph(module);
  for (const ir::FunctionId id : calls.bottom_up) {
    const ir::Function& function = inlined[id] = Inline(inlinable).rewrite(module[id]);
    const bool fits = size_of(function) <= kInlineNodes && function.placement.empty();
    if (fits && !calls.recursive[id.index()]) inlinable.bodies[id.index()] = &function;
  }
  return inlined;
}

}  // namespace hiaton::passes
