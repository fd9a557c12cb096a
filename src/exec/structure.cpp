#include "exec/structure.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "exec/firing.h"
#include "exec/graph_names.h"
#include "hiaton/op.h"

namespace hiaton::exec {

namespace {

class BlockFinder {
 public:
  BlockFinder(const Graph& graph, std::vector<bool> functions) : graph_(graph) {
    result_.functions = std::move(functions);
  }

  Structure run() {
    prepare();
    find_order();
    for (NodeId id : result_.order) place(id);
    close_loops();
    check_results();
    resolve_origins();
    return std::move(result_);
  }

 private:
  // --- Preparation: which Merge is a parameter's, which a loop's -------------------------------------------

  void prepare() {
    const std::size_t count = graph_.nodes().size();
    result_.block_of.assign(count, BlockId());
    result_.conditional_of.assign(count, UINT32_MAX);
    result_.bodies.resize(graph_.functions().size());
    result_.loops.resize(graph_.loops().size());
    is_param_.assign(count, false);
    loop_of_merge_.assign(count, LoopId());
    for (std::size_t f = 0; f < graph_.functions().size(); ++f) {
      result_.bodies[f] = new_block({}, FunctionId(f), {}, Block::Kind::Function, 0);
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

  BlockId new_block(BlockId parent, FunctionId function, LoopId loop, Block::Kind kind, uint32_t index) {
    const BlockId id(result_.blocks.size());
    const uint32_t depth = parent.valid() ? result_[parent].depth + 1 : 0;
    result_.blocks.push_back({parent, function, loop, kind, index, depth, false, {}});
    return id;
  }

  /// The nodes whose tokens a node needs under its own tag, or, for nodes that change tags, before it can
  /// fire.
  template <class Visit>
  void for_each_forward_input(NodeId id, Visit visit) const {
    const Node& node = graph_[id];
    if (is_param_[id.index()]) return;
    if (node.kind == NodeKind::Return) {
      for_each_call_before(node, visit);
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

  /// The Call nodes that a Return waits for: those of its phase, where the callee has several.
  template <class Visit>
  void for_each_call_before(const Node& node, Visit visit) const {
    const graph::Site& site = graph_[node.site];
    if (graph_[site.callee].phases.empty()) {
      for (NodeId call : site.calls) visit(call);
    } else {
      for (OutPort call : node.controls) visit(call.node);
    }
  }

  bool is_wanted(FunctionId function) const { return result_.functions[function.index()]; }

  /// All nodes, each after what it needs. Depth-first with an explicit stack.
  void find_order() {
    enum class State : uint8_t { Unseen, Open, Done };
    std::vector<State> state(graph_.nodes().size());
    std::vector<NodeId>& order = result_.order;
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
    result_.conditional_of[port.node.index()] = conditional;
    BlockId& side = result_.conditionals[conditional].sides[port.port];
    if (!side.valid()) {
      const Block around = result_[parent];
      side = new_block(parent, around.function, around.loop, Block::Kind::Side, conditional);
    }
    return side;
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
    const bool a_is_deeper = result_[a].depth > result_[b].depth;
    const BlockId inner = a_is_deeper ? a : b;
    const BlockId outer = a_is_deeper ? b : a;
    BlockId up = inner;
    while (up.valid() && result_[up].depth > result_[outer].depth) up = result_[up].parent;
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
      block = place_return(node);
    } else if (node.kind == NodeKind::Const && node.controls.empty()) {
      block = BlockId();
    } else {
      block = deepest_input(id);
      if (!block.valid()) block = body_of(node);
    }
  }

  BlockId body_of(const Node& node) const { return result_.bodies[node.function.index()]; }

  BlockId place_return(const Node& node) const {
    BlockId block;
    for_each_call_before(node, [&](NodeId call) {
      if (is_under_every_tag(graph_[graph_[call].inputs[0].node])) return;
      const BlockId here = result_.block_of[call.index()];
      if (block.valid() && block != here)
        throw Unstructured{"the arguments of a call come from different branches"};
      block = here;
    });
    return block.valid() ? block : body_of(node);
  }

  BlockId place_merge(NodeId id) {
    const Node& node = graph_[id];
    if (node.inputs.size() != 2) throw Unstructured{"a Merge has other than two inputs"};
    const BlockId first = block_of_output(node.inputs[0]);
    const BlockId second = block_of_output(node.inputs[1]);
    for (BlockId side : {first, second}) {
      if (!side.valid() || result_[side].kind != Block::Kind::Side) {
        throw Unstructured{"a Merge reads a value that no Switch guards"};
      }
    }
    Conditional& conditional = result_.conditionals[result_[first].index];
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
        new_block(loop.parent, node.function, node.loop, Block::Kind::LoopCondition, node.loop.value);
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
      result_.after_loops.push_back(steering.sides[1]);
    }
  }

  /// Results must not be dead while their function is alive.
  void check_results() {
    result_.results.resize(graph_.functions().size());
    for (std::size_t f = 0; f < graph_.functions().size(); ++f) {
      if (is_wanted(FunctionId(f))) result_.results[f] = graph_.functions()[f].results;
    }
    std::vector<OutPort>& of_main = result_.results[graph_.main().index()];
    if (is_wanted(graph_.main()) && of_main.empty()) of_main = outputs_of(graph_);
    for (std::size_t f = 0; f < result_.results.size(); ++f) {
      for (OutPort port : result_.results[f]) {
        const BlockId block = block_of_output(port);
        if (block.valid() && block != result_.bodies[f])
          throw Unstructured{"a result stands inside a branch"};
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
  std::vector<bool> is_param_;
  std::vector<LoopId> loop_of_merge_;
  std::map<std::pair<BlockId, OutPort>, uint32_t> conditional_index_;
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

BlockId Structure::block_of_output(const Graph& graph, OutPort port) const {
  if (graph[port.node].kind != NodeKind::Switch) return block_of[port.node.index()];
  const uint32_t conditional = conditional_of[port.node.index()];
  return conditional == UINT32_MAX ? BlockId() : conditionals[conditional].sides[port.port];
}

bool passes_operand_on(const Node& node) {
  switch (node.kind) {
    case NodeKind::Switch:
    case NodeKind::Enter:
    case NodeKind::Exit:
      return true;
    case NodeKind::Op:
      return node.op->role == Role::Identity;
    default:
      return false;
  }
}

std::vector<OutPort> outputs_of(const Graph& graph) {
  std::vector<OutPort> outputs;
  for (NodeId output : graph.outputs()) outputs.push_back(graph[output].inputs[0]);
  return outputs;
}

Structure find_blocks(const Graph& graph, std::vector<bool> functions) {
  return BlockFinder(graph, std::move(functions)).run();
}

}  // namespace hiaton::exec
