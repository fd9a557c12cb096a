// From the names of places in a graph to processes.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hiaton/graph.h"
#include "partition/partition.h"

namespace hiaton::partition {

class PlaceMap {
 public:
  /// Maps all names that the graph has. Throws ProgramError where one cannot be a process.
  PlaceMap(const graph::Graph& graph, const Places& places);

  /// `home`: the process where the frame was made, for nodes without a placement.
  int process_of(std::string_view placement, int home) const;
  /// Where the frames of a function with this placement are that a call site in a frame of `home` makes; for
  /// several processes, the call sites take turns.
  int process_of_callee(std::string_view placement, int home, graph::CallSite site) const;

 private:
  void add(std::string_view name, const Places& places);
  std::string names() const;

  std::map<std::string, std::vector<int>, std::less<>> processes_;
  int next_ = 0;  ///< for the next name that nobody maps
};

}  // namespace hiaton::partition
