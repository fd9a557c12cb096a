// Tokens: what the lexer makes of the text, and the values that literals are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hiaton/source.h"
#include "hiaton/type.h"
#include "hiaton/value.h"

namespace hiaton::lang {

/// An identifier, numbered: equal names have equal symbols, so tables need no strings.
using Symbol = uint32_t;

enum class Tok : uint8_t {
  // The keywords, in the order of ir::kKeywords.
  Fn,
  Let,
  In,
  If,
  Then,
  Else,
  On,
  With,
  While,
  For,
  Do,
  And,
  Or,
  Not,
  True,
  False,
  Nan,
  Inf,
  NanF32,
  InfF32,
  Underscore,
  Data,
  Match,
  Param,
  Grad,
  ValueAndGrad,
  Vjp,
  ValueAndVjp,

  Name,
  Integer,
  Float,
  String,

  LeftParen,
  RightParen,
  LeftBracket,
  RightBracket,
  Comma,
  Colon,
  Arrow,
  DotDot,
  Dot,  ///< the dot of a field
  Assign,
  Plus,
  Minus,
  Star,
  Slash,
  Percent,
  At,
  Bar,
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,

  Error,  ///< already reported
  End,
};

struct Token {
  Tok kind;
  bool starts_line;             ///< the first token of its line
  std::optional<DType> suffix;  ///< Integer, Float: the type written behind the digits
  uint32_t payload;             ///< Name: its Symbol; String: index into TokenList::strings
  Span span;
};

struct TokenList {
  std::vector<Token> tokens;  ///< the last one is End
  std::vector<std::string> strings;
};

/// The value of a number as the lexer reads it, sign apart. Throws ProgramError where it does not fit.
Value literal_value(std::string_view digits, bool negative, DType type);

}  // namespace hiaton::lang
