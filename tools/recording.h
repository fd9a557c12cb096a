// A run by the rules of the reference executor, in one process or in several, as data for a page that replays
// it.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "hiaton/graph.h"
#include "hiaton/run.h"
#include "partition/partition.h"

namespace hiaton::cli {

/// Gathers the tokens of a run, and finds the frames that their tags stand for.
class Recording {
 public:
  /// `graph` must outlive it. Of a run that makes more tokens than `most_events`, add() throws ProgramError.
  Recording(const graph::Graph& graph, std::size_t most_events);
  /// Likewise of a graph that is split. Frames are those of the graph that was split: the same in all
  /// processes.
  Recording(const partition::Partition& partition, std::size_t most_events);

  /// What a node of this process has made, or a Send has let go.
  void add(std::size_t process, const TokenEvent& event);

  /// The graph, the frames and the tokens, which page/run.js reads.
  nlohmann::json to_json() const;

 private:
  /// What a process has of the graph.
  struct Part {
    const graph::Graph& graph;
    std::size_t first_node;          ///< the number of its first node in the page
    const partition::Part* split;    ///< null: the graph is whole
    std::vector<std::size_t> names;  ///< by function: which of the whole graph it is

    graph::CallSite site(graph::CallSite here) const;
    graph::LoopId loop(graph::LoopId here) const;
  };
  /// A tag: a call of a function, or an iteration of a loop in one.
  struct Frame {
    std::size_t parent;
    bool is_call;
    uint32_t id;         ///< call site or loop
    uint64_t iteration;  ///< the number of an iteration of a loop

    auto key() const { return std::tuple(parent, is_call, id, iteration); }
  };
  struct Event {
    std::size_t node;  ///< its number in the page
    uint32_t port;
    std::size_t frame;
    std::size_t value;     ///< in values_; kDead
    std::size_t asked_by;  ///< where a demand came from: the number of the node in the page; kNobody
  };
  static constexpr std::size_t kDead = SIZE_MAX;
  static constexpr std::size_t kNobody = SIZE_MAX;

  void add_part(const graph::Graph& graph, const partition::Part* split);
  std::size_t frame_of(const Part& part, const TokenEvent& event);
  std::size_t value_of(const Part& part, const TokenEvent& event);
  nlohmann::json nodes() const;
  nlohmann::json node(const Part& part, graph::NodeId id, bool backward) const;
  void add_place(nlohmann::json& json, const Part& part, graph::NodeId id) const;
  nlohmann::json frames() const;
  nlohmann::json events() const;

  const graph::Graph& graph_;  ///< the whole one
  const partition::Partition* const partition_;
  const std::size_t most_events_;
  std::vector<Part> parts_;
  std::vector<Frame> frames_;
  std::map<std::tuple<std::size_t, bool, uint32_t, uint64_t>, std::size_t> frame_of_;
  std::vector<std::string> values_;
  std::map<std::string, std::size_t> value_of_;
  std::vector<Event> events_;
};

}  // namespace hiaton::cli
