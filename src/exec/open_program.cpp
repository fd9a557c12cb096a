#include "exec/open_program.h"

#include <fmt/format.h>

#include <utility>

#include "exec/production.h"
#include "exec/reference.h"
#include "exec/run_checks.h"
#include "exec/run_graph.h"
#include "hiaton/error.h"

namespace hiaton::exec {
namespace {

/// One phase: a run as any other.
class OnePhaseRun : public PhasedRun {
 public:
  OnePhaseRun(const OpenProgram& program, const RunOptions& options) : program_(program), options_(options) {}

  void go_on(std::span<const std::vector<Value>> phases) override {
    RunOptions own = options_;
    own.stats = &stats_;
    results_ = run(program_.graph, phases[0], own, *program_.plans).values;
    has_run_ = true;
  }
  std::span<const Value> results() const override { return results_; }
  std::size_t results_to_come() const override { return has_run_ ? 0 : program_.graph.outputs().size(); }
  RunStats close(bool /*has_ended*/) override { return std::move(stats_); }

 private:
  const OpenProgram& program_;
  const RunOptions& options_;
  RunStats stats_;
  std::vector<Value> results_;
  bool has_run_ = false;
};

void require_options_of_phases(const RunOptions& options) {
  const auto require = [](bool holds, std::string_view expected) {
    if (!holds) throw ProgramError(fmt::format("an open run of several phases: expected {}", expected));
  };
  require(options.executor != Executor::Expanding,
          "the executor production, flow or reference, found another one");
  require(options.processes == nullptr, "one process, found several");
}

}  // namespace

OpenProgram::OpenProgram(const graph::Graph& program, std::shared_ptr<PlanCache> plans_of_graph,
                         OverflowMode overflow_mode)
    : graph(graph::in_phases(program)), phases(graph[graph.main()].phases), overflow(overflow_mode) {
  if (phases.size() == 1) {
    graph = program;
    plans = std::move(plans_of_graph);
  } else {
    plans = std::make_shared<PlanCache>();
  }
}

std::unique_ptr<PhasedRun> open_run(const OpenProgram& program, const RunOptions& options) {
  require_whole(program.graph);
  require_options(program.graph, options);
  if (options.evaluation == Evaluation::DemandDriven)
    throw ProgramError("an open run: expected one that is data-driven, found a demand-driven one");
  if (program.phases.size() == 1) return std::make_unique<OnePhaseRun>(program, options);
  require_options_of_phases(options);
  if (options.executor == Executor::Reference) return open_reference(program.graph, options);
  return open_production(program.graph, options, *program.plans);
}

}  // namespace hiaton::exec
