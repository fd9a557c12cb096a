#include "lang/type_inference.h"

#include <fmt/format.h>

#include <algorithm>

namespace hiaton::lang {

TypeInference::TypeInference(const std::vector<Symbol>& params, const Source& source, const TokenList& tokens,
                             Declarations& declarations, Diagnostics& diagnostics)
    : Reader(source, tokens, declarations, diagnostics) {
  for (const Symbol param : params) arguments_.push_back({param, std::nullopt});
}

TypeInference::TypeInference(const std::vector<Symbol>& params, const TypeInference& other) : Reader(other) {
  for (const Symbol param : params) arguments_.push_back({param, std::nullopt});
}

void TypeInference::set(std::span<const std::optional<Type>> arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) arguments_[i].type = arguments[i];
}

TypeArgument* TypeInference::find(const Token& token) {
  if (token.kind != Tok::Name) return nullptr;
  const auto found = std::find_if(arguments_.begin(), arguments_.end(), [&](const TypeArgument& other) {
    return other.parameter == token.payload;
  });
  return found == arguments_.end() ? nullptr : &*found;
}

void TypeInference::match(std::size_t position, const Type& actual) {
  go_to(position);
  try {
    match_next(&actual);
  } catch (const Unreadable&) {  // reported where the type is read
  }
}

void TypeInference::match(std::size_t position, const GenericType& generic, const TypeArguments& known) {
  go_to(position);
  if (!at(Tok::Name) || declarations().generic_type(next().payload) != &generic) return;
  if (after_next().kind != Tok::LeftBracket) return;
  take();
  take();
  std::size_t part = 0;
  try {
    do {
      const std::optional<Type> type = part < known.size() ? known[part].type : std::nullopt;
      match_next(type ? &*type : nullptr);
      ++part;
    } while (accept(Tok::Comma));
  } catch (const Unreadable&) {  // reported where the type is read
  }
}

bool TypeInference::may_be(std::size_t position, const Type& actual) const {
  TypeInference trial(*this);
  trial.differs_ = false;
  trial.match(position, actual);
  return !trial.differs_;
}

std::string TypeInference::text_at(std::size_t position) {
  go_to(position);
  const uint32_t begin = next().span.begin;
  skip_type();
  return std::string(source().text(span_from(begin)));
}

/// `actual` is null below a type that is not what stands here.
void TypeInference::match_next(const Type* actual) {
  if (at(Tok::LeftParen)) return match_tuple(actual);
  if (at_all({Tok::Fn, Tok::LeftParen})) return match_function(actual);
  if (!at(Tok::Name)) return skip_type();
  if (TypeArgument* argument = find(next())) {
    if (actual != nullptr && !argument->type) argument->type = without_symbols(*actual);
    return skip_type();
  }
  const Token& name = next();
  const GenericType* const generic = declarations().generic_type(name.payload);
  const TypeAlias* const alias = declarations().alias(name.payload);
  const bool is_list = source().text(name.span) == Declarations::kList;
  const bool has_parts = is_list || generic != nullptr || (alias != nullptr && !alias->is_broken);
  if (!has_parts || after_next().kind != Tok::LeftBracket) return skip_type();
  std::vector<Type> parts;
  if (actual != nullptr && actual->is_data()) {
    const std::vector<Type>* known =
        generic != nullptr ? declarations().arguments_of(*actual, *generic) : nullptr;
    if (known != nullptr) parts = *known;
    if (is_list && Declarations::is_list(*actual)) parts.push_back(Declarations::element_of(*actual));
  }
  differs_ = differs_ || (alias == nullptr && actual != nullptr && parts.empty());
  take();
  take();
  std::size_t part = 0;
  TypeArguments of_alias;
  if (alias != nullptr && actual != nullptr) of_alias = arguments_of_alias(*alias, *actual);
  do {
    if (part < of_alias.size() && of_alias[part].type) {
      match_next(&*of_alias[part].type);
    } else {
      match_next(part < parts.size() ? &parts[part] : nullptr);
    }
    ++part;
  } while (accept(Tok::Comma));
  expect(Tok::RightBracket, "']' after a type");
}

/// One type in parentheses is that type.
void TypeInference::match_tuple(const Type* actual) {
  const bool is_one = !has_several_types();
  take();
  std::size_t part = 0;
  do {
    if (at(Tok::RightParen)) break;
    const bool fits =
        actual != nullptr && is_tuple(*actual) && part < actual->data->variants[0].fields.size();
    const Type type = fits && !is_one ? hiaton::field_type(*actual, 0, part) : Type();
    match_next(is_one ? actual : fits ? &type : nullptr);
    ++part;
  } while (accept(Tok::Comma));
  const bool is_same =
      is_one || actual == nullptr || (is_tuple(*actual) && part == actual->data->variants[0].fields.size());
  differs_ = differs_ || !is_same;
  expect(Tok::RightParen, "',' or ')' after a type");
}

void TypeInference::match_function(const Type* actual) {
  const FunctionType* const function =
      actual != nullptr ? declarations().function_types().find(*actual) : nullptr;
  take();
  take();
  std::size_t param = 0;
  while (!at(Tok::RightParen)) {
    const bool is_known = function != nullptr && param < function->params.size();
    match_next(is_known ? &function->params[param] : nullptr);
    ++param;
    if (!accept(Tok::Comma)) break;
  }
  const bool is_same = actual == nullptr || (function != nullptr && param == function->params.size());
  differs_ = differs_ || !is_same;
  expect(Tok::RightParen, "',' or ')' after a type");
  expect(Tok::Arrow, "'->' and the type of the result of the function");
  match_next(function != nullptr ? &function->result : nullptr);
}

/// In the parentheses that come next.
bool TypeInference::has_several_types() {
  const std::size_t begin = position();
  take();
  skip_type();
  const bool has_several = at(Tok::Comma);
  go_to(begin);
  return has_several;
}

/// What the alias was given, where it stands for this type.
TypeArguments TypeInference::arguments_of_alias(const TypeAlias& alias, const Type& actual) {
  TypeInference inner(alias.params, *this);
  inner.match(alias.type, actual);
  return inner.arguments_;
}

bool TypeInference::is_known_at(std::size_t position) {
  const auto is_known = [&](const TypeArgument& argument) { return argument.type.has_value(); };
  const std::vector<Symbol> named = params_at(position);
  return std::ranges::all_of(arguments_, [&](const TypeArgument& argument) {
    return is_known(argument) || std::ranges::find(named, argument.parameter) == named.end();
  });
}

std::vector<Symbol> TypeInference::params_at(std::size_t position) {
  std::vector<Symbol> named;
  go_to(position);
  try {
    skip_type();
  } catch (const Unreadable&) {  // reported where the type is read
    return named;
  }
  const std::size_t end = this->position();
  go_to(position);
  while (this->position() < end) {
    if (const TypeArgument* argument = find(take())) named.push_back(argument->parameter);
  }
  return named;
}

std::optional<Type> TypeInference::type_at(std::size_t position) {
  try {
    if (!is_known_at(position)) return std::nullopt;
    go_to(position);
    TypeArguments known;
    std::copy_if(arguments_.begin(), arguments_.end(), std::back_inserter(known),
                 [](const TypeArgument& argument) { return argument.type.has_value(); });
    begin_type_arguments(std::move(known));
    return type();
  } catch (const Unreadable&) {
    return std::nullopt;
  }
}

std::optional<FunctionPlaces> TypeInference::function_at(std::size_t position) {
  go_to(position);
  return at_all({Tok::Fn, Tok::LeftParen}) ? std::optional(function_places()) : std::nullopt;
}

bool TypeInference::is_list_at(std::size_t position) {
  go_to(position);
  return at(Tok::Name) && source().text(next().span) == Declarations::kList;
}

std::optional<Type> TypeInference::instance_of(const GenericType& generic, Span span) {
  std::vector<Type> types;
  for (const TypeArgument& argument : arguments_) types.push_back(*argument.type);
  return instance(generic, types, span);
}

std::string TypeInference::missing() const {
  for (const TypeArgument& argument : arguments_) {
    if (!argument.type) return std::string(declarations().spelled(argument.parameter));
  }
  return "";
}

std::string to_string(const TypeArguments& arguments, const Declarations& declarations) {
  std::string text;
  for (const TypeArgument& argument : arguments) {
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", declarations.spelled(argument.parameter),
                        argument.type ? to_string(*argument.type) : "?");
  }
  return text;
}

std::string text_of_use(const FunctionHead& use, const Declarations& declarations) {
  std::string text = to_string(use.type_arguments, declarations);
  for (const FunctionArgument& function : use.functions) {
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", declarations.spelled(function.name),
                        function.text);
  }
  return text;
}

}  // namespace hiaton::lang
