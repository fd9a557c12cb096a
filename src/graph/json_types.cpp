#include "graph/json_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_set>

#include "graph/json_values.h"
#include "hiaton/error.h"

namespace hiaton::graph {
namespace {

using Json = nlohmann::ordered_json;

DType read_element(const JsonPlace& place) {
  const std::string name = place.text();
  const std::optional<DType> dtype = dtype_from_name(name);
  if (!dtype) place.fail(fmt::format("expected a type, found '{}'", name));
  return *dtype;
}

bool is_built_in_list(const Type& type) {
  const std::vector<Variant>& variants = type.data->variants;
  return variants.size() == 2 && variants[0].name == "Nil" && variants[0].fields.empty() &&
         variants[1].name == "Cons" && variants[1].fields.size() == 2 && variants[1].fields[1].type == type &&
         type.data->name == fmt::format("List[{}]", to_string(variants[1].fields[0].type));
}

bool is_built_in_tuple(const Type& type) {
  const std::vector<Variant>& variants = type.data->variants;
  if (variants.size() != 1 || !variants[0].name.empty() || variants[0].fields.size() < 2) return false;
  std::string name;
  for (const Field& field : variants[0].fields) name += (name.empty() ? "(" : ", ") + to_string(field.type);
  return type.data->name == name + ")";
}

}  // namespace

std::vector<Type> data_types_of(const Graph& graph) {
  std::vector<Type> found;
  std::unordered_set<const DataType*> seen;
  const auto add = [&](const Type& type) {
    if (type.is_data() && !is_string(type) && seen.insert(type.data.get()).second) found.push_back(type);
  };
  for (const Node& node : graph.nodes()) add(node.type);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Type type = found[i];
    for (std::size_t v = 0; v < type.data->variants.size(); ++v) {
      for (std::size_t f = 0; f < type.data->variants[v].fields.size(); ++f) add(field_type(type, v, f));
    }
  }
  return found;
}

Json type_json(const Type& type) {
  if (type.is_data()) return {{"data", text_json(type.data->name)}};
  if (type.is_scalar()) return name_of(type.dtype);
  Json shape = Json::array();
  for (const Dim& dim : type.shape) shape.push_back(dim.size >= 0 ? Json(dim.size) : text_json(dim.symbol));
  return {{"element", name_of(type.dtype)}, {"shape", shape}};
}

Json data_type_json(const Type& type) {
  Json variants = Json::array();
  for (const Variant& variant : type.data->variants) {
    Json fields = Json::array();
    for (const Field& field : variant.fields) {
      fields.push_back({{"name", text_json(field.name)}, {"type", type_json(field.type)}});
    }
    variants.push_back({{"name", text_json(variant.name)}, {"fields", fields}});
  }
  return {{"name", text_json(type.data->name)}, {"variants", variants}};
}

void TypeReader::read_data_types(const JsonPlace& list) {
  std::vector<Type> declared;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const JsonPlace place = list[i];
    place.require_fields({"name", "variants"});
    const JsonPlace name = place.field("name");
    try {
      declared.push_back(types_.declare(name.text()));
    } catch (const ProgramError& error) {
      name.fail(error.what());
    }
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    const JsonPlace place = list[i];
    const JsonPlace variants = place.field("variants");
    std::vector<Variant> all;
    for (std::size_t v = 0; v < variants.size(); ++v) {
      all.push_back(read_variant(variants[v]));
      const auto same = [&](const Variant& other) { return other.name == all.back().name; };
      if (std::count_if(all.begin(), all.end(), same) > 1) {
        variants[v].fail(fmt::format("variant '{}' is defined twice", all.back().name));
      }
    }
    types_.define(declared[i], std::move(all));
    if (declared[i].data->name.starts_with("List[") && !is_built_in_list(declared[i])) {
      place.fail(fmt::format("'{}' is built in: expected the variants Nil and Cons(head, tail)",
                             declared[i].data->name));
    }
    if (is_tuple(declared[i]) && !is_built_in_tuple(declared[i])) {
      place.fail(
          fmt::format("'{}' is built in: expected one variant without a name and a field for each type",
                      declared[i].data->name));
    }
  }
}

Variant TypeReader::read_variant(const JsonPlace& place) const {
  place.require_fields({"name", "fields"});
  Variant variant{place.field("name").text(), {}};
  const JsonPlace fields = place.field("fields");
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const JsonPlace field = fields[i];
    field.require_fields({"name", "type"});
    variant.fields.push_back({field.field("name").text(), read(field.field("type"))});
  }
  return variant;
}

Type TypeReader::read(const JsonPlace& place) const {
  if (!place.is_object()) return read_element(place);
  if (place.has("data")) {
    place.require_fields({"data"});
    const JsonPlace name = place.field("data");
    const std::optional<Type> type = types_.find(name.text());
    if (!type) name.fail(fmt::format("there is no data type '{}'", name.text()));
    return *type;
  }
  place.require_fields({"element", "shape"});
  Type type = read_element(place.field("element"));
  const JsonPlace shape = place.field("shape");
  if (shape.size() > kMaxRank) {
    shape.fail(fmt::format("expected at most {} dimensions, found {}", kMaxRank, shape.size()));
  }
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const JsonPlace dim = shape[i];
    constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
    type.shape.push_back(dim.is_text() ? Dim{-1, dim.text()} : Dim{dim.integer(0, kMost), ""});
  }
  return type;
}

}  // namespace hiaton::graph
