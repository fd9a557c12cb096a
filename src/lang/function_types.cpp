#include "lang/function_types.h"

#include <fmt/format.h>

#include <algorithm>

#include "lang/generated.h"

namespace hiaton::lang {
namespace {

/// Visits the types of all parts of values of a type, itself included, until one is `wanted`. Nothing is
/// looked for inside of those that are `closed`.
template <class Wanted, class Closed>
bool any_inside(const Type& type, Wanted wanted, Closed closed) {
  std::unordered_set<const DataType*> seen;
  std::vector<Type> waiting{type};
  while (!waiting.empty()) {
    const Type next = waiting.back();
    waiting.pop_back();
    if (wanted(next)) return true;
    if (!next.is_data() || closed(next) || !seen.insert(next.data.get()).second) continue;
    for (std::size_t v = 0; v < next.data->variants.size(); ++v) {
      for (std::size_t i = 0; i < next.data->variants[v].fields.size(); ++i)
        waiting.push_back(field_type(next, v, i));
    }
  }
  return false;
}

}  // namespace

FunctionType& FunctionTypes::of(const std::vector<Type>& params, const Type& result) {
  std::string text;
  for (const Type& param : params) text += (text.empty() ? "" : ", ") + to_string(param);
  text = fmt::format("fn({}) -> {}", text, to_string(result));
  if (const auto known = by_text_.find(text); known != by_text_.end()) return *known->second;
  const std::string wanted = "Function_" + ir::as_name(text.substr(text.find('(')));
  std::string name = wanted;
  for (int number = 2; types_.find(name); ++number) name = fmt::format("{}_{}", wanted, number);
  diagnostics_.show_as(name, text);
  FunctionType& made =
      all_.emplace_back(FunctionType{.type = types_.declare(name), .params = params, .result = result});
  by_text_.emplace(text, &made);
  by_type_.emplace(made.type.data.get(), &made);
  return made;
}

FunctionType* FunctionTypes::find(const Type& type) const {
  const auto found = by_type_.find(type.data.get());
  return found == by_type_.end() ? nullptr : found->second;
}

std::size_t FunctionTypes::variant(FunctionType& type, const FunctionType::Target& target,
                                   const std::string& name) {
  const auto same = [&](const FunctionType::Target& other) {
    return other.function.id == target.function.id && other.captured == target.captured;
  };
  const auto known = std::find_if(type.targets.begin(), type.targets.end(), same);
  if (known != type.targets.end()) return static_cast<std::size_t>(known - type.targets.begin());
  std::vector<Variant> variants = type.type.data->variants;
  Variant& made = variants.emplace_back(Variant{"fn " + name, {}});
  for (std::size_t i = 0; i < target.captured.size(); ++i)
    made.fields.push_back({fmt::format("captured{}", i + 1), target.captured[i]});
  types_.redefine(type.type, std::move(variants));
  type.targets.push_back(target);
  return type.targets.size() - 1;
}

void FunctionTypes::finish() {
  for (const FunctionType& type : all_) {
    std::vector<Variant> variants = type.type.data->variants;
    if (variants.empty()) variants.push_back({"fn none", {}});
    for (Variant& variant : variants) variant.name = free_variant("Fn_" + variant.name.substr(3));
    types_.redefine(type.type, std::move(variants));
  }
}

bool FunctionTypes::is_inside(const Type& type) const {
  if (all_.empty()) return false;
  return any_inside(
      type, [&](const Type& part) { return find(part) != nullptr; }, [](const Type&) { return false; });
}

bool FunctionTypes::holds_floats_beside(const Type& type) const {
  return any_inside(
      type, [](const Type& part) { return !part.is_data() && is_float(part.dtype); },
      [&](const Type& part) { return find(part) != nullptr; });
}

std::string FunctionTypes::free_variant(const std::string& wanted) {
  std::string name = wanted;
  for (int number = 2; !taken_.insert(name).second; ++number) name = fmt::format("{}_{}", wanted, number);
  return name;
}

}  // namespace hiaton::lang
