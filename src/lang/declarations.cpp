#include "lang/declarations.h"

#include <fmt/format.h>

#include <algorithm>

#include "hiaton/error.h"
#include "ir/names.h"

namespace hiaton::lang {

std::optional<std::size_t> Declarations::list_variant(std::string_view name) {
  if (name == "Nil") return kNil;
  if (name == "Cons") return kCons;
  return std::nullopt;
}

bool Declarations::is_free_for_value(Symbol name, Span span) {
  const bool is_size = sizes_.contains(name);
  if (!is_size && !parameter_numbers_.contains(name)) return true;
  diagnostics_.add(span, fmt::format("expected a new name, found '{}', which is {}", symbols_[name],
                                     is_size ? "a size" : "a learned parameter"));
  return false;
}

void Declarations::add_size(Symbol name, Span span, std::optional<int64_t> value) {
  if (!is_free_for_value(name, span)) return;
  const auto given = options_.sizes.find(std::string(symbols_[name]));
  sizes_.emplace(name, Size{given == options_.sizes.end() ? value : std::optional(given->second), span});
}

std::optional<Type> Declarations::declare_type(Symbol name, Span span) {
  const std::string_view text = symbols_[name];
  if (!ir::is_capitalized(text)) {
    diagnostics_.add(
        span, fmt::format("expected the name of a data type with a capital first letter, found '{}'", text));
    return std::nullopt;
  }
  if (text == kList || data_types_.contains(name)) {
    diagnostics_.add(span, text == kList
                               ? fmt::format("expected a new name, found '{}', which is built in", text)
                               : fmt::format("data type '{}' is defined twice", text));
    return std::nullopt;
  }
  const Type type = types_.declare(std::string(text));
  data_types_.emplace(name, type);
  return type;
}

void Declarations::define_type(const Type& type, std::vector<std::pair<Symbol, Variant>> variants,
                               const std::vector<Span>& spans) {
  std::vector<Variant> all;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const auto [known, added] = variants_.try_emplace(variants[i].first, VariantPlace{type, i});
    if (!added) {
      diagnostics_.add(spans[i], fmt::format("variant '{}' is defined twice; the first one belongs to '{}'",
                                             symbols_[variants[i].first], to_string(known->second.data)));
    }
    all.push_back(std::move(variants[i].second));
  }
  types_.define(type, std::move(all));
}

void Declarations::add_parameter(ParameterDeclaration parameter) {
  if (!is_free_for_value(parameter.name, parameter.span)) return;
  parameter_numbers_.emplace(parameter.name, parameters_.size());
  parameters_.push_back(std::move(parameter));
}

void Declarations::refuse_names_of_variants() {
  for (const auto& [name, size] : sizes_) refuse_variant(name, size.span, "size");
  for (const ParameterDeclaration& parameter : parameters_) {
    refuse_variant(parameter.name, parameter.span, "learned parameter");
  }
}

void Declarations::refuse_variant(Symbol name, Span span, std::string_view what) {
  if (!is_variant(name)) return;
  diagnostics_.add(
      span, fmt::format("expected the name of a {}, found '{}', which is a variant", what, symbols_[name]));
}

void Declarations::require_sizes_of_options() const {
  for (const auto& given : options_.sizes) {
    const std::string& name = given.first;
    const auto same = [&](const auto& size) { return symbols_[size.first] == name; };
    if (std::any_of(sizes_.begin(), sizes_.end(), same)) continue;
    std::vector<std::string_view> known;
    for (const auto& [symbol, size] : sizes_) known.push_back(symbols_[symbol]);
    std::sort(known.begin(), known.end());
    throw ProgramError(fmt::format("the program has no size '{}'{}", name,
                                   known.empty() ? "" : fmt::format("; it has {}", fmt::join(known, ", "))));
  }
}

}  // namespace hiaton::lang
