#include "lang/declarations.h"

#include <fmt/format.h>

#include <algorithm>

#include "hiaton/error.h"
#include "ir/names.h"
#include "lang/library.h"

namespace hiaton::lang {

Type without_symbols(Type type) {
  for (Dim& dim : type.shape) {
    if (dim.size < 0) dim = unknown_dim();
  }
  return type;
}

std::string declaration_of(const Variant& variant) {
  std::string text;
  for (const Field& field : variant.fields) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", field.name, to_string(field.type));
  }
  return text.empty() ? variant.name : fmt::format("{}({})", variant.name, text);
}

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

bool Declarations::is_free_for_type(Symbol name, Span span) {
  const std::string_view text = symbols_[name];
  if (!ir::is_capitalized(text)) {
    diagnostics_.add(
        span, fmt::format("expected the name of a data type with a capital first letter, found '{}'", text));
    return false;
  }
  if (text == kList) {
    diagnostics_.add(span, fmt::format("expected a new name, found '{}', which is built in", text));
    return false;
  }
  const auto [first, is_new] = type_spans_.emplace(name, span);
  if (!is_new && !is_of_library_too(name, first->second, span, "data type"))
    diagnostics_.add(span, fmt::format("data type '{}' is defined twice", text));
  return is_new;
}

bool Declarations::is_of_library_too(Symbol name, Span first, Span second, std::string_view what) {
  const bool is_second = is_of_library(source_.file_at(second.begin).key);
  const Source::File& file = source_.file_at((is_second ? second : first).begin);
  if (!is_of_library(file.key)) return false;
  diagnostics_.add(is_second ? first : second,
                   fmt::format("expected a new name, found '{}', which is a {} of \"{}\", an imported file",
                               symbols_[name], what, file.key));
  return true;
}

std::optional<Type> Declarations::declare_type(Symbol name, Span span) {
  if (!is_free_for_type(name, span)) return std::nullopt;
  const Type type = types_.declare(std::string(symbols_[name]));
  data_types_.emplace(name, type);
  declared_types_.emplace_back(name, span);
  return type;
}

bool Declarations::is_free_for_variant(Symbol name, Span span) {
  const auto [first, is_new] = variant_spans_.emplace(name, span);
  const VariantPlace* const known = find(variants_, name);
  const GenericVariant* const generic = find(generic_variants_, name);
  if (known == nullptr && generic == nullptr) return true;
  if (is_of_library_too(name, first->second, span, "variant")) return false;
  diagnostics_.add(span,
                   fmt::format("variant '{}' is defined twice; the first one belongs to '{}'", symbols_[name],
                               known != nullptr ? to_string(known->data) : symbols_[generic->type->name]));
  return false;
}

void Declarations::define_type(const Type& type, std::vector<std::pair<Symbol, Variant>> variants,
                               const std::vector<Span>& spans) {
  std::vector<Variant> all;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    if (is_free_for_variant(variants[i].first, spans[i])) {
      variants_.emplace(variants[i].first, VariantPlace{type, i});
    }
    all.push_back(std::move(variants[i].second));
  }
  types_.redefine(type, std::move(all));  // names that stand twice are reported with their places
}

GenericType* Declarations::declare_generic_type(GenericType type) {
  if (!is_free_for_type(type.name, type.span)) return nullptr;
  const Symbol name = type.name;
  return generic_types_.emplace(name, std::make_unique<GenericType>(std::move(type))).first->second.get();
}

TypeAlias* Declarations::declare_alias(TypeAlias alias) {
  if (!is_free_for_type(alias.name, alias.span)) return nullptr;
  const Symbol name = alias.name;
  return aliases_.emplace(name, std::make_unique<TypeAlias>(std::move(alias))).first->second.get();
}

void Declarations::define_generic_type(const GenericType& type) {
  for (std::size_t i = 0; i < type.variants.size(); ++i) {
    const GenericType::VariantHead& variant = type.variants[i];
    if (is_free_for_variant(variant.name, variant.span)) {
      generic_variants_.emplace(variant.name, GenericVariant{&type, i});
    }
  }
}

Declarations::Instance Declarations::instance(const GenericType& generic,
                                              const std::vector<Type>& arguments) {
  std::string name;
  for (const Type& argument : arguments) name += (name.empty() ? "" : ", ") + to_string(argument);
  name = fmt::format("{}[{}]", symbols_[generic.name], name);
  if (const std::optional<Type> known = types_.find(name)) return {*known, false};
  const Type made = types_.declare(name);
  instances_.emplace(made.data.get(), InstanceOf{&generic, arguments});
  return {made, true};
}

const std::vector<Type>* Declarations::arguments_of(const Type& type, const GenericType& generic) const {
  const auto found = instances_.find(type.data.get());
  return found == instances_.end() || found->second.generic != &generic ? nullptr : &found->second.arguments;
}

std::vector<std::string> Declarations::generic_texts() const {
  std::vector<std::string> texts;
  for (const auto& [name, generic] : generic_types_) texts.push_back(generic->text);
  if (texts.empty()) return texts;
  for (const auto& [name, alias] : aliases_) texts.push_back(alias->text);
  std::sort(texts.begin(), texts.end());
  return texts;
}

void Declarations::add_parameter(ParameterDeclaration parameter) {
  if (!is_free_for_value(parameter.name, parameter.span)) return;
  parameter_numbers_.emplace(parameter.name, parameters_.size());
  parameters_.push_back(std::move(parameter));
}

/// A type has values where one of its variants has, and a variant where the types of all of its fields have.
std::unordered_set<const DataType*> Declarations::types_with_values() const {
  struct Waiting {
    const DataType* of;
    std::size_t missing = 0;
  };
  std::vector<Waiting> variants;
  std::unordered_map<const DataType*, std::vector<std::size_t>> waiting_for;
  std::unordered_set<const DataType*> with_values;
  std::vector<const DataType*> found;
  const auto add = [&](const DataType* type) {
    if (with_values.insert(type).second) found.push_back(type);
  };
  for (const Type& type : types_.all()) {
    if (function_types_.find(type) != nullptr) add(type.data.get());
    for (const Variant& variant : type.data->variants) {
      Waiting& waiting = variants.emplace_back(Waiting{type.data.get()});
      for (const Field& field : variant.fields) {
        if (!field.type.is_data() || is_string(field.type)) continue;
        ++waiting.missing;
        waiting_for[field.type.data.get()].push_back(variants.size() - 1);
      }
      if (waiting.missing == 0) add(type.data.get());
    }
  }
  while (!found.empty()) {
    const DataType* type = found.back();
    found.pop_back();
    for (const std::size_t variant : waiting_for[type]) {
      if (--variants[variant].missing == 0) add(variants[variant].of);
    }
  }
  return with_values;
}

void Declarations::refuse_types_without_values() {
  const std::unordered_set<const DataType*> with_values = types_with_values();
  for (const auto& [name, span] : declared_types_) {
    const Type& type = data_types_.at(name);
    if (type.data->variants.empty() || with_values.contains(type.data.get())) continue;
    diagnostics_.add(
        span, fmt::format("no value of '{}' can be made: each of its variants needs another value that "
                          "needs one of '{}' first",
                          symbols_[name], symbols_[name]));
  }
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
