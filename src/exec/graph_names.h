// The words of the static graph in which executors speak: they stand in the executors' namespace once, here.
#pragma once

#include "graph/contexts.h"
#include "hiaton/graph.h"

namespace hiaton::exec {

using graph::CallSite;
using graph::FunctionId;
using graph::Graph;
using graph::GraphBuilder;
using graph::InPort;
using graph::is_entry;
using graph::is_under_every_tag;
using graph::LoopId;
using graph::Node;
using graph::NodeId;
using graph::NodeKind;
using graph::OutPort;

}  // namespace hiaton::exec
