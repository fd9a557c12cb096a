// Walking along the tokens: what reading heads and reading bodies share.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "lang/declarations.h"
#include "lang/diagnostics.h"
#include "lang/syntax.h"

namespace hiaton::lang {

/// Thrown after a finding was reported, to the nearest place from which reading can go on.
struct Unreadable {
  bool skip_function = false;
};

/// One level more, for as long as it lives.
class Deeper {
 public:
  explicit Deeper(int& depth) : depth_(depth) { ++depth_; }
  ~Deeper() { --depth_; }
  Deeper(const Deeper&) = delete;
  Deeper& operator=(const Deeper&) = delete;

 private:
  int& depth_;
};

/// Where, in a function type, the types of its parameters and of its result stand.
struct FunctionPlaces {
  std::vector<std::size_t> params;
  std::size_t result = 0;
};

class Reader {
 public:
  Reader(const Source& source, const TokenList& tokens, Declarations& declarations, Diagnostics& diagnostics)
      : source_(source),
        tokens_(tokens),
        first_(tokens.tokens.data()),
        next_(first_),
        declarations_(declarations),
        diagnostics_(diagnostics) {}

 protected:
  bool at(Tok kind) const { return next_->kind == kind; }
  const Token& next() const { return *next_; }
  /// Behind the End there is nothing else.
  const Token& after_next() const { return at(Tok::End) ? *next_ : next_[1]; }
  /// Whether tokens of these kinds come next.
  bool at_all(std::initializer_list<Tok> kinds) const;
  /// The next token is an opening bracket. Returns the one behind its closing bracket, or the declaration or
  /// the end that comes before that.
  const Token& behind_brackets() const;
  /// The next token is 'with'. Returns whether it begins a loop, that is, whether its 'while' or 'for'
  /// follows before another 'with', outside of brackets that open behind it.
  bool at_loop() const;
  /// The last minus before the next token that begins a line, from `begin` in the text on; nullptr where
  /// there is none.
  const Token* last_minus_at_a_line(uint32_t begin) const;
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
  /// The innermost bracket that is open before the next token; nullptr where there is none.
  const Token* open_bracket() const;
  std::size_t position() const { return static_cast<std::size_t>(next_ - first_); }
  void go_to(std::size_t position) { next_ = first_ + position; }
  /// Whether a function, data type, size, parameter, constant, alias or import begins here.
  bool at_declaration() const { return begins_declaration(next_); }
  /// What a name at the beginning of a line declares.
  enum class Declared : uint8_t { Nothing, Size, Constant, Alias, Import };
  Declared next_declared() const { return declaration_by_name(next_); }
  /// Whether the token is the first one of a file that is imported.
  bool begins_file(const Token* token) const;
  void skip_to_declaration();
  /// Reports files that are imported and would continue the last expression of the file before.
  void refuse_files_that_continue();
  /// From `begin` to the end of the last token taken.
  Span span_from(uint32_t begin) const { return {begin, next_[-1].span.end}; }

  [[noreturn]] void fail(Span span, std::string message);
  /// "expected `what`, found" the next token.
  [[noreturn]] void fail_expected(std::string_view what);
  std::size_t finding_count() const { return diagnostics_.count(); }
  void report(Span span, std::string message) { diagnostics_.add(span, std::move(message)); }

  // Type parameters (data_types.cpp).
  /// `[A, B]`, with '[' as the next token.
  std::vector<Symbol> type_parameters();
  /// From here on, type parameters stand for these types.
  void begin_type_arguments(TypeArguments arguments) { type_arguments_ = std::move(arguments); }
  /// `[i64, Tree]`, with '[' as the next token; empty where one of them is unknown, which is reported.
  std::optional<std::vector<Type>> types_in_brackets();
  /// The data type with these arguments. Empty where they are too few or too many, or where it would need
  /// ever more types, which is reported.
  std::optional<Type> instance(const GenericType& generic, const std::vector<Type>& arguments, Span span);
  /// A type in which no symbols may stand; any where it is wrong, which is reported.
  Type field_type();
  /// Goes behind a type without reading it.
  void skip_type();
  /// The next token is an opening bracket. Goes behind the closing one; throws Unreadable where there is
  /// none.
  void skip_brackets();
  /// Goes behind a function type, with its 'fn' as the next token, without reading the types in it.
  FunctionPlaces function_places();
  Variant variant();

  // Types and what stands in them (types.cpp).
  /// Empty where the type is unknown, which is reported.
  std::optional<Type> type();
  /// Also one with dimensions that follow from symbols, which come behind those that were computed before.
  std::optional<Type> type_with(std::vector<ComputedSize>& computed);
  /// An integer that follows from numbers and sizes alone. Empty where it has no value, which is reported.
  std::optional<int64_t> constant();
  /// From here on these are the symbols of the parameters of the function that is read.
  void begin_sizes(std::unordered_set<Symbol> of_parameters) {
    sizes_ = std::move(of_parameters);
    symbols_read_.clear();
  }
  /// The symbols of the types that were read since then.
  std::unordered_set<Symbol> sizes_read() const;
  /// Reports those of them that no parameter has, but whose names are nearly that of a size.
  void refuse_mistyped_sizes();
  Declarations& declarations() { return declarations_; }
  const Declarations& declarations() const { return declarations_; }
  /// Where a dimension of a type must be known before the run. `more` is what may stand there besides.
  void report_symbol(Span span, const Dim& dim, std::string_view more = "");
  /// In the types of fields and of the parts of tuples.
  void refuse_symbols(const Type& type, Span span);
  bool at_gradient() const { return gradient_kind(next_->kind).has_value(); }
  /// `grad(f, wrt=0)`, with `grad` as the next token. `lambda` reads one that stands for the name `f`, and
  /// `operand` any other expression, to which it gives a name.
  GradientOf gradient_of(const std::function<ExprId()>& lambda, const std::function<Symbol()>& operand);
  /// Whether a name comes next of which nothing but a gradient is taken.
  bool at_name_alone() const {
    return at(Tok::Name) && (after_next().kind == Tok::RightParen || after_next().kind == Tok::Comma);
  }
  /// Like `Leaf`, not like `leaf`.
  bool at_capitalized_name() const;

  const Source& source() const { return source_; }

 private:
  bool begins_declaration(const Token* token) const;
  Declared declaration_by_name(const Token* token) const;
  std::string describe(const Token& token) const;
  /// Whether the line before the next token begins with a call of `print`.
  bool follows_print() const;
  std::string hint_at(std::string_view what) const;
  std::string hint_at_argument(std::string_view what) const;
  [[nodiscard]] Deeper inside_brackets();
  void fields(Variant& variant);
  std::vector<GradientOf::Wrt> gradient_wrt();
  GradientOf::Wrt gradient_by();
  std::optional<Type> list_type();
  std::optional<Type> tuple_type();
  std::optional<Type> function_type();
  std::optional<Type> generic_type(const GenericType& generic, const Token& name);
  /// What stands in brackets behind a name, if anything does; empty where a type is unknown, which is
  /// reported.
  std::optional<std::vector<Type>> type_arguments_behind();
  bool takes(std::string_view name, const std::vector<Symbol>& params, std::size_t found, Span span);
  std::optional<Type> alias(TypeAlias& alias, const Token& name);
  /// nullptr where no type parameter has this name.
  const Type* type_argument(Symbol name) const;
  std::optional<Type> unknown_type(const Token& name);
  void report_unknown_type(const Token& name);
  std::optional<std::vector<Dim>> shape();
  std::optional<Dim> dimension(std::size_t axis);
  std::optional<SizeFormula> formula();
  std::optional<SizeFormula> formula_product();
  std::optional<SizeFormula> formula_factor();
  std::optional<SizeFormula> formula_size(bool negative);
  std::optional<SizeFormula> combine(Tok op, std::optional<SizeFormula> a,
                                     const std::optional<SizeFormula>& b, Span span);

  const Source& source_;
  const TokenList& tokens_;
  const Token* first_;
  const Token* next_;
  Declarations& declarations_;
  Diagnostics& diagnostics_;
  int depth_ = 0;                     ///< how many brackets of a type or constant are open
  std::unordered_set<Symbol> sizes_;  ///< symbols of the parameters of the function that is read
  /// How many names are still compared: programs of any size are read in little time.
  std::size_t comparisons_left_ = 1'000'000;
  std::vector<ComputedSize>* computed_ =
      nullptr;  ///< takes the sizes of the type that is read, where it may have some
  std::vector<const Token*> symbols_read_;  ///< in the types read since those are known
  TypeArguments type_arguments_;
};

}  // namespace hiaton::lang
