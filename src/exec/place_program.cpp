#include "exec/place_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "exec/direct_functions.h"
#include "exec/graph_names.h"
#include "exec/outline_loops.h"
#include "hiaton/error.h"
#include "partition/copies.h"
#include "partition/places.h"

namespace hiaton::exec {

bool has_places(const Graph& graph) {
  const auto is_placed = [](const auto& one) { return !one.placement.empty(); };
  return std::ranges::any_of(graph.functions(), is_placed) || std::ranges::any_of(graph.nodes(), is_placed) ||
         std::ranges::any_of(graph.parameters(), is_placed);
}

HomedGraph place_program(const Graph& graph, const partition::Places& places) {
  const partition::PlaceMap map(graph, places);
  const FunctionSet direct = functions_for_direct_code(graph);
  const auto other = std::ranges::find(direct, false);
  if (other != direct.end()) {
    const std::string& name = graph.functions()[static_cast<std::size_t>(other - direct.begin())].name;
    throw ProgramError(fmt::format(
        "expected a program without gradients, whose placements the production executor follows with several "
        "processes, found the function '{}', which belongs to one; --executor=reference follows them too",
        name));
  }
  partition::PlacedGraph placed = partition::place(graph, map);
  if (placed.graph.loops().empty()) return outline_placed(placed.graph);
  std::string reason;
  const std::optional<Graph> calls = outline_loops(
      placed.graph, [](FunctionId) { return true; }, reason);
  if (!calls)
    throw ProgramError(fmt::format(
        "expected a program whose loops can be calls, to run what is placed on other processes, found one "
        "where {}",
        reason));
  return outline_placed(*calls);
}

}  // namespace hiaton::exec
