// Turns the structure of one function into instructions.
#pragma once

#include "exec/lifetimes.h"
#include "exec/plan.h"
#include "exec/structure.h"

namespace hiaton::exec {

/// A place in the code that must hold the address of a function's entry once all code stands.
struct EntryReference {
  enum class Kind : uint8_t { Instruction, CallList, GroupCall } kind;
  uint32_t index;     ///< of the instruction, call list or group
  uint32_t call = 0;  ///< within the group
  graph::FunctionId callee;
  bool forking;
};

/// A place in the code that must hold the address of another instruction once all code stands.
struct CodeReference {
  uint32_t group;
  uint32_t call;  ///< kJoined: Group::joined, else Group::calls[call].resume
  uint32_t instruction;

  static constexpr uint32_t kJoined = UINT32_MAX;
};

/// What the functions of one plan share while they are emitted.
struct EmitContext {
  const graph::Graph& graph;
  const Structure& structure;
  const Lifetimes& lifetimes;
  const PlanOptions& options;
  Plan& plan;
  std::vector<bool> has_groups{};  ///< by function: some of its calls do not need each other
  std::vector<EntryReference> entries{};
  std::vector<CodeReference> code_references{};
  std::vector<BlockId> region_blocks{};  ///< by region, for their names
};

struct TooManySlots {
  graph::FunctionId function;
};

/// Where the groups of calls of a function begin in its sequential form, in the order of emission.
using GroupStarts = std::vector<uint32_t>;

/// Appends the body of `function`. The sequential form fills `starts`, the forking form (emitted second)
/// reads it. Throws TooManySlots.
void emit_body(EmitContext& context, graph::FunctionId function, bool forking, GroupStarts& starts);

}  // namespace hiaton::exec
