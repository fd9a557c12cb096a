// Follows the statements of each body on every way, as a run would, with what is computed and who holds which
// counted value in place of values. It knows the rules of statements.h and nothing of how schedules are made.
//
// Where ways meet, the same values must be the frame's own on all of them. Where a way leaves the body, none
// may be. So every reference is moved on, taken over or released exactly once on each way.
#include <algorithm>
#include <functional>
#include <set>
#include <unordered_set>

#include "exec/direct/compile/schedule_way.h"
#include "exec/graph_names.h"

namespace hiaton::exec::direct {

namespace {

/// The forms that a schedule has: of a function, and whether it is the hole form.
using Forms = std::set<std::pair<FunctionId, bool>>;

class BodyVerifier {
 public:
  /// `begun`: by key, the groups where the sequential form says where it stands.
  BodyVerifier(const VerifiedBody& verified, const Forms& forms, std::set<uint64_t>& begun)
      : verified_(verified),
        schedule_(verified.schedule),
        graph_(verified.graph),
        structure_(verified.structure),
        body_(verified.body),
        forms_(forms),
        begun_(begun),
        called_(verified.schedule.tasks.size(), 0),
        way_(verified) {}

  void run() {
    const auto& params = graph_[body_.function].params;
    for (std::size_t i = 0; i < params.size(); ++i) {
      way_.define(params[i].node, !verified_.ownership.is_borrowed(body_.function, i));
    }
    block_ = structure_.bodies[body_.function.index()];
    follow_to_end(body_.statements);
    for (std::size_t task = body_.first_task; task < body_.end_task; ++task) follow_task(task);
    for (std::size_t task = body_.first_task; task < body_.end_task; ++task) {
      expect(called_[task] == 1, "task {} is called {} times", task, called_[task]);
    }
  }

 private:
  template <class... Args>
  void expect(bool holds, fmt::format_string<Args...> found, Args&&... args) const {
    verified_.expect(holds, found, std::forward<Args>(args)...);
  }
  NodeId origin(OutPort port) const { return structure_.origin(port); }

  // --- Lists of statements -------------------------------------------------------------------------------

  static bool is_end(const Statement& statement) {
    using namespace statements;
    return std::holds_alternative<Return>(statement.what) ||
           std::holds_alternative<TailCall>(statement.what) ||
           std::holds_alternative<TailConstructor>(statement.what) ||
           std::holds_alternative<TailIf>(statement.what);
  }
  void follow(const Statement& statement) {
    std::visit([&](const auto& what) { follow(what); }, statement.what);
  }
  void follow(const Statements& statements) {
    for (const Statement& statement : statements) {
      expect(!is_end(statement), "ends the body where something follows");
      follow(statement);
    }
  }
  void follow_to_end(const Statements& statements) {
    expect(statements.begin() != statements.end() && is_end(statements.back()),
           "a way through the body has no end");
    for (const Statement& statement : statements) {
      expect(is_end(statement) == (&statement + 1 == statements.end()),
             "ends the body where something follows");
      follow(statement);
    }
  }

  void follow(const Drop& dropped) { way_.drop(dropped, block_); }
  void follow(const statements::Count&) {}
  void follow(const statements::GroupBegins& begins) { begin_group(begins.group); }
  void begin_group(uint64_t group) {
    if (!body_.forking) begun_.insert(group);
  }
  /// Where there is no room for a fork, the sequential form goes on; tasks have none.
  void require_begun(uint64_t group) const {
    expect(in_task_ || begun_.contains(group), "the sequential form does not say where a group stands");
  }

  void follow(const statements::Compute& compute) {
    if (compute.where != statements::Compute::Where::Here) return;  // what reads it computes it
    const Node& node = graph_[compute.node];
    for (OutPort input : node.inputs) way_.use(input);
    std::vector<OutPort> handed;
    if (has_role(node, Role::Make)) {
      handed.assign(node.inputs.begin(), node.inputs.end());
    } else if (verified_.is_counted(compute.node) && compute.takes.empty() && !node.inputs.empty()) {
      handed = {node.inputs[0]};
    }
    way_.hand_over(handed, compute.handover);
    for (std::size_t i = 0; i < compute.takes.size(); ++i) {
      if (compute.takes[i]) way_.let_go(origin(node.inputs[i]), "takes");
    }
    way_.define(compute.node);
  }

  void follow(const statements::ReadFields& reads) {
    way_.use(reads.value);
    const BlockId block = structure_.block_of[reads.node.index()];
    expect(reads.requires_variant || verified_.ownership.is_known_variant(block, reads.value, reads.variant),
           "reads fields of %{} as of a variant that it need not be of", reads.value.index());
    for (NodeId field : reads.earlier) way_.take_over(field, reads.value);
    if (reads.takes_apart) way_.let_go(reads.value, "takes apart");
    const bool stays = !reads.takes_apart && !verified_.is_constant(reads.value);
    for (NodeId field : reads.fields) {
      expect(has_role(graph_[field], Role::Field) && origin(graph_[field].inputs[0]) == reads.value,
             "reads %{}, which is no field of %{}", field.index(), reads.value.index());
      way_.define(field, reads.takes_apart, stays ? reads.value : NodeId());
    }
  }

  // --- Calls ---------------------------------------------------------------------------------------------

  const std::vector<NodeId>& results_of(const ScheduledCall& call) const {
    return call.task ? schedule_.tasks[*call.task].task.results : graph_[call.site].returns;
  }

  /// Adds what the callee takes over to `handed`.
  void begin_call(const ScheduledCall& call, std::vector<OutPort>& handed) {
    for (const PassedValue& passed : call.arguments) way_.use(passed.port);
    expect(call.is_taken_over.size() == call.arguments.size(), "a call has {} arguments and takes over {}",
           call.arguments.size(), call.is_taken_over.size());
    if (call.task) {
      begin_task_call(call);
    } else {
      begin_site_call(call);
    }
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
      if (call.is_taken_over[i]) handed.push_back(call.arguments[i].port);
    }
  }

  void begin_task_call(const ScheduledCall& call) {
    const std::size_t task = *call.task;
    expect(body_.first_task <= task && task < body_.end_task, "calls task {}, which is not of this body",
           task);
    ++called_[task];
    const std::vector<NodeId>& captures = schedule_.tasks[task].task.captures;
    const bool fits = std::ranges::equal(call.arguments, captures, {},
                                         [&](const PassedValue& passed) { return origin(passed.port); });
    expect(fits, "the arguments of task {} are not what it captures", task);
    expect(std::ranges::none_of(call.is_taken_over, std::identity()), "task {} takes over what it borrows",
           task);
  }

  void begin_site_call(const ScheduledCall& call) const {
    expect(call.site.valid() && call.site.index() < graph_.sites().size() &&
               graph_[call.site].caller == body_.function,
           "a call names no call site of the function");
    const graph::Site& site = graph_[call.site];
    const std::string& callee = graph_[site.callee].name;
    expect(forms_.contains({site.callee, call.to_hole}), "calls a form of {} that there is not", callee);
    expect(call.arguments.size() == site.calls.size(), "a call of {} has {} arguments in place of {}", callee,
           call.arguments.size(), site.calls.size());
    for (std::size_t i = 0; i < site.calls.size(); ++i) {
      const NodeId value = origin(graph_[site.calls[i]].inputs[0]);
      const PassedValue& passed = call.arguments[i];
      const NodeId read = passed.sum.valid() ? origin(graph_[value].inputs[0]) : value;
      expect((!passed.sum.valid() || passed.sum == value) && origin(passed.port) == read,
             "argument {} of a call of {} is not %{}", i, callee, value.index());
      const bool hands_over = verified_.is_counted(value) && !verified_.ownership.is_borrowed(site.callee, i);
      expect(call.is_taken_over[i] == hands_over, "a call and {} do not agree on who holds argument {}",
             callee, i);
    }
  }

  /// What the calls borrow must be there while they run.
  void begin_calls(const std::vector<ScheduledCall>& calls, const Handover& handover) {
    std::vector<OutPort> handed;
    for (const ScheduledCall& call : calls) begin_call(call, handed);
    way_.hand_over(handed, handover);
    for (const ScheduledCall& call : calls) {
      for (std::size_t i = 0; i < call.arguments.size(); ++i) {
        if (!call.is_taken_over[i]) way_.use(call.arguments[i].port);
      }
    }
  }
  void define_results(const std::vector<ScheduledCall>& calls) {
    for (const ScheduledCall& call : calls) {
      for (NodeId result : results_of(call)) way_.define(result);
    }
  }

  void follow(const statements::Calls& together) {
    begin_calls(together.calls, together.handover);
    expect(body_.forking || !(together.is_group || together.forking), "a sequential form calls forking ones");
    if (together.is_group) {
      expect(together.calls.size() > 1, "a group has a single call");
      expect(!in_window_ || in_task_, "a group stands in a window");
      require_begun(together.group);
    } else if (together.calls.size() > 1) {
      begin_group(together.group);
    }
    define_results(together.calls);
  }

  void follow(const statements::Fork& fork) {
    using To = statements::Fork::Given::To;
    expect(body_.forking, "a sequential form forks");
    expect(!in_window_, "a fork stands in a window");
    for (const statements::Fork::Worth& worth : fork.worth) way_.look_at(worth.condition);
    if (!fork.worth.empty()) require_begun(fork.group);
    const Way before = way_;
    begin_calls(fork.calls, fork.handover);
    way_.drop(fork.drops, block_);
    std::vector<NodeId> results;
    for (const ScheduledCall& call : fork.calls) {
      results.insert(results.end(), results_of(call).begin(), results_of(call).end());
    }
    expect(std::ranges::equal(results, fork.given, {}, {}, &statements::Fork::Given::value),
           "a fork does not say where each result of its calls goes");
    for (const statements::Fork::Given& given : fork.given) {
      way_.define(given.value);
      if (given.to == To::Release) way_.let_go(given.value, "releases");
    }
    const Way forked = std::exchange(way_, before);
    follow(fork.alone);
    way_.meet(forked, "behind a fork");
  }

  // --- Conditionals --------------------------------------------------------------------------------------

  const Conditional& conditional_of(uint32_t number) const {
    expect(number < structure_.conditionals.size(), "a branch names no conditional");
    return structure_.conditionals[number];
  }
  template <class Follow>
  void in_block(BlockId block, Follow follow_it) {
    const BlockId around = std::exchange(block_, block);
    follow_it();
    block_ = around;
  }

  void follow(const statements::If& branch) {
    const Conditional& conditional = conditional_of(branch.conditional);
    way_.look_at(branch.condition);
    expect(branch.has_other || conditional.joins.empty(), "a side of a branch gives no values");
    const Way before = way_;
    const auto follow_side = [&](int side) {
      in_block(conditional.sides[side], [&] {
        follow(branch.sides[side].statements);
        std::vector<OutPort> given;
        for (const Join& join : conditional.joins) given.push_back(join.from[side]);
        way_.leave(given, branch.sides[side].leave, block_);
      });
    };
    follow_side(branch.first);
    const Way first = std::exchange(way_, before);
    if (branch.has_other) follow_side(1 - branch.first);
    way_.meet(first, "behind a branch");
    way_.leave_scope(before);
    for (const Join& join : conditional.joins) {
      if (split_joins_.contains(join.merge)) way_.forget(join.merge);
      way_.define(join.merge);
    }
  }

  void follow(const statements::SplitIf& split) {
    const Conditional& conditional = conditional_of(split.conditional);
    way_.look_at(split.condition);
    const Way before = way_;
    const auto follow_side = [&](int side) {
      in_block(conditional.sides[side], [&] {
        follow(split.sides[side]);
        for (const Join& join : split.joins) way_.use(join.from[side]);
        way_.drop(split.drops[side], block_);
      });
    };
    follow_side(0);
    const Way first = std::exchange(way_, before);
    follow_side(1);
    const Way second = way_;
    way_.meet(first, "behind a split branch");
    way_.leave_scope(before);
    if (split.joins.empty()) {  // results of a task: one on a side that was not taken is anything
      way_.add_computed(first);
      way_.add_computed(second);
    }
    for (const Join& join : split.joins) {
      way_.define(join.merge);
      split_joins_.insert(join.merge);
    }
  }

  void follow(const statements::TailIf& branch) {
    const Conditional& conditional = conditional_of(branch.conditional);
    way_.look_at(branch.condition);
    const Way before = way_;
    for (int side = 0; side < 2; ++side) {
      way_ = before;
      expect(!branch.only_returns[side] || way_.owns_nothing(),
             "a side that only returns would have to let go of a value");
      in_block(conditional.sides[side], [&] { follow_to_end(branch.sides[side]); });
    }
  }

  // --- Loops ---------------------------------------------------------------------------------------------

  void follow(const statements::Loop& scheduled) {
    expect(scheduled.loop.valid() && scheduled.loop.index() < structure_.loops.size(), "names no loop");
    const LoopShape& loop = structure_.loops[scheduled.loop.index()];
    std::vector<OutPort> initial;
    for (const LoopShape::Variable& variable : loop.variables) {
      initial.push_back(graph_[variable.enter].inputs[0]);
    }
    way_.hand_over(initial, scheduled.initial);
    for (const LoopShape::Variable& variable : loop.variables) way_.define(variable.merge);
    way_.drop(scheduled.before, block_);
    if (scheduled.window != nullptr) follow_window(scheduled, loop);
    const Way iteration = way_;  // each one begins so, and so does what follows the loop
    if (scheduled.condition_first) {
      follow(scheduled.condition);
      way_.look_at(scheduled.predicate);
      const Way at_end = way_;
      follow_body(scheduled, loop, iteration);
      way_ = at_end;
    } else {
      follow_body(scheduled, loop, iteration);
      way_ = iteration;
      follow(scheduled.condition);
      way_.look_at(scheduled.predicate);
    }
    way_.drop(scheduled.at_end, block_);
    way_.meet(iteration, "behind the condition of a loop");
    way_.drop(scheduled.after, block_);
  }

  void follow_body(const statements::Loop& scheduled, const LoopShape& loop, const Way& iteration) {
    in_block(loop.body, [&] {
      follow(scheduled.body);
      std::vector<OutPort> next;
      for (const LoopShape::Variable& variable : loop.variables) {
        next.push_back(graph_[variable.next].inputs[0]);
      }
      way_.leave(next, scheduled.next, block_);
    });
    for (const LoopShape::Variable& variable : loop.variables) way_.give_next_value(variable.merge);
    way_.meet(iteration, "behind an iteration");
  }

  /// An iteration of the window. Each has values of its own: what its rest needs stays while the next one
  /// begins.
  void follow_window(const statements::Loop& scheduled, const LoopShape& loop) {
    const statements::WindowOfLoop& window = *scheduled.window;
    const std::optional<ScheduledWindow>& found = schedule_.windows[scheduled.loop.index()];
    expect(body_.forking && !in_window_, "a window stands in a window, or in a sequential form");
    expect(found.has_value(), "a loop has a window that was not found");
    const std::vector<bool>& waits = found->window.variable_waits;
    const Way before = way_;
    in_window_ = true;
    follow(window.condition);
    way_.look_at(window.predicate);
    way_.meet(before, "behind the condition of a window");
    std::vector<OutPort> ahead;
    std::vector<OutPort> waiting;
    for (std::size_t v = 0; v < loop.variables.size(); ++v) {
      (waits[v] ? waiting : ahead).push_back(graph_[loop.variables[v].next].inputs[0]);
      if (waits[v]) way_.forget(loop.variables[v].merge);
    }
    in_block(loop.body, [&] {
      follow(window.ahead);
      begin_calls(window.calls, window.to_calls);
      way_.hand_over(ahead, window.to_next);
      define_results(window.calls);
      for (std::size_t v = 0; v < loop.variables.size(); ++v) {
        if (waits[v]) way_.define(loop.variables[v].merge);
      }
      way_.drop(window.returned, block_);
      follow(window.rest);
      way_.leave(waiting, window.leave, block_);
    });
    for (const LoopShape::Variable& variable : loop.variables) way_.give_next_value(variable.merge);
    way_.meet(before, "behind an iteration of a window");
    in_window_ = false;
    way_ = before;
    split_joins_.clear();
  }

  // --- Ends ----------------------------------------------------------------------------------------------

  void follow(const statements::Return& ends) {
    if (ends.operation.valid()) {
      expect(!verified_.is_counted(ends.operation), "returns a counted value as an operation");
      for (OutPort input : graph_[ends.operation].inputs) way_.use(input);
    } else {
      way_.leave(ends.results, ends.leave, block_);
    }
    way_.expect_nothing_owned();
  }

  /// What a tail call borrows must be there for longer than the frame.
  void end_with_call(const ScheduledCall& call) const {
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
      const NodeId value = origin(call.arguments[i].port);
      expect(
          call.is_taken_over[i] || !verified_.is_counted(value) || verified_.ownership.outlives_frame(value),
          "a tail call borrows %{}, which goes with the frame", value.index());
    }
    way_.expect_nothing_owned();
  }

  void follow(const statements::TailCall& tail) {
    std::vector<OutPort> handed;
    begin_call(tail.call, handed);
    way_.leave(handed, tail.leave, block_);
    end_with_call(tail.call);
  }

  void follow(const statements::TailConstructor& tail) {
    std::vector<OutPort> handed;
    begin_call(tail.call, handed);
    expect(!tail.makes.empty() && !tail.call.task && results_of(tail.call).size() == 1,
           "a tail call to a hole has no hole");
    NodeId inner = results_of(tail.call)[0];
    for (const HoleIn& hole : tail.makes) {
      const graph::OutPorts& inputs = graph_[hole.make].inputs;
      expect(hole.field < inputs.size() && origin(inputs[hole.field]) == inner,
             "field {} of %{} is no hole for %{}", hole.field, hole.make.index(), inner.index());
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (i != hole.field) handed.push_back(inputs[i]);
      }
      inner = hole.make;
    }
    way_.leave(handed, tail.leave, block_);
    end_with_call(tail.call);
  }

  /// A task borrows what it captures: the frame that forked it waits.
  void follow_task(std::size_t number) {
    const ScheduledTask& scheduled = schedule_.tasks[number];
    way_ = Way(verified_);
    block_ = {};
    in_task_ = true;
    split_joins_.clear();
    for (NodeId value : scheduled.task.captures) way_.define(value, false);
    follow(scheduled.statements);
    std::vector<OutPort> results;
    for (NodeId result : scheduled.task.results) results.push_back({result, 0});
    way_.leave(results, scheduled.leave, block_);
    way_.expect_nothing_owned();
  }

  const VerifiedBody& verified_;
  const Schedule& schedule_;
  const Graph& graph_;
  const Structure& structure_;
  const ScheduledBody& body_;
  const Forms& forms_;
  std::set<uint64_t>& begun_;
  std::vector<uint32_t> called_;  ///< by task: how many calls of it there are
  Way way_;
  BlockId block_{};  ///< the block whose sides are known; invalid where none is
  bool in_window_ = false;
  bool in_task_ = false;
  std::unordered_set<NodeId> split_joins_;  ///< values of parts that ran ahead: the rest gives them once more
};

}  // namespace

void verify(const Schedule& schedule, const Graph& graph, const Structure& structure,
            const Ownership& ownership) {
  Forms forms;
  for (const ScheduledBody& body : schedule.bodies) {
    if (!body.forking) forms.insert({body.function, body.to_hole});
  }
  std::set<uint64_t> begun;
  for (const ScheduledBody& body : schedule.bodies) {
    if (!body.forking) begun.clear();
    const VerifiedBody verified{schedule, graph, structure, ownership, body};
    BodyVerifier(verified, forms, begun).run();
  }
}

}  // namespace hiaton::exec::direct
