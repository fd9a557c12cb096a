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

}  // namespace hiaton::exec
