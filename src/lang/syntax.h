// The syntax tree: what the parser makes of the tokens. Flat arrays and indices instead of nodes and
// pointers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hiaton/strong_id.h"
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
    Tuple,
    If,
    Block,
    Loop,
    On,
  };

  Kind kind = Kind::Broken;
  Flex flex = Flex::Rigid;
  Tok op = Tok::Error;            ///< Binary, Logic: the operator; Bool: True or False; Number: its token
  bool negative = false;          ///< Number: a minus stands before it
  std::optional<DType> suffix{};  ///< Number
  Symbol name = 0;                ///< Name, Call
  Span span{};
  Span sign{};  ///< Binary, Logic, Negate, Not: the operator's place; Number: the digits; Call: the name
  ExprId a{}, b{}, c{};  ///< operands: of If the condition and the branches; of Block (a) the last expression
  Range list{};          ///< Call, Tuple: in Syntax::lists; Block: in Syntax::lets
  uint32_t index = 0;    ///< Loop: in Syntax::loops; On: in TokenList::strings
};

/// `type` is empty where none was written or it is broken; the latter has been reported.
struct Pattern {
  std::optional<Symbol> name;  ///< empty for `_`
  std::optional<DType> type;
  Span span{};
};

struct Let {
  Range patterns;
  ExprId bound;
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

/// What stands before the body of a function.
struct FunctionHead {
  Symbol name = 0;
  Span name_span{};
  Span span{};           ///< from `fn` to `=`
  bool readable = true;  ///< otherwise parameters and results are unknown, which has been reported
  std::vector<Pattern> params{};
  std::vector<std::optional<DType>> results{};
  std::optional<uint32_t> placement{};  ///< in TokenList::strings
  std::size_t body = 0;                 ///< its first token
};

/// The body of one function.
struct Syntax {
  std::vector<Expr> exprs;
  std::vector<ExprId> lists;
  std::vector<Pattern> patterns;
  std::vector<Let> lets;
  std::vector<Loop> loops;
  std::size_t nodes = 0;  ///< about how many nodes it becomes

  const Expr& operator[](ExprId id) const { return exprs[id.index()]; }
  void clear();
};

}  // namespace hiaton::lang
