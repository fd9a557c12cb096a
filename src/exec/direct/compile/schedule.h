// What is decided about the functions of a plan before there are instructions.
//
// A schedule is data: whoever makes code reads its statements, and the slots that assign_slots() gives them,
// and decides nothing but instructions. It is made by passes, in this order; each needs the structure, and
// what stands in brackets:
//   1. windows (options): of each loop, what its iterations may run ahead, and how many places the window
//      has. A loop has none where its body reads what its condition computes, or where a place could not
//      hold data values.
//   2. groups (1): the functions with calls, or windows, that others may take. Both forms of such a function
//      have a join slot.
//   3. placements (ownership, lifetimes): see placements.h.
//   4. endings (ownership, lifetimes): by function and form, how it ends on each way through its branches.
//   5. bodies (1 to 4): the statements of each form of each function, and of its outlined tasks: in which
//      order, what runs together, and who holds the counted values meanwhile. See statements.h.
#pragma once

#include <array>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "exec/direct/compile/lifetimes.h"
#include "exec/direct/compile/ownership.h"
#include "exec/direct/compile/placements.h"
#include "exec/direct/compile/statements.h"
#include "exec/direct/compile/window.h"
#include "exec/direct/direct_plan.h"
#include "exec/structure.h"

namespace hiaton::exec::direct {

/// What instructions cannot do.
struct Unplannable {
  std::string reason;
};

/// How a function ends behind some items of a block.
struct Ending {
  enum class Kind : uint8_t {
    Return,           ///< gives `results`
    ReturnOperation,  ///< like Return; the only result is an operation that nothing else reads, part of the
                      ///< return
    TailCall,         ///< the next item, a call, gives all results: it takes over the frame
    TailConstructor,  ///< the next item is a call whose result becomes a field of what is made behind it
    Branch,           ///< the next item, a conditional, is the last: each of its sides ends by itself
  };

  Kind kind = Kind::Return;
  std::size_t items = 0;  ///< how many items of the block stand before what the ending itself is
  std::vector<graph::OutPort> results;  ///< what the function returns by this way
  /// What a ReturnOperation returns; of a Branch, what the sides return where it stands in this block.
  graph::NodeId operation{};
  std::vector<HoleIn> makes{};  ///< the new values of a TailConstructor, innermost first
  std::vector<Ending> sides{};  ///< the endings of a Branch: where its predicate holds, and where not
};

struct ScheduledWindow {
  Window window;
  std::size_t places;  ///< iterations
};

struct Schedule {
  /// By LoopId; none without forking forms.
  std::vector<std::optional<ScheduledWindow>> windows;
  std::vector<bool> has_groups;  ///< by function, of its forking form
  std::vector<bool> forks;       ///< by function: it has groups, or calls one that has, and so on
  Placements placements;
  /// By function, of those that the structure is of: in the sequential form, in the forking one.
  std::array<std::vector<Ending>, 2> endings;
  /// In the order of the code: the sequential form of a function before its forking one. Hole forms come
  /// last, of the functions that have one.
  std::vector<ScheduledBody> bodies;
  std::deque<ScheduledTask> tasks;

  const Ending& ending(graph::FunctionId function, bool forking) const {
    return endings[forking ? 1 : 0][function.index()];
  }
};

/// Throws Unplannable.
Schedule make_schedule(const graph::Graph& graph, const Structure& structure, const Lifetimes& lifetimes,
                       const Ownership& ownership, const PlanOptions& options);

/// Throws InternalError where the schedule breaks the rules of statements.h: which function and form, and
/// what was found. On every way through a body, values are computed once, before they are read; each
/// reference to a counted value is moved on, taken over or let go of once; calls, groups and tasks name what
/// there is; windows do not nest. compile() calls it in debug builds and under sanitizers.
void verify(const Schedule& schedule, const graph::Graph& graph, const Structure& structure,
            const Ownership& ownership);

/// Whether items that do not need each other are tasks, and a group with the calls among them: branches and
/// loops are, calls alone are a group without tasks.
bool are_tasks(std::span<const Item> group);

/// For people: one line a statement, in the order of execution. Names of nodes are those of to_text(graph).
std::string to_text(const Schedule& schedule, const graph::Graph& graph, const Structure& structure);

}  // namespace hiaton::exec::direct
