// The syntax tree: what the parser makes of the tokens. Flat arrays and indices instead of nodes and
// pointers.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "hiaton/strong_id.h"
#include "hiaton/type.h"
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
    Name,
    Negate,
    Not,
    Binary,  ///< arithmetic and comparison
    Logic,   ///< `and`, `or`
    Call,
    List,       ///< `[a, b]`
    Index,      ///< `a[b, c]`
    Field,      ///< `a.name`
    Update,     ///< `a with name = value, ...`
    Parameter,  ///< `param name`: the learned parameter, whatever else has this name
    Gradient,   ///< a GradientOf, and arguments
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
  bool of_catalog = false;        ///< Call: `::name(...)`, the operation, whatever else has this name
  std::optional<DType> suffix{};  ///< Number
  Symbol name = 0;                ///< Name, Call, Parameter, Field; Gradient: the function
  Span span{};
  Span sign{};  ///< Binary, Logic, Negate, Not: the operator's place; Number: the digits; Call, Field: the
                ///< name
  ExprId a{}, b{}, c{};  ///< operands: of If the condition and the branches; of Block (a) the last
                         ///< expression; of Match, Index, Field and Update (a) what is looked at
  Range list{};  ///< Lambda: its parameters, in Syntax::patterns; Call, Gradient, Tuple, List, Index, Update:
                 ///< in Syntax::lists; Block: in Syntax::lets; Match: in Syntax::arms
  Range attributes{};  ///< Call: in Syntax::attributes
  Range fields{};      ///< Call of a variant, Update: in Syntax::fields, for the last ones of the list
  Range types{};       ///< Name, Call: those in brackets, in Syntax::types
  uint32_t index = 0;  ///< Loop: in Syntax::loops; Gradient: in Syntax::gradients; On: in TokenList::strings;
                       ///< Lambda: the first expression of its body
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
    Literal,  ///< a number, `true` or `false`
    Tuple,
  };
  Kind kind = Kind::Any;
  bool has_parts = false;         ///< Variant: otherwise all fields are left open
  bool negative = false;          ///< Literal: a minus stands before it
  Tok literal = Tok::Error;       ///< Literal: Integer, Float, True or False
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
};

/// The function that `grad(f)` and `value_and_grad(f)` mean, also of each other.
struct GradientOf {
  Symbol function = 0;
  Span span{};                     ///< of the function's name
  std::vector<bool> with_value{};  ///< `value_and_grad`, from the inside outwards
};

struct Loop {
  struct State {
    Pattern pattern;
    ExprId initial;
  };
  std::vector<State> states;
  bool counts = false;  ///< `for`
  Pattern counter;      ///< for
  ExprId begin, end;    ///< for
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
  Symbol name = 0;  ///< of the parameter
  const FunctionHead* function = nullptr;
  const Operation* operation = nullptr;  ///< where it is no function
  std::string text;                      ///< its name
  std::vector<Type> captured{};          ///< further arguments of each call
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
  bool is_constant = false;  ///< it is called where its name stands
  bool recompute = false;
  std::optional<uint32_t> placement{};   ///< in TokenList::strings
  std::optional<GradientOf> gradient{};  ///< it is this gradient and has no body
  std::size_t body = 0;                  ///< its first token

  // Of a generic function, of which every use has types of its own: until these are known, only where types
  // stand is. `params` then have no types, and there are no `results`.
  std::size_t begin = 0;                    ///< the token `fn`
  std::vector<Symbol> type_params{};        ///< none: the function is not generic
  std::vector<std::size_t> param_types{};   ///< the first token of each
  std::vector<std::size_t> result_types{};  ///< likewise

  // A use of a generic function has these.
  TypeArguments type_arguments{};
  const FunctionHead* made_for = nullptr;  ///< the function with this use
  std::size_t depth = 0;                   ///< how many such uses led to this one

  // Of a function of the standard library, of which no more is read than a program uses.
  bool on_demand = false;

  // Of one with parameters of function types, and of a lambda.
  bool takes_functions = false;
  std::vector<FunctionArgument> functions{};  ///< of a use
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
