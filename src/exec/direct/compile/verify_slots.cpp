// Follows the statements of each body on every way, with what stands in which slot in place of values: what
// is read from a slot must stand there. It knows what instructions read and write, and nothing of how slots
// are assigned.
#include <map>
#include <utility>

#include "exec/direct/compile/moves.h"
#include "exec/direct/compile/slot_way.h"
#include "exec/graph_names.h"

namespace hiaton::exec::direct {

namespace {

/// By group: what stood where in the sequential form, where the forking one may go on in it.
using GroupContents = std::map<uint64_t, SlotContents>;

class SlotVerifier : private SlotWay {
 public:
  SlotVerifier(const Schedule& schedule, const Graph& graph, const Structure& structure,
               const ScheduledBody& body, GroupContents& begun)
      : SlotWay(schedule, graph, structure, body), begun_(begun) {}

  void run() {
    const auto& params = graph_[body_.function].params;
    begin(body_.slots);
    for (std::size_t i = 0; i < params.size(); ++i) put(params[i].node, body_.slots.entered.at(i));
    follow(body_.statements);
    for (std::size_t task = body_.first_task; task < body_.end_task; ++task) follow_task(task);
  }

 private:
  // --- Statements ----------------------------------------------------------------------------------------

  void follow(const Statements& statements) {
    const SlotReader around = reader_;
    for (const Statement& statement : statements) {
      expect(place_ < statement.slots.size(), "a statement has no slots");
      reader_ = {&statement.slots[place_]};
      std::visit([&](const auto& what) { follow(what); }, statement.what);
      expect(reader_.is_done(), "a statement does not need all of its slots");
    }
    reader_ = around;
  }
  void follow(const statements::Count&) {}
  void follow(const statements::GroupBegins& begins) { begin_group(begins.group); }

  void follow(const Drop& drop) {
    if (drop.kind == Drop::Kind::Release) read(drop.value);
    if (drop.kind != Drop::Kind::TakeApart) return;
    read(drop.value);
    take(drop.value, static_cast<uint32_t>(graph_[drop.fields[0]].attributes[0]), drop.fields, {});
  }
  void follow(const std::vector<Drop>& drops) {
    for (const Drop& drop : drops) follow(drop);
  }
  void follow(const Leave& leave) {
    read_all(leave.handover.retained);
    follow(leave.drops);
  }

  /// The fields go to their slots, all others to temporaries, by one instruction.
  void take(NodeId value, uint32_t variant, const std::vector<NodeId>& first,
            const std::vector<NodeId>& more) {
    const Type& type = graph_[value].type;
    const std::size_t count = type.data->variants[variant].fields.size();
    std::vector<bool> is_read(count, false);
    for (const std::vector<NodeId>* fields : {&first, &more}) {
      for (NodeId field : *fields) {
        const auto number = static_cast<std::size_t>(graph_[field].attributes[1]);
        if (number >= count) continue;
        is_read[number] = true;
        put(field, slot_of_.at(field));
      }
    }
    bool has_unread = false;
    for (std::size_t i = 0; i < count; ++i) {
      const bool is_released = may_refer(field_type(type, variant, i));
      if (is_read[i] || (!is_released && has_unread)) continue;
      overwrite();
      has_unread = has_unread || !is_released;
    }
    for (const std::vector<NodeId>* fields : {&first, &more}) {
      for (NodeId field : *fields) {
        if (static_cast<std::size_t>(graph_[field].attributes[1]) < count) read(field);
      }
    }
  }

  void follow(const statements::Compute& compute) {
    if (compute.where != statements::Compute::Where::Here) return;
    while (reader_.temporaries < reader_.slots->temporaries.size()) overwrite();
    read_all(compute.handover.retained);
    read_all(graph_[compute.node].inputs);
    define(compute.node);
  }

  /// Fields of a value that stays whole are read one after the other.
  void follow(const statements::ReadFields& reads) {
    put_constant({reads.value, 0});
    read(reads.value);
    for (NodeId field : reads.fields) {
      if (!reads.takes_apart) read(reads.value);
      define(field);
    }
    if (reads.takes_apart) take(reads.value, reads.variant, reads.earlier, reads.fields);
  }

  // --- Calls ---------------------------------------------------------------------------------------------

  /// Reads the arguments of calls whose results go there, where calls that run beside them, or before them,
  /// may have returned.
  void read_all_arguments(const std::vector<const ScheduledCall*>& calls,
                          const std::vector<uint32_t>& results, bool is_group) {
    const SlotContents before = in_;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      in_ = before;
      for (std::size_t other = 0; other < calls.size(); ++other) {
        if (other == i || (other > i && !is_group)) continue;
        const auto count = static_cast<uint32_t>(result_count(*calls[other]));
        for (uint32_t r = 0; r < count; ++r) in_.overwrite(results[other] + r);
      }
      read_arguments(*calls[i]);
    }
    in_ = before;
  }

  void follow(const statements::Calls& together) {
    std::vector<const ScheduledCall*> calls;
    for (const ScheduledCall& call : together.calls) {
      put_arguments(call);
      calls.push_back(&call);
    }
    if (together.is_group) {
      go_on_in_group(together.group);
    } else if (calls.size() > 1) {
      begin_group(together.group);
    }
    read_all(together.handover.retained);
    std::vector<uint32_t> results;
    for (std::size_t i = 0; i < calls.size(); ++i) results.push_back(reader_.next_value());
    read_all_arguments(calls, results, together.is_group);
    for (std::size_t i = 0; i < calls.size(); ++i) put_results(*calls[i], results[i]);
  }

  void begin_group(uint64_t group) {
    if (!body_.forking) begun_[group] = in_;
  }
  /// Where there is no room for a fork, the sequential form goes on from here.
  void go_on_in_group(uint64_t group) const {
    if (is_task_) return;
    const auto sequential = begun_.find(group);
    expect(sequential != begun_.end(), "the sequential form does not say where a group stands");
    for (const auto& [slot, value] : sequential->second.held()) {
      const auto own = slot_of_.find(value);
      expect(own == slot_of_.end() || own->second == slot || !in_.has(own->second, value),
             "%{} is in slot {}, and in slot {} of the sequential form", value.index(), own->second, slot);
    }
  }

  void follow(const statements::Fork& fork) {
    using To = statements::Fork::Given::To;
    for (const statements::Fork::Worth& worth : fork.worth) look_at(worth.condition);
    const SlotContents alone = in_;
    const SlotMap slots_alone = slot_of_;
    std::vector<const ScheduledCall*> calls;
    std::vector<uint32_t> results;
    for (const ScheduledCall& call : fork.calls) {
      put_arguments(call);
      calls.push_back(&call);
      results.push_back(reader_.next_temporary());
      for (std::size_t i = 0; i < result_count(call); ++i) checked(results.back() + static_cast<uint32_t>(i));
    }
    go_on_in_group(fork.group);
    read_all(fork.handover.retained);
    read_all_arguments(calls, results, true);
    SlotContents forked = in_;
    in_ = alone;
    follow(fork.alone);
    std::swap(in_, forked);
    const SlotMap behind = std::exchange(slot_of_, slots_alone);
    follow(fork.drops);
    for (const statements::Fork::Given& given : fork.given) {
      if (given.to == To::Readers) put(given.value, behind.at(given.value));
    }
    in_.meet(forked);
    slot_of_ = behind;
  }

  // --- Conditionals --------------------------------------------------------------------------------------

  void look_at(const Condition& condition) {
    const NodeId value = origin(condition.predicate);
    switch (condition.kind) {
      case Condition::Kind::Value:
        put_constant(condition.predicate);
        return read(value);
      case Condition::Kind::Variant:
        put_constant({condition.test.data, 0});
        return read(condition.test.data);
      case Condition::Kind::Comparison:
        return read_all(graph_[value].inputs);
      case Condition::Kind::Both:
        for (OutPort comparison : graph_[value].inputs) read_all(graph_[comparison.node].inputs);
    }
  }

  void follow(const statements::If& branch) {
    const Conditional& conditional = structure_.conditionals.at(branch.conditional);
    look_at(branch.condition);
    for (const Join& join : conditional.joins) slot_of_[join.merge] = checked(reader_.next_value());
    const SlotContents before = in_;
    const auto follow_side = [&](int side) {
      follow(branch.sides[side].statements);
      read_all(branch.sides[side].leave.handover.retained);
      for (const Join& join : conditional.joins) {
        read(join.from[side]);
        put(join.merge, slot_of_.at(join.merge));
      }
      follow(branch.sides[side].leave.drops);
    };
    follow_side(branch.first);
    SlotContents first = std::exchange(in_, before);
    if (branch.has_other) follow_side(1 - branch.first);
    in_.meet(first);
  }

  void follow(const statements::SplitIf& split) {
    look_at(split.condition);
    for (const Join& join : split.joins) slot_of_[join.merge] = checked(reader_.next_value());
    const SlotContents before = in_;
    SlotContents ends[2];
    for (int side = 0; side < 2; ++side) {
      in_ = before;
      follow(split.sides[side]);
      for (const Join& join : split.joins) {
        read(join.from[side]);
        put(join.merge, slot_of_.at(join.merge));
      }
      follow(split.drops[side]);
      ends[side] = std::move(in_);
    }
    in_ = ends[0];
    in_.meet(ends[1]);
    if (!split.joins.empty()) return;
    for (const SlotContents& end : ends) in_.join(end);  // results of a task
  }

  void follow(const statements::TailIf& branch) {
    look_at(branch.condition);
    const SlotContents before = in_;
    const SlotMap slots = slot_of_;
    for (const Statements& side : branch.sides) {
      in_ = before;
      slot_of_ = slots;
      follow(side);
    }
  }

  // --- Loops ---------------------------------------------------------------------------------------------

  void follow(const statements::Loop& scheduled) {
    const LoopShape& loop = structure_.loops.at(scheduled.loop.index());
    read_all(scheduled.initial.retained);
    for (const LoopShape::Variable& variable : loop.variables) {
      read(graph_[variable.enter].inputs[0]);
      define(variable.merge);
    }
    follow(scheduled.before);
    if (scheduled.window != nullptr) follow_window(scheduled, loop);
    // The slots of the statement are in the order of the code, where the condition stands first or last.
    const SlotReader begin = reader_;
    const auto begin_of_condition = [&] {
      if (scheduled.condition_first) return begin;
      const SlotContents before = in_;
      follow_body(scheduled, loop);  // reads nothing that the condition computes
      in_ = before;
      return std::exchange(reader_, begin);
    }();
    // What the slots hold in every iteration, found by going round until nothing changes any more.
    while (true) {
      const SlotContents iteration = in_;
      reader_ = begin_of_condition;
      follow(scheduled.condition);
      look_at(scheduled.predicate);
      const SlotContents at_end = in_;
      const SlotReader behind_condition = reader_;
      if (!scheduled.condition_first) reader_ = begin;
      follow_body(scheduled, loop);
      in_.meet(iteration);
      if (in_ != iteration) continue;
      in_ = at_end;
      if (!scheduled.condition_first) reader_ = behind_condition;
      break;
    }
    follow(scheduled.at_end);
    follow(scheduled.after);
  }

  void follow_body(const statements::Loop& scheduled, const LoopShape& loop) {
    follow(scheduled.body);
    follow(scheduled.next);
    std::vector<Move> moves;
    for (const LoopShape::Variable& variable : loop.variables) {
      const NodeId next = origin(graph_[variable.next].inputs[0]);
      read(next);
      const bool is_constant = direct::is_known(graph_[next]);
      moves.push_back({slot_of_.at(variable.merge),
                       {is_constant, Slot(), is_constant ? uint32_t{0} : slot_of_.at(next)}});
    }
    keep_aside(moves);
    for (const LoopShape::Variable& variable : loop.variables) read(graph_[variable.next].inputs[0]);
    for (const LoopShape::Variable& variable : loop.variables)
      put(variable.merge, slot_of_.at(variable.merge));
  }
  void keep_aside(const std::vector<Move>& moves) {
    make_moves(
        moves, [this] { return overwrite(); }, [](uint32_t, const Operand&) {});
  }

  /// The slots of the variables stand for their next values from here on: those that wait for calls, or the
  /// others.
  void take_next_values(const LoopShape& loop, const std::vector<bool>& waits, bool waiting) {
    SlotMap next;
    for (std::size_t v = 0; v < loop.variables.size(); ++v) {
      if (waits[v] != waiting) continue;
      const NodeId merge = loop.variables[v].merge;
      const OutPort port = graph_[loop.variables[v].next].inputs[0];
      read(port);
      next[merge] = is_known(port) ? overwrite() : slot_of_.at(origin(port));
      in_.put_same(next[merge], merge);
    }
    for (const auto& [merge, slot] : next) slot_of_[merge] = slot;
  }

  void follow_window(const statements::Loop& scheduled, const LoopShape& loop) {
    const statements::WindowOfLoop& window = *scheduled.window;
    const ScheduledWindow& found = *schedule_.windows.at(scheduled.loop.index());
    const std::vector<bool>& waits = found.window.variable_waits;
    const SlotContents before = in_;
    const SlotMap outside = slot_of_;
    const uint32_t count = overwrite();
    in_.put(count, NodeId());
    std::vector<SlotMap> at_place;
    for (place_ = 0; place_ < found.places; ++place_) {
      follow(window.condition);
      look_at(window.predicate);
      follow(window.ahead);
      read_all(window.to_calls.retained);
      read_all(window.to_next.retained);
      at_place.push_back(slot_of_);
      take_next_values(loop, waits, false);
    }
    const SlotMap after_last = slot_of_;
    follow_window_calls(window, at_place);
    std::vector<SlotMap> done;
    SlotMap variables = outside;
    const auto update = [&](bool waiting, const SlotMap& from) {
      for (std::size_t v = 0; v < loop.variables.size(); ++v) {
        const NodeId merge = loop.variables[v].merge;
        if (waits[v] == waiting) variables[merge] = from.at(merge);
      }
    };
    for (place_ = 0; place_ < found.places; ++place_) {
      expect(in_.has(count, NodeId()),
             "how many calls a window has stands in slot {}, which something overwrites", count);
      slot_of_ = at_place[place_];
      update(false, slot_of_);
      for (const LoopShape::Variable& variable : loop.variables)
        slot_of_[variable.merge] = variables.at(variable.merge);
      if (place_ > 0) done.push_back(variables);
      follow(window.returned);
      follow(window.rest);
      follow(window.leave);
      take_next_values(loop, waits, true);
      update(true, slot_of_);
    }
    place_ = 0;
    update(false, after_last);
    done.insert(done.begin(), variables);
    for (const SlotMap& slots : done) store_variables(loop, slots, outside);
    in_.meet(before);
    slot_of_ = outside;
  }

  void follow_window_calls(const statements::WindowOfLoop& window, std::vector<SlotMap>& at_place) {
    std::vector<uint32_t> results;
    for (SlotMap& slots : at_place) {
      slot_of_ = slots;
      for (const ScheduledCall& call : window.calls) {
        put_arguments(call);
        results.push_back(reader_.next_value());
      }
    }
    std::size_t next = 0;
    for (SlotMap& slots : at_place) {
      slot_of_ = slots;
      for (const ScheduledCall& call : window.calls) put_results(call, results[next++]);
      std::swap(slots, slot_of_);
    }
    // Some calls may have returned before others begin.
    for (const SlotMap& slots : at_place) {
      slot_of_ = slots;
      for (const ScheduledCall& call : window.calls) read_arguments(call);
    }
  }

  void store_variables(const LoopShape& loop, const SlotMap& from, const SlotMap& to) {
    std::vector<Move> moves;
    for (const LoopShape::Variable& variable : loop.variables) {
      slot_of_[variable.merge] = from.at(variable.merge);
      moves.push_back({to.at(variable.merge), {false, Slot(), from.at(variable.merge)}});
    }
    const SlotContents before = in_;
    keep_aside(moves);
    for (const LoopShape::Variable& variable : loop.variables) read(variable.merge);
    in_ = before;  // other ways to the end have other values
    for (const LoopShape::Variable& variable : loop.variables)
      in_.put_same(to.at(variable.merge), variable.merge);
  }

  // --- Ends ----------------------------------------------------------------------------------------------

  void follow(const statements::Return& ends) {
    if (ends.operation.valid()) return read_all(graph_[ends.operation].inputs);
    if (ends.results.size() != 1) {
      for (OutPort result : ends.results) put_constant(result);
    }
    follow(ends.leave);
    if (body_.to_hole) put_constant(ends.results[0]);
    for (OutPort result : ends.results) read(result);
  }

  void follow(const statements::TailCall& tail) {
    put_arguments(tail.call);
    follow(tail.leave);
    read_arguments(tail.call);
  }

  void follow(const statements::TailConstructor& tail) {
    put_arguments(tail.call);
    read_all(tail.leave.handover.retained);
    const uint32_t hole = overwrite();
    in_.put(hole, NodeId());
    for (const HoleIn& made : tail.makes) {
      const Node& make = graph_[made.make];
      put_fields(make);
      for (std::size_t i = 0; i < make.inputs.size(); ++i) {
        if (i != made.field) read(make.inputs[i]);
      }
      put(made.make, overwrite());
    }
    follow(tail.leave.drops);
    read_arguments(tail.call);
    expect(in_.has(hole, NodeId()), "the address of a hole stands in slot {}, which something overwrites",
           hole);
    if (!body_.to_hole) overwrite();
    read(tail.makes.back().make);
  }

  void follow_task(std::size_t number) {
    const ScheduledTask& scheduled = schedule_.tasks[number];
    begin(scheduled.slots);
    is_task_ = true;
    const std::vector<NodeId>& captures = scheduled.task.captures;
    for (std::size_t i = 0; i < captures.size(); ++i) put(captures[i], scheduled.slots.entered.at(i));
    follow(scheduled.statements);
    reader_ = {&scheduled.slots.at_end};
    follow(scheduled.leave);
    expect(reader_.is_done(), "a task does not need all of its slots");
    read_all(scheduled.task.results);
  }

  GroupContents& begun_;
  std::size_t place_ = 0;  ///< in the window around it
  bool is_task_ = false;
};

}  // namespace

void verify_slots(const Schedule& schedule, const Graph& graph, const Structure& structure) {
  GroupContents begun;
  for (const ScheduledBody& body : schedule.bodies) {
    if (!body.forking) begun.clear();
    SlotVerifier(schedule, graph, structure, body, begun).run();
  }
}

}  // namespace hiaton::exec::direct
