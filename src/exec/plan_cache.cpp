#include "exec/plan_cache.h"

#include "exec/outline_loops.h"

namespace hiaton::exec {
namespace {

/// The flow machine knows calls only.
std::unique_ptr<const graph::Graph> with_loops_as_calls(const graph::Graph& graph) {
  std::string reason;
  std::optional<graph::Graph> outlined = outline_loops(
      graph, [](graph::FunctionId) { return true; }, reason);
  if (!outlined) throw flow::Unsupported{std::move(reason)};
  return std::make_unique<const graph::Graph>(std::move(*outlined));
}

}  // namespace

const PlanCache::Entry& PlanCache::get(const graph::Graph& graph, const PlanOptions& options) {
  const std::lock_guard lock(mutex_);
  for (const std::unique_ptr<Entry>& entry : entries_) {
    if (entry->options == options) return *entry;
  }
  auto entry = std::make_unique<Entry>();
  entry->options = options;
  entry->plan = compile(graph, options, entry->reason);
  entries_.push_back(std::move(entry));
  return *entries_.back();
}

const PlanCache::FlowEntry& PlanCache::get_flow(const graph::Graph& graph, OverflowMode overflow) {
  const std::lock_guard lock(mutex_);
  for (const auto& entry : flow_entries_) {
    if (entry->overflow == overflow) return *entry;
  }
  auto entry = std::make_unique<FlowEntry>();
  entry->overflow = overflow;
  try {
    if (!graph.loops().empty()) entry->outlined = with_loops_as_calls(graph);
    const graph::Graph& planned = entry->outlined != nullptr ? *entry->outlined : graph;
    entry->plan = std::make_shared<const flow::Plan>(flow::compile(planned, overflow));
  } catch (const flow::Unsupported& unsupported) {
    entry->reason = unsupported.why;
  }
  return *flow_entries_.emplace_back(std::move(entry));
}

}  // namespace hiaton::exec
