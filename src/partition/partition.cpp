#include "partition/partition.h"

#include <fmt/format.h>

#include "hiaton/error.h"
#include "partition/places.h"
#include "partition/split_steps.h"

namespace hiaton::partition {

Partition split(const graph::Graph& graph, const Places& places) {
  if (places.processes < 1)
    throw ProgramError(fmt::format("expected at least 1 process, found {}", places.processes));
  if (graph.is_part()) throw ProgramError("expected a whole graph to split, found the part of one process");
  return cut(place(graph, PlaceMap(graph, places), Balance::ByTag), places.processes);
}

}  // namespace hiaton::partition
