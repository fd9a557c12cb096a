#include "exec/reference.h"

#include <algorithm>
#include <optional>

#include "base/check.h"
#include "exec/counted_run.h"
#include "exec/firing.h"
#include "exec/graph_names.h"
#include "exec/reference_run.h"
#include "exec/tag_chain.h"
#include "graph/turns.h"

namespace hiaton::exec {
namespace {

/// Takes the node out of those that still have to fire; false if it has fired.
bool settle(std::vector<NodeId>& owed, NodeId node) {
  return std::erase(owed, node) > 0;
}

}  // namespace

ReferenceRun::ReferenceRun(const Graph& graph, std::span<const Value> arguments, const RunOptions& options,
                           ReferenceBudget& budget)
    : graph_(graph), arguments_(arguments), options_(options), budget_(budget) {
  for (const graph::Node& node : graph.nodes()) inputs_to_match_.push_back(inputs_to_match(graph, node));
  results_.resize(graph.outputs().size());
}

void ReferenceRun::step() {
  if (budget_.watch().is_time_to_poll()) require(budget_.watch().poll(), tokens_.front().tag);
  deliver_next();
  while (tags_.has_ended_iterations()) finish_loops();
}

// Tokens ----------------------------------------------------------------------------------------------------

/// Input nodes hold the arguments under the empty tag. A node whose inputs are all Const without control
/// edges fires once, under the empty tag.
void ReferenceRun::start() {
  for (std::size_t i = 0; i < graph_.inputs().size(); ++i) feed(i);
  start_constants();
}

void ReferenceRun::feed(std::size_t parameter) {
  emit_live(graph_.inputs()[parameter], Tag(), arguments_[parameter]);
}

void ReferenceRun::start_constants() {
  for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
    const NodeId id(n);
    if (!fires_under_the_empty_tag(graph_, graph_[id])) continue;
    fire(id, Tag(), new_match(id, Tag()).operands, false);
  }
}

void ReferenceRun::emit(OutPort from, const Tag& tag, const Value& value, bool dead) {
  tokens_.push_back({from, tag, value, dead});
  if (options_.on_token) options_.on_token({from, elements(tag), value, dead});
}

void ReferenceRun::deliver_next() {
  const Token token = std::move(tokens_.front());
  tokens_.pop_front();
  try {
    deliver(token);
  } catch (const OverBudget&) {
    require(Fault::MaxBytes, token.tag);
  }
}

void ReferenceRun::deliver(const Token& token) {
  for (InPort to : graph_.consumers(token.from)) arrive(to.node, to.port, token);
  const bool is_call = graph_[token.from.node].kind == NodeKind::Call;
  if (is_call) return;  // the control edges to its Return nodes are followed by the Call's own rule
  for (NodeId to : graph_.control_consumers(token.from)) arrive(to, std::nullopt, token);
}

/// A token comes to an input of a node, or, without `input`, along a control edge.
void ReferenceRun::arrive(NodeId id, std::optional<uint32_t> input, const Token& token) {
  switch (graph_[id].kind) {
    case NodeKind::Merge:
      return fire_merge(id, token);
    case NodeKind::Return:
      return fire_return(id, token);
    default:
      return match(id, input, token);
  }
}

// Matching: any node but Merge and Return fires when every input holds a token of the same tag --------------

/// Nothing has come yet but what is there under every tag.
Match ReferenceRun::new_match(NodeId id, const Tag& tag) const {
  Match match{tag, {}, inputs_to_match_[id.index()]};
  for (OutPort from : graph_[id].inputs) match.operands.push_back(constant_of(graph_[from.node], options_));
  return match;
}

void ReferenceRun::match(NodeId id, std::optional<uint32_t> input, const Token& token) {
  if (inputs_to_match_[id.index()] == 1) {
    Match match = new_match(id, token.tag);
    if (input) match.operands[*input] = token.value;
    return fire(id, token.tag, match.operands, token.dead);
  }
  const auto [entry, first] = matches_.try_emplace({id, token.tag.cell()});
  if (first) entry->second = new_match(id, token.tag);
  Match& match = entry->second;
  if (input && !token.dead) match.operands[*input] = token.value;
  match.dead = match.dead || token.dead;
  if (--match.missing > 0) return;
  const Match complete = std::move(match);
  matches_.erase(entry);
  fire(id, complete.tag, complete.operands, complete.dead);
}

void ReferenceRun::fire(NodeId id, const Tag& tag, std::span<const Value> operands, bool dead) {
  switch (graph_[id].kind) {
    case NodeKind::Const:  // the token of its control edge starts it
      if (const std::optional<graph::Turn> turn = graph::turn_of(graph_[id]))
        return emit({id}, tag, Value(number_of(tag) % turn->copies == turn->number), dead);
      return emit({id}, tag, constant_of(graph_[id], options_), dead);
    case NodeKind::Op:
      return fire_op(id, tag, operands, dead);
    case NodeKind::Accumulate:
      if (!dead) accumulate(graph_[id], operands, options_.gradients);
      return;
    case NodeKind::Switch:
      return fire_switch(id, tag, operands, dead);
    case NodeKind::Call:
      return fire_call(id, tag, operands[0], dead);
    case NodeKind::Enter:
      return fire_enter(id, tag, operands[0], dead);
    case NodeKind::NextIteration:
      return fire_next_iteration(id, tag, operands[0], dead);
    case NodeKind::Exit:
      return fire_exit(id, tag, operands[0], dead);
    case NodeKind::Output:
      return fire_output(id, tag, operands[0], dead);
    case NodeKind::Send:
      return send(id, tag, operands[0], dead);
    case NodeKind::Recv:
      return receive(id, tag, dead);
    case NodeKind::Input:
    case NodeKind::Merge:
    case NodeKind::Return:
      break;
  }
  HIATON_CHECK(!"a node that matches its inputs");
}

// Op: dead if any input is dead -----------------------------------------------------------------------------

void ReferenceRun::fire_op(NodeId id, const Tag& tag, std::span<const Value> operands, bool dead) {
  if (dead) return emit_dead(id, tag);
  if (graph_[id].op->role == Role::Print) print_line(options_, code_points_of(operands[1].slot().data));
  Value result;
  const Fault fault = apply(graph_[id], operands, options_.overflow, result);
  if (fault == Fault::None) return emit_live(id, tag, result);
  throw refusal(id, tag, operands, fault);
}

/// Iterations of a loop, and call sites of a body, have numbers that follow each other; the calls and loops
/// around them decide where they begin.
uint64_t ReferenceRun::number_of(const Tag& tag) const {
  if (tag.empty()) return 0;
  constexpr uint64_t kOddMultiplier = 0x9E3779B97F4A7C15;
  const auto own_number = [this](const TagCell* cell) {
    const TagLabel label = in_whole_graph(cell->label);
    return label.site.valid() ? label.site.index() : label.iteration;
  };
  uint64_t around = 0;
  for (const TagCell* cell = tag.cell()->outer; cell != nullptr; cell = cell->outer) {
    around = (around ^ own_number(cell)) * kOddMultiplier;
    around ^= around >> 29;
  }
  constexpr int kBitsOfBegin = 32;
  return (around >> kBitsOfBegin) + own_number(tag.cell());
}

RunError ReferenceRun::refusal(NodeId id, const Tag& tag, std::span<const Value> operands,
                               Fault fault) const {
  TagChain chain(tag);
  return operation_error({graph_, arguments_, chain}, id, operands, fault);
}

// Switch (<t,d>, <t,p>) = (<t,d>, dead) if p, else (dead, <t,d>) --------------------------------------------

void ReferenceRun::fire_switch(NodeId id, const Tag& tag, std::span<const Value> operands, bool dead) {
  const bool to_true_side = !dead && operands[1].as<bool>();
  const bool to_false_side = !dead && !to_true_side;
  emit({id, 0}, tag, operands[0], !to_true_side);
  emit({id, 1}, tag, operands[0], !to_false_side);
}

// Merge: the live input; dead only if all are dead ----------------------------------------------------------
//
// Where the inputs make the tag (the Calls of a parameter, the Enter and NextIteration of a loop variable)
// each tag comes through exactly one of them, and never dead: the token passes at once.

void ReferenceRun::fire_merge(NodeId id, const Token& token) {
  if (is_entry(graph_, graph_[id])) return emit({id}, token.tag, token.value, token.dead);
  const auto [entry, first] = matches_.try_emplace({id, token.tag.cell()});
  if (first) entry->second = new_match(id, token.tag);
  Match& match = entry->second;
  if (!token.dead && !match.passed) {
    match.passed = true;
    emit_live(id, token.tag, token.value);
  }
  if (--match.missing > 0) return;
  if (!match.passed) emit_dead(id, token.tag);
  matches_.erase(entry);
}

// Call_i <t,d> = <i:t,d> ------------------------------------------------------------------------------------
//
// A dead token does not enter the function: along the control edges it makes the Return nodes of the call
// site dead, each once.

Call& ReferenceRun::call_under_way(CallSite site, const Tag& tag) {
  const auto [entry, first] = calls_.try_emplace({site, tag.cell()});
  if (first) entry->second = {tag, Tag(), graph_[site].calls.size(), graph_[site].returns};
  return entry->second;
}

void ReferenceRun::fire_call(NodeId id, const Tag& tag, const Value& value, bool dead) {
  const graph::Node& node = graph_[id];
  Call& call = call_under_way(node.site, tag);
  --call.arguments_to_come;
  if (dead) {
    for (NodeId owed : std::exchange(call.owed, {})) emit_dead(owed, tag);
  } else {
    if (call.inside.empty()) {
      if (!is_copy(node.site)) ++call_count_;
      call.inside = make_tag(tag, {.site = node.site}, nullptr);
      call.inside.cell()->arguments.resize(graph_[node.site].calls.size());
    }
    call.inside.cell()->arguments[node.index] = value;
    emit_live(id, call.inside, value);
  }
  finish_call(node.site, tag, call);
}

void ReferenceRun::finish_call(CallSite site, const Tag& tag, const Call& call) {
  if (call.arguments_to_come == 0 && call.owed.empty()) calls_.erase({site, tag.cell()});
}

// Return_i <i:t,d> = <t,d>, any other tag: no output --------------------------------------------------------

void ReferenceRun::fire_return(NodeId id, const Token& token) {
  const CallSite site = graph_[id].site;
  if (!token.tag.is_call_from(site)) return;
  const Tag tag = token.tag.outer();
  const auto entry = calls_.find({site, tag.cell()});
  if (entry == calls_.end() || !settle(entry->second.owed, id)) return;
  emit({id}, tag, token.value, token.dead);
  finish_call(site, tag, entry->second);
}

// Enter <t,d> = <0:t,d> -------------------------------------------------------------------------------------
//
// A constant Enter gives its token to every iteration: those that were made before it came, and those made
// later. A dead token does not enter: it makes the Exit nodes of the loop dead, each once.

LoopRun& ReferenceRun::loop_under_way(LoopId loop, const Tag& tag) {
  const auto [entry, first] = loops_.try_emplace({loop, tag.cell()});
  if (first) entry->second = {tag, graph_[loop].enters.size(), graph_[loop].exits};
  return entry->second;
}

void ReferenceRun::fire_enter(NodeId id, const Tag& tag, const Value& value, bool dead) {
  const LoopId loop = graph_[id].loop;
  LoopRun& run = loop_under_way(loop, tag);
  --run.enters_to_come;
  if (dead) {
    for (NodeId owed : std::exchange(run.owed, {})) emit_dead(owed, tag);
  } else if (graph_[id].loop_constant) {
    for (uint64_t n = 0; n < run.iterations; ++n) emit_live(id, iteration_tag(loop, run, n), value);
    run.constants.emplace_back(id, value);
    if (run.iterations == 0) make_iteration(loop, run);
  } else {
    if (run.iterations == 0) make_iteration(loop, run);
    emit_live(id, iteration_tag(loop, run, 0), value);
  }
  finish_loop(loop, tag.cell());
}

/// The next iteration begins to exist: it gets the constants that have come.
void ReferenceRun::make_iteration(LoopId loop, LoopRun& run) {
  const Tag tag = iteration_tag(loop, run, run.iterations++);
  for (const auto& [enter, value] : run.constants) emit_live(enter, tag, value);
}

Tag ReferenceRun::iteration_tag(LoopId loop, LoopRun& run, uint64_t iteration) {
  bool made = false;
  Tag tag = make_tag(run.tag, {.loop = loop, .iteration = iteration}, &made);
  if (made) ++run.iterations_alive;
  return tag;
}

// NextIteration <n:t,d> = <n+1:t,d>; stops dead tokens ------------------------------------------------------

void ReferenceRun::fire_next_iteration(NodeId id, const Tag& tag, const Value& value, bool dead) {
  if (dead) return;
  const LoopId loop = graph_[id].loop;
  LoopRun& run = loops_.at({loop, tag.cell()->outer});
  const uint64_t next = tag.label().iteration + 1;
  const Tag next_tag = iteration_tag(loop, run, next);
  if (run.iterations == next) make_iteration(loop, run);
  emit_live(id, next_tag, value);
}

// Exit <n:t,d> = <t,d>; stops the dead tokens of all iterations but the last --------------------------------
//
// The last iteration has come to its end when no token is left under any iteration's tag.

void ReferenceRun::fire_exit(NodeId id, const Tag& tag, const Value& value, bool dead) {
  const Tag outer = tag.outer();
  LoopRun& run = loops_.at({graph_[id].loop, outer.cell()});
  if (!dead && settle(run.owed, id)) emit_live(id, outer, value);
}

void ReferenceRun::finish_loops() {
  for (const TagTable::Iteration& ended : tags_.take_ended_iterations()) {
    --loops_.at({ended.loop, ended.outer}).iterations_alive;
    finish_loop(ended.loop, ended.outer);
  }
}

void ReferenceRun::finish_loop(LoopId loop, const TagCell* tag) {
  const auto entry = loops_.find({loop, tag});
  LoopRun& run = entry->second;
  if (run.enters_to_come > 0 || run.iterations_alive > 0) return;
  for (NodeId owed : run.owed) emit_dead(owed, run.tag);
  loops_.erase(entry);
}

// Output takes tokens of the empty tag ----------------------------------------------------------------------

void ReferenceRun::fire_output(NodeId id, const Tag& tag, const Value& value, bool dead) {
  if (!tag.empty()) return;
  Result& result = results_[graph_[id].index];
  if (!dead) result.value = value;
  result.dead = dead;
}

// Send and Recv: between the parts of a graph ---------------------------------------------------------------

void ReferenceRun::send(NodeId /*id*/, const Tag& /*tag*/, const Value& /*value*/, bool /*dead*/) {
  HIATON_CHECK(!"a graph that is run alone has no Send");
}

void ReferenceRun::receive(NodeId /*id*/, const Tag& /*tag*/, bool /*dead*/) {
  HIATON_CHECK(!"a graph that is run alone has no Recv");
}

// The run ---------------------------------------------------------------------------------------------------

Tag ReferenceRun::make_tag(const Tag& outer, const TagLabel& label, bool* made) {
  Tag tag = tags_.push(outer, label, made);
  require(budget_.use(share_, tags_.alive(), bytes()), tag);
  return tag;
}

void ReferenceRun::require(Fault fault, const Tag& tag) {
  if (fault != Fault::None) throw over_budget(tag, fault);
}

RunError ReferenceRun::over_budget(const Tag& tag, Fault fault) const {
  TagChain chain(tag);
  std::optional<LoopId> loop;
  if (!tag.empty() && tag.label().loop.valid()) loop = tag.label().loop;
  return budget_error({graph_, arguments_, chain}, options_, fault, loop);
}

uint64_t ReferenceRun::bytes() const {
  return tags_.bytes() + tokens_.size() * sizeof(Token) + table_bytes(matches_) + table_bytes(calls_) +
         table_bytes(loops_) + matches_.size() * heap_bytes(2 * sizeof(Value)) +
         calls_.size() * heap_bytes(sizeof(NodeId));
}

std::vector<Value> ReferenceRun::take_results(std::size_t count) {
  std::vector<Value> values;
  for (std::size_t i = 0; i < count; ++i) {
    if (!results_[i].value) throw no_result_error(graph_, graph_.outputs()[i], results_[i].dead, waiting());
    values.push_back(*results_[i].value);
  }
  return values;
}

std::vector<WaitingNode> ReferenceRun::waiting() const {
  std::vector<WaitingNode> nodes;
  for (const auto& [key, match] : matches_) nodes.push_back({key.id, elements(match.tag), match.missing});
  for (const auto& [key, call] : calls_) {
    for (NodeId owed : call.owed) nodes.push_back({owed, elements(call.tag), 1});
  }
  for (const auto& [key, loop] : loops_) {
    for (NodeId owed : loop.owed) nodes.push_back({owed, elements(loop.tag), 1});
  }
  std::sort(nodes.begin(), nodes.end(), [](const WaitingNode& a, const WaitingNode& b) {
    return std::tie(a.node, a.tag) < std::tie(b.node, b.tag);
  });
  return nodes;
}

RunStats ReferenceRun::finish() {
  tokens_.clear();
  matches_.clear();
  calls_.clear();
  loops_.clear();
  return budget_.stats(call_count_, tags_.ever_made(), tags_.alive());
}

namespace {

/// A graph that is run alone, to its end.
struct WholeRun {
  ReferenceBudget budget;
  ReferenceRun one;

  WholeRun(const Graph& graph, std::span<const Value> arguments, const RunOptions& options)
      : budget(options), one(graph, arguments, options, budget) {}

  std::vector<Value> run() {
    one.start();
    while (one.has_tokens()) one.step();
    return one.take_results();
  }
  RunStats finish() { return one.finish(); }
};

class OpenReferenceRun : public PhasedRun {
 public:
  OpenReferenceRun(const Graph& graph, const RunOptions& options, std::string fallback)
      : graph_(graph),
        fallback_(std::move(fallback)),
        arguments_(graph.inputs().size()),
        budget_(options),
        run_(graph, arguments_, options, budget_) {
    budget_.pause();
  }

  void go_on(std::span<const std::vector<Value>> phases) override {
    const Resumed resumed(budget_);
    if (phases_ == 0) run_.start_constants();
    for (const std::vector<Value>& arguments : phases) {
      for (const Value& argument : arguments) {
        arguments_[fed_] = argument;
        run_.feed(fed_++);
      }
      count_ += graph_[graph_.main()].phases[phases_++].results;
    }
    while (run_.has_tokens()) run_.step();
    results_ = run_.take_results(count_);
  }
  std::span<const Value> results() const override { return results_; }
  std::size_t results_to_come() const override { return graph_.outputs().size() - count_; }
  RunStats close(bool /*has_ended*/) override {
    const Resumed resumed(budget_);
    RunStats stats = run_.finish();
    stats.fallback = fallback_;
    return stats;
  }

 private:
  struct Resumed {
    ReferenceBudget& budget;
    explicit Resumed(ReferenceBudget& of) : budget(of) { budget.resume(); }
    Resumed(const Resumed&) = delete;
    ~Resumed() { budget.pause(); }
  };

  const Graph& graph_;
  const std::string fallback_;
  std::vector<Value> arguments_;  ///< those of phases that have not come are without meaning
  ReferenceBudget budget_;
  ReferenceRun run_;
  std::size_t phases_ = 0;  ///< that have come
  std::size_t fed_ = 0;     ///< arguments of these
  std::size_t count_ = 0;   ///< results of these
  std::vector<Value> results_;
};

}  // namespace

std::unique_ptr<PhasedRun> open_reference(const Graph& graph, const RunOptions& options,
                                          std::string fallback) {
  return std::make_unique<OpenReferenceRun>(graph, options, std::move(fallback));
}

RunResult run_reference(const Graph& graph, std::span<const Value> arguments, const RunOptions& options,
                        std::vector<WaitingNode>* leftovers) {
  WholeRun run(graph, arguments, options);
  return run_counted(run, options, [&] {
    if (leftovers != nullptr) *leftovers = run.one.waiting();
  });
}

}  // namespace hiaton::exec
