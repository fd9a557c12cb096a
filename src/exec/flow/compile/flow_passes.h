// The passes that make a plan, in the order in which they run. After the last one the plan is frozen: runs
// read it, nobody changes it. verify() checks what the passes promise; debug builds run it after them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "exec/flow/compile/scopes.h"
#include "exec/flow/flow_plan.h"
#include "exec/structure.h"

namespace hiaton::exec::flow {

/// All of them; `homed`: null where all functions are at home in one process.
Plan compile(const graph::Graph& graph, const HomedGraph* homed, const std::vector<bool>& direct,
             OverflowMode overflow);

/// Structure. Needs to know which functions run in direct code. Promises the blocks of all others, and their
/// nodes in an order in which each stands behind those that it reads and waits for. Throws Unsupported where
/// there are loops, and where branches do not nest.
Structure structure_of(const graph::Graph& graph, const std::vector<bool>& direct);

/// What an item waits for: another item, or a group of merges, of which one side fires.
struct ItemWait {
  uint32_t item = 0;
  std::optional<std::size_t> merges{};
  friend auto operator<=>(const ItemWait&, const ItemWait&) = default;
};

/// Where an operation runs.
struct StepPlace {
  uint32_t region;
  uint32_t step;
};

/// What the compilation of bodies knows of nodes.
struct BodyTables {
  explicit BodyTables(const graph::Graph& graph)
      : scopes(graph), slots(graph), steps(graph), producers(graph) {}

  ScopeTables scopes;
  NodeTable<uint32_t> slots;
  NodeTable<StepPlace> steps;
  NodeTable<ItemWait> producers;
};

/// Body. Needs the nodes of one function in order. Promises its items, each of which waits for all that it
/// reads and for the branch side in which it stands, and its regions, whose steps read slots and earlier
/// steps.
void compile_body(const graph::Graph& graph, const Structure& structure, graph::FunctionId id,
                  std::vector<graph::NodeId> nodes, OverflowMode overflow, BodyTables& tables, Plan& plan);

/// Binding of calls. Needs all bodies, whose calls name parameters and phases by number, and says by function
/// which ones run in direct code. Promises calls that name slots and items of their callee; those of direct
/// callees go on by number.
void bind_calls(const std::vector<bool>& direct, Plan& plan);

/// Places of functions. Needs bound calls. Promises Plan::homes and copies, and Call::is_sent, which no call
/// of direct code is.
void place_functions(const HomedGraph& homed, Plan& plan);

/// Update order. Needs bound calls. Promises that a region with an operation that may change its first
/// operand in place fires after other regions that read it, as far as its rule goes; results stay the same.
void order_updates(const graph::Graph& graph, Plan& plan);

/// Return sinking. Needs ends of branches in pairs. Promises that where a function returns nothing but what
/// one branch gives, each side returns by itself; what would have fired behind the branch is never woken.
void sink_returns(Plan& plan);

/// Dependency reduction. Needs the final items. Promises that no item waits for another one where it also
/// waits for a third that comes after that one; what fires, and after what, stays the same.
void reduce_dependencies(Plan& plan);

/// Counters. Needs the final dependencies. Promises a counter of its own for each item that waits for several
/// others, and none for the rest. Throws Unsupported where a function has too many.
void number_counters(Plan& plan);

/// Fast steps. Needs to know which steps frames keep. Promises the same results but for rounding: a product
/// with a parameter of rank 2 runs on the packed parameter and adds the bias that is all that is ever done to
/// it; a slice of the first axis that no frame keeps is a view; elementwise steps that follow each other run
/// together.
void choose_fast_steps(const graph::Graph& graph, Plan& plan);

/// Priorities. Needs bound calls. Promises that a region of a smaller number never becomes ready because one
/// of a larger number ran, and that regions which depend on each other through calls have one number and are
/// recursive.
void prioritize_regions(Plan& plan);

/// Batch orders. Needs priorities. Promises Region::order: an input that batches of another region of the
/// function make, recursive ones where this one is recursive.
void choose_orders(Plan& plan);

/// Tail calls. Needs bound calls and sunk returns. Promises Call::forwarded, which is not 0 only between
/// functions of one phase in the same process, and never in the program itself.
void find_tail_calls(const graph::Graph& graph, const Structure& structure, Plan& plan);

/// Worth of calls. Needs tail calls. Promises Call::worth, which is Nothing for tail calls, direct calls and
/// later phases.
void weigh_calls(Plan& plan);

/// Last uses. Needs the final dependencies. Promises that nobody reads a slot after the item that takes it
/// (Source::last, Step::takes) or lets go of it (Item::releases). On the backward paths items let go of
/// tensors, so that a step does not hold the values of the forward path and all gradients at once. What is
/// not found stays until the frame goes; so do arguments, which a message may show, but for tensors that a
/// backward path has read, or that a step takes.
void find_last_uses(const graph::Graph& graph, Plan& plan);

/// Results. Needs the returns of the program. Promises Step::is_result for the batched steps whose tensors it
/// gives.
void mark_results(const graph::Graph& graph, Plan& plan);

/// Buffers. Needs the final steps. Promises which inputs are gathered before each step (Step::gathers), in
/// which buffers of their region gathered inputs and results stand where shapes are fixed (Region::buffers),
/// so that those which are not alive at once share one, and how large the chunks are in which a region runs
/// (Region::chunk). Results that frames keep have no buffer.
void share_buffers(const graph::Graph& graph, Plan& plan);

/// Positions of slots. Needs the final items. Promises a position for each slot that an item which can fire
/// reads or writes; two slots of a kind share one only where they stand on different sides of a branch.
void place_slots(Plan& plan);

/// Throws InternalError where the plan breaks what the passes promise: which function and item, what was
/// expected and what was found.
void verify(const graph::Graph& graph, const Plan& plan);

// What several passes use -----------------------------------------------------------------------------------

/// Returns the operation as a step that runs in a batch or in its frame. Its operands are not known yet, nor
/// what follows from them.
Step step_of(const graph::Graph& graph, graph::NodeId node, bool is_batched, OverflowMode overflow);

/// Returns the step of the region that may change the tensor in the slot in place where nobody else holds it:
/// the last one of the region that reads it. Null: there is none.
Step* updating_step(const graph::Graph& graph, Region& region, uint32_t slot);

/// Returns the bytes of a tensor whose dimensions are all known.
std::size_t bytes_of(const Type& type);

/// Returns, by item, whether it can fire: whether it begins a phase, a side or the way back of a call, or is
/// woken by an item that can.
std::vector<bool> items_that_can_fire(const Function& function);

}  // namespace hiaton::exec::flow
