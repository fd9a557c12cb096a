// What stands here for notations of other languages.

#include <algorithm>
#include <array>

#include "lang/suggest.h"

namespace hiaton::lang {
namespace notations {

using enum Tok;

/// Stands for any token: texts with such tokens are reported elsewhere.
constexpr Tok kAny = Tok::Error;

/// Tokens that are no program, in a place where one part of a program is expected.
struct Notation {
  Tok before = kAny;          ///< the last token that was read
  std::array<Tok, 3> here{};  ///< the next ones
  std::string_view wanted;    ///< a part of what is expected
  std::string_view hint;
  bool starts_line = false;
};

constexpr std::array<Tok, 3> one(Tok a) {
  return {a, kAny, kAny};
}
constexpr std::array<Tok, 3> two(Tok a, Tok b) {
  return {a, b, kAny};
}
constexpr std::array<Tok, 3> three(Tok a, Tok b, Tok c) {
  return {a, b, c};
}

constexpr std::string_view kArrow = "'->' stands in arms and in functions without a name: fn(x) -> x + 1";
constexpr std::string_view kBody =
    "the type of the result and '=' stand before the body: fn f(n: i64) -> i64 = n + 1";
constexpr std::string_view kBits = "bits are moved by bitwise_left_shift(x, n) and bitwise_right_shift(x, n)";
constexpr std::string_view kConstant = "a name that all functions see is a constant: const name: i64 = ...";
constexpr std::string_view kField = "a field has a name and a type: Leaf(value: i64)";
constexpr std::string_view kLambda = "a function without a name is written fn(x) -> x + 1";
constexpr std::string_view kLogic = "logic is written 'and', 'or', 'not'";
constexpr std::string_view kParameter = "a parameter has a type: n: i64";
constexpr std::string_view kResult = "a function ends with the expression that is its result";
constexpr std::string_view kType = "a type (";  // with those that there are

/// The first one that fits counts.
constexpr Notation kNotations[] = {
    // Lists
    {.here = two(Colon, Colon),
     .wanted = "an operator",
     .hint = "a list with a new first element is [x, ..xs]"},
    {.here = three(Name, Colon, Colon),
     .wanted = "an operator",
     .hint = "a list with a first element is matched by [x, ..xs]"},
    {.before = Plus,
     .here = one(Plus),
     .wanted = "",
     .hint = "append(xs, ys) of \"std/list\" joins two lists, and a + b two strings"},
    {.here = one(DotDot),
     .wanted = "after an element",
     .hint = "range(1, n) of \"std/list\" gives the integers from 1 up to, but not including, n"},
    {.here = one(For),
     .wanted = "after an element",
     .hint = "map(fn(x) -> x * 2, xs) gives what becomes of each element"},
    {.here = one(Do), .wanted = "'..'", .hint = "along a list goes fold(fn(sum, x) -> sum + x, 0, xs)"},
    // Arms and branches
    {.here = one(Bar),
     .wanted = "an arm",
     .hint = "arms stand without a sign before them",
     .starts_line = true},
    {.before = With,
     .here = one(Bar),
     .wanted = "",
     .hint = "the arms follow what is matched: match t A -> 1 B -> 2"},
    {.before = Else, .here = one(Colon), .wanted = "", .hint = "no ':' stands behind 'else'"},
    // Functions and their types
    {.here = two(Assign, Greater), .wanted = "", .hint = kArrow},
    {.before = Assign, .here = one(Greater), .wanted = "", .hint = kArrow},
    {.here = one(RightParen), .wanted = "the type of the parameter", .hint = kParameter},
    {.here = one(Comma), .wanted = "the type of the parameter", .hint = kParameter},
    {.here = one(LeftParen),
     .wanted = "the name of a parameter",
     .hint = "a tuple gets a name, which 'let (a, b) = name' takes apart"},
    {.here = one(Arrow),
     .wanted = "after a parameter",
     .hint = "the type of a function is written fn(i64) -> i64"},
    {.before = RightParen,
     .here = one(Colon),
     .wanted = "after a parameter",
     .hint = "names in parentheses take no type: fn((a, b)) -> a + b"},
    {.here = one(Assign), .wanted = "after a parameter", .hint = "a call gives all of the arguments"},
    {.here = one(LeftParen),
     .wanted = "the value of the 'let'",
     .hint = "a function inside another one is written: let fn name(x: i64) -> i64 = ..."},
    {.here = one(If), .wanted = kType, .hint = kBody},
    {.here = one(Match), .wanted = kType, .hint = kBody},
    {.here = one(With), .wanted = kType, .hint = kBody},
    {.here = one(Let), .wanted = kType, .hint = kBody},
    {.here = two(Bar, Greater), .wanted = "", .hint = "a function stands before its argument: f(x)"},
    {.here = one(Bar), .wanted = "an expression", .hint = kLambda},
    {.here = one(Assign),
     .wanted = "the type of the result",
     .hint = "a function says of which type its result is: fn f(n: i64) -> i64 = n + 1"},
    {.here = one(Fn), .wanted = "the expression that the 'let'", .hint = kResult},
    {.here = one(End), .wanted = "the expression that the 'let'", .hint = kResult},
    // Declarations
    {.here = one(Name),
     .wanted = "the variants of the data type",
     .hint = "types that are left open stand in brackets: data Tree[T] = ..."},
    {.here = one(RightParen), .wanted = "the type of the field", .hint = kField},
    {.here = one(Comma), .wanted = "the type of the field", .hint = kField},
    {.here = one(Let), .wanted = "a declaration", .hint = kConstant},
    {.here = one(Let), .wanted = "the end of the program", .hint = kConstant},
    {.here = one(LeftParen),
     .wanted = "how it begins",
     .hint = "zeros and ones take no arguments: param w: f64[2] = zeros"},
    {.here = one(RightBracket),
     .wanted = "a dimension (",
     .hint = "f64[_] is a tensor of any size, f64[_, _] a matrix"},
    {.here = one(LeftBracket),
     .wanted = kType,
     .hint = "a list of integers is List[i64], a tensor of three f64[3]"},
    // Expressions
    {.here = one(If), .wanted = "an operator", .hint = "a choice is written if c then a else b"},
    {.here = one(On),
     .wanted = "an operator",
     .hint = "where an expression runs stands before it: on \"NAME\" expression"},
    {.here = one(Comma),
     .wanted = "the end of the program",
     .hint = "several values stand in parentheses: (a, b)"},
    // Signs
    {.here = two(Slash, Slash), .wanted = "", .hint = "a comment begins with '#'"},
    {.before = Slash, .here = one(Slash), .wanted = "", .hint = "'/' of integers rounds toward zero"},
    {.before = Greater, .here = one(Greater), .wanted = "", .hint = kBits},
    {.before = Less, .here = one(Less), .wanted = "", .hint = kBits},
    {.here = one(Bar), .wanted = "an operator", .hint = kLogic},
};

}  // namespace notations

namespace {

bool fits(const notations::Notation& notation, std::string_view what, Tok before, const Token* next) {
  if (notation.before != notations::kAny && notation.before != before) return false;
  if (notation.starts_line && !next->starts_line) return false;
  if (what.find(notation.wanted) == std::string_view::npos) return false;
  for (const Tok kind : notation.here) {
    if (kind == notations::kAny) break;
    if (next->kind != kind) return false;
    ++next;  // the End is the last one of a row
  }
  return true;
}

}  // namespace

std::string_view written_instead_of_notation(std::string_view what, const Token* first, const Token* next) {
  const Tok before = next == first ? Tok::End : next[-1].kind;
  const auto found = std::ranges::find_if(notations::kNotations, [&](const notations::Notation& notation) {
    return fits(notation, what, before, next);
  });
  return found == std::end(notations::kNotations) ? std::string_view() : found->hint;
}

}  // namespace hiaton::lang
