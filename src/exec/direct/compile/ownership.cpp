// How parameters come to be borrowed: all are, until a rule says otherwise; then again, until nothing
// changes, since handing a value to a parameter that is not borrowed hands it on. Rules for a parameter p,
// and for the fields of p that are data values, which the function borrows as long as it borrows p:
//   - p is a field of a new value (but see is_kept_beside), a result, a value of a branch or loop
//     variable, or goes to a parameter that is not borrowed: it is handed on. (Fields of p may be: that takes
//     a reference of their own.)
//   - p is a string that another is appended to.
//   - a call at the end of a function passes to a borrowed parameter what the function itself holds: nobody
//     would hold it while the callee runs, since the frame is gone.
//   - p is taken apart where a value of its size is made, to which its memory can go, and some call passes
//     the last reference to it. Where all callers keep the value, owning it would only count references.
// The last rule needs two runs. The first owns whatever is taken apart so, which tells of each parameter
// whether that, or being handed on to what does that, is a reason to own it. The second begins anew, and owns
// for this reason only what a call passes as the last read of a value that its function holds.

#include "exec/direct/compile/ownership.h"

#include <algorithm>
#include <map>
#include <unordered_set>
#include <utility>

#include "exec/direct/compile/item_reads.h"
#include "exec/graph_names.h"
#include "kernels/scalar.h"

namespace hiaton::exec::direct {

bool is_equality(const Node& node) {
  if (node.kind != NodeKind::Op || node.inputs.size() != 2) return false;
  const KernelVariant* kernel = node.op->find_kernel(DType::I64);
  return kernel != nullptr && kernel->wrap == Kernel{kernels::binary<kernels::Eq, int64_t, bool>};
}

class Ownership::Borrowing {
 public:
  Borrowing(Ownership& all, const std::vector<std::vector<FunctionId>>& copies)
      : all_(all), graph_(all.graph_), structure_(all.structure_), copies_(copies) {}

  void run() {
    find_taken_apart();
    for (const Block& block : structure_.blocks) {
      for (const Item& item : block.items) {
        if (item.kind != Item::Kind::Op || !has_role(graph_[NodeId(item.index)], Role::Make)) continue;
        for_each_reusable(NodeId(item.index), [&](OutPort taken) {
          rebuilt_.insert(graph_[structure_.origin(taken)].type.data.get());
        });
      }
    }
    const std::vector<std::vector<bool>> all_borrowed = all_.borrowed_;
    settle([&](const Item& item, BlockId, std::size_t) {
      if (item.kind == Item::Kind::Op) reuse(NodeId(item.index));
    });
    const std::vector<std::vector<bool>> useless = std::exchange(all_.borrowed_, all_borrowed);
    find_last_reads();
    for (const graph::Site& site : graph_.sites()) {
      if (structure_.functions[site.caller.index()] || !structure_.functions[site.callee.index()]) continue;
      for (std::size_t i = 0; i < site.calls.size(); ++i) {
        // Flow may pass the last reference.
        if (!useless[site.callee.index()][i]) own({site.callee.index(), i});
      }
    }
    settle([&](const Item& item, BlockId block, std::size_t position) {
      if (item.kind == Item::Kind::Call) pass_last(CallSite(item.index), useless, block, position);
    });
    // The parameters of the program belong to whoever runs it.
    std::vector<bool>& of_program = all_.borrowed_[graph_.main().index()];
    std::fill(of_program.begin(), of_program.end(), true);
  }

 private:
  /// Applies all rules until nothing changes, and beside them `rule`, of an item in a block at a position.
  template <class Rule>
  void settle(Rule rule) {
    do {
      changed_ = false;
      for (std::size_t b = 0; b < structure_.blocks.size(); ++b) {
        const std::vector<Item>& items = structure_.blocks[b].items;
        for (std::size_t i = 0; i < items.size(); ++i) {
          look_at(items[i]);
          rule(items[i], BlockId(b), i);
        }
      }
      for (std::size_t f = 0; f < structure_.results.size(); ++f) {
        for (OutPort result : structure_.results[f]) hand_on(result);
        if (structure_.bodies[f].valid()) look_at_end(structure_.bodies[f], structure_.results[f]);
      }
      for (const std::vector<FunctionId>& group : copies_) own_alike(group);
    } while (changed_);
  }

  void own(const Param& param) {
    if (FunctionId(param.function) == graph_.main()) return;
    std::vector<bool>& borrowed = all_.borrowed_[param.function];
    if (!borrowed[param.index]) return;
    borrowed[param.index] = false;
    changed_ = true;
  }

  /// What one of the copies owns, all do.
  void own_alike(const std::vector<FunctionId>& group) {
    for (const FunctionId one : group) {
      for (std::size_t i = 0; i < all_.borrowed_[one.index()].size(); ++i) {
        if (all_.borrowed_[one.index()][i]) continue;
        for (const FunctionId other : group) own({other.index(), i});
      }
    }
  }

  void hand_on(OutPort port) {
    const NodeId value = structure_.origin(port);
    if (const auto param = all_.param_of_.find(value); param != all_.param_of_.end()) own(param->second);
  }

  void look_at(const Item& item) {
    switch (item.kind) {
      case Item::Kind::Op: {
        const Node& node = graph_[NodeId(item.index)];
        if (has_role(node, Role::Make) || has_role(node, Role::PassAfter)) {
          for (OutPort input : node.inputs) {
            if (!is_kept_beside(NodeId(item.index), structure_.origin(input))) hand_on(input);
          }
        }
        if (has_role(node, Role::Print) || has_role(node, Role::Settle)) hand_on(node.inputs[0]);
        if (node.op->may_be_in_place()) hand_on(node.inputs[0]);
        break;
      }
      case Item::Kind::Call: {
        const graph::Site& site = graph_[CallSite(item.index)];
        for (std::size_t i = 0; i < site.calls.size(); ++i) {
          if (!all_.borrowed_[site.callee.index()][i]) hand_on(graph_[site.calls[i]].inputs[0]);
        }
        break;
      }
      case Item::Kind::Conditional:
        for (const Join& join : structure_.conditionals[item.index].joins) {
          hand_on(join.from[0]);
          hand_on(join.from[1]);
        }
        break;
      case Item::Kind::Loop:
        for (const LoopShape::Variable& variable : structure_.loops[item.index].variables) {
          hand_on(graph_[variable.enter].inputs[0]);
          hand_on(graph_[variable.next].inputs[0]);
        }
        break;
    }
  }

  /// Calls `visit` with what is taken apart in the block of the node, or one around it, into as many fields.
  template <class Visit>
  void for_each_reusable(NodeId make, Visit visit) const {
    const std::size_t fields = graph_[make].inputs.size();
    if (fields == 0) return;
    for (BlockId block = structure_.block_of[make.index()]; block.valid(); block = structure_[block].parent) {
      for (const TakenApart& taken : taken_apart_[block.index()]) {
        if (taken.fields == fields) visit(taken.value);
      }
    }
  }

  void find_taken_apart() {
    taken_apart_.resize(structure_.blocks.size());
    for (std::size_t b = 0; b < structure_.blocks.size(); ++b) {
      for (const Item& item : structure_.blocks[b].items) {
        if (item.kind != Item::Kind::Op) continue;
        const Node& node = graph_[NodeId(item.index)];
        if (!has_role(node, Role::Field)) continue;
        const Type& type = graph_[structure_.origin(node.inputs[0])].type;
        const auto variant = static_cast<std::size_t>(node.attributes[0]);
        taken_apart_[b].push_back({node.inputs[0], type.data->variants[variant].fields.size()});
      }
    }
  }

  void reuse(NodeId make) {
    if (!has_role(graph_[make], Role::Make)) return;
    for_each_reusable(make, [&](OutPort taken) { hand_on(taken); });
  }

  /// A call that passes the last reference. `useless`: by function, the parameters that it has no use to own.
  void pass_last(CallSite id, const std::vector<std::vector<bool>>& useless, BlockId block,
                 std::size_t position) {
    const graph::Site& site = graph_[id];
    for (std::size_t i = 0; i < site.calls.size(); ++i) {
      if (useless[site.callee.index()][i] || !all_.is_borrowed(site.callee, i)) continue;
      const NodeId value = structure_.origin(graph_[site.calls[i]].inputs[0]);
      if (all_.outlives_frame(value) || is_read_after(block, position, value)) continue;
      own({site.callee.index(), i});
    }
  }

  /// Where in each block a value is read for the last time, and where its conditionals stand. The steering of
  /// a loop is no item.
  void find_last_reads() {
    for (std::size_t b = 0; b < structure_.blocks.size(); ++b) {
      const std::vector<Item>& items = structure_.blocks[b].items;
      for (std::size_t i = 0; i < items.size(); ++i) {
        for (NodeId value : all_.reads_of(items[i])) last_reads_[{BlockId(b), value}] = i;
        if (items[i].kind == Item::Kind::Conditional) place_of_[items[i].index] = i;
      }
    }
  }

  /// Whether the value is read behind the item at this position of the block, in its function.
  bool is_read_after(BlockId block, std::size_t position, NodeId value) const {
    const auto is_value = [&](OutPort port) { return structure_.origin(port) == value; };
    const BlockId made_in = structure_.block_of[value.index()];
    if (structure_[made_in].loop != structure_[block].loop) return true;  // by the next iteration
    while (true) {
      const auto last = last_reads_.find({block, value});
      if (last != last_reads_.end() && last->second > position) return true;
      const Block& at = structure_[block];
      if (at.kind == Block::Kind::LoopCondition) return true;
      if (at.kind == Block::Kind::Function) {
        return std::ranges::any_of(structure_.results[at.function.index()], is_value);
      }
      const auto place = place_of_.find(at.index);
      if (place == place_of_.end()) {  // the body of a loop
        if (!at.loop.valid()) return true;
        return std::ranges::any_of(structure_.loops[at.loop.index()].variables, [&](const auto& variable) {
          return is_value(graph_[variable.next].inputs[0]);
        });
      }
      const Conditional& conditional = structure_.conditionals[at.index];
      const int side = conditional.sides[0] == block ? 0 : 1;
      const bool is_given =
          std::ranges::any_of(conditional.joins, [&](const Join& join) { return is_value(join.from[side]); });
      if (is_given || made_in == block) return is_given;
      position = place->second;
      block = at.parent;
    }
  }

  /// Whether the parameter that becomes a field of the new value also goes on to the function itself, beside
  /// it: a function that owned it would take a reference for one of both wherever it runs, one that borrows
  /// it does so only where it makes the value. Not of types whose values are rebuilt in place: another
  /// reference forbids that.
  bool is_kept_beside(NodeId make, NodeId param) const {
    if (!all_.param_of_.contains(param) || rebuilt_.contains(graph_[param].type.data.get())) return false;
    for (BlockId block = structure_.block_of[make.index()]; block.valid(); block = structure_[block].parent) {
      for (const Item& item : structure_[block].items) {
        if (item.kind != Item::Kind::Call) continue;
        const graph::Site& site = graph_[CallSite(item.index)];
        if (site.callee != structure_[block].function) continue;
        for (NodeId call : site.calls) {
          if (structure_.origin(graph_[call].inputs[0]) == param) return true;
        }
      }
    }
    return false;
  }

  void look_at_end(BlockId block, const std::vector<OutPort>& results) {
    struct End {
      BlockId block;
      std::vector<OutPort> results;
    };
    std::vector<End> open{{block, results}};
    while (!open.empty()) {
      const End end = std::move(open.back());
      open.pop_back();
      if (!end.block.valid() || structure_[end.block].items.empty()) continue;
      const Item& last = structure_[end.block].items.back();
      if (last.kind == Item::Kind::Call) {
        look_at_last_call(CallSite(last.index), end.results);
      } else if (last.kind == Item::Kind::Conditional) {
        const Conditional& conditional = structure_.conditionals[last.index];
        for (int side = 0; side < 2; ++side) {
          std::vector<OutPort> of_side = end.results;
          for (OutPort& result : of_side) {
            for (const Join& join : conditional.joins) {
              if (structure_.origin(result) == join.merge) {
                result = join.from[side];
                break;
              }
            }
          }
          open.push_back({conditional.sides[side], std::move(of_side)});
        }
      }
    }
  }

  void look_at_last_call(CallSite id, const std::vector<OutPort>& results) {
    const graph::Site& site = graph_[id];
    const bool forwards = std::ranges::equal(site.returns, results, {}, {},
                                             [&](OutPort result) { return structure_.origin(result); });
    if (!forwards) return;
    for (std::size_t i = 0; i < site.calls.size(); ++i) {
      const OutPort input = graph_[site.calls[i]].inputs[0];
      if (all_.is_data(input) && !all_.outlives_frame(structure_.origin(input))) {
        own({site.callee.index(), i});
      }
    }
  }

  /// A value of which a field is read.
  struct TakenApart {
    OutPort value;
    std::size_t fields;
  };

  Ownership& all_;
  const Graph& graph_;
  const Structure& structure_;
  const std::vector<std::vector<FunctionId>>& copies_;
  std::vector<std::vector<TakenApart>> taken_apart_;              ///< by block
  std::map<std::pair<BlockId, NodeId>, std::size_t> last_reads_;  ///< positions among the items of the block
  std::unordered_map<uint32_t, std::size_t> place_of_;  ///< by conditional: its position in its block
  std::unordered_set<const DataType*> rebuilt_;  ///< types of which values are taken apart to make such again
  bool changed_ = false;
};

Ownership::Ownership(const Graph& graph, const Structure& structure,
                     const std::vector<std::vector<FunctionId>>& copies)
    : graph_(graph), structure_(structure) {
  has_data_ = std::ranges::any_of(graph.nodes(), [](const Node& node) { return !node.type.is_scalar(); });
  for (std::size_t f = 0; f < graph.functions().size(); ++f) {
    const std::vector<OutPort>& params = graph.functions()[f].params;
    borrowed_.emplace_back(params.size(), true);
    for (std::size_t p = 0; p < params.size(); ++p) param_of_[params[p].node] = {f, p};
  }
  if (!has_data_) {
    for (const Block& block : structure.blocks) {
      for (const Item& item : block.items) reads_[item.key()];
    }
    return;
  }
  for (std::size_t c = 0; c < structure.conditionals.size(); ++c) {
    for (int side = 0; side < 2; ++side) {
      const BlockId block = structure.conditionals[c].sides[side];
      if (block.valid()) sides_[block] = {static_cast<uint32_t>(c), side};
    }
  }
  for (const Block& block : structure.blocks) {
    for (const Item& item : block.items) find_reads(item);
  }
  Borrowing(*this, copies).run();
}

const std::vector<NodeId>& Ownership::find_reads(const Item& item) {
  if (const auto known = reads_.find(item.key()); known != reads_.end()) return known->second;
  std::unordered_set<NodeId> seen;
  std::vector<NodeId> reads;
  const auto add = [&](NodeId value) {
    if (is_data(value) && graph_[value].kind != NodeKind::Const && seen.insert(value).second) {
      reads.push_back(value);
    }
  };
  if (item.kind == Item::Kind::Conditional) {
    const auto test = variant_test(structure_.conditionals[item.index].predicate);
    if (test) add(test->data);
  }
  for_each_own_read(graph_, structure_, item, [&](OutPort port) { add(structure_.origin(port)); });
  for_each_inside(structure_, item, [&](const Item& inner) {
    for (NodeId value : find_reads(inner)) add(value);
  });
  return reads_[item.key()] = std::move(reads);
}

bool Ownership::outlives_frame(NodeId value) const {
  while (true) {
    const Node& node = graph_[value];
    if (node.kind == NodeKind::Const) return true;
    if (const auto param = param_of_.find(value); param != param_of_.end()) {
      return borrowed_[param->second.function][param->second.index];
    }
    if (!has_role(node, Role::Field)) return false;
    value = structure_.origin(node.inputs[0]);
  }
}

bool Ownership::touches_data(const Item& item) const {
  bool found = !reads_of(item).empty();
  for_each_value(graph_, structure_, item, [&](NodeId value) { found = found || is_data(value); });
  for_each_inside(structure_, item, [&](const Item& inner) { found = found || touches_data(inner); });
  return found;
}

std::optional<Ownership::VariantTest> Ownership::variant_test(OutPort predicate) const {
  const Node& node = graph_[structure_.origin(predicate)];
  if (!is_equality(node)) return std::nullopt;
  const Node& left = graph_[structure_.origin(node.inputs[0])];
  const Node& right = graph_[structure_.origin(node.inputs[1])];
  if (!has_role(left, Role::Variant) || right.kind != NodeKind::Const || right.parameter >= 0)
    return std::nullopt;
  const int64_t number = right.constant.as<int64_t>();
  if (number < 0) return std::nullopt;
  const NodeId data = structure_.origin(left.inputs[0]);
  if (graph_[data].kind == NodeKind::Const) return std::nullopt;
  const bool exists = std::cmp_less(number, graph_[data].type.data->variants.size());
  return exists ? std::optional(VariantTest{data, static_cast<uint32_t>(number)}) : std::nullopt;
}

bool Ownership::is_known_without_fields(BlockId block, NodeId data) const {
  if (!graph_[data].type.is_data()) return false;
  const std::vector<Variant>& variants = graph_[data].type.data->variants;
  for (uint32_t variant = 0; variant < variants.size(); ++variant) {
    if (variants[variant].fields.empty() && is_known_variant(block, data, variant)) return true;
  }
  return false;
}

bool Ownership::is_known_variant(BlockId block, NodeId data, uint32_t variant) const {
  std::unordered_set<uint32_t> others;
  for (; block.valid(); block = structure_[block].parent) {
    const auto side = sides_.find(block);
    if (side == sides_.end()) continue;
    const auto test = variant_test(structure_.conditionals[side->second.conditional].predicate);
    if (!test || test->data != data) continue;
    if (side->second.side == 0) return test->variant == variant;
    others.insert(test->variant);
  }
  return !others.contains(variant) && others.size() + 1 == graph_[data].type.data->variants.size();
}

}  // namespace hiaton::exec::direct
