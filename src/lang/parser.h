// Tokens to syntax trees, one function at a time.
#pragma once

#include <algorithm>
#include <array>

#include "lang/operations.h"
#include "lang/reader.h"

namespace hiaton::lang {

class Parser : Reader {
 public:
  /// `functions` are the names of generic functions.
  Parser(const Source& source, const TokenList& tokens, const Operations& operations,
         std::unordered_set<Symbol> functions, Declarations& declarations, Diagnostics& diagnostics)
      : Reader(source, tokens, declarations, diagnostics),
        operations_(operations),
        functions_(std::move(functions)) {}

  /// The body of a function with a readable head; Broken where it cannot be read, which is reported.
  ExprId read_body(const FunctionHead& head);
  /// What the body consists of, until the next one is read.
  const Syntax& syntax() const { return syntax_; }

 private:
  /// Binding strength of the operators; what is stronger binds first.
  enum Level : int { kNone = 0, kOr, kAnd, kNot, kComparison, kSum, kProduct };

  /// What stands with names among the arguments of a call: attributes of an operation or fields of a variant.
  struct Named {
    bool are_fields = false;
    std::vector<Attribute> attributes;
    std::vector<FieldName> fields;
    std::vector<Pattern> places;  ///< `_`: what the call leaves open
    bool empty() const { return attributes.empty() && fields.empty(); }
  };

  /// For an expression inside another.
  [[nodiscard]] Deeper nested() {
    if (nesting_ == kMaxNesting) fail_nesting();
    return Deeper(nesting_);
  }
  static Level level_of(Tok op);
  [[noreturn]] void fail_nesting();
  [[noreturn]] void fail_after_body();
  [[noreturn]] void fail_without_result(uint32_t begin);

  ExprId add(const Expr& expr);
  ExprId broken(Span span) { return add({.span = span}); }
  static Flex common_flex(Flex a, Flex b) {
    return a == Flex::Rigid || b == Flex::Rigid ? Flex::Rigid : std::max(a, b);
  }
  Flex flex_of(ExprId id) const { return syntax_[id].flex; }
  Range close_list(std::size_t first);
  /// A name or `_`; `what` is what is expected.
  Pattern pattern(std::string_view what);
  Pattern pattern_with_type(std::string_view what);

  ExprId expression();
  ExprId block();
  Let let();
  Range let_patterns();
  /// Whether a pattern comes next that takes a value apart, and not the name of one.
  bool at_taking_apart() const {
    return at(Tok::LeftParen) || at(Tok::LeftBracket) || at_variant_with_parts();
  }
  bool at_variant_with_parts() const { return at_capitalized_name() && after_next().kind == Tok::LeftParen; }
  /// Likewise behind a 'let', which names the values of a tuple in parentheses itself.
  bool at_let_taking_apart();
  ExprId let_taking_apart();
  /// A `match` with the one arm, which has to fit all values.
  ExprId taken_apart(ExprId matched, const ArmPattern& pattern, ExprId body, std::size_t arms_before);
  /// A value that gets a hidden name, and is taken apart where that name is known.
  struct TakenApart {
    Pattern name;
    ArmPattern pattern;
  };
  Pattern pattern_taking_apart(std::string_view what, std::vector<TakenApart>& taken);
  ExprId with_taken_apart(ExprId body, std::span<const TakenApart> taken, std::size_t arms_before);
  uint32_t local_function();
  ExprId let_bound();
  bool skip_to_let_like(std::size_t start);

  /// Operators of at least the level `weakest`.
  ExprId operators(int weakest);
  ExprId logic(ExprId left, const Token& op, Level level);
  ExprId binary(ExprId left, const Token& op, Level level);

  ExprId operand();
  ExprId primary();
  // What stands behind the operand `expr`.
  ExprId indexed(ExprId expr);
  ExprId index_position();
  ExprId field(ExprId expr);
  ExprId update(ExprId expr);
  ExprId update_at_place(ExprId expr, Span word);
  bool at_number() const;
  ExprId number(bool negative, uint32_t begin);
  ExprId boolean();
  ExprId string();
  ExprId minus();
  ExprId negated_condition();
  ExprId name_or_call();
  Range types_behind(const Token& word);
  ExprId call(Symbol symbol, const Token& word, Range types, bool of_catalog = false);
  ExprId operation_call();
  /// The expressions up to the closing bracket, pushed onto open_list_; what they have in common.
  Flex arguments(Tok close, std::string_view expected, Named* named);
  bool at_name_of_value() const { return at_all({Tok::Name, Tok::Assign}); }
  Attribute attribute();
  FieldName field_value();
  ExprId gradient();
  ExprId lambda();
  ExprId learned();
  ExprId list();
  ExprId onto_list(std::size_t first, const Token& open);
  ExprId parenthesized();
  ExprId conditional();
  ExprId match();
  bool at_arm() const;
  static bool ends_pattern(const Token& token) { return token.kind == Tok::Arrow || token.kind == Tok::If; }
  /// Whether there is a blank or the end of a line before the next token.
  bool is_apart() const { return span_from(0).end != next().span.begin; }
  /// Whether a bracket comes next that begins the next arm of a `match`, not an index or a call.
  bool at_arm_behind_blank() const;
  /// Whether a minus comes next that begins an arm, not a difference.
  bool at_negative_arm() const;
  /// Whether the arm that comes next stands in the column of those of a `match` around this one, which is
  /// reported: it is read as an arm of that one.
  bool at_swallowed_arm();
  Arm arm();
  ExprId guard();
  ArmPattern arm_pattern();
  ArmPattern variant_pattern();
  ArmPattern literal_pattern();
  ArmPattern list_pattern();
  ArmPattern tuple_pattern();
  ExprId loop();
  void loop_states(Loop& loop, std::vector<TakenApart>& taken);
  // Calls of values, and functions of what a call leaves open (parse_calls.cpp).
  bool may_be_called(ExprId expr) const;
  ExprId applied(ExprId callee);
  bool at_open_place() const;
  ExprId open_place(std::vector<Pattern>& places);
  /// The function of the open places of a call, of which the arguments are those on open_list_ from `first`
  /// on. What it is given is computed once.
  ExprId with_open_places(Expr call, std::size_t first, const std::vector<Pattern>& places,
                          std::size_t first_expression);
  ExprId placed();

  /// A `match` of which the arms are being read.
  struct OpenMatch {
    uint32_t line;
    uint32_t arm_column;  ///< the column of its first arm; 0 where that does not begin its line
    int brackets;         ///< around it
  };

  const Operations& operations_;
  std::unordered_set<Symbol> functions_;  ///< generic ones
  Syntax syntax_;
  int nesting_ = 0;
  int brackets_ = 0;                     ///< around the place of reading
  std::vector<OpenMatch> open_matches_;  ///< around it
  std::size_t swallowed_ = 0;            ///< the arm that was reported last
  std::vector<Let> open_lets_;           ///< what the blocks around the place of reading bind
  std::vector<ExprId> open_list_;        ///< arguments of the calls and tuples around it
  std::vector<Pattern> patterns_;        ///< patterns of the `let` being read
};

}  // namespace hiaton::lang
