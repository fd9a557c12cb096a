// Reader: variants of data types, type parameters, and data types for type arguments.
#include <fmt/format.h>

#include <algorithm>

#include "ir/names.h"
#include "lang/reader.h"

namespace hiaton::lang {
namespace {

/// How many generic types may be made for each other's fields, and how long the name of one may be: more
/// would never end.
constexpr int kMaxTypeDepth = 50;
constexpr std::size_t kLongestType = 1000;

}  // namespace

Variant Reader::variant() {
  const Token& name = expect(Tok::Name, "the name of a variant");
  Variant variant{std::string(source_.text(name.span)), {}};
  if (!ir::is_capitalized(variant.name)) {
    report(name.span, fmt::format("expected the name of a variant with a capital first letter, found '{}'",
                                  variant.name));
  }
  if (at(Tok::LeftParen)) fields(variant);
  return variant;
}

void Reader::fields(Variant& variant) {
  take();
  std::unordered_set<Symbol> names;
  if (at(Tok::RightParen)) fail_expected("a field; a variant without fields has no parentheses");
  while (!at(Tok::RightParen)) {
    const Token& name = expect(Tok::Name, "the name of a field");
    expect(Tok::Colon, "':' and the type of the field");
    const std::string text(source_.text(name.span));
    if (!names.insert(name.payload).second) {
      report(name.span, fmt::format("field '{}' is defined twice", text));
    }
    variant.fields.push_back({text, field_type()});
    if (!accept(Tok::Comma)) break;
  }
  expect(Tok::RightParen, "an operator, ',' or ')' after a field");
}

/// Symbols belong to functions only.
Type Reader::field_type() {
  const uint32_t begin = next().span.begin;
  std::optional<Type> read = type();
  if (!read) return Type();
  refuse_symbols(*read, span_from(begin));
  return *read;
}

void Reader::refuse_symbols(const Type& type, Span span) {
  for (const Dim& dim : type.shape) {
    if (dim.size < 0 && dim != unknown_dim()) report_symbol(span, dim, ", and '_' stands for any size");
  }
}

void Reader::report_symbol(Span span, const Dim& dim, std::string_view more) {
  const std::string hint =
      dim == unknown_dim()
          ? ""
          : fmt::format("; a size is declared by a line 'size {} = ...'{}", dim.symbol, more);
  report(span,
         fmt::format("expected a dimension that is known before the run, found '{}'{}", dim.symbol, hint));
}

std::vector<Symbol> Reader::type_parameters() {
  take();
  std::vector<Symbol> params;
  do {
    if (at(Tok::RightBracket) && !params.empty()) break;
    const Token& name = expect(Tok::Name, "the name of a type parameter");
    const std::string_view text = source_.text(name.span);
    if (!ir::is_capitalized(text)) {
      report(
          name.span,
          fmt::format("expected the name of a type parameter with a capital first letter, found '{}'", text));
    }
    if (std::find(params.begin(), params.end(), name.payload) != params.end()) {
      report(name.span, fmt::format("type parameter '{}' is defined twice", text));
    }
    params.push_back(name.payload);
  } while (accept(Tok::Comma));
  expect(Tok::RightBracket, "',' or ']' after a type parameter");
  return params;
}

const Type* Reader::type_argument(Symbol name) const {
  for (const TypeArgument& argument : type_arguments_) {
    if (argument.parameter == name) return &*argument.type;
  }
  return nullptr;
}

/// Tensors are of any size where a symbol stands.
std::optional<std::vector<Type>> Reader::types_in_brackets() {
  take();
  const Deeper deeper = inside_brackets();
  std::vector<Type> types;
  bool known = true;
  do {
    const std::optional<Type> read = type();
    known = known && read.has_value();
    types.push_back(without_symbols(read.value_or(Type())));
  } while (accept(Tok::Comma));
  expect(Tok::RightBracket, "',' or ']' after a type");
  return known ? std::optional(std::move(types)) : std::nullopt;
}

std::optional<std::vector<Type>> Reader::type_arguments_behind() {
  const bool has_brackets = at(Tok::LeftBracket) && !next_->starts_line;
  return has_brackets ? types_in_brackets() : std::optional<std::vector<Type>>(std::in_place);
}

bool Reader::takes(std::string_view name, const std::vector<Symbol>& params, std::size_t found, Span span) {
  if (params.size() == found) return true;
  std::string all;
  for (const Symbol param : params)
    all += (all.empty() ? "" : ", ") + std::string(declarations_.spelled(param));
  report(span, fmt::format("'{}' takes {} type{} in brackets, found {}{}", name, params.size(),
                           params.size() == 1 ? "" : "s", found,
                           all.empty() ? "" : fmt::format(": {}[{}]", name, all)));
  return false;
}

std::optional<Type> Reader::generic_type(const GenericType& generic, const Token& name) {
  const std::optional<std::vector<Type>> arguments = type_arguments_behind();
  return arguments ? instance(generic, *arguments, span_from(name.span.begin)) : std::nullopt;
}

/// Sizes that each call may choose belong to functions.
std::optional<Type> Reader::alias(TypeAlias& alias, const Token& name) {
  const std::optional<std::vector<Type>> arguments = type_arguments_behind();
  const std::string_view text = declarations_.spelled(alias.name);
  if (!arguments || alias.is_broken) return std::nullopt;
  if (!takes(text, alias.params, arguments->size(), span_from(name.span.begin))) return std::nullopt;
  if (alias.known) return alias.known;
  if (alias.is_being_read) {
    alias.is_broken = true;
    report(alias.span,
           fmt::format("'{}' stands for a type that is made of itself; 'data' declares one", text));
    return std::nullopt;
  }
  Reader reader(source_, tokens_, declarations_, diagnostics_);
  TypeArguments bound;
  for (std::size_t i = 0; i < arguments->size(); ++i) bound.push_back({alias.params[i], (*arguments)[i]});
  reader.begin_type_arguments(std::move(bound));
  reader.go_to(alias.type);
  const std::size_t findings = diagnostics_.count();
  alias.is_being_read = true;
  Type read;
  try {
    read = reader.field_type();
  } catch (const Unreadable&) {
  }
  alias.is_being_read = false;
  alias.is_broken = alias.is_broken || diagnostics_.count() > findings;
  if (alias.is_broken) return std::nullopt;
  if (alias.params.empty()) alias.known = read;
  return read;
}

/// Its variants are read after it is declared: they may contain it.
std::optional<Type> Reader::instance(const GenericType& generic, const std::vector<Type>& arguments,
                                     Span span) {
  const std::string_view name = declarations_.spelled(generic.name);
  if (!takes(name, generic.params, arguments.size(), span)) return std::nullopt;
  std::size_t length = 0;
  for (const Type& argument : arguments) length += to_string(argument).size();
  if (declarations_.instance_depth() == kMaxTypeDepth || length > kLongestType) {
    report(span, fmt::format("this would need endlessly many types: '{}' of '{}' of ever larger types", name,
                             name));
    return std::nullopt;
  }
  const Declarations::Instance made = declarations_.instance(generic, arguments);
  if (!made.is_new) return made.type;
  const Deeper deeper(declarations_.instance_depth());
  Reader reader(source_, tokens_, declarations_, diagnostics_);
  TypeArguments bound;
  for (std::size_t i = 0; i < arguments.size(); ++i) bound.push_back({generic.params[i], arguments[i]});
  reader.begin_type_arguments(std::move(bound));
  reader.go_to(generic.variants_begin);
  std::vector<Variant> variants;
  try {
    do {
      variants.push_back(reader.variant());
    } while (reader.accept(Tok::Bar));
  } catch (const Unreadable&) {
  }
  declarations_.define_instance(made.type, std::move(variants));
  return made.type;
}

FunctionPlaces Reader::function_places() {
  take();
  take();
  FunctionPlaces places;
  while (!at(Tok::RightParen)) {
    places.params.push_back(position());
    skip_type();
    if (!accept(Tok::Comma)) break;
  }
  expect(Tok::RightParen, "',' or ')' after a type");
  expect(Tok::Arrow, "'->' and the type of the result of the function");
  places.result = position();
  skip_type();
  return places;
}

void Reader::skip_type() {
  if (at_all({Tok::Fn, Tok::LeftParen})) {
    take();
    skip_brackets();
    expect(Tok::Arrow, "'->' and the type of the result of the function");
    return skip_type();
  }
  const bool is_tuple = at(Tok::LeftParen);
  if (!is_tuple) expect(Tok::Name, "a type");
  const bool has_brackets = at(Tok::LeftBracket) && !next_->starts_line;
  if (is_tuple || has_brackets) skip_brackets();
}

void Reader::skip_brackets() {
  const std::string_view closing =
      at(Tok::LeftParen) ? "')' behind types" : "']' behind a type or dimensions";
  next_ = &behind_brackets();
  const Tok last = next_[-1].kind;
  if (last != Tok::RightParen && last != Tok::RightBracket) fail_expected(closing);
}

}  // namespace hiaton::lang
