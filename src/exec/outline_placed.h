// What a body places elsewhere, as functions of their own, for executors that send calls.
#pragma once

#include <vector>

#include "hiaton/graph.h"

namespace hiaton::exec {

/// By function: all copies of its body, where they are several and the graph calls the first of them.
using CopiesOfFunctions = std::vector<std::vector<graph::FunctionId>>;

inline bool has_copies(const CopiesOfFunctions& copies, graph::FunctionId function) {
  return function.index() < copies.size() && !copies[function.index()].empty();
}

/// A graph whose bodies are each on one process. A call whose callee is at home elsewhere, or has copies, is
/// sent.
struct HomedGraph {
  graph::Graph graph;
  std::vector<int> homes;  ///< by function
  CopiesOfFunctions copies;
};

/// `placed` has no loops, and each of its nodes and functions but constants under every tag stands on
/// `process:K`, as partition::place() makes it. In each body, what stands on another process than the body
/// itself becomes functions there, as much in each as can run without the values of others in between:
/// operations, calls to functions of that process, and branches that are placed there with all that is inside
/// of them. A call of a function with copies stays in its body: which copy it goes to, only the run decides.
/// The program itself, its first function, is at home on process 0. Throws Unstructured where the graph has
/// no structure (structure.h).
///
/// Nodes, functions and call sites keep their numbers, and what is new stands behind them.
HomedGraph outline_placed(const graph::Graph& placed, CopiesOfFunctions copies);

}  // namespace hiaton::exec
