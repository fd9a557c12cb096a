#include <fmt/format.h>

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
    for (std::size_t f = 0; f < structure_.functions.size(); ++f) {
      if (!structure_.functions[f]) continue;
      for (const bool forking : {false, true}) {
        const std::vector<Ending>& endings = schedule_.endings[forking ? 1 : 0];
        const bool is_alike = forking && !schedule_.has_groups[f];
        if (is_alike) continue;
        forking_ = forking;
        line(0, "{} ({})", graph_.functions()[f].name, forking ? "forking" : "sequential");
        show(structure_.bodies[f], endings[f], 1);
      }
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

  std::string value(OutPort port) const { return fmt::format("%{}", structure_.origin(port).index()); }
  std::string values(std::span<const OutPort> ports) const {
    std::string all;
    for (const OutPort port : ports) all += (all.empty() ? "" : ", ") + value(port);
    return all.empty() ? "nothing" : all;
  }
  std::string call(CallSite site) const {
    std::vector<OutPort> arguments;
    for (const NodeId argument : graph_[site].calls) arguments.push_back(graph_[argument].inputs[0]);
    return fmt::format("{}({})", graph_[graph_[site].callee].name,
                       arguments.empty() ? "" : values(arguments));
  }
  std::string results_of(CallSite site) const {
    std::vector<OutPort> results;
    for (const NodeId result : graph_[site].returns) results.push_back({result, 0});
    return values(results);
  }

  std::string_view placement(NodeId id) const {
    const Placements& placements = schedule_.placements;
    if (returned_ == id) return ", in the return";
    if (placements.in_branch.contains(id) || placements.tests.contains(id)) return ", in the branch";
    return placements.in_call.contains(id) ? ", in the call" : "";
  }

  std::string_view match(uint32_t conditional, int side) const {
    return side == 1 && schedule_.placements.next_tests.contains(conditional) ? ", the same match goes on"
                                                                              : "";
  }

  void show(BlockId block, const Ending& ending, int depth) {
    const std::span<const Item> items =
        block.valid() ? std::span<const Item>(structure_[block].items) : std::span<const Item>();
    if (ending.operation.valid()) returned_ = ending.operation;
    show(items.first(ending.items), depth);
    switch (ending.kind) {
      case Ending::Kind::Return:
        return line(depth, "return {}", values(ending.results));
      case Ending::Kind::ReturnOperation:
        return line(depth, "return the operation {}", values(ending.results));
      case Ending::Kind::TailCall:
        return line(depth, "tail call {}", call(CallSite(items.back().index)));
      case Ending::Kind::TailConstructor:
        line(depth, "tail call {} into", call(CallSite(items[ending.items].index)));
        for (const HoleIn& hole : ending.makes) {
          line(depth + 1, "field {} of %{}", hole.field, hole.make.index());
        }
        return;
      case Ending::Kind::Branch:
        break;
    }
    const Conditional& conditional = structure_.conditionals[items.back().index];
    for (int side = 0; side < 2; ++side) {
      line(depth, "{} {}{}", side == 0 ? "if" : "if not", value(conditional.predicate),
           match(items.back().index, side));
      show(conditional.sides[side], ending.sides[static_cast<std::size_t>(side)], depth + 1);
    }
  }

  void show(std::span<const Item> items, int depth) {
    for (std::size_t i = 0; i < items.size();) {
      std::size_t end = i + 1;
      while (end < items.size() && items[end].group == items[i].group) ++end;
      const bool is_group = forking_ && end - i > 1;
      if (is_group) line(depth, "together{}", are_tasks(items.subspan(i, end - i)) ? ", as tasks" : "");
      for (; i < end; ++i) show(items[i], is_group ? depth + 1 : depth);
    }
  }

  void show_block(BlockId block, int depth) {
    if (block.valid()) show(structure_[block].items, depth);
  }

  void show(const Item& item, int depth) {
    if (task_before_ != nullptr && task_before_->done.contains(item)) return;
    switch (item.kind) {
      case Item::Kind::Op:
        return line(depth, "%{} = {}({}){}", item.index, graph_[NodeId(item.index)].op->name.value,
                    values(graph_[NodeId(item.index)].inputs), placement(NodeId(item.index)));
      case Item::Kind::Call:
        return line(depth, "{} = {}", results_of(CallSite(item.index)), call(CallSite(item.index)));
      case Item::Kind::Conditional: {
        const Conditional& conditional = structure_.conditionals[item.index];
        for (int side = 0; side < 2; ++side) {
          line(depth, "{} {}{}", side == 0 ? "if" : "if not", value(conditional.predicate),
               match(item.index, side));
          show_block(conditional.sides[side], depth + 1);
          for (const Join& join : conditional.joins) {
            line(depth + 1, "%{} = {}", join.merge.index(), value(join.from[side]));
          }
        }
        return;
      }
      case Item::Kind::Loop:
        return show_loop(item.index, depth);
    }
  }

  void show_loop(uint32_t id, int depth) {
    const LoopShape& loop = structure_.loops[id];
    for (const LoopShape::Variable& variable : loop.variables) {
      line(depth, "%{} begins with {}", variable.merge.index(), value(graph_[variable.enter].inputs[0]));
    }
    if (forking_ && schedule_.windows[id]) show_window(*schedule_.windows[id], depth);
    line(depth, "while");
    show_block(loop.condition, depth + 1);
    line(depth, "do, where {}", value(loop.predicate));
    show_block(loop.body, depth + 1);
    for (const LoopShape::Variable& variable : loop.variables) {
      line(depth + 1, "%{} becomes {}", variable.merge.index(), value(graph_[variable.next].inputs[0]));
    }
  }

  void show_window(const ScheduledWindow& scheduled, int depth) {
    const Window& window = scheduled.window;
    line(depth, "window of {} iterations", scheduled.places);
    line(depth + 1, "ahead");
    show_task_items(window.ahead, depth + 2);
    if (window.task) {
      std::string captures;
      for (const NodeId value : window.task->captures) captures += fmt::format(" %{}", value.index());
      line(depth + 1, "together, a task of each, which reads{}", captures);
      show_task_items(window.task->items, depth + 2);
    } else {
      line(depth + 1, "together, the calls of each");
      for (const CallSite site : window.calls) line(depth + 2, "{} = {}", results_of(site), call(site));
    }
    line(depth + 1, "then, in order");
    task_before_ = window.task ? &*window.task : nullptr;
    for (const Item& item : window.rest) show(item, depth + 2);
    task_before_ = nullptr;
  }

  void show_task_items(const std::vector<TaskItem>& items, int depth) {
    for (const TaskItem& item : items) {
      if (!item.is_split) {
        show(item.item, depth);
        continue;
      }
      const Conditional& conditional = structure_.conditionals[item.item.index];
      for (int side = 0; side < 2; ++side) {
        line(depth, "{} {}, in part", side == 0 ? "if" : "if not", value(conditional.predicate));
        show_task_items(item.sides[side], depth + 1);
        for (const Join& join : item.joins) {
          line(depth + 1, "%{} = {}", join.merge.index(), value(join.from[side]));
        }
      }
    }
  }

  const Schedule& schedule_;
  const Graph& graph_;
  const Structure& structure_;
  bool forking_ = false;
  NodeId returned_{};                          ///< that the return computes
  const OutlinedTask* task_before_ = nullptr;  ///< which has done some of the items
  std::string text_;
};

}  // namespace

std::string to_text(const Schedule& schedule, const Graph& graph, const Structure& structure) {
  return ScheduleText(schedule, graph, structure).run();
}

}  // namespace hiaton::exec::direct
