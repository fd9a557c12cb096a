#include "exec/plan_cache.h"

#include <algorithm>

#include "exec/outline_loops.h"
#include "exec/place_program.h"

namespace hiaton::exec {
namespace {

/// Adds the plan. Loops of which direct code has no form, as those that compute something between their
/// predicate and an Exit, are calls in it.
void plan_direct(const graph::Graph& graph, PlanCache::Entry& entry) {
  entry.plan = direct::compile(graph, *entry.functions, entry.options, entry.reason);
  if (entry.plan != nullptr || graph.loops().empty()) return;
  std::string reason;
  std::optional<graph::Graph> outlined = outline_loops(
      graph, [&](graph::FunctionId function) { return (*entry.functions)[function.index()]; }, reason);
  if (!outlined) return;
  FunctionSet functions = *entry.functions;
  functions.resize(outlined->functions().size(), true);  // the functions of loops
  entry.plan = direct::compile(*outlined, functions, entry.options, reason);
  if (entry.plan == nullptr) return;
  entry.reason.clear();
  entry.outlined = std::make_unique<const graph::Graph>(std::move(*outlined));
}

/// The flow machine knows calls only.
std::shared_ptr<const graph::Graph> with_loops_as_calls(const graph::Graph& graph,
                                                        const std::vector<bool>& direct) {
  std::string reason;
  std::optional<graph::Graph> outlined = outline_loops(
      graph, [&](graph::FunctionId function) { return !direct[function.index()]; }, reason);
  if (!outlined) throw flow::Unsupported{std::move(reason)};
  return std::make_shared<const graph::Graph>(std::move(*outlined));
}

/// Adds the plan in flow, or why there is none.
void plan_flow(const HomedGraph& homed, PlanCache::PlacedEntry& entry) {
  try {
    FunctionSet direct = direct_functions_at_home(homed, entry.kind);
    std::shared_ptr<const direct::Plan> code;
    if (std::ranges::find(direct, true) != direct.end()) {
      direct::PlanOptions below_flow;
      below_flow.overflow = entry.options.overflow;
      below_flow.count_regions = entry.options.count_regions;
      below_flow.parallel_iterations = 1;
      std::string reason;
      code = direct::compile(homed.graph, direct, below_flow, reason);
      if (code == nullptr) direct.assign(direct.size(), false);
    }
    flow::Plan plan = flow::compile(homed, direct, entry.options.overflow);
    plan.direct = std::move(code);
    entry.flow_plan = std::make_shared<const flow::Plan>(std::move(plan));
    entry.codecs.emplace(*entry.flow_plan, flow::CallsThatLeave::Placed);
  } catch (const flow::Unsupported& unsupported) {
    entry.reason = unsupported.why;
  }
}

}  // namespace

/// The caller holds the lock.
const FunctionSet& PlanCache::kept(FunctionSet functions) {
  const auto same = std::ranges::find_if(sets_, [&](const auto& set) { return *set == functions; });
  if (same != sets_.end()) return **same;
  return *sets_.emplace_back(std::make_unique<const FunctionSet>(std::move(functions)));
}

const FunctionSet& PlanCache::direct_functions(const graph::Graph& graph, RunKind kind) {
  const std::lock_guard lock(mutex_);
  const FunctionSet*& chosen = chosen_[static_cast<std::size_t>(kind)];
  if (chosen == nullptr) {
    if (!choice_) choice_.emplace(graph);
    chosen = &kept(choice_->in(kind));
  }
  return *chosen;
}

const FunctionSet& PlanCache::all_functions(const graph::Graph& graph) {
  const std::lock_guard lock(mutex_);
  return kept(FunctionSet(graph.functions().size(), true));
}

const FunctionSet& PlanCache::no_functions(const graph::Graph& graph) {
  const std::lock_guard lock(mutex_);
  return kept(FunctionSet(graph.functions().size(), false));
}

const PlanCache::Entry& PlanCache::get(const graph::Graph& graph, const FunctionSet& functions,
                                       const direct::PlanOptions& options) {
  const std::lock_guard lock(mutex_);
  for (const std::unique_ptr<Entry>& entry : entries_) {
    if (entry->functions == &functions && entry->options == options) return *entry;
  }
  auto entry = std::make_unique<Entry>();
  entry->functions = &functions;
  entry->options = options;
  plan_direct(graph, *entry);
  entries_.push_back(std::move(entry));
  return *entries_.back();
}

/// An entry whose plan differs in nothing but its direct code. The caller holds the lock.
const PlanCache::FlowEntry* PlanCache::find_other_code(const FlowEntry& entry, bool has_code) const {
  const auto found = std::ranges::find_if(flow_entries_, [&](const auto& other) {
    return other->plan != nullptr && other->functions == entry.functions &&
           other->direct_options.overflow == entry.direct_options.overflow &&
           (other->plan->direct != nullptr) == has_code;
  });
  return found == flow_entries_.end() ? nullptr : found->get();
}

const PlanCache::FlowEntry& PlanCache::get_flow(const graph::Graph& graph, const FunctionSet& functions,
                                                const direct::PlanOptions& options) {
  const std::lock_guard lock(mutex_);
  for (const auto& entry : flow_entries_) {
    const bool has_code = entry->plan != nullptr && entry->plan->direct != nullptr;
    const bool is_alike =
        has_code ? entry->direct_options == options : entry->direct_options.overflow == options.overflow;
    if (is_alike && entry->functions == &functions) return *entry;
  }
  auto entry = std::make_unique<FlowEntry>();
  entry->functions = &functions;
  entry->direct_options = options;
  try {
    FunctionSet direct = functions;
    std::shared_ptr<const direct::Plan> code;
    if (std::ranges::find(direct, true) != direct.end()) {
      std::string reason;
      code = direct::compile(graph, direct, options, reason);
      if (code == nullptr) direct.assign(direct.size(), false);
    }
    flow::Plan plan;
    if (const FlowEntry* other = find_other_code(*entry, code != nullptr)) {
      entry->outlined = other->outlined;
      plan = *other->plan;
    } else {
      if (!graph.loops().empty()) entry->outlined = with_loops_as_calls(graph, direct);
      const graph::Graph& planned = entry->outlined != nullptr ? *entry->outlined : graph;
      direct.resize(planned.functions().size(), false);  // the functions of loops
      plan = flow::compile(planned, direct, options.overflow);
    }
    plan.direct = std::move(code);
    entry->plan = std::make_shared<const flow::Plan>(std::move(plan));
  } catch (const flow::Unsupported& unsupported) {
    entry->reason = unsupported.why;
  }
  return *flow_entries_.emplace_back(std::move(entry));
}

const flow::CallCodecs& PlanCache::shared_codecs(const FlowEntry& entry) {
  const std::lock_guard lock(mutex_);
  if (!entry.codecs) entry.codecs.emplace(*entry.plan, flow::CallsThatLeave::Shared);
  return *entry.codecs;
}

const PlanCache::PlacedEntry& PlanCache::get_placed(const graph::Graph& graph,
                                                    const direct::PlanOptions& options,
                                                    const partition::Places& places, RunKind kind) {
  const std::lock_guard lock(mutex_);
  for (const std::unique_ptr<PlacedEntry>& entry : placed_entries_) {
    if (entry->options == options && entry->places == places && entry->kind == kind) return *entry;
  }
  auto entry = std::make_unique<PlacedEntry>();
  entry->options = options;
  entry->places = places;
  entry->kind = kind;
  std::optional<HomedGraph> homed = place_program(graph, places, entry->reason);
  if (homed) {
    const FunctionSet able = functions_for_direct_code(graph);
    const bool may_be_direct = std::ranges::find(able, false) == able.end();
    if (!may_be_direct || !DirectFunctions(graph).in(kind)[graph.main().index()]) plan_flow(*homed, *entry);
    if (may_be_direct && entry->flow_plan == nullptr) {
      direct::PlanOptions own = options;
      own.homes = homed->homes;
      own.copies = homed->copies;
      entry->plan = direct::compile(homed->graph, own, entry->reason);
    }
    entry->graph.emplace(std::move(homed->graph));
  }
  if (entry->plan == nullptr && entry->flow_plan == nullptr)
    entry->parts.emplace(partition::split(graph, places));
  return *placed_entries_.emplace_back(std::move(entry));
}

}  // namespace hiaton::exec
