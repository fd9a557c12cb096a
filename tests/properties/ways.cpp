#include "properties/ways.h"

#include <fmt/format.h>

#include <algorithm>

#include "exec/reference.h"
#include "exec/run_graph.h"
#include "hiaton/passes.h"
#include "net/disordered.h"
#include "properties/random_choices.h"
#include "sized.h"

namespace hiaton::properties {
namespace {

constexpr uint64_t kDeliveries = 5;

using passes::SimplifyOptions;
using Prepare = std::function<ir::Module(const ir::Module&, OverflowMode)>;

RunOptions options(Executor executor, int workers = 1, int parallel_iterations = 10) {
  RunOptions options;
  options.executor = executor;
  options.workers = workers;
  options.parallel_iterations = parallel_iterations;
  options.max_frames = 1'000'000;
  return options;
}

/// Options of a run in which each call that can goes to another worker.
RunOptions shared(Executor executor, int workers) {
  RunOptions shared = options(executor, workers);
  shared.share_every_call = true;
  return shared;
}

/// Tensors run in direct code where runs do not batch.
RunOptions unbatched(int workers) {
  RunOptions unbatched = options(Executor::Production, workers);
  unbatched.batching = false;
  return unbatched;
}

ir::Module unchanged(const ir::Module& module, OverflowMode) {
  return module;
}

ir::Module simplified(const ir::Module& module, OverflowMode overflow) {
  return passes::simplify(module, {.overflow = overflow});
}

ir::Module without_loops(const ir::Module& module, OverflowMode) {
  return passes::loops_to_calls(module);
}

/// simplify() with one of its passes only.
Prepare only(bool SimplifyOptions::*pass) {
  return [pass](const ir::Module& module, OverflowMode overflow) {
    SimplifyOptions options = SimplifyOptions::none(overflow);
    options.*pass = true;
    return passes::simplify(module, options);
  };
}

Way way(const std::string& name, const Version& version, const RunOptions& options, uint64_t every = 1) {
  return {version.name.empty() ? name : fmt::format("{}, {}", name, version.name), &version, options, every};
}

/// Processes that give each other every call that they can.
Way in_processes(const Version& version, int processes, const RunOptions& options, uint64_t every) {
  Way spread = way(fmt::format("production, {} processes of {} workers", processes, options.workers), version,
                   options, every);
  spread.processes = processes;
  return spread;
}

/// The first way, and of the others those that this build sees something in.
std::vector<Way> seen(std::vector<Way> ways) {
  ways.erase(std::remove_if(
                 ways.begin() + 1, ways.end(),
                 [](const Way& way) { return !has_to_run(std::max(way.processes, way.options.workers)); }),
             ways.end());
  return ways;
}

Outcome run_graph(const graph::Graph& graph, exec::PlanCache& plans, const Program& program,
                  RunOptions options) {
  Outcome outcome;
  options.stats = &outcome.stats;
  options.checks_counts = true;
  std::vector<exec::WaitingNode> leftovers;
  try {
    outcome.values = options.executor == Executor::Reference
                         ? exec::run_reference(graph, program.arguments, options, &leftovers).values
                         : exec::run(graph, program.arguments, options, plans).values;
  } catch (const RunError& error) {
    outcome.fault = error.fault();
    outcome.message = error.what();
  }
  if (!outcome.stats.fallback.empty()) {
    outcome.is_defect = true;
    outcome.message += "ran by the reference rules: " + outcome.stats.fallback;
  }
  if (outcome.stats.frames_live_at_end != 0) {
    outcome.is_defect = true;
    outcome.message += fmt::format("{} frames are left over", outcome.stats.frames_live_at_end);
  }
  if (outcome.stats.values_live_at_end != 0) {
    outcome.is_defect = true;
    outcome.message += fmt::format("{} data values are left over", outcome.stats.values_live_at_end);
  }
  if (!leftovers.empty()) {
    outcome.is_defect = true;
    outcome.message += fmt::format("{} nodes still wait for tokens", leftovers.size());
  }
  return outcome;
}

}  // namespace

std::string to_string(const Outcome& outcome) {
  if (outcome.is_defect) return "defect: " + outcome.message;
  if (outcome.fault != Fault::None) {
    return fmt::format("{}: {}", name_of(outcome.fault),
                       outcome.message.substr(0, outcome.message.find('\n')));
  }
  std::string text;
  for (const Value& value : outcome.values) text += (text.empty() ? "" : ", ") + to_string(value);
  return text;
}

const std::vector<Way>& ways() {
  using enum Executor;
  static const Version as_it_is{"", unchanged};
  static const Version folded{"folded", only(&SimplifyOptions::fold)};
  static const Version flattened{"logic flattened", only(&SimplifyOptions::flatten_logic)};
  static const Version merged{"common merged", only(&SimplifyOptions::cse)};
  static const Version dropped{"dead dropped", only(&SimplifyOptions::dce)};
  static const Version inlined{"inlined", only(&SimplifyOptions::inline_small)};
  static const Version calls{"loops as calls", without_loops};
  static const Version all{"simplified", simplified};
  static const std::vector<Way> ways = seen({
      way("reference", as_it_is, options(Reference)),
      way("reference, one iteration at a time", as_it_is, options(Reference, 1, 1)),
      way("reference", all, options(Reference)),
      way("expanding", as_it_is, options(Expanding)),
      way("expanding, one iteration at a time", all, options(Expanding, 1, 1)),
      way("production", as_it_is, options(Production)),
      way("production, 2 workers", as_it_is, options(Production, 2)),
      way("production, 8 workers", as_it_is, options(Production, 8), 4),
      way("production without batches", as_it_is, unbatched(1)),
      way("production without batches", all, unbatched(1)),
      way("production without batches, 2 workers", as_it_is, unbatched(2), 2),
      way("production without batches, 8 workers", all, unbatched(8), 4),
      way("production, 2 workers, every call shared", as_it_is, shared(Production, 2), 4),
      way("production, 8 workers, every call shared", all, shared(Production, 8), 16),
      in_processes(as_it_is, 2, shared(Production, 1), 8),
      in_processes(all, 3, shared(Production, 2), 16),
      in_processes(as_it_is, 4, shared(Production, 1), 16),
      in_processes(as_it_is, 2, unbatched(1), 16),
      way("production, one iteration at a time", as_it_is, options(Production, 1, 1)),
      way("production", calls, options(Production)),
      way("flow", as_it_is, options(Flow)),
      way("flow", calls, options(Flow)),
      way("flow", all, options(Flow)),
      way("flow, 2 workers", all, options(Flow, 2), 4),
      way("flow, 2 workers, every call shared", calls, shared(Flow, 2), 4),
      way("flow, 8 workers, every call shared", all, shared(Flow, 8), 16),
      way("production", folded, options(Production)),
      way("production", flattened, options(Production)),
      way("production", merged, options(Production)),
      way("production", dropped, options(Production)),
      way("production", inlined, options(Production)),
      way("production", all, options(Production)),
      way("production, 2 workers", all, options(Production, 2)),
  });
  return ways;
}

Runner::Lowered& Runner::lowered(const Version& version) {
  std::unique_ptr<Lowered>& known = lowered_[&version];
  if (known == nullptr) {
    const ir::Module module = version.prepare(program_.module, overflow_);
    ir::verify(module);
    known = std::make_unique<Lowered>(passes::lower(module));
  }
  return *known;
}

Outcome Runner::run(const Way& way) {
  try {
    RunOptions options = way.options;
    options.overflow = overflow_;
    options.timeout = timeout_;
    Lowered& version = lowered(*way.version);
    if (way.processes == 1) return run_graph(version.graph, version.plans, program_, options);
    // Each program meets another order of messages.
    const auto delivery = static_cast<net::Delivery>(program_.seed / 4 % kDeliveries);
    Outcome outcome;
    net::act_in_processes(
        net::disordered_links(way.processes, delivery, static_cast<uint32_t>(program_.seed)),
        [&](net::Transport& transport) {
          RunOptions own = options;
          own.processes = &transport;
          Outcome found = run_graph(version.graph, version.plans, program_, own);
          if (transport.self() == 0) outcome = std::move(found);
        });
    return outcome;
  } catch (const std::exception& error) {
    return {.fault = Fault::None, .values = {}, .message = error.what(), .is_defect = true};
  }
}

bool agree(const Outcome& a, const Outcome& b, bool one_kind_of_fault) {
  if (a.is_defect || b.is_defect) return false;
  if (a.fault != Fault::None || b.fault != Fault::None) {
    return one_kind_of_fault ? a.fault == b.fault : a.fault != Fault::None && b.fault != Fault::None;
  }
  return std::equal(a.values.begin(), a.values.end(), b.values.begin(), b.values.end(), same);
}

}  // namespace hiaton::properties
