#include "partition/held.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "hiaton/error.h"
#include "partition/places.h"

namespace hiaton::partition {
namespace {

using graph::NodeKind;

/// The parameter whose rows the node gives; nothing for any other node.
std::optional<std::size_t> gathered_parameter(const graph::Graph& graph, const graph::Node& node) {
  if (node.kind != NodeKind::Op || node.op->role != Role::Gather) return std::nullopt;
  const graph::Node& table = graph[node.inputs[0].node];
  if (table.kind != NodeKind::Const || table.parameter < 0) return std::nullopt;
  return static_cast<std::size_t>(table.parameter);
}

const std::string& placement_of(const graph::Graph& graph, const graph::Node& node) {
  return node.placement.empty() ? graph[node.function].placement : node.placement.str();
}

/// Nodes that hand values on: where they stand does not matter.
bool hands_on(const graph::Node& node) {
  return node.kind != NodeKind::Op || node.op->role == Role::Print;
}

class HeldParameters {
 public:
  HeldParameters(const graph::Graph& first, const Places& places)
      : first_(first), map_(first, places), held_(first.parameters().size()) {}

  std::vector<Held> find(std::span<const graph::Graph* const> graphs) {
    find_held(graphs);
    // The graph of training comes last: it names what only gradients have.
    for (std::size_t i = graphs.size(); i-- > 0;) {
      if (const graph::Node* other = find_other(*graphs[i])) fail(*graphs[i], *other);
    }
    return held_;
  }

  bool are_alone(std::span<const graph::Graph* const> graphs) {
    find_held(graphs);
    return std::ranges::none_of(graphs,
                                [&](const graph::Graph* graph) { return find_other(*graph) != nullptr; });
  }

 private:
  void find_held(std::span<const graph::Graph* const> graphs) {
    for (const graph::Graph* graph : graphs) find_whole_readers(*graph);
    for (std::size_t i = 0; i < held_.size(); ++i) {
      held_[i].process = map_.process_of(graph::ParameterId(i), 0);
      if (!held_[i].process && held_[i].is_read_by_rows) held_[i].process = place_of_readers(i);
    }
  }

  void find_whole_readers(const graph::Graph& graph) {
    for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
      const graph::Node& node = graph.nodes()[n];
      if (node.kind != NodeKind::Const || node.parameter < 0) continue;
      for (const graph::InPort reader : graph.consumers({graph::NodeId(n)})) {
        const bool is_row = reader.port == 0 && gathered_parameter(graph, graph[reader.node]);
        if (!is_row) held_[static_cast<std::size_t>(node.parameter)].is_read_by_rows = false;
      }
    }
  }

  /// That of all nodes that read rows of the parameter; nothing where they have none or several.
  std::optional<int> place_of_readers(std::size_t parameter) const {
    std::optional<int> found;
    for (const graph::Node& node : first_.nodes()) {
      if (gathered_parameter(first_, node) != parameter) continue;
      const std::string& placement = placement_of(first_, node);
      if (placement.empty() || !map_.copies_of(placement).empty()) return std::nullopt;
      const int process = map_.process_of(placement, 0);
      if (found.value_or(process) != process) return std::nullopt;
      found = process;
    }
    return found;
  }

  /// What is placed besides; null: nothing.
  const graph::Node* find_other(const graph::Graph& graph) const {
    for (const graph::Node& node : graph.nodes()) {
      if (hands_on(node)) continue;
      const std::string& placement = placement_of(graph, node);
      if (placement.empty() || (map_.knows(placement) && map_.process_of(placement, 0) == 0)) continue;
      const std::optional<std::size_t> table = gathered_parameter(graph, node);
      if (table && held_[*table].process) continue;
      return &node;
    }
    return nullptr;
  }

  [[noreturn]] static void fail(const graph::Graph& graph, const graph::Node& node) {
    const std::string& placement = placement_of(graph, node);
    const std::string message = fmt::format(
        "expected learned parameters and what reads rows of them at the place '{}', since "
        "training, predictions and evaluations follow no other placements, found '{}' in '{}'",
        placement, node.op->name.value, graph[node.function].name);
    if (graph.source() != nullptr && node.span.known())
      throw ProgramError(graph.source(), {{node.span, message}});
    throw ProgramError(message);
  }

  const graph::Graph& first_;
  const PlaceMap map_;
  std::vector<Held> held_;
};

}  // namespace

std::vector<Held> held_parameters(std::span<const graph::Graph* const> graphs, const Places& places) {
  return HeldParameters(*graphs[0], places).find(graphs);
}

bool places_parameters_alone(std::span<const graph::Graph* const> graphs, const Places& places) {
  return HeldParameters(*graphs[0], places).are_alone(graphs);
}

}  // namespace hiaton::partition
