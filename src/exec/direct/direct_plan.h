// The direct functions of a static tagged graph, compiled to threaded code. Immutable; any number of runs may
// share it.
//
// Every function that forks, or calls one that does, has two forms with the same slots: the sequential one
// runs its calls one after the other, the forking one makes calls that do not need each other free to be
// stolen. Where enough calls are free
// already, the forking form goes on in the sequential one; a worker that somebody asks for work goes the
// other way.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "exec/direct/instruction.h"
#include "exec/direct/tensor_operation.h"
#include "hiaton/graph.h"
#include "hiaton/run.h"

namespace hiaton::exec::direct {

/// An argument of a call: what stands in a slot, plus a small number where the argument is an i64; or, where
/// the slot is kNoSlot, the number alone.
struct Argument {
  uint16_t slot = 0;
  int16_t plus = 0;

  bool is_constant() const { return slot == kNoSlot; }
  void pass(const Slot* from, Slot* to) const {
    to->bits = (is_constant() ? 0 : from[slot].bits) + static_cast<uint64_t>(int64_t{plus});
  }
};
/// How many arguments fit into a call instruction.
inline constexpr std::size_t kMostPassed = 4;

/// A call with more arguments than fit into its instruction.
struct CallList {
  const Instruction* target = nullptr;
  std::vector<Argument> arguments;
};

/// Results of a return that gives several.
struct ReturnList {
  std::vector<uint16_t> slots;
};

/// How a Take instruction takes a data value apart: what its fields hold, and where they go. The slot of a
/// field that nothing reads, and behind which nothing is counted, is kNoSlot.
struct TakeList {
  struct Field {
    uint16_t slot;
    FieldKind kind;
  };
  std::vector<Field> fields;
};

/// A data value of more fields than fit into an instruction.
struct MakeList {
  uint64_t header;
  std::vector<uint16_t> slots;
};

/// Calls of functions and tasks that do not need each other, in the forking form of a function.
struct Group {
  struct Call {
    const Instruction* entry = nullptr;  ///< where the callee's forking form begins
    const Instruction* resume =
        nullptr;  ///< a StolenReturn; the instruction before it names the result slots
    std::vector<Argument> arguments;
    /// By argument: how it is counted; None of those that pass to another worker as they are, data values
    /// among them of which only one reference is ever counted.
    std::vector<FieldKind> kinds;
    std::vector<bool> is_taken_over;  ///< by argument: something counted whose reference becomes the callee's
    std::vector<Type> argument_types{};
    std::vector<Type> result_types{};
  };
  std::vector<Call> calls;
  uint16_t join_slot = 0;               ///< holds the JoinRecord once a call was stolen, else 0
  const Instruction* joined = nullptr;  ///< where the frame goes on when all have returned
};

struct PlanOptions {
  OverflowMode overflow = OverflowMode::Wrap;
  bool forking = false;  ///< make the forking forms
  bool count_regions = false;
  bool traced = false;           ///< say where calls begin and end
  int parallel_iterations = 10;  ///< how many iterations of a loop the forking forms run at once
  /// By function: the process that its frames are on; empty: all are on one. Calls between two are sent.
  std::vector<int> homes{};
  /// By function: all copies of it, which calls of the first of them are balanced over; as of HomedGraph.
  std::vector<std::vector<graph::FunctionId>> copies{};

  std::span<const graph::FunctionId> copies_of(graph::FunctionId function) const {
    if (function.index() >= copies.size()) return {};
    return copies[function.index()];
  }
  bool is_sent(const graph::Graph& graph, graph::CallSite site) const {
    if (homes.empty()) return false;
    const graph::FunctionId callee = graph[site].callee;
    return homes[graph[site].caller.index()] != homes[callee.index()] || !copies_of(callee).empty();
  }

  friend bool operator==(const PlanOptions&, const PlanOptions&) = default;
};

/// A function that other processes call.
struct SentFunction {
  int home = 0;
  const Instruction* entry = nullptr;  ///< where its forking form begins; null: nobody sends calls to it
  std::vector<Type> argument_types{};
  std::vector<Type> result_types{};
  std::vector<bool> is_taken_over{};  ///< by argument: see Group::Call
  /// All copies of the function, by number, where a call of this one goes to any of them; else this one.
  std::vector<uint32_t> copies{};
};

struct Plan {
  struct Body {
    /// What of the function it is: see outlined_task.h; or what stands for it on other processes.
    enum class Part : uint8_t { Whole, Iteration, Branch, Sent };

    graph::FunctionId function;
    bool forking = false;
    Part part = Part::Whole;
    bool to_hole = false;  ///< its result goes to the address that its last argument is
    uint32_t begin = 0;    ///< index of its Header
    uint32_t end = 0;
    uint16_t slots = 0;  ///< how many slots its frames have

    bool is_whole() const { return part == Part::Whole; }
  };

  std::vector<Instruction> code;
  std::vector<Opcode> opcodes;         ///< by instruction
  std::vector<graph::NodeId> nodes;    ///< by instruction: what it came from; invalid where nothing can fail
  std::vector<graph::CallSite> sites;  ///< by instruction: of calls and of the names of stolen calls' results
  std::vector<const Group*> groups_at;  ///< by instruction: calls that belong to a group
  /// By instruction: the parameters of its function, of the first 64, whose slots still hold them: bit i for
  /// parameter i. A data value may have been handed on.
  std::vector<uint64_t> params_held;
  std::vector<Body> bodies;  ///< in the order of the code
  std::deque<CallList> call_lists;
  std::deque<ReturnList> return_lists;
  std::deque<Group> groups;
  std::deque<TakeList> take_lists;
  std::deque<MakeList> make_lists;
  std::deque<TensorOperation> tensor_operations;
  std::deque<std::vector<int32_t>> jump_tables;      ///< `jumps` of instructions
  std::deque<std::vector<int64_t>> interval_begins;  ///< `begins` of instructions
  bool has_data = false;                             ///< its functions hold data values
  bool has_tensors = false;                          ///< its functions hold tensors
  std::vector<RegionStats> regions;                  ///< what Count instructions count; firings 0
  std::vector<bool> region_is_body;                  ///< by region: it counts calls of a function
  std::vector<SentFunction> sent;                    ///< by function; empty: the plan is of one process
  const Instruction* entry = nullptr;       ///< where main begins; null where the plan does not hold main
  std::vector<const Instruction*> entries;  ///< by function: of its sequential form; null where it has none
  std::vector<bool> prints;                 ///< by function: it, or what it calls, may print
  const Instruction* halt = nullptr;        ///< what main returns to
  uint16_t result_count = 0;

  uint32_t index_of(const Instruction* pc) const { return static_cast<uint32_t>(pc - code.data()); }
  Opcode opcode(const Instruction* pc) const { return opcodes[index_of(pc)]; }
  const Body& body_at(const Instruction* pc) const;
  /// What a call or tail call passes; `in_instruction` is where it is put unless it stands in a list.
  std::span<const Argument> arguments_of(const Instruction* call,
                                         std::array<Argument, kMostPassed>& in_instruction) const;
  /// What a call or tail call in the frame whose slots these are passes: as much as there is room for in
  /// `to`. Gives how many that are.
  std::size_t read_passed(const Slot* slots, const Instruction* call, std::span<Slot> to) const;
};

/// Bytes of a frame with this many slots.
constexpr std::size_t frame_bytes(std::size_t slots) {
  return 32 + slots * sizeof(Slot);
}

/// The plan of a graph, or null and in `reason` why the graph cannot have one: its Switch and Merge nodes do
/// not nest, or a function needs too many slots.
std::shared_ptr<const Plan> compile(const graph::Graph& graph, const PlanOptions& options,
                                    std::string& reason);

/// The same for these functions alone, which call no others.
std::shared_ptr<const Plan> compile(const graph::Graph& graph, const std::vector<bool>& functions,
                                    const PlanOptions& options, std::string& reason);

/// The code, for people: one line an instruction. `s0` is slot 0 of the frame.
std::string to_text(const Plan& plan, const graph::Graph& graph);

}  // namespace hiaton::exec::direct
