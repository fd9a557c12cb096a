#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "exec/blueprint.h"
#include "exec/budget.h"
#include "exec/copy.h"
#include "exec/counted_run.h"
#include "exec/fault.h"
#include "exec/firing.h"
#include "exec/graph_names.h"
#include "exec/reference.h"

namespace hiaton::exec {
namespace {

class ExpandingRun {
 public:
  ExpandingRun(const Graph& graph, std::span<const Value> arguments, const RunOptions& options)
      : graph_(graph), arguments_(arguments), options_(options), blueprints_(graph, options) {
    results_.resize(graph.outputs().size());
  }

  std::vector<Value> run() {
    start();
    do {
      while (!ready_.empty()) {
        const Ready next = ready_.back();
        ready_.pop_back();
        if (watch_.is_time_to_poll()) require(watch_.poll(), *next.copy);
        try {
          fire(*next.copy, next.node);
        } catch (const OverBudget&) {
          require(Fault::MaxBytes, *next.copy);
        }
        --next.copy->unfired;
        retire(next.copy);
      }
    } while (lift_a_window());
    return take_results();
  }

  std::size_t copies_left() const { return copies_.size(); }
  RunStats finish();

 private:
  struct Ready {
    Copy* copy;
    NodeId node;
  };

  void start();
  void deliver(Copy& into, OutPort from, const Value& value, bool dead);
  void give(Copy& copy, NodeId id, std::optional<uint32_t> input, const Value& value, bool dead);
  bool merge(Copy& copy, NodeId id, const Value& value, bool dead);
  bool match(Copy& copy, NodeId id, std::optional<uint32_t> input, const Value& value, bool dead);

  void fire(Copy& copy, NodeId id);
  void fire_op(Copy& copy, NodeId id, std::span<const Value> operands);
  void fire_switch(Copy& copy, NodeId id, const Value* operands, bool dead);
  void fire_call(Copy& copy, NodeId id, const Value& value, bool dead);
  void fire_enter(Copy& copy, NodeId id, const Value& value, bool dead);
  void fire_next_iteration(Copy& copy, NodeId id, const Value& value, bool dead);
  void fire_exit(Copy& copy, NodeId id, const Value& value, bool dead);
  void fire_output(const Copy& copy, NodeId id, const Value& value, bool dead);

  Copy& copy_of(uint32_t blueprint, Copy* parent);
  CallUnderWay& call_under_way(Copy& copy, CallSite site);
  LoopUnderWay& loop_under_way(Copy& copy, LoopId loop);
  Copy& make_iteration(LoopUnderWay& loop);
  bool may_start(const LoopUnderWay& loop) const {
    return loop.alive < static_cast<uint64_t>(options_.parallel_iterations);
  }
  void start_postponed(LoopUnderWay& loop);
  bool lift_a_window();
  void retire(Copy* copy);
  Copy* retire_iterations(LoopUnderWay& loop);
  void finish_loop(LoopUnderWay& loop);
  Copy* free(Copy* copy);

  void require(Fault fault, const Copy& copy);
  std::vector<Value> take_results();
  std::vector<WaitingNode> waiting() const;
  std::vector<uint64_t> tag_of(const Copy* copy) const;
  uint64_t bytes_of(const Copy& copy) const;

  const Graph& graph_;
  std::span<const Value> arguments_;
  const RunOptions& options_;
  Budget use_{options_};
  BudgetWatch watch_{options_, use_};
  const Blueprints blueprints_;

  std::vector<Ready> ready_;  ///< last in, first out: depth first
  std::vector<std::unique_ptr<Copy>> copies_;
  Copy* program_ = nullptr;
  uint64_t bytes_ = 0;
  uint64_t copies_made_ = 0;
  uint64_t call_count_ = 0;

  struct Result {
    std::optional<Value> value;
    bool dead = false;
  };
  std::vector<Result> results_;
};

// Values go to the copies of the nodes that read them -------------------------------------------------------

void ExpandingRun::start() {
  program_ = &copy_of(blueprints_.index_of(graph_.main()), nullptr);
  for (std::size_t i = arguments_.size(); i-- > 0;) {
    deliver(*program_, {graph_.inputs()[i]}, arguments_[i], false);
  }
  for (std::size_t i = blueprints_.at_start().size(); i-- > 0;) {
    const NodeId id = blueprints_.at_start()[i];
    program_->nodes[blueprints_.of(id).node].started = true;
    ready_.push_back({program_, id});
  }
  retire(program_);
}

/// Gives what `from` made to the nodes that read it in the copy `into`. The first reader comes to run first.
void ExpandingRun::deliver(Copy& into, OutPort from, const Value& value, bool dead) {
  const auto readers = graph_.consumers(from);
  const bool is_call = graph_[from.node].kind == NodeKind::Call;
  const auto controlled = graph_.control_consumers(from);
  for (std::size_t i = is_call ? 0 : controlled.size(); i-- > 0;) {
    give(into, controlled[i], std::nullopt, value, dead);
  }
  for (std::size_t i = readers.size(); i-- > 0;) {
    const NodeId reader = readers[i].node;
    if (graph_[reader].kind != NodeKind::Return) {
      give(into, reader, readers[i].port, value, dead);
    } else if (into.site == graph_[reader].site) {
      give(*into.parent, reader, readers[i].port, value, dead);
    }
  }
}

/// An input of a node has come; the node is ready with the last one.
void ExpandingRun::give(Copy& copy, NodeId id, std::optional<uint32_t> input, const Value& value, bool dead) {
  if (blueprints_.of(id).blueprint != copy.blueprint)
    return;  // a Const that fired once has readers elsewhere
  const bool is_merge = graph_[id].kind == NodeKind::Merge;
  if (!(is_merge ? merge(copy, id, value, dead) : match(copy, id, input, value, dead))) return;
  copy.nodes[blueprints_.of(id).node].started = true;
  ready_.push_back({&copy, id});
}

/// A Merge is ready with its first live input, or when all are dead.
bool ExpandingRun::merge(Copy& copy, NodeId id, const Value& value, bool dead) {
  const Blueprints::Location& place = blueprints_.of(id);
  CopiedNode& node = copy.nodes[place.node];
  if (node.pending > 0) --node.pending;
  if (node.started || (dead && node.pending > 0)) return false;
  node.dead = dead;
  copy.operands[place.operands] = value;
  return true;
}

bool ExpandingRun::match(Copy& copy, NodeId id, std::optional<uint32_t> input, const Value& value,
                         bool dead) {
  const Blueprints::Location& place = blueprints_.of(id);
  CopiedNode& node = copy.nodes[place.node];
  if (node.started) return false;
  node.dead = node.dead || dead;
  if (input && !dead) copy.operands[place.operands + *input] = value;
  return --node.pending == 0;
}

// Nodes -----------------------------------------------------------------------------------------------------

void ExpandingRun::fire(Copy& copy, NodeId id) {
  const graph::Node& node = graph_[id];
  const Blueprints::Location& place = blueprints_.of(id);
  const bool dead = copy.nodes[place.node].dead;
  const Value* operands = copy.operands.data() + place.operands;
  switch (node.kind) {
    case NodeKind::Const:
      return deliver(copy, {id}, constant_of(node, options_), dead);
    case NodeKind::Op:
      if (dead) return deliver(copy, {id}, Value(), true);
      return fire_op(copy, id, {operands, node.inputs.size()});
    case NodeKind::Accumulate:
      if (!dead) accumulate(node, {operands, node.inputs.size()}, options_.gradients);
      return;
    case NodeKind::Switch:
      return fire_switch(copy, id, operands, dead);
    case NodeKind::Merge:
    case NodeKind::Return:
      return deliver(copy, {id}, *operands, dead);
    case NodeKind::Call:
      return fire_call(copy, id, *operands, dead);
    case NodeKind::Enter:
      return fire_enter(copy, id, *operands, dead);
    case NodeKind::NextIteration:
      return fire_next_iteration(copy, id, *operands, dead);
    case NodeKind::Exit:
      return fire_exit(copy, id, *operands, dead);
    case NodeKind::Output:
      return fire_output(copy, id, *operands, dead);
    case NodeKind::Input:
    case NodeKind::Send:
    case NodeKind::Recv:
      break;
  }
  HIATON_CHECK(!"a node that can be copied");
}

void ExpandingRun::fire_op(Copy& copy, NodeId id, std::span<const Value> operands) {
  if (graph_[id].op->role == Role::Print) print_line(options_, code_points_of(operands[1].slot().data));
  Value result;
  const Fault fault = apply(graph_[id], operands, options_.overflow, result);
  if (fault == Fault::None) return deliver(copy, {id}, result, false);
  CopyChain chain(graph_, blueprints_, &copy);
  throw operation_error({graph_, arguments_, chain}, id, operands, fault);
}

void ExpandingRun::fire_switch(Copy& copy, NodeId id, const Value* operands, bool dead) {
  const bool to_true_side = !dead && operands[1].as<bool>();
  const bool to_false_side = !dead && !to_true_side;
  deliver(copy, {id, 1}, operands[0], !to_false_side);
  deliver(copy, {id, 0}, operands[0], !to_true_side);
}

void ExpandingRun::fire_output(const Copy& copy, NodeId id, const Value& value, bool dead) {
  if (&copy != program_) return;
  Result& result = results_[graph_[id].index];
  if (!dead) result.value = value;
  result.dead = dead;
}

// Calls -----------------------------------------------------------------------------------------------------

/// The first live argument of a call makes the copy of the callee. A dead one makes the results dead.
void ExpandingRun::fire_call(Copy& copy, NodeId id, const Value& value, bool dead) {
  const graph::Node& node = graph_[id];
  CallUnderWay& call = call_under_way(copy, node.site);
  --call.arguments_to_come;
  if (!dead && call.callee == nullptr) {
    ++call_count_;
    call.callee = &copy_of(blueprints_.index_of(graph_[node.site].callee), &copy);
    call.callee->site = node.site;
    ++call.callee->holds;
    require(watch_.use(copies_.size(), bytes_), *call.callee);
  }
  Copy* callee = call.callee;
  const bool complete = call.arguments_to_come == 0;
  if (complete) std::erase_if(copy.calls, [&](const auto& other) { return other.site == node.site; });
  if (dead) {
    for (NodeId result : graph_[node.site].returns) give(copy, result, std::nullopt, Value(), true);
  } else {
    deliver(*callee, {id}, value, false);
  }
  if (complete && callee != nullptr) {
    --callee->holds;
    retire(callee);
  }
}

CallUnderWay& ExpandingRun::call_under_way(Copy& copy, CallSite site) {
  const auto found = std::find_if(copy.calls.begin(), copy.calls.end(),
                                  [&](const CallUnderWay& call) { return call.site == site; });
  if (found != copy.calls.end()) return *found;
  copy.calls.push_back({site, nullptr, graph_[site].calls.size()});
  return copy.calls.back();
}

// Loops -----------------------------------------------------------------------------------------------------

/// The first live Enter makes the copy of iteration 0. A constant goes to all iterations there are and to all
/// that come. A dead Enter makes the Exits dead.
void ExpandingRun::fire_enter(Copy& copy, NodeId id, const Value& value, bool dead) {
  LoopUnderWay& loop = loop_under_way(copy, graph_[id].loop);
  --loop.enters_to_come;
  if (dead) {
    for (NodeId exit : std::exchange(loop.owed, {})) deliver(copy, {exit}, Value(), true);
  } else if (graph_[id].loop_constant) {
    for (Copy* each = loop.oldest; each != nullptr; each = each->next_iteration) {
      deliver(*each, {id}, value, false);
    }
    loop.constants.emplace_back(id, value);
    if (loop.iterations == 0) make_iteration(loop);
  } else {
    if (loop.iterations == 0) make_iteration(loop);
    deliver(*loop.oldest, {id}, value, false);
  }
  retire_iterations(loop);
}

LoopUnderWay& ExpandingRun::loop_under_way(Copy& copy, LoopId id) {
  for (const auto& loop : copy.loops) {
    if (loop->loop == id) return *loop;
  }
  copy.loops.push_back(
      std::make_unique<LoopUnderWay>(LoopUnderWay{id, &copy, graph_[id].enters.size(), graph_[id].exits}));
  return *copy.loops.back();
}

Copy& ExpandingRun::make_iteration(LoopUnderWay& loop) {
  Copy& made = copy_of(blueprints_.index_of(loop.loop), loop.outer);
  made.loop = &loop;
  made.iteration = loop.iterations++;
  ++loop.alive;
  (loop.newest != nullptr ? loop.newest->next_iteration : loop.oldest) = &made;
  loop.newest = &made;
  require(watch_.use(copies_.size(), bytes_), made);
  for (const auto& [enter, value] : loop.constants) deliver(made, {enter}, value, false);
  return made;
}

void ExpandingRun::fire_next_iteration(Copy& copy, NodeId id, const Value& value, bool dead) {
  if (dead) return;
  LoopUnderWay& loop = *copy.loop;
  if (copy.next_iteration != nullptr) return deliver(*copy.next_iteration, {id}, value, false);
  loop.postponed.emplace_back(id, value);
  if (may_start(loop)) start_postponed(loop);
}

void ExpandingRun::start_postponed(LoopUnderWay& loop) {
  Copy& made = make_iteration(loop);
  for (const auto& [next, value] : std::exchange(loop.postponed, {})) deliver(made, {next}, value, false);
}

void ExpandingRun::fire_exit(Copy& copy, NodeId id, const Value& value, bool dead) {
  LoopUnderWay& loop = *copy.loop;
  if (!dead && std::erase(loop.owed, id) > 0) deliver(*loop.outer, {id}, value, false);
}

/// In a graph built by hand some nodes of an iteration may never fire, so that it is never finished; then the
/// window must not hold back the next one.
bool ExpandingRun::lift_a_window() {
  for (const auto& copy : copies_) {
    if (copy->loop != nullptr && copy->loop->newest == copy.get() && !copy->loop->postponed.empty()) {
      start_postponed(*copy->loop);
      return true;
    }
  }
  return false;
}

// Copies ----------------------------------------------------------------------------------------------------

Copy& ExpandingRun::copy_of(uint32_t index, Copy* parent) {
  const Blueprint& blueprint = blueprints_[index];
  copies_.push_back(std::make_unique<Copy>(Copy{.blueprint = index,
                                                .parent = parent,
                                                .nodes = blueprint.nodes,
                                                .operands = blueprint.operands,
                                                .unfired = blueprint.nodes.size()}));
  Copy& copy = *copies_.back();
  copy.position = copies_.size() - 1;
  if (parent != nullptr) ++parent->holds;
  ++copies_made_;
  bytes_ += bytes_of(copy);
  return copy;
}

/// Frees the copy if all is done in it, then those around it for which it was the last to wait for. A loop,
/// not a recursion: a million calls may end with one value.
void ExpandingRun::retire(Copy* copy) {
  while (copy != nullptr && copy->is_finished()) {
    copy = copy->loop != nullptr ? retire_iterations(*copy->loop) : free(copy);
  }
}

/// Frees the oldest iterations as far as they are finished, lets the next ones start, and ends the loop when
/// there are none. Gives the copy around the loop.
Copy* ExpandingRun::retire_iterations(LoopUnderWay& loop) {
  while (loop.oldest != nullptr && loop.oldest->is_finished()) {
    Copy* finished = loop.oldest;
    loop.oldest = finished->next_iteration;
    if (loop.oldest == nullptr) loop.newest = nullptr;
    --loop.alive;
    free(finished);
    if (!loop.postponed.empty() && may_start(loop)) start_postponed(loop);
  }
  Copy* outer = loop.outer;
  if (loop.enters_to_come == 0 && loop.alive == 0) finish_loop(loop);
  return outer;
}

/// An Exit stops the dead tokens of all iterations but the last: here is the last.
void ExpandingRun::finish_loop(LoopUnderWay& loop) {
  Copy& outer = *loop.outer;
  for (NodeId exit : loop.owed) deliver(outer, {exit}, Value(), true);
  std::erase_if(outer.loops, [&](const auto& other) { return other.get() == &loop; });
}

/// Gives the copy's parent.
Copy* ExpandingRun::free(Copy* copy) {
  Copy* parent = copy->parent;
  if (parent != nullptr) --parent->holds;
  bytes_ -= bytes_of(*copy);
  const std::size_t position = copy->position;
  copies_.back()->position = position;
  std::swap(copies_[position], copies_.back());
  copies_.pop_back();
  return parent;
}

uint64_t ExpandingRun::bytes_of(const Copy& copy) const {
  return sizeof(Copy) + sizeof(Copy*) + copy.nodes.size() * sizeof(CopiedNode) +
         copy.operands.size() * sizeof(Value);
}

// The run ---------------------------------------------------------------------------------------------------

void ExpandingRun::require(Fault fault, const Copy& copy) {
  if (fault == Fault::None) return;
  CopyChain chain(graph_, blueprints_, &copy);
  std::optional<LoopId> loop;
  if (copy.loop != nullptr) loop = copy.loop->loop;
  throw budget_error({graph_, arguments_, chain}, options_, fault, loop);
}

std::vector<Value> ExpandingRun::take_results() {
  std::vector<Value> values;
  for (std::size_t i = 0; i < results_.size(); ++i) {
    if (!results_[i].value) throw no_result_error(graph_, graph_.outputs()[i], results_[i].dead, waiting());
    values.push_back(*results_[i].value);
  }
  return values;
}

std::vector<WaitingNode> ExpandingRun::waiting() const {
  std::vector<WaitingNode> nodes;
  for (const auto& copy : copies_) {
    for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
      const Blueprints::Location& place = blueprints_.of(NodeId(n));
      if (place.blueprint != copy->blueprint || copy->nodes[place.node].started) continue;
      const std::size_t missing = copy->nodes[place.node].pending;
      if (missing == blueprints_[place.blueprint].nodes[place.node].pending) continue;
      nodes.push_back({NodeId(n), tag_of(copy.get()), missing});
    }
  }
  return nodes;
}

std::vector<uint64_t> ExpandingRun::tag_of(const Copy* copy) const {
  std::vector<uint64_t> tag;
  for (; copy->parent != nullptr; copy = copy->parent) {
    tag.push_back(copy->loop != nullptr ? copy->iteration : copy->site.index());
  }
  return tag;
}

/// Lets go of everything and counts what was used.
RunStats ExpandingRun::finish() {
  ready_.clear();
  copies_.clear();
  RunStats stats;
  stats.calls = call_count_;
  stats.frames_allocated = copies_made_;
  stats.frames_live_most = watch_.most_frames();
  stats.frames_live_at_end = copies_.size();
  stats.bytes = watch_.most_bytes();
  stats.seconds = watch_.seconds();
  return stats;
}

}  // namespace

RunResult run_expanding(const Graph& graph, std::span<const Value> arguments, const RunOptions& options,
                        std::size_t* copies_left) {
  ExpandingRun run(graph, arguments, options);
  return run_counted(run, options, [&] {
    if (copies_left != nullptr) *copies_left = run.copies_left();
  });
}

}  // namespace hiaton::exec
