// The parts of a graph in which each node has a process: channels and state machines.
#pragma once

#include "partition/partition.h"

namespace hiaton::partition {

Partition cut(PlacedGraph placed, int processes);

}  // namespace hiaton::partition
