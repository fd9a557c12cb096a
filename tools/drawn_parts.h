// A graph that is split, as pictures show it.
#pragma once

#include <vector>

#include "hiaton/graph.h"
#include "partition/partition.h"

namespace hiaton::cli {

/// By process. `partition` must outlive them.
std::vector<graph::DrawnPart> drawn_parts(const partition::Partition& partition);

}  // namespace hiaton::cli
