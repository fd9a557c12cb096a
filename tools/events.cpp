#include "events.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "graph/labels.h"
#include "output.h"
#include "report.h"

namespace hiaton::cli {

EventWriter::EventWriter(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "wb")) {
  if (file_ == nullptr) fail();
}

EventWriter::~EventWriter() {
  if (file_ != nullptr) std::fclose(file_);
}

void EventWriter::write(const graph::Graph& graph, const TokenEvent& event) {
  const graph::Node& node = graph[event.from.node];
  nlohmann::ordered_json line{{"node", event.from.node.index()}, {"kind", graph::name_of(node.kind)}};
  if (node.op != nullptr) line["op"] = node.op->name.value;
  if (node.site.valid()) line["site"] = node.site.index();
  if (node.kind == graph::NodeKind::Switch) line["side"] = event.from.port == 0 ? "true" : "false";
  line["function"] = graph[node.function].name;
  line["tag"] = event.tag;
  if (event.is_demand) {
    line["asked_by"] = event.asked_by.index();
  } else if (event.suspended) {
    line["suspended"] = node.type.data->variants[*event.suspended].name;
  } else {
    line["dead"] = event.dead;
    if (!event.dead) line["value"] = to_json({event.value}, {node.type})[0];
  }
  write_line(dump(line));
}

void EventWriter::write(const partition::Partition& parts, const exec::CrossingEvent& event) {
  const graph::Graph& graph = parts.placed.graph;
  const graph::Node& node = graph[event.channel.of.node];
  nlohmann::ordered_json line{{"from", event.channel.from},
                              {"to", event.channel.to},
                              {"channel", event.number},
                              {"kind", graph::name_of(node.kind)}};
  if (node.op != nullptr) line["op"] = node.op->name.value;
  if (!node.name.empty()) line["name"] = node.name.str();
  line["function"] = graph[node.function].name;
  line["tag"] = event.tag;
  line["dead"] = event.dead;
  if (!event.dead && event.channel.carries_values) line["value"] = to_json({event.value}, {node.type})[0];
  write_line(dump(line));
}

void EventWriter::write_line(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) fail();
}

void EventWriter::close() {
  const int status = std::fclose(file_);
  file_ = nullptr;
  if (status != 0) fail();
}

void EventWriter::fail() const {
  throw SystemError(fmt::format("cannot write '{}': {}", path_, std::strerror(errno)));
}

}  // namespace hiaton::cli
