// What the reference executor remembers between tokens: the match table, and the calls and loops under way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "exec/tag.h"
#include "hiaton/graph.h"
#include "hiaton/value.h"

namespace hiaton::exec {

/// `<t, d>` on the edges from one output; d is a hiaton where dead.
struct Token {
  graph::OutPort from;
  Tag tag;
  Value value;
  bool dead;
};

/// Something of the graph under one tag: the key of all tables of a run.
template <class Id>
struct Under {
  Id id;
  const TagCell* tag;

  friend bool operator==(const Under&, const Under&) = default;
};
struct UnderHash {
  template <class Id>
  std::size_t operator()(const Under<Id>& key) const {
    const uint64_t mixed = (reinterpret_cast<uintptr_t>(key.tag) >> 4) * 0x9E3779B97F4A7C15 + key.id.value;
    return mixed ^ (mixed >> 32);
  }
};
template <class Id, class T>
using TableUnder = std::unordered_map<Under<Id>, T, UnderHash>;

/// An entry of the match table: what a node has got under a tag.
struct Match {
  Tag tag;
  std::vector<Value> operands;  ///< by input; without meaning where not come or dead
  std::size_t missing;          ///< inputs, data and control, that have not come
  bool dead = false;            ///< any input was dead
  bool passed = false;          ///< Merge: it has fired
};

/// A call under way: some of its arguments are still to come, or some of its results are.
struct Call {
  Tag tag;     ///< the caller's, t
  Tag inside;  ///< i : t, once a live argument came
  std::size_t arguments_to_come;
  std::vector<graph::NodeId> owed;  ///< the Return nodes that have not fired
};

/// A loop under way.
struct LoopRun {
  Tag tag;  ///< t, under which it was entered
  std::size_t enters_to_come;
  std::vector<graph::NodeId> owed;                           ///< the Exit nodes that have not fired
  std::vector<std::pair<graph::NodeId, Value>> constants{};  ///< by Enter
  uint64_t iterations = 0;                                   ///< made so far
  uint64_t iterations_alive = 0;                             ///< whose tags are alive
};

}  // namespace hiaton::exec
