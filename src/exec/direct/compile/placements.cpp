#include "exec/direct/compile/placements.h"

#include <algorithm>

#include "exec/direct/compile/operation_kinds.h"
#include "exec/direct/direct_plan.h"
#include "exec/direct/kernel_table.h"
#include "exec/graph_names.h"
#include "kernels/scalar.h"

namespace hiaton::exec::direct {

namespace {

class PlacementFinder {
 public:
  PlacementFinder(const Graph& graph, const Structure& structure, const Lifetimes& lifetimes,
                  const Ownership& ownership, OverflowMode overflow)
      : graph_(graph),
        structure_(structure),
        lifetimes_(lifetimes),
        ownership_(ownership),
        overflow_(overflow) {}

  Placements run() {
    for (const LoopShape& loop : structure_.loops) {
      if (loop.predicate.node.valid()) loop_predicates_.insert(structure_.origin(loop.predicate));
    }
    for (const Block& block : structure_.blocks) {
      for (const Item& item : block.items) {
        if (item.kind == Item::Kind::Op) place(NodeId(item.index));
      }
    }
    for (uint32_t c = 0; c < structure_.conditionals.size(); ++c) {
      if (const auto next = next_test(structure_.conditionals[c])) found_.next_tests[c] = *next;
    }
    return std::move(found_);
  }

 private:
  void place(NodeId id) {
    if (has_role(graph_[id], Role::Variant)) {
      if (auto tests = tests_of(id)) found_.tests[id] = *std::move(tests);
    } else if (is_branch_on_both(id)) {
      found_.in_branch[id] = {};
      found_.conjunctions.insert(id);
    } else if (is_comparison(id)) {
      const NodeId conjunction = conjunction_of(id);
      if (conjunction.valid() || is_steered_in_own_block(id)) found_.in_branch[id] = conjunction;
    } else if (const auto plus = passed_plus(id)) {
      found_.in_call[id] = *plus;
    }
  }

  Kernel kernel_of(const Node& node) const { return direct::kernel_of(graph_, structure_, node, overflow_); }

  /// Whether it compares, is read once, and has a branch instruction.
  bool is_comparison(NodeId id) const {
    const Node& node = graph_[id];
    return lifetimes_.reads[id.index()] == 1 && node.kind == NodeKind::Op && node.inputs.size() == 2 &&
           has_kernel(graph_, structure_, node) && fast_branch(kernel_of(node)) &&
           graph_[structure_.origin(node.inputs[0])].kind != NodeKind::Const;
  }

  /// The conjunction that alone reads the comparison, both of whose operands can be parts of a branch; none
  /// where there is none.
  NodeId conjunction_of(NodeId id) const {
    const auto readers = graph_.consumers({id, 0});
    return readers.size() == 1 && is_branch_on_both(readers[0].node) ? readers[0].node : NodeId();
  }

  /// A conjunction of two comparisons of its block that steers conditionals of it is two branches.
  bool is_branch_on_both(NodeId id) const {
    const Node& node = graph_[id];
    if (node.kind != NodeKind::Op || node.inputs.size() != 2 || !has_kernel(graph_, structure_, node) ||
        kernel_of(node) != Kernel{kernels::binary<kernels::And, bool, bool>} ||
        lifetimes_.reads[id.index()] != 1 || !is_steered_in_own_block(id) || loop_predicates_.contains(id)) {
      return false;
    }
    return std::ranges::all_of(node.inputs, [&](OutPort input) {
      return is_comparison(input.node) &&
             structure_.block_of[input.node.index()] == structure_.block_of[id.index()];
    });
  }

  bool is_steered_in_own_block(NodeId id) const {
    const auto readers = graph_.consumers({id, 0});
    return !readers.empty() && std::ranges::all_of(readers, [&](const graph::InPort& reader) {
      return graph_[reader.node].kind == NodeKind::Switch && reader.port == 1;
    });
  }

  /// The comparisons that read the variant, where nothing else does and all are parts of branches.
  std::optional<std::vector<NodeId>> tests_of(NodeId variant) const {
    std::vector<NodeId> tests;
    std::vector<NodeId> open{variant};
    while (!open.empty()) {
      const NodeId value = open.back();
      open.pop_back();
      const std::size_t outputs = graph_[value].output_count();
      for (uint32_t port = 0; port < outputs; ++port) {
        for (const graph::InPort& reader : graph_.consumers({value, port})) {
          if (graph_[reader.node].kind == NodeKind::Switch && reader.port == 0) {
            open.push_back(reader.node);
          } else if (reader.port == 0 && is_test(reader.node)) {
            tests.push_back(reader.node);
          } else {
            return std::nullopt;
          }
        }
      }
    }
    return tests;
  }

  bool is_test(NodeId comparison) const {
    return is_equality(graph_[comparison]) && ownership_.variant_test({comparison, 0}) &&
           is_steered_in_own_block(comparison) && !loop_predicates_.contains(comparison) &&
           lifetimes_.reads[comparison.index()] == 1;
  }

  /// What the conditional tests, as a branch does.
  std::optional<Ownership::VariantTest> test_of(const Conditional& conditional) const {
    const auto test = ownership_.variant_test(conditional.predicate);
    if (!test || test->variant >= graph_[test->data].type.data->variants.size()) return std::nullopt;
    const Node& comparison = graph_[structure_.origin(conditional.predicate)];
    return found_.tests.contains(structure_.origin(comparison.inputs[0])) ? test : std::nullopt;
  }

  std::optional<uint32_t> next_test(const Conditional& conditional) const {
    const auto test = test_of(conditional);
    if (!test || !conditional.sides[1].valid()) return std::nullopt;
    const std::vector<Item>& items = structure_[conditional.sides[1]].items;
    if (items.empty() || items.back().kind != Item::Kind::Conditional) return std::nullopt;
    const Conditional& next = structure_.conditionals[items.back().index];
    const auto next_test = test_of(next);
    if (!next_test || next_test->data != test->data) return std::nullopt;
    const bool is_all = std::ranges::all_of(items.begin(), items.end() - 1, [&](const Item& item) {
      if (item.kind != Item::Kind::Op) return false;
      const NodeId id(item.index);
      return id == structure_.origin(next.predicate) || found_.tests.contains(id);
    });
    return is_all ? std::optional(items.back().index) : std::nullopt;
  }

  /// What the operation adds to its first operand, where only calls of its block get the sum.
  std::optional<int16_t> passed_plus(NodeId id) const {
    const Node& node = graph_[id];
    if (node.inputs.size() != 2 || !has_kernel(graph_, structure_, node)) return std::nullopt;
    const auto readers = graph_.consumers({id, 0});
    const auto passes = [&](const graph::InPort& reader) {
      if (graph_[reader.node].kind != NodeKind::Call) return false;
      const std::vector<NodeId>& arguments = graph_[graph_[reader.node].site].calls;
      const bool has_room = arguments.size() != kMostPassed || arguments.back() != reader.node;
      return has_room && structure_.block_of[reader.node.index()] == structure_.block_of[id.index()];
    };
    const bool all_pass = !readers.empty() && lifetimes_.reads[id.index()] == readers.size() &&
                          std::ranges::all_of(readers, passes);
    return all_pass ? plus_of(node) : std::nullopt;
  }

  std::optional<int16_t> plus_of(const Node& node) const {
    const Kernel kernel = kernel_of(node);
    const bool adds = kernel == Kernel{kernels::binary<kernels::Add, int64_t, int64_t>};
    const bool subtracts = kernel == Kernel{kernels::binary<kernels::Sub, int64_t, int64_t>};
    const Node& first = graph_[structure_.origin(node.inputs[0])];
    const Node& second = graph_[structure_.origin(node.inputs[1])];
    if (!(adds || subtracts) || first.kind == NodeKind::Const || second.kind != NodeKind::Const ||
        second.parameter >= 0) {
      return std::nullopt;
    }
    const int64_t number = second.constant.as<int64_t>();
    if (number < -INT16_MAX || number > INT16_MAX) return std::nullopt;
    return static_cast<int16_t>(adds ? number : -number);
  }

  const Graph& graph_;
  const Structure& structure_;
  const Lifetimes& lifetimes_;
  const Ownership& ownership_;
  const OverflowMode overflow_;
  std::unordered_set<NodeId> loop_predicates_;
  Placements found_;
};

}  // namespace

Placements find_placements(const Graph& graph, const Structure& structure, const Lifetimes& lifetimes,
                           const Ownership& ownership, OverflowMode overflow) {
  return PlacementFinder(graph, structure, lifetimes, ownership, overflow).run();
}

}  // namespace hiaton::exec::direct
