// One body for each function and each process that its frames are made on.
#pragma once

#include "hiaton/graph.h"
#include "partition/partition.h"
#include "partition/places.h"

namespace hiaton::partition {

/// How calls are balanced over the copies of a function whose place is several processes.
enum class Balance {
  ByTag,     ///< in the graph: the tags take turns (graph/turns.h)
  ByCaller,  ///< by the process that calls: the graph has calls of the first copy, PlacedGraph::copies all
};

/// Throws ProgramError where nodes of one call, or of one loop, are placed apart.
PlacedGraph place(const graph::Graph& graph, const PlaceMap& places, Balance balance);

}  // namespace hiaton::partition
