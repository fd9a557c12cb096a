#include "exec/place_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "exec/direct_functions.h"
#include "exec/graph_names.h"
#include "exec/outline_loops.h"
#include "exec/structure.h"
#include "hiaton/error.h"
#include "partition/places.h"
#include "partition/split_steps.h"

namespace hiaton::exec {

bool has_places(const Graph& graph, const partition::Places& places) {
  if (!places.named.empty()) return true;
  const auto is_placed = [](const auto& one) { return !one.placement.empty(); };
  return std::ranges::any_of(graph.functions(), is_placed) || std::ranges::any_of(graph.nodes(), is_placed) ||
         std::ranges::any_of(graph.parameters(), is_placed) ||
         (places.most_bytes && std::ranges::any_of(partition::placed_parameters(graph, places),
                                                   [](const auto& put) { return put.has_value(); }));
}

std::optional<HomedGraph> place_program(const Graph& graph, const partition::Places& places,
                                        std::string& reason) {
  const partition::PlaceMap map(graph, places);
  const FunctionSet direct = functions_for_direct_code(graph);
  const auto other = std::ranges::find(direct, false);
  if (other != direct.end()) {
    const std::string& name = graph.functions()[static_cast<std::size_t>(other - direct.begin())].name;
    reason = fmt::format("'{}' has gradients, whose phases do not go to other processes as calls", name);
    return std::nullopt;
  }
  partition::PlacedGraph placed = partition::place(graph, map, partition::Balance::ByCaller);
  try {
    if (placed.graph.loops().empty()) return outline_placed(placed.graph, std::move(placed.copies));
    const std::optional<Graph> calls = outline_loops(
        placed.graph, [](FunctionId) { return true; }, reason);
    if (!calls) return std::nullopt;
    return outline_placed(*calls, std::move(placed.copies));
  } catch (const Unstructured& found) {
    reason = found.reason;
    return std::nullopt;
  }
}

}  // namespace hiaton::exec
