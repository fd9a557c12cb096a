// The plans of one graph, each compiled when a run first needs it.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "exec/direct/plan.h"
#include "exec/flow/plan.h"
#include "exec/flow/run/flow_run.h"

namespace hiaton::exec {

/// May be used by several threads at once. All calls must be with the same graph.
class PlanCache {
 public:
  struct Entry {
    direct::PlanOptions options;
    std::shared_ptr<const direct::Plan> plan;  ///< null: the graph has none, for the reason beside it
    std::string reason;
  };

  const Entry& get(const graph::Graph& graph, const direct::PlanOptions& options);

  struct FlowEntry {
    OverflowMode overflow;
    bool has_direct_code;
    std::shared_ptr<const flow::Plan> plan;  ///< null: the graph has none, for the reason beside it
    std::string reason;
    /// The graph with its loops as calls, where it has loops: what the plan is of.
    std::unique_ptr<const graph::Graph> outlined;
    mutable flow::Workers workers;
  };
  /// `direct_code`: functions that are direct run in direct code.
  const FlowEntry& get_flow(const graph::Graph& graph, OverflowMode overflow, bool direct_code);

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Entry>> entries_;
  std::vector<std::unique_ptr<FlowEntry>> flow_entries_;
};

}  // namespace hiaton::exec
