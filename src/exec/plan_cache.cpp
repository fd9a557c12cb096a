#include "exec/plan_cache.h"

namespace hiaton::exec {

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
    entry->plan = std::make_shared<const flow::Plan>(flow::compile(graph, overflow));
  } catch (const flow::Unsupported& unsupported) {
    entry->reason = unsupported.why;
  }
  return *flow_entries_.emplace_back(std::move(entry));
}

}  // namespace hiaton::exec
