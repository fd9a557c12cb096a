// The steps of split(), behind that from names of places to processes: copies of bodies, and the cut.
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

/// One body for each function and each process that its frames are made on. Throws ProgramError where nodes
/// of one call, or of one loop, are placed apart.
PlacedGraph place(const graph::Graph& graph, const PlaceMap& places, Balance balance);

/// The parts of a graph in which each node has a process: channels and state machines.
Partition cut(PlacedGraph placed, int processes);

}  // namespace hiaton::partition
