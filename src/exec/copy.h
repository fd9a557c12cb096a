// The copies that the expanding executor makes, and what they keep while calls and loops are under way.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "exec/blueprint.h"
#include "exec/frame_chain.h"
#include "hiaton/graph.h"
#include "hiaton/value.h"

namespace hiaton::exec {

struct Copy;

/// A call while its arguments come; kept by the caller's copy.
struct CallUnderWay {
  graph::CallSite site;
  Copy* callee = nullptr;  ///< none before the first live argument
  std::size_t arguments_to_come;
};

/// A loop under way; kept by the copy it was entered from.
struct LoopUnderWay {
  graph::LoopId loop;
  Copy* outer;
  std::size_t enters_to_come;
  std::vector<graph::NodeId> owed;                           ///< the Exit nodes that gave no value yet
  std::vector<std::pair<graph::NodeId, Value>> constants{};  ///< by Enter
  uint64_t iterations = 0;                                   ///< made so far
  Copy* oldest = nullptr;                                    ///< iterations are freed in their order
  Copy* newest = nullptr;
  uint64_t alive = 0;
  /// What waits for the next iteration while as many are under way as may be.
  std::vector<std::pair<graph::NodeId, Value>> postponed{};
};

/// A copy of a function body or of a loop iteration.
struct Copy {
  uint32_t blueprint;
  Copy* parent = nullptr;        ///< the caller's copy, or the one that the loop was entered from
  graph::CallSite site{};        ///< the call that the copy is for; invalid for an iteration
  LoopUnderWay* loop = nullptr;  ///< the loop that the copy is an iteration of; null for a call
  uint64_t iteration = 0;
  Copy* next_iteration = nullptr;
  std::vector<CopiedNode> nodes;
  std::vector<Value> operands;
  std::size_t unfired;    ///< nodes that have not fired
  std::size_t holds = 0;  ///< copies whose parent this is, and calls with arguments to come
  std::vector<CallUnderWay> calls{};
  std::vector<std::unique_ptr<LoopUnderWay>> loops{};
  std::size_t position = 0;  ///< in ExpandingRun::copies_

  bool is_finished() const { return unfired == 0 && holds == 0; }
};

/// The copies around a copy are its chain of calls; the arguments are still in their parameters.
class CopyChain : public FrameChain<const Copy*> {
 public:
  CopyChain(const graph::Graph& graph, const Blueprints& blueprints, const Copy* copy)
      : FrameChain(copy), graph_(graph), blueprints_(blueprints) {
    CopyChain::rewind();
  }

  bool at_call() const override { return at()->site.valid(); }
  graph::CallSite site() const override { return at()->site; }
  std::vector<std::optional<Value>> arguments() const override {
    std::vector<std::optional<Value>> values;
    for (graph::OutPort param : graph_[graph_[at()->site].callee].params) {
      const Blueprints::Location& place = blueprints_.of(param.node);
      values.emplace_back();
      if (at()->nodes[place.node].started) values.back() = at()->operands[place.operands];
    }
    return values;
  }

 private:
  const Copy* around(const Copy* const& copy) const override { return copy->parent; }
  bool is_part(const Copy* const& copy) const override { return copy->loop != nullptr; }

  const graph::Graph& graph_;
  const Blueprints& blueprints_;
};

}  // namespace hiaton::exec
