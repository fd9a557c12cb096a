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

int processes_of_each(int replicas, int processes) {
  if (replicas < 1 || processes % replicas != 0) {
    throw ProgramError(
        fmt::format("expected a number of processes that is a multiple of the replicas, {}, found {}",
                    replicas, processes));
  }
  return processes / replicas;
}

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

FunctionSet direct_functions_at_home(const HomedGraph& homed, RunKind kind) {
  const Graph& graph = homed.graph;
  FunctionSet others = DirectFunctions(graph).in(kind);
  others.flip();
  for (const graph::Site& site : graph.sites()) {
    const bool is_copied = has_copies(homed.copies, site.callee);
    if (!is_copied && homed.homes[site.caller.index()] == homed.homes[site.callee.index()]) continue;
    others[site.caller.index()] = others[site.callee.index()] = true;
    if (!is_copied) continue;
    for (const FunctionId copy : homed.copies[site.callee.index()]) others[copy.index()] = true;
  }
  add_callers(graph, others);
  others.flip();
  return others;
}

}  // namespace hiaton::exec
