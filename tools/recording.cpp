#include "recording.h"

#include <fmt/format.h>

#include <algorithm>

#include "graph/backward.h"
#include "graph/labels.h"
#include "hiaton/error.h"

namespace hiaton::cli {

using graph::LoopId;
using graph::NodeId;
using graph::NodeKind;

namespace {

/// Longer values are cut: a page that replays a run shows them beside the edges.
constexpr std::size_t kLongestValue = 40;

std::string shorten(std::string text) {
  if (text.size() <= kLongestValue) return text;
  std::size_t end = kLongestValue;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // no half characters
  return text.substr(0, end) + "…";
}

nlohmann::json port_json(graph::OutPort port) {
  return {port.node.index(), port.port};
}

}  // namespace

Recording::Recording(const graph::Graph& graph, std::size_t most_events)
    : graph_(graph), most_events_(most_events), frames_{{0, true, 0, 0}} {}

void Recording::add(const TokenEvent& event) {
  if (events_.size() == most_events_) {
    throw ProgramError(fmt::format(
        "the run makes more than {} tokens: too many to watch; take smaller arguments, or raise the "
        "limit with --most-tokens",
        most_events_));
  }
  const std::size_t value = event.dead ? kDead : value_of(event.value, graph_[event.from.node].type);
  events_.push_back({event.from, frame_of(event), value});
}

std::size_t Recording::value_of(const Value& value, const Type& type) {
  const auto [known, is_new] = value_of_.try_emplace(shorten(to_string(value, type)), values_.size());
  if (is_new) values_.push_back(known->first);
  return known->second;
}

/// Tags are numbers; what each stands for follows from where the node stands: first the iterations of the
/// loops around it, then the call that its function runs for, then the same for that call's place.
std::size_t Recording::frame_of(const TokenEvent& event) {
  struct Label {
    bool is_call;
    uint32_t id;
    uint64_t iteration;
  };
  std::vector<Label> labels;
  const auto add_call = [&](std::size_t at) {
    labels.push_back({true, static_cast<uint32_t>(event.tag[at]), 0});
    return graph_[graph::CallSite(event.tag[at])].calls[0];
  };
  NodeId place = event.from.node;
  std::size_t at = 0;
  if (graph_[place].kind == NodeKind::Call) add_call(at++);
  while (at < event.tag.size()) {
    for (LoopId loop = graph_.loop_of(place); loop.valid() && at < event.tag.size();
         loop = graph_[loop].parent) {
      labels.push_back({false, loop.value, event.tag[at++]});
    }
    if (at < event.tag.size()) place = add_call(at++);
  }
  std::size_t frame = 0;
  for (std::size_t i = labels.size(); i-- > 0;) {
    const Frame made{frame, labels[i].is_call, labels[i].id, labels[i].iteration};
    const auto [known, is_new] = frame_of_.try_emplace(made.key(), frames_.size());
    frame = known->second;
    if (is_new) frames_.push_back(made);
  }
  return frame;
}

nlohmann::json Recording::node(NodeId id, bool backward) const {
  const graph::Node& node = graph_[id];
  nlohmann::json inputs = nlohmann::json::array();
  for (graph::OutPort from : node.inputs) inputs.push_back(port_json(from));
  nlohmann::json controls = nlohmann::json::array();
  for (graph::OutPort from : node.controls) controls.push_back(port_json(from));
  nlohmann::json json{{"kind", graph::name_of(node.kind)},  {"label", graph::label_of(node)},
                      {"note", graph::note_on(graph_, id)}, {"function", node.function.index()},
                      {"type", to_string(node.type)},       {"inputs", std::move(inputs)},
                      {"controls", std::move(controls)}};
  if (backward) json["backward"] = true;
  if (node.kind == NodeKind::Op) json["symbol"] = node.op->symbol;
  if (node.site.valid()) {
    json["site"] = node.site.index();
    json["callee"] = graph_[graph_[node.site].callee].name;
    json["index"] = node.index;
  }
  if (node.loop.valid()) json["loop"] = node.loop.index();
  if (node.loop_constant) json["constant"] = true;
  if (node.kind == NodeKind::Const && node.controls.empty()) {
    json["value"] = node.parameter >= 0 ? node.name.str() : shorten(to_string(node.constant, node.type));
  }
  if (node.span.known()) json["span"] = {node.span.begin, node.span.end};
  return json;
}

nlohmann::json Recording::nodes() const {
  const std::vector<bool> backward = graph::backward_nodes(graph_);
  nlohmann::json json = nlohmann::json::array();
  for (std::size_t n = 0; n < graph_.nodes().size(); ++n) json.push_back(node(NodeId(n), backward[n]));
  return json;
}

/// The first is that of the program; a frame comes after its parent.
nlohmann::json Recording::frames() const {
  nlohmann::json json = nlohmann::json::array();
  json.push_back({{"parent", 0}, {"function", graph_.main().index()}});
  for (std::size_t f = 1; f < frames_.size(); ++f) {
    const Frame& frame = frames_[f];
    nlohmann::json made{{"parent", frame.parent}};
    if (frame.is_call) {
      made["site"] = frame.id;
      made["function"] = graph_[graph::CallSite(frame.id)].callee.index();
    } else {
      made["loop"] = frame.id;
      made["iteration"] = frame.iteration;
      made["function"] = graph_[LoopId(frame.id)].function.index();
    }
    json.push_back(std::move(made));
  }
  return json;
}

/// As numbers, one behind the other: node, port, frame, value; -1: dead.
nlohmann::json Recording::events() const {
  nlohmann::json json = nlohmann::json::array();
  for (const Event& event : events_) {
    json.push_back(event.from.node.index());
    json.push_back(event.from.port);
    json.push_back(event.frame);
    json.push_back(event.value == kDead ? int64_t{-1} : static_cast<int64_t>(event.value));
  }
  return json;
}

nlohmann::json Recording::to_json() const {
  nlohmann::json functions = nlohmann::json::array();
  for (const graph::Function& function : graph_.functions()) {
    functions.push_back({{"name", function.name}, {"params", function.param_names}});
  }
  return {{"nodes", nodes()},
          {"functions", std::move(functions)},
          {"frames", frames()},
          {"values", values_},
          {"events", events()}};
}

}  // namespace hiaton::cli
