#include "exec/direct/compile/structure.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "exec/direct/compile/item_order.h"
#include "hiaton/op.h"

namespace hiaton::exec::direct {

using graph::CallSite;
using graph::FunctionId;
using graph::Graph;
using graph::LoopId;
using graph::Node;
using graph::NodeId;
using graph::NodeKind;
using graph::OutPort;

namespace {

constexpr uint32_t kDeepestNesting = 4000;

class Finder {
 public:
  Finder(const Graph& graph, std::vector<bool> functions) : graph_(graph) {
    result_.functions = std::move(functions);
  }

  Structure run() {
    prepare();
    for (NodeId id : forward_order()) place(id);
    close_loops();
    check_results();
    resolve_origins();
    order_items(graph_, places_, result_);
    check_after_loops();
    return std::move(result_);
  }

 private:
  // --- Preparation: which Merge is a parameter's, which a loop's -------------------------------------------

  void prepare() {
    const std::size_t count = graph_.nodes().size();
    result_.block_of.assign(count, BlockId());
    result_.bodies.resize(graph_.functions().size());
    result_.loops.resize(graph_.loops().size());
    is_param_.assign(count, false);
    loop_of_merge_.assign(count, LoopId());
    for (std::size_t f = 0; f < graph_.functions().size(); ++f) {
      result_.bodies[f] = new_block(BlockId(), FunctionId(f), LoopId(), {});
      for (OutPort param : graph_.functions()[f].params) is_param_[param.node.index()] = true;
    }
    for (std::size_t i = 0; i < count; ++i) {
      const Node& node = graph_.nodes()[i];
      if (node.kind != NodeKind::Merge || is_param_[i]) continue;
      for (OutPort input : node.inputs) {
        const Node& from = graph_[input.node];
        if (from.kind == NodeKind::Enter) loop_of_merge_[i] = from.loop;
      }
    }
  }

  BlockId new_block(BlockId parent, FunctionId function, LoopId loop, Place place) {
    place.depth = parent.valid() ? places_[parent.index()].depth + 1 : 0;
    if (place.depth > kDeepestNesting) throw Unstructured{"its blocks nest too deeply"};
    const BlockId id(result_.blocks.size());
    result_.blocks.push_back({parent, function, loop, false, {}});
    places_.push_back(place);
    return id;
  }

  /// The nodes whose tokens a node needs under its own tag, or, for nodes that change tags, before it can
  /// fire.
  template <class Visit>
  void for_each_forward_input(NodeId id, Visit visit) const {
    const Node& node = graph_[id];
    if (is_param_[id.index()]) return;
    if (node.kind == NodeKind::Return) {
      for (NodeId call : graph_[node.site].calls) visit(call);
      return;
    }
    if (node.kind == NodeKind::Enter) {
      for (NodeId enter : graph_[node.loop].enters) visit(graph_[enter].inputs[0].node);
      return;
    }
    for (OutPort input : node.inputs) {
      const bool back_edge =
          loop_of_merge_[id.index()].valid() && graph_[input.node].kind == NodeKind::NextIteration;
      if (!back_edge) visit(input.node);
    }
    for (OutPort control : node.controls) visit(control.node);
  }

  bool is_wanted(FunctionId function) const { return result_.functions[function.index()]; }

  /// All nodes, each after what it needs. Depth-first with an explicit stack.
  std::vector<NodeId> forward_order() const {
    enum class State : uint8_t { Unseen, Open, Done };
    std::vector<State> state(graph_.nodes().size());
    std::vector<NodeId> order;
    std::vector<NodeId> stack;
    for (std::size_t i = 0; i < state.size(); ++i) {
      if (state[i] != State::Unseen || !is_wanted(graph_.nodes()[i].function)) continue;
      stack.push_back(NodeId(i));
      while (!stack.empty()) {
        const NodeId top = stack.back();
        if (state[top.index()] == State::Unseen) {
          state[top.index()] = State::Open;
          for_each_forward_input(top, [&](NodeId input) {
            if (state[input.index()] == State::Unseen) stack.push_back(input);
            if (state[input.index()] == State::Open)
              throw Unstructured{"a value needs itself under its own tag"};
          });
          continue;
        }
        stack.pop_back();
        if (state[top.index()] == State::Open) order.push_back(top);
        state[top.index()] = State::Done;
      }
    }
    return order;
  }

  // --- Blocks: where each node stands ----------------------------------------------------------------------

  /// The block whose tokens this output carries; invalid for a Const under every tag.
  BlockId block_of_output(OutPort port) {
    if (graph_[port.node].kind == NodeKind::Switch) return side_of(port);
    return result_.block_of[port.node.index()];
  }

  BlockId side_of(OutPort port) {
    const Node& node = graph_[port.node];
    const BlockId parent = result_.block_of[port.node.index()];
    if (!parent.valid()) throw Unstructured{"a Switch has only constant inputs"};
    const uint32_t conditional = conditional_at(parent, node.inputs[1]);
    BlockId& side = result_.conditionals[conditional].sides[port.port];
    if (!side.valid()) {
      const Block& around = result_[parent];
      side = new_block(parent, around.function, around.loop, {Place::Kind::Side, conditional});
    }
    return result_.conditionals[conditional].sides[port.port];
  }

  uint32_t conditional_at(BlockId parent, OutPort predicate) {
    const auto [found, is_new] = conditional_index_.try_emplace(
        {parent, predicate}, static_cast<uint32_t>(result_.conditionals.size()));
    if (is_new) result_.conditionals.push_back({parent, predicate, {}, {}});
    return found->second;
  }

  /// The deeper of two blocks, one of which must be inside the other within one tag.
  BlockId deeper(BlockId a, BlockId b) const {
    if (!a.valid() || a == b) return b;
    if (!b.valid()) return a;
    const bool a_is_deeper = places_[a.index()].depth > places_[b.index()].depth;
    const BlockId inner = a_is_deeper ? a : b;
    const BlockId outer = a_is_deeper ? b : a;
    BlockId up = inner;
    while (up.valid() && places_[up.index()].depth > places_[outer.index()].depth) up = result_[up].parent;
    const bool one_tag =
        result_[inner].loop == result_[outer].loop && result_[inner].function == result_[outer].function;
    if (up != outer || !one_tag) throw Unstructured{"a node reads values of branches that do not nest"};
    return inner;
  }

  BlockId deepest_input(NodeId id) {
    BlockId block;
    for (OutPort input : graph_[id].inputs) block = deeper(block, block_of_output(input));
    for (OutPort control : graph_[id].controls) block = deeper(block, block_of_output(control));
    return block;
  }

  void place(NodeId id) {
    const Node& node = graph_[id];
    BlockId& block = result_.block_of[id.index()];
    if (is_param_[id.index()] || node.kind == NodeKind::Input) {
      block = body_of(node);
    } else if (loop_of_merge_[id.index()].valid()) {
      block = place_loop_variable(id);
    } else if (node.kind == NodeKind::Merge) {
      block = place_merge(id);
    } else if (node.kind == NodeKind::Enter) {
      block = place_enter(id);
    } else if (node.kind == NodeKind::Exit) {
      block = result_.loops[node.loop.index()].parent;
      if (!block.valid()) throw Unstructured{"an Exit belongs to a loop that nothing enters"};
    } else if (node.kind == NodeKind::Return) {
      block = block_of_site(node.site);
    } else if (node.kind == NodeKind::Const && node.controls.empty()) {
      block = BlockId();
    } else {
      block = deepest_input(id);
      if (!block.valid()) block = body_of(node);
    }
  }

  BlockId body_of(const Node& node) const { return result_.bodies[node.function.index()]; }

  BlockId block_of_site(CallSite site) const {
    BlockId block;
    for (NodeId call : graph_[site].calls) {
      const BlockId here = result_.block_of[call.index()];
      const bool is_constant = graph_[graph_[call].inputs[0].node].kind == NodeKind::Const &&
                               graph_[graph_[call].inputs[0].node].controls.empty();
      if (is_constant) continue;
      if (block.valid() && block != here)
        throw Unstructured{"the arguments of a call come from different branches"};
      block = here;
    }
    return block.valid() ? block : result_.bodies[graph_[site].caller.index()];
  }

  BlockId place_merge(NodeId id) {
    const Node& node = graph_[id];
    if (node.inputs.size() != 2) throw Unstructured{"a Merge has other than two inputs"};
    const BlockId first = block_of_output(node.inputs[0]);
    const BlockId second = block_of_output(node.inputs[1]);
    for (BlockId side : {first, second}) {
      if (!side.valid() || places_[side.index()].kind != Place::Kind::Side) {
        throw Unstructured{"a Merge reads a value that no Switch guards"};
      }
    }
    Conditional& conditional = result_.conditionals[places_[first.index()].index];
    const bool in_order = first == conditional.sides[0] && second == conditional.sides[1];
    const bool swapped = first == conditional.sides[1] && second == conditional.sides[0];
    if (!in_order && !swapped) throw Unstructured{"a Merge does not join the two sides of one predicate"};
    conditional.joins.push_back({id, {node.inputs[swapped ? 1 : 0], node.inputs[swapped ? 0 : 1]}});
    return conditional.parent;
  }

  // --- Loops -----------------------------------------------------------------------------------------------

  /// A loop stands where its inputs come from; those that are constants under every tag do not count.
  BlockId place_enter(NodeId id) {
    const Node& node = graph_[id];
    LoopShape& loop = result_.loops[node.loop.index()];
    if (loop.parent.valid()) return loop.condition;
    for (NodeId enter : graph_[node.loop].enters) {
      const BlockId block = deepest_input(enter);
      if (loop.parent.valid() && block.valid() && block != loop.parent) {
        throw Unstructured{"the inputs of a loop come from different branches"};
      }
      if (block.valid()) loop.parent = block;
    }
    if (!loop.parent.valid()) loop.parent = body_of(node);
    loop.condition =
        new_block(loop.parent, node.function, node.loop, {Place::Kind::LoopCondition, node.loop.value});
    return loop.condition;
  }

  BlockId place_loop_variable(NodeId id) {
    const Node& node = graph_[id];
    LoopShape::Variable variable{.enter = {}, .merge = id, .next = {}};
    for (OutPort input : node.inputs) {
      const NodeKind kind = graph_[input.node].kind;
      if (kind == NodeKind::Enter) variable.enter = input.node;
      if (kind == NodeKind::NextIteration) variable.next = input.node;
    }
    if (node.inputs.size() != 2 || !variable.enter.valid() || !variable.next.valid()) {
      throw Unstructured{"a loop variable is not the Merge of one Enter and one NextIteration"};
    }
    LoopShape& loop = result_.loops[loop_of_merge_[id.index()].index()];
    loop.variables.push_back(variable);
    return loop.condition;
  }

  /// Finds the predicate that steers each loop: what its results and its next values are switched by.
  void close_loops() {
    for (std::size_t l = 0; l < result_.loops.size(); ++l) {
      const graph::Loop& nodes = graph_.loops()[l];
      if (!is_wanted(nodes.function)) continue;
      LoopShape& loop = result_.loops[l];
      if (nodes.exits.empty() || loop.variables.empty())
        throw Unstructured{"a loop has no variables or no results"};
      const OutPort exit_input = graph_[nodes.exits[0]].inputs[0];
      if (graph_[exit_input.node].kind != NodeKind::Switch)
        throw Unstructured{"an Exit does not read a Switch"};
      loop.predicate = graph_[exit_input.node].inputs[1];
      const auto found = conditional_index_.find({loop.condition, loop.predicate});
      if (found == conditional_index_.end())
        throw Unstructured{"an Exit leaves its loop from inside a branch"};
      Conditional& steering = result_.conditionals[found->second];
      loop.body = steering.sides[0];
      for (NodeId exit : nodes.exits) {
        const OutPort input = graph_[exit].inputs[0];
        const bool leaves = graph_[input.node].kind == NodeKind::Switch && input.port == 1 &&
                            block_of_output(input) == steering.sides[1];
        if (!leaves) throw Unstructured{"an Exit does not read the false side of its loop's predicate"};
      }
      for (const LoopShape::Variable& variable : loop.variables) {
        const BlockId from = block_of_output(graph_[variable.next].inputs[0]);
        if (!from.valid() || from != loop.body) {
          throw Unstructured{"a NextIteration does not read the true side of its loop's predicate"};
        }
      }
      if (!steering.joins.empty()) throw Unstructured{"the sides of a loop's predicate meet inside the loop"};
      steering.parent = BlockId();
      after_loop_.push_back(steering.sides[1]);
    }
  }

  /// Results must not be dead while their function is alive.
  void check_results() {
    result_.results.resize(graph_.functions().size());
    for (std::size_t f = 0; f < graph_.functions().size(); ++f) {
      if (is_wanted(FunctionId(f))) result_.results[f] = graph_.functions()[f].results;
    }
    if (is_wanted(graph_.main())) check_outputs();
    for (std::size_t f = 0; f < result_.results.size(); ++f) {
      for (OutPort port : result_.results[f]) {
        const BlockId block = block_of_output(port);
        if (block.valid() && block != result_.bodies[f])
          throw Unstructured{"a result stands inside a branch"};
      }
    }
  }

  void check_outputs() {
    std::vector<OutPort> outputs;
    for (NodeId output : graph_.outputs()) outputs.push_back(graph_[output].inputs[0]);
    std::vector<OutPort>& of_main = result_.results[graph_.main().index()];
    if (of_main.empty()) of_main = outputs;
    if (of_main != outputs) throw Unstructured{"the results of main are not what its Output nodes read"};
  }

  /// To be called when the items are known.
  void check_after_loops() const {
    for (BlockId block : after_loop_) {
      if (!result_[block].items.empty()) {
        throw Unstructured{"an operation stands between a loop's predicate and its Exit"};
      }
    }
  }

  // --- Values ----------------------------------------------------------------------------------------------

  void resolve_origins() {
    const std::size_t count = graph_.nodes().size();
    result_.origins.assign(count, OutPort());
    for (std::size_t i = 0; i < count; ++i) {
      NodeId id(i);
      if (!is_wanted(graph_[id].function)) continue;
      std::vector<NodeId> passed;
      while (passes_operand_on(graph_[id]) && !result_.origins[id.index()].node.valid()) {
        passed.push_back(id);
        id = graph_[id].inputs[0].node;
      }
      const NodeId known = result_.origins[id.index()].node;
      const OutPort origin{known.valid() ? known : id, 0};
      result_.origins[i] = origin;
      for (NodeId pass : passed) result_.origins[pass.index()] = origin;
    }
  }

  const Graph& graph_;
  Structure result_;
  std::vector<Place> places_;  ///< by block
  std::vector<bool> is_param_;
  std::vector<LoopId> loop_of_merge_;
  std::map<std::pair<BlockId, OutPort>, uint32_t> conditional_index_;
  std::vector<BlockId> after_loop_;  ///< the false sides of loop predicates: only Exit nodes may read there
};

}  // namespace

bool Structure::has_calls(const Item& item) const {
  switch (item.kind) {
    case Item::Kind::Op:
      return false;
    case Item::Kind::Call:
      return true;
    case Item::Kind::Conditional:
      return std::ranges::any_of(conditionals[item.index].sides, [&](BlockId side) {
        return side.valid() && blocks[side.index()].has_calls;
      });
    case Item::Kind::Loop:
      return blocks[loops[item.index].condition.index()].has_calls;
  }
  return false;
}

std::optional<Structure> find_structure(const Graph& graph, std::string& reason) {
  return find_structure(graph, std::vector<bool>(graph.functions().size(), true), reason);
}

std::optional<Structure> find_structure(const Graph& graph, std::vector<bool> functions,
                                        std::string& reason) {
  try {
    return Finder(graph, std::move(functions)).run();
  } catch (const Unstructured& found) {
    reason = found.reason;
    return std::nullopt;
  }
}

}  // namespace hiaton::exec::direct
