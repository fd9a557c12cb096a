#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "exec/direct/compile/direct_passes.h"
#include "exec/direct/compile/item_reads.h"
#include "exec/graph_names.h"
#include "hiaton/op.h"

namespace hiaton::exec::direct {

namespace {

class FieldSinker {
 public:
  FieldSinker(const Graph& graph, Structure& structure) : graph_(graph), structure_(structure) {}

  /// Blocks stand behind those around them, so that a field may sink through several branches.
  void run() {
    for (std::size_t f = 0; f < structure_.results.size(); ++f) {
      if (structure_.functions[f]) note_end(structure_.bodies[f], structure_.results[f]);
    }
    for (const Conditional& conditional : structure_.conditionals) {
      for (int side = 0; side < 2; ++side) {
        std::vector<OutPort> given;
        for (const Join& join : conditional.joins) given.push_back(join.from[side]);
        note_end(conditional.sides[side], given);
      }
    }
    for (std::size_t b = 0; b < structure_.blocks.size(); ++b) sink_from(BlockId(b));
  }

 private:
  using Fields = std::unordered_set<NodeId>;

  bool is_field(NodeId value) const {
    const Node& node = graph_[value];
    return node.kind == NodeKind::Op && node.op->role == Role::Field;
  }

  void note_end(BlockId block, const std::vector<OutPort>& ports) {
    if (!block.valid()) return;
    for (OutPort port : ports) {
      const NodeId value = structure_.origin(port);
      if (is_field(value)) at_end_[block].insert(value);
    }
  }

  bool is_read_at_end(BlockId block, NodeId field) const {
    const auto found = at_end_.find(block);
    return found != at_end_.end() && found->second.contains(field);
  }

  /// The fields that the item, and what stands inside it, reads.
  const Fields& fields_read(const Item& item) {
    if (const auto known = reads_.find(item.key()); known != reads_.end()) return known->second;
    Fields fields;
    const auto add = [&](OutPort port) {
      const NodeId value = structure_.origin(port);
      if (is_field(value)) fields.insert(value);
    };
    for_each_own_read(graph_, structure_, item, add);
    for_each_inside(structure_, item, [&](const Item& inner) {
      const Fields& more = fields_read(inner);
      fields.insert(more.begin(), more.end());
    });
    return reads_[item.key()] = std::move(fields);
  }

  bool side_reads(BlockId side, NodeId field) {
    return is_read_at_end(side, field) || std::ranges::any_of(structure_[side].items, [&](const Item& item) {
             return fields_read(item).contains(field);
           });
  }

  void sink_from(BlockId block) {
    if (structure_[block].loop.valid()) return;
    std::vector<Item> kept;
    std::vector<Item>& items = structure_.blocks[block.index()].items;
    for (std::size_t i = 0; i < items.size(); ++i) {
      const bool is_candidate = items[i].kind == Item::Kind::Op && is_field(NodeId(items[i].index));
      if (!is_candidate || !sink(block, items, i)) kept.push_back(items[i]);
    }
    structure_.blocks[block.index()].items = std::move(kept);
  }

  /// Whether the field went into the sides of the only branch that reads it.
  bool sink(BlockId block, const std::vector<Item>& items, std::size_t at) {
    const NodeId field(items[at].index);
    if (is_read_at_end(block, field)) return false;
    const Item* reader = nullptr;
    for (std::size_t i = at + 1; i < items.size(); ++i) {
      if (!fields_read(items[i]).contains(field)) continue;
      if (reader != nullptr) return false;
      reader = &items[i];
    }
    if (reader == nullptr || reader->kind != Item::Kind::Conditional) return false;
    // A call that gets another field could not use its memory again while the whole value is held.
    const bool passes_call =
        std::any_of(items.data() + at, reader, [](const Item& item) { return item.kind != Item::Kind::Op; });
    if (passes_call) return false;
    const Conditional& conditional = structure_.conditionals[reader->index];
    if (structure_.origin(conditional.predicate) == field) return false;
    const bool is_scalar = !graph_[field].type.is_data() && !graph_[field].type.is_tensor();
    if (is_scalar && std::ranges::all_of(conditional.sides, [&](BlockId side) {
          return side.valid() && side_reads(side, field);
        })) {
      return false;
    }
    for (BlockId side : conditional.sides) {
      if (!side.valid() || !side_reads(side, field)) continue;
      Item moved = items[at];
      moved.group = next_group_--;
      std::vector<Item>& of_side = structure_.blocks[side.index()].items;
      of_side.insert(of_side.begin(), moved);
    }
    return true;
  }

  const Graph& graph_;
  Structure& structure_;
  std::unordered_map<BlockId, Fields> at_end_;
  std::unordered_map<uint64_t, Fields> reads_;
  uint32_t next_group_ = UINT32_MAX;  ///< a number that no group has yet
};

}  // namespace

void sink_fields(const Graph& graph, Structure& structure) {
  FieldSinker(graph, structure).run();
}

}  // namespace hiaton::exec::direct
