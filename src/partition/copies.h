// One body for each function and each process that its frames are made on.
#pragma once

#include "hiaton/graph.h"
#include "partition/partition.h"
#include "partition/places.h"

namespace hiaton::partition {

/// Throws ProgramError where nodes of one call, or of one loop, are placed apart.
PlacedGraph place(const graph::Graph& graph, const PlaceMap& places);

}  // namespace hiaton::partition
