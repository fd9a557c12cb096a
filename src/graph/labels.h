// How nodes and their outputs are written for people: the same in texts, pictures and messages.
#pragma once

#include <string>

#include "hiaton/graph.h"

namespace hiaton::graph {

/// "Call_3", "add", "Const 5", "Switch", ...
std::string label_of(const Node& node);
/// "axis=0, shape=[2, 3]" of an operation, "Outer" of an Accumulate; else nothing.
std::string attributes_of(const Node& node);

/// "%12"; for a Switch "%12.true" or "%12.false".
std::string label_of(const Graph& graph, OutPort port);

/// What the node is about, for people: "n", "fact.n", "line 3"; may be empty.
std::string note_on(const Graph& graph, NodeId id);

}  // namespace hiaton::graph
