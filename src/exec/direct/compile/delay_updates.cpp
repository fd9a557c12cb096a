#include <algorithm>

#include "exec/direct/compile/direct_passes.h"
#include "exec/direct/compile/item_reads.h"
#include "exec/direct/compile/operation_kinds.h"
#include "exec/graph_names.h"

namespace hiaton::exec::direct {

namespace {

class UpdateDelayer {
 public:
  UpdateDelayer(const Graph& graph, Structure& structure, OverflowMode overflow)
      : graph_(graph), structure_(structure), overflow_(overflow) {}

  void run(const LoopShape& loop) {
    for (const LoopShape::Variable& variable : loop.variables) delay(loop, variable);
  }

 private:
  NodeId update_of(const LoopShape::Variable& variable) const {
    return structure_.origin(graph_[variable.next].inputs[0]);
  }

  bool reads(const Item& item, NodeId value) const {
    bool found = false;
    for_each_own_read(graph_, structure_, item,
                      [&](OutPort port) { found = found || structure_.origin(port) == value; });
    return found;
  }

  bool may_move(NodeId update) const {
    const Node& node = graph_[update];
    return node.kind == NodeKind::Op && has_kernel(graph_, structure_, node) &&
           !node.op->can_fail(graph_[structure_.origin(node.inputs[0])].type.dtype, overflow_);
  }

  /// Where the passed one gives the next value of a variable that the update reads, they would only change
  /// places.
  bool may_pass(const LoopShape& loop, const Item& update, const Item& passed) const {
    return passed.kind == Item::Kind::Op && !reads(passed, NodeId(update.index)) &&
           std::ranges::none_of(loop.variables, [&](const LoopShape::Variable& variable) {
             return update_of(variable).index() == passed.index && reads(update, variable.merge);
           });
  }

  void delay(const LoopShape& loop, const LoopShape::Variable& variable) const {
    std::vector<Item>& items = structure_.blocks[loop.body.index()].items;
    const NodeId update = update_of(variable);
    const auto at = std::ranges::find_if(
        items, [&](const Item& item) { return item.kind == Item::Kind::Op && item.index == update.index(); });
    if (at == items.end() || !may_move(update)) return;
    auto last = at;
    for (auto next = at + 1; next != items.end() && may_pass(loop, *at, *next); ++next) {
      if (reads(*next, variable.merge)) last = next;
    }
    // What has blocks inside may read the variable there.
    const bool is_read_later = std::any_of(last + 1, items.end(), [&](const Item& item) {
      return item.kind > Item::Kind::Call || reads(item, variable.merge);
    });
    if (last != at && !is_read_later) std::rotate(at, at + 1, last + 1);
  }

  const Graph& graph_;
  Structure& structure_;
  const OverflowMode overflow_;
};

}  // namespace

void delay_updates(const Graph& graph, Structure& structure, OverflowMode overflow) {
  for (const LoopShape& loop : structure.loops) {
    if (loop.body.valid()) UpdateDelayer(graph, structure, overflow).run(loop);
  }
}

}  // namespace hiaton::exec::direct
