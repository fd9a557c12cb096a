// Parts of a function that run like calls of their own.
//
// Calls that stand in branches or inner loops of a loop's body, or that need each other's results, but
// nothing that calls of earlier iterations gave: all of them together, with what they need, are the task of
// an iteration. A branch or a loop with calls that does not need other calls of its block is a task by
// itself. A task has a frame of its own, so that another worker can run it while the function waits.
#pragma once

#include <optional>
#include <unordered_set>
#include <vector>

#include "exec/structure.h"

namespace hiaton::exec::direct {

struct TaskItem {
  Item item;
  /// A conditional of which there are but these items of its sides, and these of the values that it gives;
  /// what follows decides the same predicate once more, for the others.
  bool is_split = false;
  std::vector<TaskItem> sides[2] = {};
  std::vector<Join> joins = {};
};

/// Items that a task has done.
class ItemSet {
 public:
  void insert(const Item& item) { keys_.insert(item.key()); }
  bool contains(const Item& item) const { return keys_.contains(item.key()); }

 private:
  std::unordered_set<uint64_t> keys_;
};

struct OutlinedTask {
  std::vector<TaskItem> items;
  std::vector<graph::NodeId> captures;  ///< values that it reads, computed before it
  /// Values that what follows reads. One on a side that was not taken is anything.
  std::vector<graph::NodeId> results;
  ItemSet done;
  std::unordered_set<BlockId> split_sides;
};

/// The task of an iteration of `loop`; nothing where it would hold but calls of `calls`. `ahead`: items of
/// the body that are done before. `variable_waits`, by variable: whether its value needs a call of an earlier
/// iteration.
std::optional<OutlinedTask> find_outlined_task(const graph::Graph& graph, const Structure& structure,
                                               const LoopShape& loop, const std::vector<TaskItem>& ahead,
                                               const std::vector<graph::CallSite>& calls,
                                               const std::vector<bool>& variable_waits);

/// A conditional or a loop, and nothing else, as a task.
OutlinedTask whole_task(const graph::Graph& graph, const Structure& structure, const Item& item);

}  // namespace hiaton::exec::direct
