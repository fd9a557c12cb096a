// merge_common. Its rule: a node that computes what another node already computed, on the same operands (in
// either order where the operation is commutative) and at the same placement, becomes that node's results.
// The other node stands earlier in the same block or in a block around it, so it has run whenever this one
// would. Calls take part only where the callee can neither fail nor run on forever; branches and loops never.
// A scalar field of one data value that both sides of a branch read is read before the branch: both have
// waited for memory then, not for memory, the branch, and memory again. Equal constants count as the same
// operand, but each block keeps constants of its own: they need no edge from the block around.
#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "hiaton/passes.h"
#include "passes/effects.h"
#include "passes/rewrite.h"
#include "passes/simplifications.h"

namespace hiaton::passes {
namespace {

using ir::NodeKind;

/// The nodes that may stand for later ones, by a hash of what they compute. What a block adds goes when the
/// block ends: last in, first out, so that linear probing needs no marks for what was removed.
class ScopedTable {
 public:
  explicit ScopedTable(std::size_t most_nodes) : entries_(std::bit_ceil(2 * most_nodes + 1)) {}

  /// The node for which `matches(node)` holds among those with this hash; invalid where there is none, and
  /// add() puts one in its place.
  template <class Matches>
  ir::NodeId find(std::size_t hash, const Matches& matches) {
    const std::size_t mask = entries_.size() - 1;
    for (found_ = hash & mask; entries_[found_].node.valid(); found_ = (found_ + 1) & mask) {
      const Entry& entry = entries_[found_];
      if (entry.hash == hash && matches(entry.node)) return entry.node;
    }
    return ir::NodeId();
  }
  void add(std::size_t hash, ir::NodeId node) {
    entries_[found_] = {hash, node};
    added_.push_back(found_);
  }
  void begin_scope() { scopes_.push_back(added_.size()); }
  void end_scope() {
    for (; added_.size() > scopes_.back(); added_.pop_back()) entries_[added_.back()].node = ir::NodeId();
    scopes_.pop_back();
  }

 private:
  struct Entry {
    std::size_t hash = 0;
    ir::NodeId node;
  };

  std::vector<Entry> entries_;  ///< a power of two, at most half full
  std::vector<std::size_t> added_;
  std::vector<std::size_t> scopes_;
  std::size_t found_ = 0;
};

class MergeCommon : public Rewriter {
 public:
  MergeCommon(const ir::Function& function, const Effects& effects)
      : definitions_(function),
        effects_(effects),
        known_(function.nodes.size()),
        not_(*catalog().find("not")) {}

  /// Whether a branch has the condition of one around it, or the opposite.
  bool repeats_conditions() const { return repeats_conditions_; }

 protected:
  void visit(const ir::Node& node) override {
    if (node.kind == NodeKind::Const) return visit_constant(node);
    if (node.kind == NodeKind::If) return visit_branch(node);
    if (!may_merge(node)) return emit_copy(node);
    visit_mergeable(node);
  }

  void block_begins() override { known_.begin_scope(); }
  void block_ends() override { known_.end_scope(); }

 private:
  /// A constant that several nodes give.
  struct Constant {
    ir::ValueId number;  ///< stands for all of them where operands are compared
    ir::ValueId latest;
    ir::BlockId block;  ///< the block of the latest
  };

  void visit_branch(const ir::Node& node) {
    if (node.operands.size() == 1) visit_common_fields(node);
    conditions_.push_back(without_not(mapped(node.operands[0])));
    const auto around = std::find(conditions_.begin(), conditions_.end() - 1, conditions_.back());
    repeats_conditions_ = repeats_conditions_ || around != conditions_.end() - 1;
    emit_copy(node);
    conditions_.pop_back();
  }

  ir::ValueId without_not(ir::ValueId condition) const {
    const ir::Node* node = definition(condition);
    for (; node != nullptr && node->op == &not_; node = definition(condition)) condition = node->operands[0];
    return condition;
  }

  /// Visits a node without blocks. Not inlined: `visit` recurses as deep as blocks are nested, so its frame
  /// must be small.
  [[gnu::noinline]] void visit_mergeable(const ir::Node& node) {
    ir::ValueIds operands = mapped(node.operands);
    number_and_order(node, operands);
    const std::size_t hash = hash_of(node, operands);
    const ir::NodeId known =
        known_.find(hash, [&](ir::NodeId id) { return computes_same(made()[id], node, operands); });
    if (known.valid()) {
      for (std::size_t i = 0; i < node.results.size(); ++i) map(node.results[i], made()[known].results[i]);
      return;
    }
    const ir::NodeId added(made().nodes.size());
    emit_copy(node);
    known_.add(hash, added);
  }

  /// Makes the fields that both sides of a branch read.
  [[gnu::noinline]] void visit_common_fields(const ir::Node& branch) {
    const auto& then = old()[branch.blocks[0]].nodes;
    const auto& otherwise = old()[branch.blocks[1]].nodes;
    using Field = std::tuple<ir::ValueId, int64_t, int64_t>;
    const auto field_of = [](const ir::Node& node) {
      return Field(node.operands[0], node.attributes[0], node.attributes[1]);
    };
    std::set<Field> twins;
    for (const ir::NodeId id : otherwise) {
      if (is_scalar_field(old()[id])) twins.insert(field_of(old()[id]));
    }
    if (twins.empty()) return;
    std::set<ir::ValueId> made_inside;
    for (const ir::NodeId id : then) {
      const ir::Node& node = old()[id];
      const bool is_common = is_scalar_field(node) && twins.contains(field_of(node));
      if (is_common && !made_inside.contains(node.operands[0])) visit_mergeable(node);
      made_inside.insert(node.results.begin(), node.results.end());
    }
  }
  bool is_scalar_field(const ir::Node& node) const {
    return node.kind == NodeKind::Op && node.op->role == Role::Field &&
           old()[node.results[0]].type.is_scalar();
  }

  [[gnu::noinline]] void visit_constant(const ir::Node& node) {
    Constant& known = constants_[key_of(node)];
    if (known.block == open_block() && node.placement.empty()) return map(node.results[0], known.latest);
    emit_copy(node);
    known.latest = mapped(node.results[0]);
    known.block = open_block();
    if (!known.number.valid()) known.number = known.latest;
    numbers_.resize(made().values.size());
    numbers_[known.latest.index()] = known.number;
  }

  /// Operations whose result type the operands do not tell.
  static bool is_make(const ir::Node& node) {
    return node.kind == NodeKind::Op && node.op->fusion.value == Fusion::Data;
  }
  bool same_result_type(const ir::Node& known, const ir::Node& node) const {
    return made()[known.results[0]].type == old()[node.results[0]].type;
  }

  bool may_merge(const ir::Node& node) const {
    if (node.kind == NodeKind::Call) return !effects_.may_fail_or_diverge(definitions_, node);
    if (node.kind == NodeKind::Op) return node.op->role != Role::Print;
    return node.kind == NodeKind::Param;
  }

  /// After this, nodes compute the same from the same operands only.
  void number_and_order(const ir::Node& node, ir::ValueIds& operands) const {
    for (ir::ValueId& operand : operands) {
      const bool numbered = operand.index() < numbers_.size() && numbers_[operand.index()].valid();
      if (numbered) operand = numbers_[operand.index()];
    }
    const bool any_order = node.kind == NodeKind::Op && node.op->is_commutative;
    if (any_order) std::sort(operands.begin(), operands.end());
  }

  static std::size_t hash_of(const ir::Node& node, std::span<const ir::ValueId> operands) {
    std::size_t hash = std::hash<std::string_view>{}(node.placement);
    const auto mix = [&](std::size_t part) {
      hash = (hash ^ part) * 0x9E3779B97F4A7C15u;
      hash ^= hash >> 32;
    };
    mix(std::hash<const OpDef*>{}(node.op));
    mix(node.callee.value);
    for (const int64_t attribute : node.attributes) mix(static_cast<std::size_t>(attribute));
    for (const ir::ValueId operand : operands) mix(operand.value);
    return hash;
  }

  bool computes_same(const ir::Node& known, const ir::Node& node, const ir::ValueIds& operands) const {
    if (known.kind != node.kind || known.op != node.op || known.callee != node.callee) return false;
    if (known.attributes != node.attributes) return false;
    if (is_make(node) && !same_result_type(known, node)) return false;
    if (known.placement != node.placement) return false;
    ir::ValueIds known_operands = known.operands;
    number_and_order(known, known_operands);
    return known_operands == operands;
  }

  Definitions definitions_;
  const Effects& effects_;
  ScopedTable known_;
  const OpDef& not_;
  std::vector<ir::ValueId> conditions_;  ///< of the branches around the open block, without `not`
  bool repeats_conditions_ = false;
  /// Kind, data type, element type and bits.
  using ConstantKey = std::tuple<Value::Kind, const DataType*, DType, uint64_t>;
  ConstantKey key_of(const ir::Node& node) const {
    const Value& value = node.constant;
    const DType dtype = value.is_data() ? DType::I64 : value.dtype();
    return {value.kind(), old()[node.results[0]].type.data.get(), dtype, value.slot().bits};
  }
  std::map<ConstantKey, Constant> constants_;
  std::vector<ir::ValueId> numbers_;  ///< by new value, for constants; other values number themselves
};

}  // namespace

bool merge_common_in(ir::Function& function, const Effects& effects) {
  MergeCommon merge(function, effects);
  function = merge.rewrite(function);
  return merge.repeats_conditions();
}

ir::Module merge_common(ir::Module module, OverflowMode overflow) {
  const Effects effects(module, overflow);
  for (ir::Function& function : module.functions) {
    if (function.body.valid()) merge_common_in(function, effects);
  }
  return module;
}

}  // namespace hiaton::passes
