// Typed functions with structured control flow: what programs are before they become a graph.
//
// A Function is a set of nested blocks. A block holds nodes in an order in which every operand is defined
// before its use; nodes may use values of the blocks around them. Every value is defined once.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hiaton/initializer.h"
#include "hiaton/op.h"
#include "hiaton/phase.h"
#include "hiaton/shared_string.h"
#include "hiaton/small_vector.h"
#include "hiaton/source.h"
#include "hiaton/strong_id.h"
#include "hiaton/type.h"
#include "hiaton/value.h"

#pragma GCC visibility push(default)
namespace hiaton::ir {

using ValueId = StrongId<struct ValueKind>;
using NodeId = StrongId<struct NodeIdKind>;
using BlockId = StrongId<struct BlockKind>;
using FunctionId = StrongId<struct FunctionKind>;
using ValueIds = SmallVector<ValueId, 4>;

enum class NodeKind : uint8_t {
  Const,   ///< no operands; one result
  Param,   ///< a parameter of the module, attributes[0]; no operands; one result
  Op,      ///< an operation of the catalogue; one result
  Call,    ///< operands: the arguments; results: the results of the callee, those of its first phase
  Resume,  ///< operands: the arguments of the next phase of an earlier Call, `of`; results: those of the
           ///< phase
  If,      ///< operand: a bool; blocks: then, else (no parameters); results: as each block's results. Without
           ///< operand: takes the side that an earlier If, `of`, took, and sees the values of that side
  While,   ///< operands: the initial state; blocks: condition (-> bool), body (-> next state), both with the
           ///< state as parameters; results: the last state
  Accumulate,  ///< adds its operand to the gradient of the parameter attributes[0]; attributes[1] says how;
               ///< no results
};

struct Node {
  NodeKind kind;
  uint32_t phase = 0;         ///< Resume: which phase of the callee
  const OpDef* op = nullptr;  ///< Op
  Attributes attributes{};    ///< Op, Param, Accumulate
  Value constant{};           ///< Const
  FunctionId callee{};        ///< Call, Resume
  NodeId of{};                ///< Resume: the Call; If: the first If of its family, if it is not that
  ValueIds operands{};
  SmallVector<BlockId, 2> blocks{};
  ValueIds results{};
  Span span{};
  SharedString placement{};  ///< where it is to run; empty: anywhere
};

struct Block {
  ValueIds params;
  SmallVector<NodeId, 4> nodes;
  ValueIds results;
};

struct ValueInfo {
  Type type;
  SharedString name;  ///< as in the program; empty for intermediate results
};

struct Function {
  std::string name;
  std::vector<ValueInfo> params;  ///< the parameters of the body block, by name and type
  std::vector<Type> results;
  std::vector<Phase> phases;  ///< empty: one phase
  Span span;
  std::string placement;
  bool recompute = false;  ///< calls keep no more than their arguments for a gradient: it computes them again

  BlockId body;  ///< its params are the function's
  std::vector<Node> nodes;
  std::vector<Block> blocks;
  std::vector<ValueInfo> values;

  const Node& operator[](NodeId id) const { return nodes[id.index()]; }
  Node& operator[](NodeId id) { return nodes[id.index()]; }
  const Block& operator[](BlockId id) const { return blocks[id.index()]; }
  Block& operator[](BlockId id) { return blocks[id.index()]; }
  const ValueInfo& operator[](ValueId id) const { return values[id.index()]; }
  ValueInfo& operator[](ValueId id) { return values[id.index()]; }

  std::size_t phase_count() const { return phases.empty() ? 1 : phases.size(); }
  /// Where the parameters and results of a phase begin and how many they are.
  Range params_of(std::size_t phase) const;
  Range results_of(std::size_t phase) const;
};

/// A learned tensor that every function sees: captured, never passed.
struct Parameter {
  std::string name;
  Type type;  ///< fixed dimensions
  Span span;
  Initializer initial{};
  std::string placement{};  ///< where it is, and the operations that read it; empty: everywhere
};

/// Which gradients of a function are asked for, and what they come with.
struct GradientForm {
  enum class Kind : uint8_t {
    Gradients,          ///< gradients of the first result, which is a float scalar
    ValueAndGradients,  ///< the results of the function, and such gradients behind them
    Vjp,          ///< gradients of all float results, each times a further argument: vector-Jacobian products
    ValueAndVjp,  ///< the results of the function, and such products behind them
  };
  /// A parameter of the function, or of the module.
  struct By {
    bool is_learned = false;  ///< the parameter is one of the module
    std::size_t number = 0;
    friend bool operator==(const By&, const By&) = default;
  };

  Kind kind = Kind::Gradients;
  std::vector<By> wrt{};  ///< none: by all parameters of the function that hold floats

  friend bool operator==(const GradientForm&, const GradientForm&) = default;
};

/// "grad", "value_and_grad", "vjp" or "value_and_vjp"
std::string_view name_of(GradientForm::Kind kind);
/// Whether it gives the results of the function first.
inline bool gives_values(GradientForm::Kind kind) {
  return kind == GradientForm::Kind::ValueAndGradients || kind == GradientForm::Kind::ValueAndVjp;
}
/// Whether it takes a gradient for each float result, behind what the function takes.
inline bool is_vjp(GradientForm::Kind kind) {
  return kind == GradientForm::Kind::Vjp || kind == GradientForm::Kind::ValueAndVjp;
}

/// A function whose body is still to be derived: the gradient of another.
struct GradientRequest {
  FunctionId function;  ///< declared, without a body. Parameters: those of `of`; where is_vjp(), then one for
                        ///< each float result of `of`. Results: where gives_values() those of `of`; then the
                        ///< gradients, of the types of what they are by
  FunctionId of;
  GradientForm form{};
};

struct Module {
  std::shared_ptr<const Source> source;  ///< null for modules made by a Builder
  DataTypes data_types;
  /// Declarations of generic data types as program text: "data Pair[A, B] = Pair(first: A, second: B)". Their
  /// uses are data types such as "Pair[i64, f64]".
  std::vector<std::string> generic_data_types{};
  std::vector<Parameter> parameters;
  std::vector<Function> functions;
  std::vector<GradientRequest> gradient_requests;  ///< the functions here have no body
  FunctionId entry{};                              ///< where a run begins; not valid: at the function `main`

  const Function& operator[](FunctionId id) const { return functions[id.index()]; }
  Function& operator[](FunctionId id) { return functions[id.index()]; }
  std::optional<FunctionId> find(std::string_view name) const;
  /// The function of this name. Throws ProgramError that says which functions there are.
  FunctionId function_named(std::string_view name) const;
  /// The entry, or `main`; nothing where there is neither.
  std::optional<FunctionId> start() const { return entry.valid() ? entry : find("main"); }
  /// nullptr where the function is no gradient that is still to be derived.
  const GradientRequest* gradient_request(FunctionId function) const;
};

/// How deep branches and loops may stand inside each other: who walks a module may recurse over its blocks.
inline constexpr std::size_t kMaxNesting = 2000;

/// Checks everything the passes rely on: definitions before uses, types, arities, one definition a value,
/// valid indices, names, at least one result of each function, branch and loop, nesting. Nodes that stand in
/// no block are ignored. Throws ProgramError that names function, node and rule.
void verify(const Module& module);

/// A verified module as program text. It parses back to an equal module. Values keep their names where these
/// can be told apart, others become v1, v2, ... Throws ProgramError after add_gradient: nodes without text.
std::string print(const Module& module);

/// Same functions in the same order with the same structure, types, placements, constants and names of
/// parameters; positions in the text, names of intermediate values, constants that nothing uses, and where
/// constants stand, do not count; nor does the entry. All NaN of one type are one constant.
bool equal(const Module& a, const Module& b);

}  // namespace hiaton::ir
#pragma GCC visibility pop
