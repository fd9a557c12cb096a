// Turns the statements of a schedule, whose slots are assigned, into instructions.
#pragma once

#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "exec/direct/compile/counted_types.h"
#include "exec/direct/compile/ownership.h"
#include "exec/direct/compile/schedule.h"
#include "exec/direct/direct_plan.h"
#include "exec/structure.h"

namespace hiaton::exec::direct {

/// A place in the code that must hold the address of a function's entry once all code stands.
struct EntryReference {
  enum class Kind : uint8_t { Instruction, CallList, GroupCall } kind;
  uint32_t index;     ///< the number of the instruction, call list or group
  uint32_t call = 0;  ///< within the group
  graph::FunctionId callee;
  bool forking;
  std::optional<std::size_t> task{};  ///< in Schedule::tasks, in place of the callee
  bool to_hole = false;               ///< the callee's hole form
  bool is_sent = false;               ///< the callee is on another process
};

/// A place in the code that must hold the address of another instruction once all code stands.
struct CodeReference {
  uint32_t group;
  uint32_t call;  ///< kJoined: Group::joined, else Group::calls[call].resume
  uint32_t instruction;

  static constexpr uint32_t kJoined = UINT32_MAX;
};

/// A call that other workers may take, Group::calls[call] of Plan::groups[group], and the values that it
/// gets.
struct PassedValues {
  uint32_t group;
  uint32_t call;
  std::vector<graph::NodeId> values;
};

/// What the functions of one plan share while they are emitted.
struct EmitContext {
  const graph::Graph& graph;
  const Structure& structure;
  const Ownership& ownership;
  const Schedule& schedule;
  const PlanOptions& options;
  Plan& plan;
  std::vector<EntryReference> entries{};
  std::vector<CodeReference> code_references{};
  std::vector<uint32_t> task_begins{};  ///< by task of the schedule: the index of its Header
  std::vector<PassedValues> passed{};
  CountedTypes counted_types{};
  std::unordered_map<BlockId, std::size_t> region_of{};
  std::vector<BlockId> region_blocks{};  ///< by region, for their names
};

/// Where the groups of calls of a sequential form begin: there the forking form goes on where it has no room
/// for a fork. By the key of the first item of the group.
struct SequentialForm {
  std::unordered_map<uint64_t, uint32_t> group_starts;
};

/// Appends the body, and behind it those of its tasks. The sequential form fills `sequential`, the forking
/// form (emitted second) reads it. Throws Unplannable.
void emit_body(EmitContext& context, const ScheduledBody& body, SequentialForm& sequential);

/// Outside of bodies: nothing fails there, and it is no call. Its number.
uint32_t append_instruction(Plan& plan, Opcode opcode);

/// Appends what runs in place of the functions that are called from other processes, in frames there: it
/// sends the arguments, and returns the results when they have come.
void emit_sent_calls(EmitContext& context);

/// Gives instructions from `begin` on, which are the last body of the plan, forms that do what the ones after
/// them, or those that they jump to, do too. These stay in their places, since others may jump to them.
void fuse_instructions(Plan& plan, uint32_t begin);

}  // namespace hiaton::exec::direct
