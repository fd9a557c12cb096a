#include <fmt/format.h>

#include <cstdlib>
#include <iterator>

#include "exec/direct/compile/schedule.h"
#include "exec/graph_names.h"
#include "hiaton/op.h"

namespace hiaton::exec::direct {

namespace {

class ScheduleText {
 public:
  ScheduleText(const Schedule& schedule, const Graph& graph, const Structure& structure)
      : schedule_(schedule), graph_(graph), structure_(structure) {}

  std::string run() {
    for (const ScheduledBody& body : schedule_.bodies) {
      const bool is_alike = body.forking && !schedule_.has_groups[body.function.index()];
      if (is_alike) continue;
      line(0, "{} ({}{})", graph_[body.function].name, body.forking ? "forking" : "sequential",
           body.to_hole ? ", to a hole" : "");
      show(body.statements, 1);
      for (std::size_t task = body.first_task; task < body.end_task; ++task) show_task(task);
    }
    return std::move(text_);
  }

 private:
  template <class... Args>
  void line(int depth, fmt::format_string<Args...> format, Args&&... args) {
    text_.append(2 * static_cast<std::size_t>(depth), ' ');
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '\n';
  }

  static std::string value(NodeId id) { return fmt::format("%{}", id.index()); }
  std::string value(OutPort port) const { return value(structure_.origin(port)); }
  /// Names of values, of outputs or of nodes.
  template <class Values>
  std::string values(const Values& all) const {
    std::string names;
    for (const auto& one : all) names += (names.empty() ? "" : ", ") + value(one);
    return names;
  }
  std::string call(const ScheduledCall& scheduled) const {
    std::string arguments;
    for (const PassedValue& passed : scheduled.arguments) {
      if (!arguments.empty()) arguments += ", ";
      arguments += value(passed.port);
      if (passed.plus != 0)
        arguments += fmt::format(" {} {}", passed.plus < 0 ? '-' : '+', std::abs(passed.plus));
    }
    const std::string callee =
        scheduled.task ? fmt::format("task {}", *scheduled.task) : graph_[graph_[scheduled.site].callee].name;
    return fmt::format("{}({})", callee, arguments);
  }
  std::string call_with_results(const ScheduledCall& scheduled) const {
    const std::string results = values(scheduled.task ? schedule_.tasks[*scheduled.task].task.results
                                                      : graph_[scheduled.site].returns);
    return results.empty() ? call(scheduled) : results + " = " + call(scheduled);
  }
  std::string handed(const Handover& handover) const {
    std::string text;
    if (!handover.retained.empty()) text += ", retains " + values(handover.retained);
    if (!handover.moved.empty()) text += ", moves " + values(handover.moved);
    return text;
  }
  void show(const Handover& handover, int depth) {
    if (!handover.retained.empty()) line(depth, "retain {}", values(handover.retained));
    if (!handover.moved.empty()) line(depth, "move {}", values(handover.moved));
  }
  void show(const std::vector<Drop>& drops, int depth) {
    for (const Drop& drop : drops) show(drop, depth);
  }
  void show(const Leave& leave, int depth) {
    show(leave.handover, depth);
    show(leave.drops, depth);
  }
  void show(const Statements& statements, int depth) {
    for (const Statement& statement : statements) {
      std::visit([&](const auto& what) { show(what, depth); }, statement.what);
    }
  }

  void show(const Drop& drop, int depth) {
    if (drop.kind == Drop::Kind::Release) line(depth, "release {}", value(drop.value));
    if (drop.kind == Drop::Kind::TakeApart)
      line(depth, "take apart {}, keep {}", value(drop.value), values(drop.fields));
  }
  void show(const statements::Count&, int) {}
  void show(const statements::GroupBegins&, int) {}
  void show(const statements::Compute& compute, int depth) {
    using Where = statements::Compute::Where;
    const Node& node = graph_[compute.node];
    const std::string_view where = compute.where == Where::InReturn   ? ", in the return"
                                   : compute.where == Where::InBranch ? ", in the branch"
                                   : compute.where == Where::InCall   ? ", in the call"
                                                                      : "";
    std::vector<OutPort> taken;
    for (std::size_t i = 0; i < compute.takes.size(); ++i) {
      if (compute.takes[i]) taken.push_back(node.inputs[i]);
    }
    line(depth, "{} = {}({}){}{}{}", value(compute.node), node.op->name.value, values(node.inputs), where,
         handed(compute.handover), taken.empty() ? "" : ", takes " + values(taken));
  }
  void show(const statements::ReadFields& reads, int depth) {
    line(depth, "{} of {}{}{}{}", reads.fields.empty() ? "no fields" : values(reads.fields),
         value(reads.value), reads.requires_variant ? ", if of its variant" : "",
         reads.takes_apart ? ", taken apart" : "",
         reads.earlier.empty() ? "" : ", keeps " + values(reads.earlier));
  }
  void show(const statements::Calls& together, int depth) {
    if (together.calls.size() == 1)
      return line(depth, "{}{}", call_with_results(together.calls[0]), handed(together.handover));
    line(depth, "{}{}", together.is_group ? "together" : "one after the other", handed(together.handover));
    for (const ScheduledCall& one : together.calls) line(depth + 1, "{}", call_with_results(one));
  }
  void show(const statements::Fork& fork, int depth) {
    for (const statements::Fork::Worth& worth : fork.worth) {
      line(depth, "alone unless {}{}", worth.side == 0 ? "" : "not ", value(worth.condition.predicate));
    }
    line(depth, "together, as tasks{}", handed(fork.handover));
    for (const ScheduledCall& one : fork.calls) line(depth + 1, "{}", call_with_results(one));
    show(fork.drops, depth + 1);
    for (const statements::Fork::Given& given : fork.given) {
      if (given.to == statements::Fork::Given::To::Release) line(depth + 1, "release {}", value(given.value));
    }
    line(depth, "alone");
    show(fork.alone, depth + 1);
  }

  /// The head of a side.
  void show_side(const Condition& condition, int side, std::string_view part, int depth) {
    line(depth, "{} {}{}", side == 0 ? "if" : "if not", value(condition.predicate), part);
  }
  std::string_view match(std::size_t tests, int side) const {
    return side == 1 && tests > 1 ? ", the same match goes on" : "";
  }
  void show(const std::vector<Join>& joins, int side, int depth) {
    for (const Join& join : joins) line(depth, "{} = {}", value(join.merge), value(join.from[side]));
  }
  void show(const statements::If& branch, int depth) {
    for (int side = 0; side < 2; ++side) {
      show_side(branch.condition, side, match(branch.tests, side), depth);
      show(branch.sides[side].statements, depth + 1);
      show(structure_.conditionals[branch.conditional].joins, side, depth + 1);
      show(branch.sides[side].leave, depth + 1);
    }
  }
  void show(const statements::SplitIf& split, int depth) {
    for (int side = 0; side < 2; ++side) {
      show_side(split.condition, side, ", in part", depth);
      show(split.sides[side], depth + 1);
      show(split.joins, side, depth + 1);
      show(split.drops[side], depth + 1);
    }
  }
  void show(const statements::TailIf& branch, int depth) {
    for (int side = 0; side < 2; ++side) {
      show_side(branch.condition, side, match(branch.tests, side), depth);
      show(branch.sides[side], depth + 1);
    }
  }

  void show(const statements::Loop& scheduled, int depth) {
    const LoopShape& loop = structure_.loops[scheduled.loop.index()];
    show(scheduled.initial, depth);
    for (const LoopShape::Variable& variable : loop.variables) {
      line(depth, "{} begins with {}", value(variable.merge), value(graph_[variable.enter].inputs[0]));
    }
    show(scheduled.before, depth);
    if (scheduled.window != nullptr) show_window(scheduled, depth);
    line(depth, "while");
    show(scheduled.condition, depth + 1);
    line(depth, "do, where {}", value(loop.predicate));
    show(scheduled.body, depth + 1);
    show(scheduled.next, depth + 1);
    for (const LoopShape::Variable& variable : loop.variables) {
      line(depth + 1, "{} becomes {}", value(variable.merge), value(graph_[variable.next].inputs[0]));
    }
    show(scheduled.at_end, depth);
    show(scheduled.after, depth);
  }
  void show_window(const statements::Loop& scheduled, int depth) {
    const statements::WindowOfLoop& window = *scheduled.window;
    line(depth, "window of {} iterations", schedule_.windows[scheduled.loop.index()]->places);
    line(depth + 1, "ahead");
    show(window.condition, depth + 2);
    line(depth + 2, "go on where {}", value(window.predicate.predicate));
    show(window.ahead, depth + 2);
    show(window.to_calls, depth + 2);
    show(window.to_next, depth + 2);
    line(depth + 1, "together, of each");
    for (const ScheduledCall& one : window.calls) line(depth + 2, "{}", call_with_results(one));
    line(depth + 1, "then, in order");
    show(window.returned, depth + 2);
    show(window.rest, depth + 2);
    show(window.leave, depth + 2);
  }

  void show(const statements::Return& ends, int depth) {
    show(ends.leave, depth);
    const std::string results = values(ends.results);
    line(depth, "return {}{}", ends.operation.valid() ? "the operation " : "",
         results.empty() ? "nothing" : results);
  }
  void show(const statements::TailCall& tail, int depth) {
    show(tail.leave, depth);
    line(depth, "tail call {}{}", call(tail.call), tail.call.to_hole ? ", to the hole" : "");
  }
  void show(const statements::TailConstructor& tail, int depth) {
    show(tail.leave, depth);
    line(depth, "tail call {} into", call(tail.call));
    for (const HoleIn& hole : tail.makes) line(depth + 1, "field {} of {}", hole.field, value(hole.make));
  }

  void show_task(std::size_t number) {
    const ScheduledTask& scheduled = schedule_.tasks[number];
    const std::string captures = values(scheduled.task.captures);
    line(0, "task {} of {}, which reads {}", number, graph_[scheduled.function].name,
         captures.empty() ? "nothing" : captures);
    show(scheduled.statements, 1);
    show(scheduled.leave, 1);
    const std::string results = values(scheduled.task.results);
    line(1, "return {}", results.empty() ? "nothing" : results);
  }

  const Schedule& schedule_;
  const Graph& graph_;
  const Structure& structure_;
  std::string text_;
};

}  // namespace

std::string to_text(const Schedule& schedule, const Graph& graph, const Structure& structure) {
  return ScheduleText(schedule, graph, structure).run();
}

}  // namespace hiaton::exec::direct
