// From the names of places in a graph to processes.
#pragma once

#include <map>
#include <optional>
#include <span>
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

  /// Whether the graph has something with this placement.
  bool knows(std::string_view placement) const { return processes_.contains(placement); }
  /// `home`: the process where the frame was made, for nodes without a placement.
  int process_of(std::string_view placement, int home) const;
  /// Where a learned parameter is, and what reads it; nothing: everywhere.
  std::optional<int> process_of(graph::ParameterId parameter, int home) const;
  /// Each name of a place but numbers of processes, and each parameter that has no place of its own but is
  /// on one process.
  std::vector<NamedPlace> named() const;
  /// By parameter: where those without a place of their own have been put.
  const std::vector<std::optional<int>>& put() const { return put_; }
  /// The processes that have copies of a function with this placement; empty where it has no copies, and
  /// process_of() tells where it is.
  std::span<const int> copies_of(std::string_view placement) const;

 private:
  void add(std::string_view name, const Places& places);
  std::string names() const;
  void put_parameters(const Places& places);

  std::map<std::string, std::vector<int>, std::less<>> processes_;
  const graph::Graph& graph_;
  std::vector<std::optional<int>> put_;  ///< by parameter
  int next_ = 0;                         ///< the process for the next name that nobody maps
};

}  // namespace hiaton::partition
