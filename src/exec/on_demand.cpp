#include "exec/on_demand.h"

#include "exec/counted_run.h"
#include "exec/demand.h"
#include "exec/direct/run/direct_run.h"
#include "exec/run_checks.h"

namespace hiaton::exec {

RunResult run_on_demand(const graph::Graph& graph, const std::string& reason,
                        std::span<const Value> arguments, const RunOptions& options) {
  const auto run = [&] { return run_demand(graph, arguments, options); };
  return options.executor == Executor::Reference ? run() : run_with_fallback(options, reason, run);
}

RunResult run_on_demand(DemandProgram& program, std::span<const Value> arguments, const RunOptions& options) {
  require_runnable(program.graph, arguments, options);
  return with_errors_of_the_system(options, [&] {
    if (options.executor == Executor::Reference || !program.suspended)
      return run_on_demand(program.graph, program.reason, arguments, options);
    const direct::PlanOptions of_plan{options.overflow, false, options.count_regions, false, 1};
    const FunctionSet& functions = program.plans.all_functions(*program.suspended);
    const PlanCache::Entry& entry = program.plans.get(*program.suspended, functions, of_plan);
    if (entry.plan == nullptr) return run_on_demand(program.graph, entry.reason, arguments, options);
    RunOptions alone = options;
    alone.workers = 1;
    return direct::run_plan(entry.planned(*program.suspended), *entry.plan, arguments, alone, entry.last_run);
  });
}

void run_all_on_demand(DemandProgram& program, Examples& examples, const RunOptions& options) {
  for (std::size_t i = 0; i < examples.size(); ++i) {
    RunResult result = run_on_demand(program, examples.arguments(i), options);
    examples.take_results(i, std::move(result.values));
  }
}

}  // namespace hiaton::exec
