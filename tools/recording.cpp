#include "recording.h"

#include <fmt/format.h>

#include <algorithm>

#include "graph/contexts.h"
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

nlohmann::json ports_json(std::span<const graph::OutPort> ports, std::size_t first_node) {
  nlohmann::json json = nlohmann::json::array();
  for (const graph::OutPort port : ports) json.push_back({first_node + port.node.index(), port.port});
  return json;
}

}  // namespace

Recording::Recording(const graph::Graph& graph, std::size_t most_events)
    : graph_(graph), partition_(nullptr), most_events_(most_events), frames_{{0, true, 0, 0}} {
  add_part(graph, nullptr);
}

Recording::Recording(const partition::Partition& partition, std::size_t most_events)
    : graph_(partition.placed.graph),
      partition_(&partition),
      most_events_(most_events),
      frames_{{0, true, 0, 0}} {
  for (const partition::Part& part : partition.parts) add_part(part.graph, &part);
}

void Recording::add_part(const graph::Graph& graph, const partition::Part* split) {
  const std::size_t first =
      parts_.empty() ? 0 : parts_.back().first_node + parts_.back().graph.nodes().size();
  Part part{graph, first, split, std::vector<std::size_t>(graph.functions().size())};
  part.names[graph.main().index()] = graph_.main().index();
  for (std::size_t s = 0; s < graph.sites().size(); ++s) {
    const graph::CallSite here(s);
    part.names[graph[here].callee.index()] = graph_[part.site(here)].callee.index();
  }
  parts_.push_back(std::move(part));
}

graph::CallSite Recording::Part::site(graph::CallSite here) const {
  return split == nullptr ? here : split->sites[here.index()];
}

graph::LoopId Recording::Part::loop(graph::LoopId here) const {
  return split == nullptr ? here : split->loops[here.index()];
}

void Recording::add(std::size_t process, const TokenEvent& event) {
  if (events_.size() == most_events_) {
    throw ProgramError(fmt::format(
        "the run makes more than {} tokens: too many to watch; take smaller arguments, or raise the "
        "limit with --most-tokens",
        most_events_));
  }
  const Part& part = parts_[process];
  const bool has_value = !event.dead && !event.is_demand;
  Event made{part.first_node + event.from.node.index(), event.from.port, frame_of(part, event),
             has_value ? value_of(part, event) : kDead, kNobody};
  if (event.is_demand) made.asked_by = part.first_node + event.asked_by.index();
  events_.push_back(made);
}

/// A channel may carry no value, but only that there is one.
std::size_t Recording::value_of(const Part& part, const TokenEvent& event) {
  const graph::Node& node = part.graph[event.from.node];
  const bool is_received = node.kind == NodeKind::Recv;
  const bool has_value = !is_received || partition_->channels[node.index].carries_values;
  std::string text = "·";
  if (event.suspended) {
    text = node.type.data->variants[*event.suspended].name + "(…)";
  } else if (has_value) {
    text = shorten(to_string(event.value, node.type));
  }
  const auto [known, is_new] = value_of_.try_emplace(text, values_.size());
  if (is_new) values_.push_back(known->first);
  return known->second;
}

/// Tags are numbers; what each stands for follows from where the node stands: first the iterations of the
/// loops around it, then the call that its function runs for, then the same for that call's place.
std::size_t Recording::frame_of(const Part& part, const TokenEvent& event) {
  struct Label {
    bool is_call;
    uint32_t id;
    uint64_t iteration;
  };
  std::vector<Label> labels;
  const auto add_call = [&](std::size_t at) {
    const graph::CallSite here(event.tag[at]);
    labels.push_back({true, part.site(here).value, 0});
    return part.graph[here].calls[0];
  };
  NodeId place = event.from.node;
  std::size_t at = 0;
  if (part.graph[place].kind == NodeKind::Call) add_call(at++);
  while (at < event.tag.size()) {
    for (LoopId loop = part.graph.loop_of(place); loop.valid() && at < event.tag.size();
         loop = part.graph[loop].parent) {
      labels.push_back({false, part.loop(loop).value, event.tag[at++]});
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

nlohmann::json Recording::node(const Part& part, NodeId id, bool backward) const {
  const graph::Node& node = part.graph[id];
  nlohmann::json json{{"kind", graph::name_of(node.kind)},
                      {"label", graph::label_of(node)},
                      {"note", graph::note_on(part.graph, id)},
                      {"function", part.names[node.function.index()]},
                      {"type", to_string(node.type)},
                      {"inputs", ports_json(node.inputs, part.first_node)},
                      {"controls", ports_json(node.controls, part.first_node)}};
  if (backward) json["backward"] = true;
  if (node.kind == NodeKind::Op) json["symbol"] = node.op->symbol;
  if (node.site.valid()) {
    json["site"] = part.site(node.site).index();
    json["callee"] = part.graph[part.graph[node.site].callee].name;
    json["index"] = node.index;
  }
  if (node.loop.valid()) json["loop"] = part.loop(node.loop).index();
  if (node.loop_constant) json["constant"] = true;
  if (node.kind == NodeKind::Const && node.controls.empty()) {
    json["value"] = node.parameter >= 0 ? node.name.str() : shorten(to_string(node.constant, node.type));
  }
  if (node.span.known()) json["span"] = {node.span.begin, node.span.end};
  if (part.split != nullptr) add_place(json, part, id);
  return json;
}

void Recording::add_place(nlohmann::json& json, const Part& part, NodeId id) const {
  const graph::Node& node = part.graph[id];
  json["process"] = &part - parts_.data();
  json["number"] = id.index();
  if (node.kind == NodeKind::Send || node.kind == NodeKind::Recv) {
    const partition::Channel& channel = partition_->channels[node.index];
    json["channel"] = node.index;
    json["peer"] = node.kind == NodeKind::Send ? channel.to : channel.from;
    if (node.kind == NodeKind::Send)
      json["receiver"] = parts_[static_cast<std::size_t>(channel.to)].first_node + channel.recv.index();
  } else if (!part.split->nodes[id.index()].valid()) {
    json["copied"] = true;
  }
}

nlohmann::json Recording::nodes() const {
  nlohmann::json json = nlohmann::json::array();
  for (const Part& part : parts_) {
    const std::vector<bool> backward = graph::backward_nodes(part.graph);
    for (std::size_t n = 0; n < part.graph.nodes().size(); ++n)
      json.push_back(node(part, NodeId(n), backward[n]));
  }
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

/// The events as one list of numbers: node, port, frame, value; -1: dead; less: a demand of the node with the
/// number -2 - value.
nlohmann::json Recording::events() const {
  nlohmann::json json = nlohmann::json::array();
  for (const Event& event : events_) {
    json.push_back(event.node);
    json.push_back(event.port);
    json.push_back(event.frame);
    if (event.asked_by != kNobody) {
      json.push_back(-2 - static_cast<int64_t>(event.asked_by));
    } else {
      json.push_back(event.value == kDead ? int64_t{-1} : static_cast<int64_t>(event.value));
    }
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
