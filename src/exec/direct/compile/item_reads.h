// What items read, and what stands inside of them.
#pragma once

#include "exec/structure.h"

namespace hiaton::exec::direct {

/// Calls `visit` with each output that the item itself reads, without what blocks inside of it read.
template <class Visit>
void for_each_own_read(const graph::Graph& graph, const Structure& structure, const Item& item, Visit visit) {
  switch (item.kind) {
    case Item::Kind::Op:
      for (graph::OutPort input : graph[graph::NodeId(item.index)].inputs) visit(input);
      break;
    case Item::Kind::Call:
      for (graph::NodeId call : graph[graph::CallSite(item.index)].calls) visit(graph[call].inputs[0]);
      break;
    case Item::Kind::Conditional: {
      const Conditional& conditional = structure.conditionals[item.index];
      visit(conditional.predicate);
      for (const Join& join : conditional.joins) {
        visit(join.from[0]);
        visit(join.from[1]);
      }
      break;
    }
    case Item::Kind::Loop: {
      const LoopShape& loop = structure.loops[item.index];
      for (graph::NodeId enter : graph[graph::LoopId(item.index)].enters) visit(graph[enter].inputs[0]);
      visit(loop.predicate);
      for (const LoopShape::Variable& variable : loop.variables) visit(graph[variable.next].inputs[0]);
      break;
    }
  }
}

/// Calls `visit` with each item of the sides of a conditional, or of the condition and the body of a loop.
template <class Visit>
void for_each_inside(const Structure& structure, const Item& item, Visit visit) {
  const auto visit_block = [&](BlockId block) {
    if (!block.valid()) return;
    for (const Item& inner : structure[block].items) visit(inner);
  };
  if (item.kind == Item::Kind::Conditional) {
    for (BlockId side : structure.conditionals[item.index].sides) visit_block(side);
  }
  if (item.kind == Item::Kind::Loop) {
    visit_block(structure.loops[item.index].condition);
    visit_block(structure.loops[item.index].body);
  }
}

/// Calls `visit` with each value that the item gives to what follows it.
template <class Visit>
void for_each_value(const graph::Graph& graph, const Structure& structure, const Item& item, Visit visit) {
  switch (item.kind) {
    case Item::Kind::Op:
      visit(graph::NodeId(item.index));
      break;
    case Item::Kind::Call:
      for (graph::NodeId result : graph[graph::CallSite(item.index)].returns) visit(result);
      break;
    case Item::Kind::Conditional:
      for (const Join& join : structure.conditionals[item.index].joins) visit(join.merge);
      break;
    case Item::Kind::Loop:
      for (const LoopShape::Variable& variable : structure.loops[item.index].variables) visit(variable.merge);
      break;
  }
}

}  // namespace hiaton::exec::direct
