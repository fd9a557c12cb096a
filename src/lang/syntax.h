// The syntax tree: what the parser makes of the tokens. Flat arrays and indices instead of nodes and
// pointers.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "hiaton/ir.h"
#include "hiaton/strong_id.h"
#include "hiaton/type.h"
#include "lang/size_formula.h"
#include "lang/token.h"

namespace hiaton::lang {

using ExprId = StrongId<struct ExprKindTag>;

/// Whether an expression consists of numbers without a type of their own, so that it takes the type that its
/// surroundings want.
enum class Flex : uint8_t {
  Rigid,
  Integer,  ///< any number type will do; i64 where nothing else is wanted
  Float,    ///< f32 or f64; f64 where nothing else is wanted
};

/// A run of consecutive elements of one of Syntax's arrays.
struct Range {
  uint32_t begin = 0;
  uint32_t count = 0;
};

/// Appends these elements to one of the arrays; where they then stand.
template <class T>
Range append(std::vector<T>& array, std::span<const T> elements) {
  const Range range{static_cast<uint32_t>(array.size()), static_cast<uint32_t>(elements.size())};
  array.insert(array.end(), elements.begin(), elements.end());
  return range;
}

struct Expr {
  enum class Kind : uint8_t {
    Broken,  ///< already reported
    Number,
    Bool,
    String,
    Name,
    Negate,
    Not,
    Binary,  ///< arithmetic and comparison
    Logic,   ///< `and`, `or`
    Call,
    Apply,      ///< `a(b, c)`, where `a` is no name
    List,       ///< `[a, b]`
    Index,      ///< `a[b, c]`
    Range,      ///< `b:c` in the brackets of an Index; either may be left out
    Field,      ///< `a.name`
    Update,     ///< `a with name = value, ...`
    Parameter,  ///< `param name`: the learned parameter, whatever else has this name
    Gradient,   ///< a GradientOf, and arguments where it is called
    Lambda,     ///< `fn(x, y) -> a`
    Tuple,
    If,
    Match,
    Block,
    Loop,
    On,
  };

  Kind kind = Kind::Broken;
  Flex flex = Flex::Rigid;
  Tok op = Tok::Error;            ///< Binary, Logic: the operator; Bool: True or False; Number: its token
  bool negative = false;          ///< Number: a minus stands before it
  bool is_called = false;         ///< Gradient: arguments stand behind it
  bool of_catalog = false;        ///< Call: `::name(...)`, the operation, whatever else has this name
  std::optional<DType> suffix{};  ///< Number
  Symbol name = 0;                ///< Name, Call, Parameter, Field; Gradient: the function
  Span span{};
  Span sign{};  ///< Binary, Logic, Negate, Not: the operator's place; Number: the digits; Call, Field: the
                ///< name
  ExprId a{}, b{}, c{};  ///< operands: of If the condition and the branches; of Block (a) the last
                         ///< expression; of Match, Index, Field and Update (a) what is looked at; of Apply
                         ///< (a) what is called
  Range list{};  ///< Lambda: its parameters, in Syntax::patterns; Call, Apply, Gradient, Tuple, List, Index,
                 ///< Update: in Syntax::lists; Block: in Syntax::lets; Match: in Syntax::arms
  Range attributes{};  ///< Call: in Syntax::attributes
  Range fields{};      ///< Call of a variant, Update: in Syntax::fields, for the last ones of the list
  Range types{};       ///< Name, Call: those in brackets, in Syntax::types
  uint32_t index = 0;  ///< Loop: in Syntax::loops; Gradient: in Syntax::gradients; On, String: in
                       ///< TokenList::strings; Lambda: the first expression of its body
};

/// `type` is empty where none was written or it is broken; the latter has been reported.
struct Pattern {
  std::optional<Symbol> name;  ///< empty for `_`
  std::optional<Type> type;
  Span span{};
  bool is_function = false;  ///< a parameter of a function type
};

/// `axis=0` or `shape=[2, 3]`
struct Attribute {
  Symbol name = 0;
  Span span{};
  bool is_list = false;
  std::optional<std::vector<int64_t>> values{};  ///< empty where broken, which is reported
};

/// The name before a value of a field: `x` in `Point(x=1)` and in `p with x = 1`.
struct FieldName {
  Symbol name = 0;
  Span span{};
};

/// What an arm of a `match` waits for.
struct ArmPattern {
  enum class Kind : uint8_t {
    Any,
    Name,
    Variant,
    Nil,      ///< `[]`
    Cons,     ///< `[first, ..rest]`
    Literal,  ///< a number, `true`, `false` or a string
    Tuple,
  };
  Kind kind = Kind::Any;
  bool has_parts = false;         ///< Variant: otherwise all fields are left open
  bool negative = false;          ///< Literal: a minus stands before it
  Tok literal = Tok::Error;       ///< Literal: Integer, Float, True, False or String
  uint32_t string = 0;            ///< Literal: of a String, in TokenList::strings
  std::optional<DType> suffix{};  ///< Literal
  Symbol name = 0;                ///< Name, Variant
  std::optional<Symbol> whole{};  ///< the name before '@'
  Span span{};
  Span sign{};    ///< Literal: without its minus; else of the name `whole`
  Range parts{};  ///< Variant, Cons, Tuple: in Syntax::arm_patterns
};

struct Arm {
  ArmPattern pattern;
  ExprId guard;  ///< invalid where there is none
  ExprId body;
  bool holds_match = false;  ///< in its body
};

struct Let {
  Range patterns;
  ExprId bound;
  std::optional<uint32_t> function{};  ///< `let fn`: in Syntax::functions
};

/// `let fn name(...) -> type = ...`: it may call itself and its neighbours.
struct LocalFunction {
  Pattern name;
  Range params{};  ///< in Syntax::patterns
  std::vector<std::optional<Type>> results{};
  uint32_t first = 0;  ///< the first expression of its body
  ExprId body{};
};

/// The gradient that the keyword asks for; nothing where the token is another one.
constexpr std::optional<ir::GradientForm::Kind> gradient_kind(Tok token) {
  using Kind = ir::GradientForm::Kind;
  switch (token) {
    case Tok::Grad:
      return Kind::Gradients;
    case Tok::ValueAndGrad:
      return Kind::ValueAndGradients;
    case Tok::Vjp:
      return Kind::Vjp;
    case Tok::ValueAndVjp:
      return Kind::ValueAndVjp;
    default:
      return std::nullopt;
  }
}

/// The function that `grad(f)`, `value_and_grad(f)`, `vjp(f)` and `value_and_vjp(f)` mean, also of each
/// other.
struct GradientOf {
  /// What stands behind `wrt=`: the number or name of a parameter of the function, or a learned one.
  struct Wrt {
    std::optional<std::size_t> number{};
    Symbol name = 0;
    bool is_learned = false;  ///< `param` stands before the name
    Span span{};
  };
  struct Step {
    ir::GradientForm::Kind kind{};
    std::vector<Wrt> wrt{};
  };
  Symbol function = 0;
  ExprId lambda{};            ///< instead of the function
  Span span{};                ///< where the function's name stands, or the lambda
  std::vector<Step> steps{};  ///< from the inside outwards
};

struct Loop {
  struct State {
    Pattern pattern;
    ExprId initial;
  };
  std::vector<State> states;
  bool counts = false;  ///< `for`
  Pattern counter;      ///< what a `for` counts in
  ExprId begin, end;    ///< the range of a `for`
  ExprId condition;     ///< while
  ExprId body;
};

/// The types that stand for the type parameters of a generic function or data type, where they are known.
struct TypeArgument {
  Symbol parameter = 0;
  std::optional<Type> type{};
};
using TypeArguments = std::vector<TypeArgument>;

struct FunctionHead;
struct Operation;

/// What is given for a parameter of a function type: known before the run, but for the values that a lambda
/// takes from around it.
struct FunctionArgument {
  Symbol name = 0;  ///< the name of the parameter
  const FunctionHead* function = nullptr;
  const Operation* operation = nullptr;  ///< where it is no function
  std::string text;                      ///< its name
  std::vector<Type> captured{};          ///< further arguments of each call
  std::vector<uint32_t> lambdas{};       ///< where those begin in the text that it is made of
};

/// A dimension of a parameter or result that follows from symbols: types have any size in its place, and the
/// run checks it.
struct ComputedSize {
  std::optional<Symbol> param{};  ///< empty: of a result
  std::size_t result = 0;
  std::size_t axis = 0;
  SizeFormula formula;
  Span span{};
};

/// What stands before the body of a function.
struct FunctionHead {
  Symbol name = 0;
  Span name_span{};
  Span span{};           ///< from `fn` to `=`
  bool readable = true;  ///< otherwise parameters and results are unknown, which has been reported
  std::vector<Pattern> params{};
  std::unordered_set<Symbol> sizes{};  ///< symbols in the types of the parameters
  std::vector<std::optional<Type>> results{};
  std::vector<ComputedSize> computed_sizes{};
  bool is_constant = false;  ///< it is called where its name stands
  bool recompute = false;
  std::optional<uint32_t> placement{};   ///< in TokenList::strings
  std::optional<GradientOf> gradient{};  ///< it is this gradient and has no body
  std::size_t body = 0;                  ///< its first token

  // Every use of a generic function has types of its own: until these are known, only where types
  // stand is. `params` then have no types, and there are no `results`.
  std::size_t begin = 0;                    ///< the token `fn`
  std::vector<Symbol> type_params{};        ///< none: the function is not generic
  std::vector<std::size_t> param_types{};   ///< the first token of each
  std::vector<std::size_t> result_types{};  ///< the first token of each result type

  // A use of a generic function has these.
  TypeArguments type_arguments{};
  Span used_at{};                          ///< where the use stands that it was made for
  const FunctionHead* made_for = nullptr;  ///< the function with this use
  std::size_t depth = 0;                   ///< how many such uses led to this one

  // No more is read of the standard library than a program uses.
  bool on_demand = false;

  // What follows is for functions with parameters of function types, and for lambdas.
  bool takes_functions = false;
  std::vector<FunctionArgument> functions{};   ///< what a use gets for its parameters of function types
  std::vector<std::size_t> function_places{};  ///< where these parameters stood among the others
  std::vector<Type> captured{};  ///< behind `params`: what its functions, or the lambda, take along

  /// Whether it becomes a function of the program only where it is used.
  bool is_generic() const { return !type_params.empty() || takes_functions || on_demand; }
  std::size_t value_count() const { return params.size() + captured.size(); }
  std::optional<Type> value_type(std::size_t i) const {
    return i < params.size() ? params[i].type : std::optional(captured[i - params.size()]);
  }
};

/// The body of one function.
struct Syntax {
  std::vector<Expr> exprs;
  std::vector<ExprId> lists;
  std::vector<Pattern> patterns;
  std::vector<Let> lets;
  std::vector<LocalFunction> functions;
  std::vector<Loop> loops;
  std::vector<GradientOf> gradients;
  std::vector<Attribute> attributes;
  std::vector<FieldName> fields;
  std::vector<Arm> arms;
  std::vector<ArmPattern> arm_patterns;
  std::vector<std::optional<Type>> types;
  std::size_t nodes = 0;  ///< about how many nodes it becomes

  const Expr& operator[](ExprId id) const { return exprs[id.index()]; }
  void clear();
};

}  // namespace hiaton::lang
