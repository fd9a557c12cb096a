// The plans of one graph, each compiled when a run first needs it.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "exec/direct/direct_plan.h"
#include "exec/direct/run/direct_run.h"
#include "exec/direct_functions.h"
#include "exec/flow/flow_plan.h"
#include "exec/flow/run/flow_run.h"
#include "exec/flow/run/process_calls.h"
#include "partition/partition.h"

namespace hiaton::exec {

/// May be used by several threads at once. All calls must be with the same graph.
class PlanCache {
 public:
  /// Returns the functions that are direct in such a run: the same object for the same functions.
  const FunctionSet& direct_functions(const graph::Graph& graph, RunKind kind);
  /// Returns the set of all functions, or the empty one.
  const FunctionSet& all_functions(const graph::Graph& graph);
  const FunctionSet& no_functions(const graph::Graph& graph);

  struct Entry {
    const FunctionSet* functions;  ///< the functions that the plan is of
    direct::PlanOptions options;
    std::shared_ptr<const direct::Plan> plan;  ///< null: the graph has none, for the reason beside it
    std::string reason;
    /// The graph with its loops as calls, where it has a plan only so: what the plan is of.
    std::unique_ptr<const graph::Graph> outlined{};
    mutable direct::LastRun last_run{};

    /// What the plan is of, where it is a plan of `graph`.
    const graph::Graph& planned(const graph::Graph& graph) const {
      return outlined != nullptr ? *outlined : graph;
    }
  };

  /// Returns the direct code of `functions`, which main is one of.
  const Entry& get(const graph::Graph& graph, const FunctionSet& functions,
                   const direct::PlanOptions& options);

  struct FlowEntry {
    const FunctionSet* functions;            ///< the functions that are direct
    direct::PlanOptions direct_options;      ///< the options of the direct code that the plan has
    std::shared_ptr<const flow::Plan> plan;  ///< null: the graph has none, for the reason beside it
    std::string reason;
    /// The graph with its loops as calls, where it has loops: what the plan is of.
    std::shared_ptr<const graph::Graph> outlined;
    mutable flow::Workers workers;
    mutable std::optional<flow::CallCodecs> codecs;  ///< shared_codecs()

    /// What the plan is of, where it is a plan of `graph`.
    const graph::Graph& planned(const graph::Graph& graph) const {
      return outlined != nullptr ? *outlined : graph;
    }
  };
  /// The functions of `direct` run in direct code, which is compiled with `options`; of those a plan without
  /// such functions knows the overflow mode only.
  const FlowEntry& get_flow(const graph::Graph& graph, const FunctionSet& direct,
                            const direct::PlanOptions& options);

  /// Returns how the calls of a plan of this cache are written that processes give each other.
  const flow::CallCodecs& shared_codecs(const FlowEntry& entry);

  struct PlacedEntry {
    direct::PlanOptions options;  ///< without the homes of the functions
    partition::Places places;
    RunKind kind;
    std::optional<graph::Graph> graph;  ///< what the plans are of
    // One plan, or none, for the reason beside them.
    std::shared_ptr<const direct::Plan> plan;
    std::shared_ptr<const flow::Plan> flow_plan;
    std::string reason;
    std::optional<partition::Partition> parts;  ///< the parts of a graph that has no plan
    mutable direct::LastRun last_run{};
    std::optional<flow::CallCodecs> codecs;  ///< for the calls of the plan in flow
    mutable flow::Workers workers;
  };
  /// Returns the plan of the graph whose parts are on these processes: in direct code where main would be
  /// direct in such a run. Throws ProgramError where the parts cannot be there.
  const PlacedEntry& get_placed(const graph::Graph& graph, const direct::PlanOptions& options,
                                const partition::Places& places, RunKind kind);

 private:
  const FunctionSet& kept(FunctionSet functions);
  const FlowEntry* find_other_code(const FlowEntry& entry, bool has_code) const;

  std::mutex mutex_;
  std::vector<std::unique_ptr<Entry>> entries_;
  std::vector<std::unique_ptr<FlowEntry>> flow_entries_;
  std::vector<std::unique_ptr<PlacedEntry>> placed_entries_;
  std::optional<DirectFunctions> choice_;
  std::array<const FunctionSet*, kRunKinds> chosen_{};      ///< by kind of run, once it is known
  std::vector<std::unique_ptr<const FunctionSet>> sets_{};  ///< each once
};

}  // namespace hiaton::exec
