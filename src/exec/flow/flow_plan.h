// What flow runs: each body of the graph as items that fire when what they wait for has come.
//
// Flow is one of the two machines of the production executor; direct code is the other. A tag is a frame in
// both; but in flow a body is not run from its begin to its end: its items fire in any order that their
// tokens allow, so that the same region under many tags can run as one kernel.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exec/flow/compile/scopes.h"
#include "exec/outline_placed.h"
#include "hiaton/graph.h"

namespace hiaton::exec::direct {
struct Plan;
}

namespace hiaton::exec::flow {

/// The place that a value comes from.
struct Source {
  enum class From : uint8_t {
    Slot,       ///< a slot of the frame
    Constant,   ///< a constant of the plan
    Parameter,  ///< a parameter of the program
    Step,       ///< an earlier step of the same region
  };
  From from = From::Slot;
  uint32_t index = 0;
  /// Slot, of calls, ends of branches, returns and data values that are made: nobody reads it after them.
  bool last = false;
};

/// What a slot of a frame holds.
enum class SlotKind : uint8_t { Scalar, Tensor, Data };
inline constexpr std::size_t kSlotKinds = 3;
inline SlotKind slot_kind(const Type& type) {
  if (type.is_data()) return SlotKind::Data;
  return type.is_tensor() ? SlotKind::Tensor : SlotKind::Scalar;
}

/// An input of a region, which stands in the slots of the frames of a batch.
struct Gather {
  uint32_t slot;
  std::optional<uint32_t> buffer;  ///< one of the region's; none: memory of its own
};

/// One operation of a region.
struct Step {
  enum class Code : uint8_t {
    Kernel,
    Variant,
    Field,
    FieldOrZero,
    Make,
    Copy,
    Values,  ///< whatever the kernel on values does
    Print,
    Tensor,
    View,     ///< elements of the operand
    Product,  ///< the product of the first operand and a parameter of rank 2, plus a third operand if there
              ///< is one
    Accumulate,
    GatherTogether,  ///< the operands, inputs of the region, are contiguous where they are gathered
    Row,             ///< the operands, results of elementwise steps, are contiguous where they are computed
    Nothing,         ///< a later step does it
  };
  Code code;
  graph::NodeId node;
  SlotKind kind = SlotKind::Scalar;  ///< what the result is
  std::vector<Source> operands{};
  std::optional<uint32_t>
      slot{};               ///< where the frame keeps the result, if anything outside the region needs it
  Kernel kernel = nullptr;  ///< Kernel
  LineKernel elementwise =
      nullptr;               ///< Tensor, of operands of the result's shape; null: the kernel of the operation
  bool shared = false;       ///< the result is one for all frames of a batch
  bool fixed_shapes = true;  ///< the dimensions of operands and result are known before the run
  bool transposed = false;   ///< Product: with the transposed parameter
  bool is_result = false;    ///< the program gives the result as one of its own
  bool takes = false;        ///< Tensor: nobody reads the slot of the first operand after it
  uint32_t variant = 0;      ///< Field, FieldOrZero, Make: that the data value has or gets
  FieldLayout layout{};      ///< Make: of the data value
  uint32_t field = 0;        ///< Field, FieldOrZero: which of its fields
  int64_t offset = 0;  ///< View: of the first element in the operand; in a row: of the result, in results
  std::optional<uint32_t> row{};  ///< a step of that code, whose operand the result of this step is
  /// This step and those behind it that run together, some instances at a time: elementwise steps, with the
  /// views between and the rows behind them.
  uint32_t together = 1;
  std::optional<uint32_t> buffer{};  ///< the buffer of the region where the result stands while steps read it
  std::vector<Gather> gathers{};  ///< inputs of the region that nothing before this step and those that run
                                  ///< together with it reads, but these do
};

/// Operations that fire together. Either scalar and data operations, which run at once in their frame, or
/// tensor operations, which run for many frames as one batch.
struct Region {
  uint32_t function;
  uint32_t item;
  std::vector<Step> steps;
  std::vector<uint32_t> inputs;  ///< slots that its steps read
  std::vector<uint32_t> kept{};  ///< steps whose results the frame keeps
  std::vector<uint32_t> held{};  ///< steps whose tensors or data values go with its end
  bool batched = false;
  bool fixed_shapes = true;            ///< the shapes of all steps are known before the run
  std::vector<std::size_t> buffers{};  ///< bytes of an instance; they serve several steps
  /// How many frames of a batch run all steps before the next ones run any, so that what the steps hand on
  /// stays in the cache.
  std::size_t chunk = std::numeric_limits<std::size_t>::max();
  /// Batches of a smaller number run first: they cannot become ready again because one of a larger number
  /// ran.
  uint32_t priority = 0;
  bool recursive = false;  ///< through calls it can become ready again because it ran
  /// A slot that batches of another region make: this one follows their order. None: any order.
  std::optional<uint32_t> order{};
  std::string name;  ///< where in the function, for people
};

enum class ItemKind : uint8_t {
  Params,    ///< the arguments of a phase have come
  Side,      ///< a branch takes this side
  Returned,  ///< the results of a phase of a call have come
  Region,    ///< runs operations
  Branch,    ///< decides a predicate
  Call,      ///< passes the arguments of a phase to the callee
  Join,      ///< the results of one side of a branch become those of the branch
  Return,    ///< passes the results of a phase to the caller
};

/// The counter of an item that waits for one other, or for none.
constexpr uint16_t kNoCounter = UINT16_MAX;

/// Fires once in a frame, when `waits` others have.
struct Item {
  ItemKind kind;
  uint16_t counter = kNoCounter;  ///< the frame's counter of those that are to come
  uint32_t index;                 ///< the number of what it does, by kind
  uint32_t waits = 0;
  std::vector<uint32_t> wakes;       ///< items that wait for it
  std::vector<uint32_t> releases{};  ///< slots of tensors that nobody reads any more
};

struct Branch {
  Source predicate;
  std::optional<uint32_t> sides[2];  ///< items, true first; none: nothing depends on that side
};

struct Side {
  uint32_t items = 0;  ///< how many can fire now, all kinds but Params, Side and Returned
};

struct Move {
  Source from;
  uint32_t to;  ///< slot
};

/// Whether another worker should get a call.
enum class Worth : uint8_t {
  Nothing,  ///< it takes less than giving it away, or is a tail call
  Work,     ///< it runs tensor operations
  Growth,   ///< it calls what calls itself: nobody knows how much it is
};

struct Call {
  uint32_t site;
  uint32_t phase;
  uint32_t callee;
  std::vector<Move> arguments;  ///< to slots of the callee
  uint32_t params;              ///< item of the callee
  ScopeId scope = kRoot;        ///< the branch side in which it stands
  bool is_direct = false;       ///< the callee runs in direct code, to its end
  /// How many items of the frame would only hand on the results of a tail call; 0: it is none.
  uint32_t forwarded = 0;
  Worth worth = Worth::Nothing;
  bool is_sent = false;  ///< the callee is in another process, or has copies, one of which the run chooses
};

struct Join {
  ScopeId side;   ///< the scope whose results these are
  ScopeId outer;  ///< the scope around it
  std::vector<Move> moves;
};

/// Results of a phase, in their order.
struct Return {
  uint32_t phase;
  ScopeId scope = kRoot;  ///< the branch side in which it stands
  std::vector<Source> results;
};

/// How a call site takes results.
struct SitePhase {
  std::optional<uint32_t> returned;            ///< item
  std::vector<std::optional<uint32_t>> slots;  ///< by result
};
struct Site {
  graph::CallSite site;
  std::vector<SitePhase> phases;
};

/// The position of a slot that no item which can fire reads or writes.
constexpr uint32_t kNoPosition = UINT32_MAX;

struct Function {
  graph::FunctionId id;
  std::vector<Item> items;
  std::vector<Branch> branches;
  std::vector<Side> sides;
  std::vector<Call> calls;
  std::vector<Join> joins;  ///< in pairs: of both ends of a branch, one fires
  std::vector<Return> returns;
  std::vector<Site> sites;  ///< its call sites; a frame has a child for each
  std::vector<SlotKind> slots;
  std::vector<Type> slot_types;
  std::vector<ScopeId> slot_scopes;  ///< the scopes in which the slots are written
  std::vector<Scope> scopes;
  std::vector<uint32_t> positions;  ///< where slots stand in a frame, among those of their kind
  std::array<uint32_t, kSlotKinds> position_counts{};  ///< by kind
  std::vector<uint32_t> params;                        ///< slots, by parameter
  std::vector<uint32_t> param_items;                   ///< by phase
  /// How many items fire without a branch, kinds as in Side::items, and phases that come after the first.
  uint32_t root_items = 0;
};

struct Plan {
  std::vector<Function> functions;  ///< as in the graph; those of direct code have no items
  std::vector<Region> regions;
  std::vector<Value> constants;
  std::shared_ptr<const direct::Plan>
      direct;  ///< the plan of functions that run in direct code; null: none do
  // Where functions are placed on several processes; else empty. By function:
  std::vector<int> homes;                     ///< the process that runs it
  std::vector<std::vector<uint32_t>> copies;  ///< functions with its body, where they are several
};

/// Why a graph has no plan.
struct Unsupported {
  std::string why;
};
/// Throws Unsupported where the graph has loops, which outline_loops() makes calls of, or does not nest.
/// `direct`, by function: those that run in direct code.
Plan compile(const graph::Graph& graph, const std::vector<bool>& direct, OverflowMode overflow);
/// The same for functions that are each at home in one process. Those that another process calls are not
/// direct.
Plan compile(const HomedGraph& homed, const std::vector<bool>& direct, OverflowMode overflow);
/// The same where none does.
Plan compile(const graph::Graph& graph, OverflowMode overflow);

}  // namespace hiaton::exec::flow
