// The saved form, version 1: an object whose lists hold one function, call site, loop or node a line. Fields
// that say nothing (no name, no span, no control edges) are left out. An edge from node 9 is `9`, from its
// second output `[9, 1]`. What follows from the rest is not saved: the members of call sites and loops, and
// which argument, result or variable a node is.
// Data types stand in a list of their own and are named elsewhere, `{"data": "Tree"}`. The constant of a
// tensor is the list of its elements, that of a data type the number of a variant without fields.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "graph/json_types.h"
#include "graph/json_values.h"
#include "hiaton/error.h"
#include "hiaton/graph.h"

namespace hiaton::graph {
namespace {

using Json = nlohmann::ordered_json;

Json edge_json(OutPort from) {
  if (from.port == 0) return from.node.value;
  return Json::array({from.node.value, from.port});
}

Json edges_json(std::span<const OutPort> edges) {
  Json list = Json::array();
  for (OutPort edge : edges) list.push_back(edge_json(edge));
  return list;
}

void add_text(Json& json, const char* field, const std::string& text) {
  if (!text.empty()) json[field] = text_json(text);
}

void add_span(Json& json, Span span) {
  if (span != Span{}) json["span"] = {span.begin, span.end};
}

Json function_json(const Function& function) {
  Json json = {{"name", text_json(function.name)}, {"params", Json::array()}};
  for (std::size_t i = 0; i < function.params.size(); ++i) {
    json["params"].push_back(
        {{"name", text_json(function.param_names[i])}, {"from", edge_json(function.params[i])}});
  }
  json["results"] = edges_json(function.results);
  if (function.triggered) json["triggered"] = true;
  for (const Phase& phase : function.phases) json["phases"].push_back({phase.params, phase.results});
  add_text(json, "placement", function.placement);
  add_span(json, function.span);
  return json;
}

Json parameter_json(const Parameter& parameter) {
  Json json = {{"name", text_json(parameter.name)},
               {"type", type_json(parameter.type)},
               {"initial", name_of(parameter.initial.kind)}};
  if (takes_number(parameter.initial.kind)) json["number"] = save_value(parameter.initial.number);
  add_text(json, "placement", parameter.placement);
  return json;
}

/// A scalar as its text, a tensor as the list of its elements, a string as it is, any other data value, which
/// has no fields, as the number of its variant.
Json value_json(const Value& value, const Type& type) {
  if (value.is_scalar()) return save_value(value);
  if (is_string(type)) return value.string();
  if (value.is_data()) return value.data().variant();
  Json elements = Json::array();
  const Tensor tensor = value.tensor();
  for (int64_t i = 0; i < tensor.size(); ++i) elements.push_back(save_value(element_of(tensor, i)));
  return elements;
}

Json site_json(const Site& site) {
  Json json = {{"caller", site.caller.value}, {"callee", site.callee.value}};
  add_span(json, site.span);
  return json;
}

Json loop_json(const Loop& loop) {
  Json json = {{"function", loop.function.value}};
  add_span(json, loop.span);
  return json;
}

Json node_json(const Node& node) {
  Json json = {{"kind", name_of(node.kind)}};
  if (node.kind == NodeKind::Op) json["op"] = node.op->name.value;
  if (!node.attributes.empty()) json["attributes"] = node.attributes;
  if (node.parameter >= 0) {
    json["parameter"] = node.parameter;
  } else if (node.kind == NodeKind::Const) {
    json["value"] = value_json(node.constant, node.type);
  }
  if (node.site.valid()) json["site"] = node.site.value;
  if (node.loop.valid()) json["loop"] = node.loop.value;
  if (node.loop_constant) json["loop_constant"] = true;
  if (!node.inputs.empty()) json["inputs"] = edges_json(node.inputs);
  if (!node.controls.empty()) json["controls"] = edges_json(node.controls);
  json["type"] = type_json(node.type);
  json["function"] = node.function.value;
  add_text(json, "name", node.name);
  add_text(json, "placement", node.placement);
  add_span(json, node.span);
  return json;
}

template <class Thing>
std::string list(std::string_view name, const std::vector<Thing>& things, Json (*to_json)(const Thing&)) {
  std::string text = fmt::format("  \"{}\": [", name);
  for (std::size_t i = 0; i < things.size(); ++i) {
    text += fmt::format("{}\n    {}", i > 0 ? "," : "", to_json(things[i]).dump());
  }
  return text + (things.empty() ? "]" : "\n  ]");
}

}  // namespace

Json text_json(std::string_view text) {
  try {
    Json json = text;
    json.dump();
    return json;
  } catch (const Json::type_error&) {
    std::string hex;
    for (char c : text) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
    return {{"hex", hex}};
  }
}

std::string to_json(const Graph& graph) {
  if (graph.is_part()) throw ProgramError("expected a whole graph to save, found the part of one process");
  Json source = nullptr;
  if (graph.source() != nullptr) {
    source = {{"name", text_json(graph.source()->name())}, {"text", text_json(graph.source()->text())}};
  }
  const std::vector<Type> data_types = data_types_of(graph);
  std::string declared;
  if (!data_types.empty()) declared += list("data_types", data_types, data_type_json) + ",\n";
  if (!graph.parameters().empty()) declared += list("parameters", graph.parameters(), parameter_json) + ",\n";
  return fmt::format(
      "{{\n  \"format\": \"{}\",\n  \"version\": {},\n  \"source\": {},\n{}{},\n{},\n{},\n{}\n}}\n",
      kFormatName, kFormatVersion, source.dump(), declared,
      list("functions", graph.functions(), function_json), list("sites", graph.sites(), site_json),
      list("loops", graph.loops(), loop_json), list("nodes", graph.nodes(), node_json));
}

}  // namespace hiaton::graph
