// Splits one static graph by placement into a part for each process, with Send and Recv pairs in between.
//
// As in the papers (papers 000, section 5.4, and 001, section 5.2), no process knows of all of the graph, and
// none coordinates the others:
//
//   1. Places (places.h): a name of a place stands for a process.
//   2. Copies (split_steps.h): a function has one body for each process that its frames are made on, so that
//   every
//      node has one process. That process is the home of the body: the place of the function, or else of the
//      call. The Call and Return nodes of a call stand at the home of the callee, so that arguments and
//      results cross as any other value of the caller does.
//   3. Cut (split_steps.h): what a node gives to readers on another process goes along a channel: a Send here
//   and a
//      Recv there. Each of them carries exactly one token for each tag of the body or iteration that the node
//      stands in; dead ones too, so that no Recv waits for ever.
//   4. State machines (split_steps.h): a Recv fires under the tags that it gets along its control edge. Where
//   its body
//      or loop is at home on another process, the nodes that make and choose tags are copied: Call, Enter,
//      NextIteration, Switch and Merge. What is between them is left out, and edges are joined through it;
//      what flows is a bool that is as dead as what it stands for. The Switch nodes get the predicates from
//      the processes that compute them. A constant starts it all.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hiaton/graph.h"
#include "hiaton/type.h"

namespace hiaton::partition {

/// How values go from one node to the readers on another process.
struct Channel {
  graph::OutPort of;  ///< in Partition::placed
  int from = 0;
  int to = 0;
  bool carries_values = true;  ///< false: only control edges leave the Recv, so that deadness is enough
  graph::NodeId send{};        ///< in the part of `from`
  graph::NodeId recv{};        ///< in the part of `to`
};

/// What one process has.
struct Part {
  graph::Graph graph;
  std::vector<graph::NodeId> nodes;    ///< by node: which of Partition::placed it is; invalid where it is new
  std::vector<graph::CallSite> sites;  ///< by call site: likewise
  std::vector<graph::LoopId> loops;    ///< by loop: likewise
};

/// A graph in which each node has a process. It gives what the graph that it was made of gives.
struct PlacedGraph {
  graph::Graph graph;
  std::vector<int> processes;          ///< by node; kEverywhere for a Const under every tag
  std::vector<int> homes;              ///< by function
  std::vector<graph::NodeId> nodes;    ///< by node: which it is in the graph that was split
  std::vector<graph::CallSite> sites;  ///< by call site: likewise
  std::vector<graph::LoopId> loops;    ///< by loop: likewise
  /// By function: all copies of it, where they are several and calls name the first of them.
  std::vector<std::vector<graph::FunctionId>> copies;
};
inline constexpr int kEverywhere = -1;

struct Partition {
  PlacedGraph placed;
  std::vector<Channel> channels;
  std::vector<Part> parts;  ///< by process
};

/// `process:K` is process K modulo their number. Other names are in `named`, or go round robin in the order
/// in which the graph has them. Several processes for one name have copies of the bodies of its functions,
/// over which the calls are balanced.
struct Places {
  int processes = 1;
  std::map<std::string, std::vector<int>> named{};
  /// How many bytes of learned parameters a process can hold. Where they are more, those without a place are
  /// placed, the largest first, until each process holds its own and those that are everywhere.
  std::optional<uint64_t> most_bytes{};

  friend bool operator==(const Places&, const Places&) = default;
};

/// What the name of a place, or a learned parameter that has been placed, is: {"table", "process 1"}. Names
/// that are numbers of processes are left out.
struct NamedPlace {
  std::string what;
  std::string where;
};
/// Throws ProgramError as split() does.
std::vector<NamedPlace> named_places(const graph::Graph& graph, const Places& places);
/// By learned parameter: the process that most_bytes has made it go to; nothing where that is none.
std::vector<std::optional<int>> placed_parameters(const graph::Graph& graph, const Places& places);

/// Throws ProgramError where `places` names what the graph does not have or processes that are not there, or
/// several for what is no function, or where no process has room for a parameter; and where the graph, one
/// that was built by hand, cannot be split: nodes of one call or one loop that are placed apart, or control
/// flow whose deadness cannot be told.
Partition split(const graph::Graph& graph, const Places& places);

}  // namespace hiaton::partition
