// Which operations have no instruction of their own, since what reads them computes them too, and which
// branches are one jump.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "exec/direct/compile/lifetimes.h"
#include "exec/direct/compile/ownership.h"
#include "exec/structure.h"
#include "hiaton/run.h"

namespace hiaton::exec::direct {

/// An operation whose value is needed in a slot, by an outlined task or by what follows one, has an
/// instruction all the same; then so has what would compute it.
struct Placements {
  /// Comparisons, and conjunctions of two, that only steer conditionals or one loop of their block: they are
  /// parts of the branch. With each the conjunction that alone reads it; none where it is read by the branch.
  std::unordered_map<graph::NodeId, graph::NodeId> in_branch;
  std::unordered_set<graph::NodeId> conjunctions;  ///< the conjunctions among them: each is two branches
  /// Sums of an i64 and a small constant that only calls of their block get, with the constant: the calls
  /// compute them.
  std::unordered_map<graph::NodeId, int16_t> in_call;
  /// Variants of data values that are read by comparisons alone which are parts of branches, with those: the
  /// branches test the values.
  std::unordered_map<graph::NodeId, std::vector<graph::NodeId>> tests;
  /// By conditional that tests the variant of a value: the one that is all that its other side does, where
  /// that tests the same value. Several are one jump through a table.
  std::unordered_map<uint32_t, uint32_t> next_tests;
};

Placements find_placements(const graph::Graph& graph, const Structure& structure, const Lifetimes& lifetimes,
                           const Ownership& ownership, OverflowMode overflow);

}  // namespace hiaton::exec::direct
