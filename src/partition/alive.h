// When the token of an output is alive, as far as Switch and Merge nodes decide it: the edges of a state
// machine, with all that is left out joined.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "hiaton/graph.h"
#include "hiaton/strong_id.h"

namespace hiaton::partition {

using AliveId = StrongId<struct AliveKind>;

/// The body or the iterations that tokens of one kind of tag belong to.
struct Context {
  graph::FunctionId function;
  graph::LoopId loop{};  ///< the innermost one; not valid: outside of loops

  friend auto operator<=>(const Context&, const Context&) = default;
};

/// An expression over the predicates of a context. Equal ones are one.
struct Alive {
  enum class Kind : uint8_t {
    Always,  ///< under each tag of the context
    Side,    ///< where of[0] is alive and the predicate is alive and equals `side`
    All,     ///< where all of `of` are
    Any,     ///< where any of `of` is
  };
  Kind kind;
  Context context;
  std::vector<AliveId> of{};
  graph::OutPort predicate{};
  bool side = false;

  friend auto operator<=>(const Alive&, const Alive&) = default;
};

class AliveTokens {
 public:
  /// Throws ProgramError where the deadness of a node depends on itself.
  explicit AliveTokens(const graph::Graph& graph);

  /// Returns when an output is alive. A Const, and what fires by itself, is alive under each tag.
  AliveId of(graph::OutPort port);
  const Alive& operator[](AliveId id) const { return all_[id.index()]; }

 private:
  enum class State : uint8_t { Unseen, Open, Done };

  AliveId make(Alive alive);
  AliveId side(AliveId base, graph::OutPort predicate, bool side);
  AliveId joined(Context context, std::vector<AliveId> of);
  AliveId merged(Context context, std::vector<AliveId> of);
  bool implies(AliveId strong, AliveId weak) const;
  bool merge_sides(std::vector<AliveId>& of);

  std::vector<graph::OutPort> decided_by(graph::NodeId node) const;
  Context context_of(graph::NodeId node) const;
  void decide(graph::NodeId node);
  void find(graph::NodeId node);

  const graph::Graph& graph_;
  std::vector<Alive> all_;
  std::map<Alive, AliveId> known_;
  std::vector<State> states_;        ///< by node
  std::vector<AliveId> when_true_;   ///< by node: of output 0
  std::vector<AliveId> when_false_;  ///< by node: of output 1
};

}  // namespace hiaton::partition
