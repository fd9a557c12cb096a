// The statements of a schedule: what a body does, in order, and who holds the counted values meanwhile.
//
// Counted values are data values and tensors. At each point a frame holds such a value, with a reference of
// its own, or borrows it from somebody who holds it longer (see ownership.h). The statements say where a
// reference is moved on, where another one is taken, and where one is let go of. Values are nodes of the
// graph. Which slots of the frame they have, assign_slots() adds; which instructions a statement becomes,
// whoever emits code decides.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "exec/direct/compile/outlined_task.h"
#include "exec/direct/compile/ownership.h"
#include "exec/structure.h"

namespace hiaton::exec::direct {

struct Statement;

/// Statements in their order. A class, since statements hold statements: its members are defined where a
/// Statement is complete.
class Statements {
 public:
  Statements();
  Statements(Statements&& other) noexcept;
  Statements& operator=(Statements&& other) noexcept;
  ~Statements();

  void add(Statement statement);
  const Statement* begin() const;
  const Statement* end() const;
  Statement* begin();
  Statement* end();
  /// The last one, which there must be.
  const Statement& back() const;

 private:
  std::vector<Statement> all_;
};

/// What it takes to hand counted values on: to calls, new values, results, ends of sides and loop variables.
struct Handover {
  std::vector<graph::NodeId> retained;  ///< before; one may stand there several times
  std::vector<graph::NodeId> moved;     ///< the frame's reference goes along: the frame holds them no more
};

/// The frame lets go of a counted value that nothing reads any more.
struct Drop {
  enum class Kind : uint8_t {
    Borrowed,   ///< it was borrowed: nothing is counted
    Immediate,  ///< its variant has no fields here: nothing is counted
    Release,
    TakeApart  ///< `fields` are still read: they become the frame's own, and the rest goes
  };

  Kind kind;
  graph::NodeId value;
  std::vector<graph::NodeId> fields{};
};

/// What happens to counted values where a body, a side or an iteration ends.
struct Leave {
  Handover handover;
  std::vector<Drop> drops;  ///< after it
};

/// What a branch looks at.
struct Condition {
  enum class Kind : uint8_t {
    Value,       ///< the predicate, which was computed before
    Comparison,  ///< the branch compares
    Both,        ///< the branch compares twice: both must hold
    Variant      ///< the branch tests the variant of a data value
  };

  Kind kind = Kind::Value;
  graph::OutPort predicate;
  Ownership::VariantTest test{};  ///< the test of a Variant
};

/// An argument of a call.
struct PassedValue {
  graph::OutPort port;
  int16_t plus = 0;     ///< the call adds it to the value
  graph::NodeId sum{};  ///< the operation that this stands for; invalid where nothing is added
};

/// A call of a function, or of an outlined task.
struct ScheduledCall {
  graph::CallSite site{};
  std::optional<std::size_t> task{};  ///< in Schedule::tasks, in place of the function of the site
  bool to_hole = false;               ///< runs the callee's hole form: see TailConstructor
  std::vector<PassedValue> arguments{};
  std::vector<bool> is_taken_over{};  ///< by argument: a counted value whose reference the callee gets
};

/// A new value that the result of a call, or a value made before, becomes a field of.
struct HoleIn {
  graph::NodeId make;
  std::size_t field;
};

namespace statements {

/// The block is entered, in plans that count that.
struct Count {
  BlockId block;
};

/// An operation.
struct Compute {
  enum class Where : uint8_t { Here, InReturn, InBranch, InCall };

  graph::NodeId node;
  Where where = Where::Here;  ///< otherwise what reads it computes it, and nothing happens here
  Handover handover{};        ///< hands the operands over
  std::vector<bool> takes{};  ///< by operand of an operation on tensors: it lets go of the operand
};

/// Fields of one data value are read together.
struct ReadFields {
  graph::NodeId node;  ///< the first of the operations that read them
  graph::NodeId value;
  uint32_t variant = 0;
  bool requires_variant = false;  ///< it may be of another one, which is a fault
  bool takes_apart = false;       ///< nothing reads the value any more: the fields become the frame's own
  std::vector<graph::NodeId> fields{};   ///< the fields that something reads
  std::vector<graph::NodeId> earlier{};  ///< fields that were borrowed before and become the frame's own too
};

/// Calls that do not need each other.
struct Calls {
  std::vector<ScheduledCall> calls{};
  Handover handover{};
  bool is_group = false;  ///< they may be stolen; otherwise they run one after the other
  bool forking = false;   ///< one after the other, they run the forking forms of their callees
  uint64_t group = 0;     ///< the key of the first item: says where the sequential form stands
};

/// Where others of the same group are not calls, the sequential form notes where it stands.
struct GroupBegins {
  uint64_t group;
};

/// Branches and loops with calls, each as a task, that may be stolen beside each other and beside calls.
struct Fork {
  /// A branch that calls something on one side alone: where the other is taken, forking is not worth it.
  struct Worth {
    Condition condition;
    int side;  ///< the side that calls: 0 where the condition holds, 1 where not
  };
  /// A value that a call or task gives.
  struct Given {
    enum class To : uint8_t { Nobody, Readers, Release };

    graph::NodeId value;
    To to;
  };

  std::vector<ScheduledCall> calls{};
  Handover handover{};
  std::vector<Worth> worth{};  ///< empty: it is always worth it
  std::vector<Given> given{};  ///< what each of the calls gives, in their order
  std::vector<Drop> drops{};   ///< after the calls have returned
  Statements alone{};  ///< what runs in order where there is no room for a fork, or where it is not worth it
  uint64_t group = 0;  ///< as in Calls
};

/// A conditional whose values something behind it reads.
struct If {
  struct Side {
    Statements statements;
    Leave leave;  ///< hands the values of the joins over
  };

  uint32_t conditional;  ///< in Structure::conditionals
  Condition condition;
  std::size_t tests = 0;   ///< so many conditionals from here on can be one jump by the variant of a value
  int first = 0;           ///< the side whose code comes first
  bool has_other = false;  ///< whether the other side does anything
  Side sides[2] = {};      ///< where the condition holds, where not
};

/// A conditional with what an outlined task takes of its sides, or what runs ahead of it.
struct SplitIf {
  uint32_t conditional;
  Condition condition;
  std::vector<Join> joins;
  Statements sides[2] = {};
  std::vector<Drop> drops[2] = {};  ///< behind the values of the joins
};

/// How a loop runs iterations ahead; `scheduled` tells which parts an iteration has. Each place of the window
/// does the same.
struct WindowOfLoop {
  Statements condition;
  Condition predicate;
  Statements ahead;
  Handover to_calls;
  Handover to_next;  ///< the variables that need no call take their next values
  std::vector<ScheduledCall> calls;
  std::vector<Drop> returned;  ///< what the calls have read
  Statements rest;
  Leave leave;  ///< the other variables take their next values
};

struct Loop {
  graph::LoopId loop;
  Handover initial{};
  std::vector<Drop> before{};
  std::unique_ptr<WindowOfLoop> window{};  ///< null: the loop has none here
  bool condition_first = false;            ///< the body reads what the condition computes
  Statements condition{};
  Condition predicate{};
  Statements body{};
  Leave next{};  ///< before the variables take their next values
  std::vector<Drop>
      at_end{};  ///< only where the condition comes first: drops what it has made and the body has let go of
  std::vector<Drop> after{};
};

/// The ends of a body.
struct Return {
  std::vector<graph::OutPort> results;
  graph::NodeId operation;  ///< what the return computes; invalid: nothing
  Leave leave;
};
struct TailCall {
  ScheduledCall call;
  Leave leave;
};
/// A call whose result becomes a field of what is made before it: the callee's hole form writes it there.
/// The hole form of this function returns by it, every other form returns the outermost value.
struct TailConstructor {
  ScheduledCall call;
  std::vector<HoleIn> makes;  ///< innermost first
  Leave leave;
  bool forking;
};
/// A conditional each of whose sides ends by itself.
struct TailIf {
  uint32_t conditional;
  Condition condition;
  std::size_t tests = 0;
  int first = 0;
  Statements sides[2] = {};
  bool only_returns[2] = {};  ///< the side gives a value that is known before, and lets go of nothing
};

}  // namespace statements

/// The slots that a statement uses beside those of what it reads; those of the statements inside it, they
/// have themselves. Where several are in a row, only the first is named.
struct StatementSlots {
  /// Where the values stand that it gives: the results of each call, the fields that are read, joins, loop
  /// variables.
  std::vector<uint32_t> values{};
  /// What holds something only while the statement runs: constants that an instruction does not hold itself,
  /// fields that nobody reads, results of a fork before they go to their readers. In the order in which the
  /// statement comes to need them.
  std::vector<uint32_t> temporaries{};
};

/// The slots of a body that are not those of a statement.
struct BodySlots {
  std::vector<uint32_t> entered{};       ///< those of a function's parameters, or of what a task captures
  std::map<int32_t, uint32_t> loaded{};  ///< by the number of the learned parameter that the body reads
  std::optional<uint32_t> hole{};        ///< the address that a hole form returns by
  std::optional<uint32_t> join{};        ///< says whether a call of a group was stolen
  StatementSlots at_end{};               ///< those that a task lets go of when it returns
  uint32_t count = 0;                    ///< how many slots the frame has
};

struct Statement {
  std::variant<Drop, statements::Count, statements::Compute, statements::ReadFields, statements::Calls,
               statements::GroupBegins, statements::Fork, statements::If, statements::SplitIf,
               statements::Loop, statements::Return, statements::TailCall, statements::TailConstructor,
               statements::TailIf>
      what;
  /// One; inside a window, one for each of its places.
  std::vector<StatementSlots> slots{};
};

inline Statements::Statements() = default;
inline Statements::Statements(Statements&& other) noexcept = default;
inline Statements& Statements::operator=(Statements&& other) noexcept = default;
inline Statements::~Statements() = default;
inline void Statements::add(Statement statement) {
  all_.push_back(std::move(statement));
}
inline const Statement* Statements::begin() const {
  return all_.data();
}
inline const Statement* Statements::end() const {
  return all_.data() + all_.size();
}
inline Statement* Statements::begin() {
  return all_.data();
}
inline Statement* Statements::end() {
  return all_.data() + all_.size();
}
inline const Statement& Statements::back() const {
  return all_.back();
}

/// An outlined task as it is called: like a function, with what it captures as its arguments.
struct ScheduledTask {
  enum class Part : uint8_t { Iteration, Branch };

  graph::FunctionId function;
  Part part;
  OutlinedTask task;
  uint32_t depth;  ///< how many forks of branches and loops are around it
  Statements statements{};
  Leave leave{};  ///< hands the results over
  BodySlots slots{};
};

/// A body of a function: one of its forms.
struct ScheduledBody {
  graph::FunctionId function;
  bool forking;
  bool to_hole;  ///< the hole form: see TailConstructor
  Statements statements{};
  std::size_t first_task = 0;  ///< its tasks are these of Schedule::tasks
  std::size_t end_task = 0;
  BodySlots slots{};
};

}  // namespace hiaton::exec::direct
