#include "exec/demand.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/check.h"
#include "exec/counted_run.h"
#include "exec/demand_frames.h"
#include "exec/firing.h"
#include "exec/frame_chain.h"
#include "exec/reference_run.h"
#include "exec/structure.h"
#include "hiaton/error.h"

namespace hiaton::exec {
namespace {

/// The chain of calls that a frame stands in.
class DemandChain : public FrameChain<DemandFrame*> {
 public:
  DemandChain(const Graph& graph, DemandFrame* frame) : FrameChain(frame), graph_(graph) {
    DemandChain::rewind();
  }

  bool at_call() const override { return at()->label.site.valid(); }
  CallSite site() const override { return at()->label.site; }
  std::vector<std::optional<Value>> arguments() const override {
    std::vector<std::optional<Value>> values;
    for (const OutPort param : graph_[graph_[site()].callee].params) {
      const auto cell = at()->cells.find(DemandFrame::key(param, false));
      const bool is_known =
          cell != at()->cells.end() && cell->second.done && cell->second.result.suspended == nullptr;
      values.push_back(is_known ? std::optional(cell->second.result.value) : std::nullopt);
    }
    return values;
  }

 private:
  DemandFrame* around(DemandFrame* const& frame) const override { return frame->outer.get(); }
  bool is_part(DemandFrame* const& frame) const override { return frame->label.loop.valid(); }

  const Graph& graph_;
};

std::vector<uint64_t> tag_elements(const DemandFrame* frame) {
  std::vector<uint64_t> elements;
  for (; frame->outer.get() != nullptr; frame = frame->outer.get())
    elements.push_back(frame->label.site.valid() ? frame->label.site.value : frame->label.iteration);
  return elements;
}

/// Where each Merge gets its value from.
class MergeRules {
 public:
  struct Rule {
    enum class Kind : uint8_t { None, Parameter, Variable, Choice };

    Kind kind = Kind::None;
    uint32_t parameter = 0;  ///< Parameter: which one of its function
    LoopShape::Variable variable{};
    OutPort predicate{};  ///< Choice
    OutPort from[2]{};    ///< when true, when false
  };

  explicit MergeRules(const Graph& graph) : rules_(graph.nodes().size()) {
    const Structure structure = structure_of(graph);
    for (const graph::Function& function : graph.functions()) {
      for (std::size_t i = 0; i < function.params.size(); ++i)
        rules_[function.params[i].node.index()] = {.kind = Rule::Kind::Parameter,
                                                   .parameter = static_cast<uint32_t>(i)};
    }
    for (const LoopShape& loop : structure.loops) {
      predicates_.push_back(loop.predicate);
      for (const LoopShape::Variable& variable : loop.variables)
        rules_[variable.merge.index()] = {.kind = Rule::Kind::Variable, .variable = variable};
    }
    for (const Conditional& conditional : structure.conditionals) {
      for (const Join& join : conditional.joins) {
        rules_[join.merge.index()] = {.kind = Rule::Kind::Choice,
                                      .predicate = conditional.predicate,
                                      .from = {join.from[0], join.from[1]}};
      }
    }
  }

  const Rule& operator[](NodeId merge) const { return rules_[merge.index()]; }
  OutPort predicate(LoopId loop) const { return predicates_[loop.index()]; }

 private:
  static Structure structure_of(const Graph& graph) {
    try {
      return find_blocks(graph, std::vector<bool>(graph.functions().size(), true));
    } catch (const Unstructured& error) {
      throw ProgramError(
          fmt::format("demand-driven evaluation: expected a graph whose branches and loops nest, found one "
                      "where {}",
                      error.reason));
    }
  }

  std::vector<Rule> rules_;
  std::vector<OutPort> predicates_;  ///< by loop
};

class DemandRun {
 public:
  DemandRun(const Graph& graph, std::span<const Value> arguments, const RunOptions& options)
      : graph_(graph), arguments_(arguments), options_(options), rules_(graph), budget_(options) {}

  std::vector<Value> run() {
    const FrameHandle root = frames_.make(FrameHandle(), {});
    const std::vector<OutPort> outputs = outputs_of(graph_);
    for (std::size_t i = outputs.size(); i-- > 0;) demand(outputs[i], root.get(), true, graph_.outputs()[i]);
    while (!stack_.empty()) step();
    std::vector<Value> values;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const DemandCell& cell = demand(outputs[i], root.get(), true, graph_.outputs()[i]);
      if (!cell.done) throw no_result_error(graph_, graph_.outputs()[i], false, {});
      values.push_back(cell.result.value);
    }
    return values;
  }

  RunStats finish() {
    stack_.clear();
    frames_.clear();
    return budget_.stats(calls_, frames_.ever_made(), frames_.alive());
  }

 private:
  void step() {
    DemandCell& cell = *stack_.back();
    stack_.pop_back();
    if (budget_.watch().is_time_to_poll()) {
      require(budget_.watch().poll(), cell.frame);
      require(use(), cell.frame);
    }
    try {
      if (cell.whole ? complete(cell) : compute(cell)) answer(cell);
    } catch (const OverBudget&) {
      require(Fault::MaxBytes, cell.frame);
    }
  }

  // --- Demands and answers -------------------------------------------------------------------------------

  DemandCell& demand(OutPort from, DemandFrame* frame, bool whole, NodeId asked_by) {
    const auto [entry, is_new] = frame->cells.try_emplace(DemandFrame::key(from, whole));
    DemandCell& cell = entry->second;
    if (!is_new) return cell;
    frames_.count_cell();
    cell.from = from;
    cell.whole = whole;
    cell.frame = frame;
    cell.asked_by = asked_by;
    stack_.push_back(&cell);
    if (is_shown(cell))
      options_.on_token(
          {.from = from, .tag = tag_elements(frame), .value = {}, .is_demand = true, .asked_by = asked_by});
    return cell;
  }

  /// The value where it is there; else null, and `waiter` goes on when it has come.
  const DemandedValue* ask(OutPort from, DemandFrame* frame, DemandCell& waiter, bool whole = false) {
    DemandCell& cell = demand(from, frame, whole, waiter.whole ? waiter.asked_by : waiter.from.node);
    if (cell.done) return &cell.result;
    cell.waiting.push_back(&waiter);
    ++waiter.missing;
    return nullptr;
  }

  void answer(DemandCell& cell) {
    cell.done = true;
    if (is_shown(cell)) {
      TokenEvent event{.from = cell.from, .tag = tag_elements(cell.frame), .value = cell.result.value};
      if (cell.result.suspended != nullptr) event.suspended = cell.result.suspended->variant;
      options_.on_token(event);
    }
    for (DemandCell* waiter : std::exchange(cell.waiting, {})) {
      if (--waiter->missing == 0) stack_.push_back(waiter);
    }
    if (!cell.whole) close(graph_[cell.from.node], cell.frame);
  }

  /// A constant is there under every tag.
  bool is_shown(const DemandCell& cell) const {
    return options_.on_token && !cell.whole && !is_under_every_tag(graph_[cell.from.node]);
  }

  /// A call or loop that has given all of its results is over.
  void close(const Node& node, DemandFrame* frame) {
    if (node.kind == NodeKind::Return) {
      const auto call = frame->calls.find(node.site.value);
      if (call != frame->calls.end() && --call->second.results_to_come == 0) frame->calls.erase(call);
    } else if (node.kind == NodeKind::Exit) {
      const auto loop = frame->loops.find(node.loop.value);
      if (loop != frame->loops.end() && --loop->second.results_to_come == 0) frame->loops.erase(loop);
    }
  }

  /// A data value with all that it holds; any other value is whole as it is. False: it waits.
  bool complete(DemandCell& cell) {
    const DemandedValue* const value = ask(cell.from, cell.frame, cell);
    if (value == nullptr) return false;
    if (value->suspended == nullptr) {
      cell.result = *value;
      return true;
    }
    const SuspendedData& data = *value->suspended;
    std::vector<Value> fields;
    if (!ask_all(data.made_by, data.frame.get(), cell, true, fields)) return false;
    cell.result.value = Data(data.variant, fields);
    return true;
  }

  /// All inputs of a node, whole or as they are. The first is computed first.
  bool ask_all(NodeId node, DemandFrame* frame, DemandCell& cell, bool whole, std::vector<Value>& values) {
    const graph::OutPorts& inputs = graph_[node].inputs;
    values.resize(inputs.size());
    bool have_come = true;
    for (std::size_t i = inputs.size(); i-- > 0;) {
      const DemandedValue* const value = ask(inputs[i], frame, cell, whole);
      if (value == nullptr) have_come = false;
      if (value != nullptr) values[i] = value->value;
    }
    return have_come;
  }

  // --- What each node does -------------------------------------------------------------------------------

  /// Asks for what the node needs now; once that is there, computes its value. False: it waits.
  bool compute(DemandCell& cell) {
    const Node& node = graph_[cell.from.node];
    DemandFrame* const frame = cell.frame;
    switch (node.kind) {
      case NodeKind::Input:
        cell.result.value = arguments_[node.index];
        return true;
      case NodeKind::Const:
        cell.result.value = constant_of(node, options_);
        return true;
      case NodeKind::Op:
        return apply_op(cell, node);
      case NodeKind::Switch:
        return pass_on(cell, node.inputs[0], frame);
      case NodeKind::Call:
      case NodeKind::Enter:
        return pass_on(cell, node.inputs[0], frame->outer.get());
      case NodeKind::NextIteration:
        return pass_on(cell, node.inputs[0], frame->before.get());
      case NodeKind::Merge:
        return merge(cell);
      case NodeKind::Return:
        return pass_on(cell, node.inputs[0], callee_of(node.site, frame));
      case NodeKind::Exit:
        return leave_loop(cell, node);
      case NodeKind::Output:
      case NodeKind::Accumulate:
      case NodeKind::Send:
      case NodeKind::Recv:
        break;
    }
    HIATON_CHECK(!"a node with a value that can be asked for");
    return false;
  }

  bool pass_on(DemandCell& cell, OutPort from, DemandFrame* frame) {
    const DemandedValue* const value = ask(from, frame, cell);
    if (value != nullptr) cell.result = *value;
    return value != nullptr;
  }

  bool merge(DemandCell& cell) {
    const MergeRules::Rule& rule = rules_[cell.from.node];
    DemandFrame* const frame = cell.frame;
    switch (rule.kind) {
      case MergeRules::Rule::Kind::Parameter:
        return pass_on(cell, {graph_[frame->label.site].calls[rule.parameter]}, frame);
      case MergeRules::Rule::Kind::Variable: {
        const bool is_first = frame->label.iteration == 0;
        return pass_on(cell, {is_first ? rule.variable.enter : rule.variable.next}, frame);
      }
      case MergeRules::Rule::Kind::Choice: {
        const DemandedValue* const predicate = ask(rule.predicate, frame, cell);
        return predicate != nullptr && pass_on(cell, rule.from[predicate->value.as<bool>() ? 0 : 1], frame);
      }
      case MergeRules::Rule::Kind::None:
        break;
    }
    HIATON_CHECK(!"a Merge of a parameter, a loop or a branch");
    return false;
  }

  bool apply_op(DemandCell& cell, const Node& node) {
    switch (node.op->role) {
      case Role::Make:
        if (node.inputs.empty()) break;
        cell.result.suspended = std::make_shared<const SuspendedData>(SuspendedData{
            static_cast<uint32_t>(node.attributes[0]), FrameHandle(cell.frame), cell.from.node});
        return true;
      case Role::Variant:
      case Role::Field:
        return look_into(cell, node);
      case Role::Identity:
        return pass_on(cell, node.inputs[0], cell.frame);
      case Role::PassAfter:
      case Role::Print:
        return pass_after(cell, node);
      default:
        break;
    }
    std::vector<Value> operands;
    if (!ask_all(cell.from.node, cell.frame, cell, true, operands)) return false;
    apply_to(cell, node, operands);
    return true;
  }

  void apply_to(DemandCell& cell, const Node& node, std::span<const Value> operands) {
    const Fault fault = apply(node, operands, options_.overflow, cell.result.value);
    if (fault == Fault::None) return;
    DemandChain chain(graph_, cell.frame);
    throw operation_error({graph_, arguments_, chain}, cell.from.node, operands, fault);
  }

  /// variant, and field, which demands the field alone.
  bool look_into(DemandCell& cell, const Node& node) {
    const DemandedValue* const data = ask(node.inputs[0], cell.frame, cell);
    if (data == nullptr) return false;
    if (data->suspended == nullptr) {
      apply_to(cell, node, std::span(&data->value, 1));
      return true;
    }
    const SuspendedData& suspended = *data->suspended;
    if (node.op->role == Role::Field && node.attributes[0] == suspended.variant) {
      const OutPort field = graph_[suspended.made_by].inputs[static_cast<std::size_t>(node.attributes[1])];
      return pass_on(cell, field, suspended.frame.get());
    }
    const Value without_fields = Data(suspended.variant, {});
    apply_to(cell, node, std::span(&without_fields, 1));
    return true;
  }

  /// The first operand, once the others have come.
  bool pass_after(DemandCell& cell, const Node& node) {
    const DemandedValue* last = nullptr;
    bool have_come = true;
    for (std::size_t i = node.inputs.size(); i-- > 0;) {
      const DemandedValue* const value = ask(node.inputs[i], cell.frame, cell, i > 0);
      have_come = have_come && value != nullptr;
      if (i == 1) last = value;
      if (i > 0 || !have_come) continue;
      if (node.op->role == Role::Print) print_line(options_, code_points_of(last->value.slot().data));
      cell.result = *value;
    }
    return have_come;
  }

  // --- Tags ----------------------------------------------------------------------------------------------

  DemandFrame* callee_of(CallSite site, DemandFrame* frame) {
    const auto [entry, is_new] = frame->calls.try_emplace(site.value);
    if (is_new) {
      entry->second = {make_frame(frame, {.site = site}), graph_[site].returns.size()};
      ++calls_;
    }
    return entry->second.inside.get();
  }

  DemandFrame::Loop& loop_of(LoopId loop, DemandFrame* frame) {
    const auto [entry, is_new] = frame->loops.try_emplace(loop.value);
    if (is_new) {
      entry->second.results_to_come = graph_[loop].exits.size();
      entry->second.last = make_frame(frame, {.loop = loop, .iteration = 0});
    }
    return entry->second;
  }

  bool leave_loop(DemandCell& cell, const Node& node) {
    DemandFrame::Loop& loop = loop_of(node.loop, cell.frame);
    while (!loop.has_ended) {
      DemandFrame* const last = loop.last.get();
      const DemandedValue* const predicate = ask(rules_.predicate(node.loop), last, cell);
      if (predicate == nullptr) return false;
      if (predicate->value.as<bool>()) {
        const uint64_t next = last->label.iteration + 1;
        FrameHandle iteration = make_frame(cell.frame, {.loop = node.loop, .iteration = next});
        iteration->before = std::exchange(loop.last, iteration);
      } else {
        loop.has_ended = true;
      }
    }
    return pass_on(cell, node.inputs[0], loop.last.get());
  }

  FrameHandle make_frame(DemandFrame* outer, const TagLabel& label) {
    FrameHandle frame = frames_.make(FrameHandle(outer), label);
    require(use(), frame.get());
    return frame;
  }

  // --- Budgets -------------------------------------------------------------------------------------------

  Fault use() {
    return budget_.use(share_, frames_.alive(), frames_.bytes() + stack_.size() * sizeof(DemandCell*));
  }

  void require(Fault fault, DemandFrame* frame) {
    if (fault == Fault::None) return;
    DemandChain chain(graph_, frame);
    std::optional<LoopId> loop;
    if (frame->label.loop.valid()) loop = frame->label.loop;
    throw budget_error({graph_, arguments_, chain}, options_, fault, loop);
  }

  const Graph& graph_;
  std::span<const Value> arguments_;
  const RunOptions& options_;
  const MergeRules rules_;
  ReferenceBudget budget_;
  ReferenceBudget::Share share_;
  DemandFrames frames_;
  std::vector<DemandCell*> stack_;  ///< what was asked for, or can go on
  uint64_t calls_ = 0;
};

}  // namespace

RunResult run_demand(const Graph& graph, std::span<const Value> arguments, const RunOptions& options) {
  DemandRun run(graph, arguments, options);
  return run_counted(run, options, [] {});
}

}  // namespace hiaton::exec
