#include "lang/parser.h"

#include <fmt/format.h>

#include <algorithm>

#include "lang/suggest.h"

namespace hiaton::lang {
namespace {

/// Thrown after a finding was reported, to the nearest place from which reading can go on.
struct Unreadable {
  bool skip_function = false;
};

/// Binding strength of the operators; what is stronger binds first.
enum Level : int { kNone = 0, kOr, kAnd, kNot, kComparison, kSum, kProduct };

Level level_of(Tok op) {
  switch (op) {
    case Tok::Or:
      return kOr;
    case Tok::And:
      return kAnd;
    case Tok::Equal:
    case Tok::NotEqual:
    case Tok::Less:
    case Tok::LessEqual:
    case Tok::Greater:
    case Tok::GreaterEqual:
      return kComparison;
    case Tok::Plus:
    case Tok::Minus:
      return kSum;
    case Tok::Star:
    case Tok::Slash:
    case Tok::Percent:
      return kProduct;
    default:
      return kNone;
  }
}

Flex common_flex(Flex a, Flex b) {
  if (a == Flex::Rigid || b == Flex::Rigid) return Flex::Rigid;
  return std::max(a, b);
}

class Parser {
 public:
  Parser(const Source& source, const TokenList& tokens, const Symbols& symbols, const Operations& operations,
         Diagnostics& diagnostics)
      : source_(source),
        next_(tokens.tokens.data()),
        symbols_(symbols),
        operations_(operations),
        diagnostics_(diagnostics) {
    syntax_.exprs.reserve(tokens.tokens.size());
  }

  Syntax run() {
    if (at(Tok::End)) {
      diagnostics_.add(next_->span,
                       "expected a function ('fn name(parameters) -> type = expression'), "
                       "found the end of the program");
    }
    while (!at(Tok::End)) {
      try {
        function();
      } catch (const Unreadable&) {
        nesting_ = 0;
        open_lets_.clear();
        open_list_.clear();
        while (!at(Tok::End) && !at(Tok::Fn)) ++next_;
      }
    }
    return std::move(syntax_);
  }

 private:
  /// One level of nesting, for as long as it lives.
  class Nesting {
   public:
    explicit Nesting(Parser& parser) : parser_(parser) {
      if (parser_.nesting_ == kMaxNesting) parser_.fail_nesting();
      ++parser_.nesting_;
    }
    ~Nesting() { --parser_.nesting_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    Parser& parser_;
  };

  // Tokens.

  bool at(Tok kind) const { return next_->kind == kind; }

  const Token& take() { return *next_++; }

  bool accept(Tok kind) {
    if (!at(kind)) return false;
    ++next_;
    return true;
  }

  const Token& expect(Tok kind, std::string_view what) {
    if (!at(kind)) fail_expected(what);
    return take();
  }

  std::string describe(const Token& token) const {
    const std::string_view text = source_.text(token.span);
    switch (token.kind) {
      case Tok::End:
        return "the end of the program";
      case Tok::Name:
        return fmt::format("the name '{}'", text);
      case Tok::Integer:
      case Tok::Float:
        return fmt::format("the number {}", text.substr(0, 40));
      case Tok::String:
        return "a string";
      default:
        return fmt::format("'{}'", text);
    }
  }

  [[noreturn]] void fail(Span span, std::string message) {
    diagnostics_.add(span, std::move(message));
    throw Unreadable();
  }

  [[noreturn]] void fail_expected(std::string_view what) {
    if (at(Tok::Error)) throw Unreadable();  // reported by the lexer
    std::string hint;
    if (next_->kind >= Tok::Data && next_->kind <= Tok::Grad) {
      hint = "; this word is kept for a later version of the language";
    } else if (next_->kind < Tok::Name && what.find("name") != std::string_view::npos) {
      hint = ", a keyword";
    } else if (at(Tok::Assign)) {
      hint = "; equality is written '=='";
    }
    fail(next_->span, fmt::format("expected {}, found {}{}", what, describe(*next_), hint));
  }

  [[noreturn]] void fail_nesting() {
    diagnostics_.add(
        next_->span,
        fmt::format("expected at most {} expressions inside each other, found more; a function or a "
                    "'let' can hold the inner ones",
                    kMaxNesting));
    throw Unreadable{.skip_function = true};
  }

  // Functions.

  void function() {
    const Token& fn = expect(Tok::Fn, "'fn' (the start of a function)");
    const Token& name = expect(Tok::Name, "the name of the function");
    const std::size_t index = syntax_.functions.size();
    syntax_.functions.push_back({.name = name.payload, .name_span = name.span, .span = name.span});
    FunctionSyntax read = syntax_.functions.back();
    read.body = add({.span = name.span});
    parameters(read);
    expect(Tok::Arrow, "'->' and the type of the result");
    results(read);
    if (accept(Tok::On))
      read.placement = expect(Tok::String, "a place in quotes, such as \"worker:0\"").payload;
    const Token& assign = expect(Tok::Assign, "'=' and the body of the function");
    read.signature_read = true;
    read.span = {fn.span.begin, assign.span.end};
    syntax_.functions[index] = read;
    const ExprId body = expression();
    syntax_.functions[index].body = body;
    if (!at(Tok::Fn) && !at(Tok::End)) fail_after_expression();
  }

  [[noreturn]] void fail_after_expression() {
    if (at(Tok::LeftParen) && next_->starts_line) {
      fail_expected(
          "'fn' or the end of the program (a line that starts with '(' does not continue the line before)");
    }
    if (at(Tok::LeftBracket))
      fail_expected("an operator, 'fn' or the end of the program (tensors are not supported so far)");
    fail_expected("an operator, 'fn' or the end of the program");
  }

  void parameters(FunctionSyntax& function) {
    expect(Tok::LeftParen, "'(' and the parameters");
    std::vector<Pattern> read;
    while (!at(Tok::RightParen)) {
      const Token& name = expect(Tok::Name, "the name of a parameter");
      Pattern pattern{name.payload, std::nullopt, name.span};
      expect(Tok::Colon, "':' and the type of the parameter");
      pattern.type = type();
      read.push_back(pattern);
      if (!accept(Tok::Comma)) break;
    }
    expect(Tok::RightParen, "',' or ')' after a parameter");
    function.params = store(read);
  }

  void results(FunctionSyntax& function) {
    if (!accept(Tok::LeftParen)) {
      function.results.push_back(type());
      return;
    }
    if (at(Tok::RightParen)) fail_expected("the type of at least one result");
    while (!at(Tok::RightParen)) {
      function.results.push_back(type());
      if (!accept(Tok::Comma)) break;
    }
    expect(Tok::RightParen, "',' or ')' after the type of a result");
  }

  /// Empty where the type is unknown, which is reported.
  std::optional<DType> type() {
    const Token& name = expect(Tok::Name, "a type (bool, i32, i64, f32 or f64)");
    const std::string_view text = source_.text(name.span);
    std::optional<DType> dtype = dtype_from_name(text);
    if (!dtype) {
      Suggestion similar(text);
      for (DType known : {DType::Bool, DType::I32, DType::I64, DType::F32, DType::F64})
        similar.offer(name_of(known));
      diagnostics_.add(name.span, fmt::format("expected a type (bool, i32, i64, f32 or f64), found '{}'{}",
                                              text, similar.text()));
    }
    if (at(Tok::LeftBracket) && !next_->starts_line) {
      shape(name);
      dtype = std::nullopt;
    }
    return dtype;
  }

  void shape(const Token& name) {
    int open = 0;
    do {
      if (at(Tok::LeftBracket)) ++open;
      if (at(Tok::RightBracket)) --open;
      if (at(Tok::End) || at(Tok::Fn) || at(Tok::Assign)) fail_expected("']' after the shape of a type");
      ++next_;
    } while (open > 0);
    const Span span{name.span.begin, next_[-1].span.end};
    diagnostics_.add(span, fmt::format("expected a scalar type, found {}: tensors are not supported so far",
                                       source_.text(span)));
  }

  // `what` is the name that is expected.
  Pattern pattern(std::string_view what) {
    if (at(Tok::Underscore)) return {std::nullopt, std::nullopt, take().span};
    const Token& name = expect(Tok::Name, what);
    return {name.payload, std::nullopt, name.span};
  }

  Pattern pattern_with_type(std::string_view what) {
    Pattern read = pattern(what);
    if (accept(Tok::Colon)) read.type = type();
    return read;
  }

  Range store(const std::vector<Pattern>& patterns) {
    const Range range{static_cast<uint32_t>(syntax_.patterns.size()), static_cast<uint32_t>(patterns.size())};
    syntax_.patterns.insert(syntax_.patterns.end(), patterns.begin(), patterns.end());
    return range;
  }

  // Expressions.

  ExprId add(const Expr& expr) {
    const ExprId id(syntax_.exprs.size());
    syntax_.exprs.push_back(expr);
    return id;
  }

  Flex flex_of(ExprId id) const { return syntax_[id].flex; }

  Span span_from(uint32_t begin) const { return {begin, next_[-1].span.end}; }

  ExprId expression() { return at(Tok::Let) ? block() : operators(kOr); }

  ExprId block() {
    const uint32_t begin = next_->span.begin;
    const std::size_t first = open_lets_.size();
    while (at(Tok::Let)) {
      const Let read = let();
      open_lets_.push_back(read);
    }
    if (at(Tok::Fn) || at(Tok::End)) fail_expected("the expression that the 'let' before is for");
    const ExprId last = operators(kOr);
    const Range lets{static_cast<uint32_t>(syntax_.lets.size()),
                     static_cast<uint32_t>(open_lets_.size() - first)};
    syntax_.lets.insert(syntax_.lets.end(), open_lets_.begin() + static_cast<std::ptrdiff_t>(first),
                        open_lets_.end());
    open_lets_.resize(first);
    return add({.kind = Expr::Kind::Block,
                .flex = flex_of(last),
                .span = span_from(begin),
                .a = last,
                .list = lets});
  }

  /// After something unreadable, goes on at the next `let` that is indented as this one is.
  Let let() {
    const Token& start = take();
    Let read;
    const std::size_t lists = open_list_.size();
    const std::size_t lets = open_lets_.size();
    const int nesting = nesting_;
    try {
      read.patterns = let_patterns();
      expect(Tok::Assign, "'=' and the value of the 'let'");
      read.bound = let_bound();
      accept(Tok::In);
      return read;
    } catch (const Unreadable& unreadable) {
      if (unreadable.skip_function || !skip_to_let_like(start)) throw;
    }
    open_list_.resize(lists);
    open_lets_.resize(lets);
    nesting_ = nesting;
    read.bound = add({.span = start.span});
    return read;
  }

  bool skip_to_let_like(const Token& start) {
    const uint32_t column = source_.locate(start.span.begin).column;
    const Token* skipped = next_;
    for (; skipped->kind != Tok::End && skipped->kind != Tok::Fn; ++skipped) {
      const bool like = skipped->kind == Tok::Let && skipped->starts_line && start.starts_line;
      if (like && source_.locate(skipped->span.begin).column == column) {
        next_ = skipped;
        return true;
      }
    }
    return false;
  }

  Range let_patterns() {
    std::vector<Pattern>& read = patterns_;
    read.clear();
    if (!accept(Tok::LeftParen)) {
      read.push_back(pattern_with_type("a name, '_' or '(' after 'let'"));
      return store(read);
    }
    do {
      if (at(Tok::RightParen) && !read.empty()) break;
      read.push_back(pattern_with_type("a name or '_'"));
    } while (accept(Tok::Comma));
    expect(Tok::RightParen, "',' or ')' after a name");
    return store(read);
  }

  ExprId let_bound() {
    if (!at(Tok::Let)) return operators(kOr);
    const Nesting nesting(*this);
    return block();
  }

  /// Operators of at least the level `weakest`.
  ExprId operators(int weakest) {
    ExprId left = operand();
    while (true) {
      const Level level = level_of(next_->kind);
      if (level == kNone || level < weakest) return left;
      const Token& op = take();
      left = level <= kAnd ? logic(left, op, level) : binary(left, op, level);
      if (level == kComparison && level_of(next_->kind) == kComparison) {
        fail(next_->span,
             fmt::format("expected one comparison, found a second one: '{}' and '{}' do not chain; "
                         "join two with 'and'",
                         spelling(op.kind), spelling(next_->kind)));
      }
    }
  }

  ExprId logic(ExprId left, const Token& op, Level level) {
    const Nesting nesting(*this);
    const ExprId right = operators(level + 1);
    return add({.kind = Expr::Kind::Logic,
                .op = op.kind,
                .span = span_from(syntax_[left].span.begin),
                .sign = op.span,
                .a = left,
                .b = right});
  }

  ExprId binary(ExprId left, const Token& op, Level level) {
    const ExprId right = operators(level + 1);
    const bool compares = level == kComparison;
    return add({.kind = Expr::Kind::Binary,
                .flex = compares ? Flex::Rigid : common_flex(flex_of(left), flex_of(right)),
                .op = op.kind,
                .span = span_from(syntax_[left].span.begin),
                .sign = op.span,
                .a = left,
                .b = right});
  }

  ExprId operand() {
    switch (next_->kind) {
      case Tok::Name:
        return name();
      case Tok::Integer:
      case Tok::Float:
      case Tok::Nan:
      case Tok::Inf:
      case Tok::NanF32:
      case Tok::InfF32:
        return number(false, next_->span.begin);
      case Tok::True:
      case Tok::False: {
        const Token& word = take();
        return add({.kind = Expr::Kind::Bool, .op = word.kind, .span = word.span});
      }
      case Tok::Minus:
        return minus();
      case Tok::Not:
        return negated_condition();
      case Tok::And:
      case Tok::Or:
        if (next_[1].kind == Tok::LeftParen) return name();
        break;
      case Tok::LeftParen:
        return parenthesized();
      case Tok::If:
        return conditional();
      case Tok::With:
        return loop();
      case Tok::On:
        return placed();
      case Tok::Let:
        fail_expected("an expression (a 'let' inside an expression stands in parentheses)");
      default:
        break;
    }
    fail_expected("an expression");
  }

  bool at_number() const {
    return at(Tok::Integer) || at(Tok::Float) || (next_->kind >= Tok::Nan && next_->kind <= Tok::InfF32);
  }

  ExprId number(bool negative, uint32_t begin) {
    const Token& token = take();
    std::optional<DType> suffix = token.suffix;
    if (token.kind == Tok::NanF32 || token.kind == Tok::InfF32) suffix = DType::F32;
    const Flex flex = suffix ? Flex::Rigid : token.kind == Tok::Integer ? Flex::Integer : Flex::Float;
    return add({.kind = Expr::Kind::Number,
                .flex = flex,
                .op = token.kind,
                .negative = negative,
                .suffix = suffix,
                .span = span_from(begin),
                .sign = token.span});
  }

  ExprId minus() {
    const Token& sign = take();
    if (at_number()) return number(true, sign.span.begin);
    const Nesting nesting(*this);
    const ExprId inner = operand();
    return add({.kind = Expr::Kind::Negate,
                .flex = flex_of(inner),
                .span = span_from(sign.span.begin),
                .sign = sign.span,
                .a = inner});
  }

  ExprId negated_condition() {
    const Token& word = take();
    const Nesting nesting(*this);
    const ExprId inner = operators(kComparison);
    return add({.kind = Expr::Kind::Not, .span = span_from(word.span.begin), .sign = word.span, .a = inner});
  }

  /// A value's name, or a call.
  ExprId name() {
    const Token& word = take();
    const Symbol symbol = word.kind == Tok::Name ? word.payload : static_cast<Symbol>(word.kind);
    if (!at(Tok::LeftParen) || next_->starts_line) {
      return add({.kind = Expr::Kind::Name, .name = symbol, .span = word.span});
    }
    const Nesting nesting(*this);
    ++next_;
    const std::size_t first = open_list_.size();
    Flex flex = Flex::Float;
    bool flexible = false;
    while (!at(Tok::RightParen)) {
      const ExprId argument = expression();
      flex = flexible ? common_flex(flex, flex_of(argument)) : flex_of(argument);
      flexible = true;
      open_list_.push_back(argument);
      if (!accept(Tok::Comma)) break;
    }
    expect(Tok::RightParen, "an operator, ',' or ')' in the arguments");
    const Operation* operation = operations_.find(symbol);
    if (operation == nullptr || !operation->keeps_type || !flexible) flex = Flex::Rigid;
    return add({.kind = Expr::Kind::Call,
                .flex = flex,
                .name = symbol,
                .span = span_from(word.span.begin),
                .sign = word.span,
                .list = close_list(first)});
  }

  Range close_list(std::size_t first) {
    const Range range{static_cast<uint32_t>(syntax_.lists.size()),
                      static_cast<uint32_t>(open_list_.size() - first)};
    syntax_.lists.insert(syntax_.lists.end(), open_list_.begin() + static_cast<std::ptrdiff_t>(first),
                         open_list_.end());
    open_list_.resize(first);
    return range;
  }

  /// One value in parentheses is that value; several are a tuple.
  ExprId parenthesized() {
    const Nesting nesting(*this);
    const Token& open = take();
    if (at(Tok::RightParen)) fail_expected("an expression between '(' and ')'");
    const std::size_t first = open_list_.size();
    const ExprId inner = expression();
    if (!at(Tok::Comma)) {
      expect(Tok::RightParen, "an operator, ',' or ')'");
      return inner;
    }
    open_list_.push_back(inner);
    while (accept(Tok::Comma)) {
      if (at(Tok::RightParen)) break;
      const ExprId element = expression();
      open_list_.push_back(element);
    }
    expect(Tok::RightParen, "an operator, ',' or ')'");
    return add({.kind = Expr::Kind::Tuple, .span = span_from(open.span.begin), .list = close_list(first)});
  }

  ExprId conditional() {
    const Nesting nesting(*this);
    const Token& word = take();
    const ExprId condition = expression();
    expect(Tok::Then, "an operator or 'then'");
    const ExprId then = expression();
    expect(Tok::Else, "an operator or 'else'");
    const ExprId otherwise = expression();
    return add({.kind = Expr::Kind::If,
                .flex = common_flex(flex_of(then), flex_of(otherwise)),
                .span = span_from(word.span.begin),
                .sign = word.span,
                .a = condition,
                .b = then,
                .c = otherwise});
  }

  ExprId loop() {
    const Nesting nesting(*this);
    const Token& word = take();
    Loop read;
    do {
      const Pattern pattern = pattern_with_type("the name of a loop variable");
      expect(Tok::Assign, "'=' and the first value of the loop variable");
      const ExprId initial = expression();
      read.states.push_back({pattern, initial});
    } while (accept(Tok::Comma));
    if (accept(Tok::For)) {
      read.counts = true;
      read.counter = pattern("the name of the counter");
      expect(Tok::In, "'in' and the range of the counter");
      read.begin = operators(kSum);
      expect(Tok::DotDot, "an operator or '..' and the end of the range");
      read.end = operators(kSum);
    } else {
      expect(Tok::While, "an operator, ',', 'while' or 'for' after a loop variable");
      read.condition = expression();
    }
    expect(Tok::Do, "an operator or 'do' and the next values of the loop variables");
    read.body = expression();
    syntax_.loops.push_back(std::move(read));
    return add({.kind = Expr::Kind::Loop,
                .span = span_from(word.span.begin),
                .sign = word.span,
                .index = static_cast<uint32_t>(syntax_.loops.size() - 1)});
  }

  ExprId placed() {
    const Nesting nesting(*this);
    const Token& word = take();
    const Token& place = expect(Tok::String, "a place in quotes, such as \"worker:0\"");
    const ExprId inner = operand();
    return add({.kind = Expr::Kind::On,
                .flex = flex_of(inner),
                .span = span_from(word.span.begin),
                .a = inner,
                .index = place.payload});
  }

  const Source& source_;
  const Token* next_;
  const Symbols& symbols_;
  const Operations& operations_;
  Diagnostics& diagnostics_;
  Syntax syntax_;
  int nesting_ = 0;
  std::vector<Let> open_lets_;     ///< of the blocks around the place of reading
  std::vector<ExprId> open_list_;  ///< of the calls and tuples around it
  std::vector<Pattern> patterns_;  ///< of the `let` being read
};

}  // namespace

Syntax parse_tokens(const Source& source, const TokenList& tokens, const Symbols& symbols,
                    const Operations& operations, Diagnostics& diagnostics) {
  return Parser(source, tokens, symbols, operations, diagnostics).run();
}

}  // namespace hiaton::lang
