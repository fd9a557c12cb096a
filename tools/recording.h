// A run of the reference executor as data for a page that replays it.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "hiaton/graph.h"
#include "hiaton/run.h"

namespace hiaton::cli {

/// Gathers the tokens of a run, and finds the frames that their tags stand for.
class Recording {
 public:
  /// `graph` must outlive it. Of a run that makes more tokens than `most_events`, add() throws ProgramError.
  Recording(const graph::Graph& graph, std::size_t most_events);

  void add(const TokenEvent& event);

  /// The graph, the frames and the tokens, which page/run.js reads.
  nlohmann::json to_json() const;

 private:
  /// A tag: a call of a function, or an iteration of a loop in one.
  struct Frame {
    std::size_t parent;
    bool is_call;
    uint32_t id;         ///< call site or loop
    uint64_t iteration;  ///< of a loop

    auto key() const { return std::tuple(parent, is_call, id, iteration); }
  };
  struct Event {
    graph::OutPort from;
    std::size_t frame;
    std::size_t value;  ///< in values_; kDead
  };
  static constexpr std::size_t kDead = SIZE_MAX;

  std::size_t frame_of(const TokenEvent& event);
  std::size_t value_of(const Value& value, const Type& type);
  nlohmann::json nodes() const;
  nlohmann::json node(graph::NodeId id, bool backward) const;
  nlohmann::json frames() const;
  nlohmann::json events() const;

  const graph::Graph& graph_;
  const std::size_t most_events_;
  std::vector<Frame> frames_;
  std::map<std::tuple<std::size_t, bool, uint32_t, uint64_t>, std::size_t> frame_of_;
  std::vector<std::string> values_;
  std::map<std::string, std::size_t> value_of_;
  std::vector<Event> events_;
};

}  // namespace hiaton::cli
