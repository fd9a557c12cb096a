// The plans of one graph, each compiled when a run first needs it.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "exec/direct/plan.h"
#include "exec/direct/run/direct_run.h"
#include "exec/direct_functions.h"
#include "exec/flow/plan.h"
#include "exec/flow/run/flow_run.h"
#include "partition/partition.h"

namespace hiaton::exec {

/// May be used by several threads at once. All calls must be with the same graph.
class PlanCache {
 public:
  struct Entry {
    direct::PlanOptions options;
    std::shared_ptr<const direct::Plan> plan;  ///< null: the graph has none, for the reason beside it
    std::string reason;
    mutable direct::LastRun last_run{};
  };

  /// Whether the program begins with a direct function.
  bool begins_direct(const graph::Graph& graph, TensorsIn tensors);
  const Entry& get(const graph::Graph& graph, const direct::PlanOptions& options);

  struct FlowEntry {
    bool has_direct_code;
    direct::PlanOptions direct_options;      ///< of the direct code that the plan has
    std::shared_ptr<const flow::Plan> plan;  ///< null: the graph has none, for the reason beside it
    std::string reason;
    /// The graph with its loops as calls, where it has loops: what the plan is of.
    std::unique_ptr<const graph::Graph> outlined;
    mutable flow::Workers workers;
  };
  /// `direct_code`: functions that are direct run in direct code, which is compiled with `options`; of those
  /// a plan without such functions knows the overflow mode only.
  const FlowEntry& get_flow(const graph::Graph& graph, const direct::PlanOptions& options, bool direct_code);

  struct PlacedEntry {
    direct::PlanOptions options;  ///< without the homes of the functions
    partition::Places places;
    graph::Graph graph;                        ///< what the plan is of
    std::shared_ptr<const direct::Plan> plan;  ///< null: the graph has none, for the reason beside it
    std::string reason;
    mutable direct::LastRun last_run{};
  };
  /// Of the graph whose parts are on these processes. Throws ProgramError where they cannot be.
  const PlacedEntry& get_placed(const graph::Graph& graph, const direct::PlanOptions& options,
                                const partition::Places& places);

  const DirectFacts& facts(const graph::Graph& graph);

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Entry>> entries_;
  std::vector<std::unique_ptr<FlowEntry>> flow_entries_;
  std::vector<std::unique_ptr<PlacedEntry>> placed_entries_;
  std::optional<DirectFacts> facts_;
};

}  // namespace hiaton::exec
