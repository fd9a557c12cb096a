// hiaton run FILE [--name=value ...]
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>

#include "commands.h"
#include "events.h"
#include "exec/partitioned.h"
#include "exec/place_program.h"
#include "hiaton/engine.h"
#include "hiaton/error.h"
#include "hiaton/trace.h"
#include "net/launched.h"
#include "output.h"
#include "partition/partition.h"
#include "place_option.h"
#include "process.h"
#include "process_options.h"
#include "program_options.h"
#include "program_run.h"
#include "report.h"
#include "trace_options.h"

namespace hiaton::cli {
namespace {

struct RunCommand {
  ProgramRun program;
  ProcessOptions processes;
  PlaceOptions places;
  std::string events;
  std::string trace_file;
  Trace::Options trace;
  bool stats = false;
  bool json = false;
};

void add_output_options(CLI::App& options, RunCommand& command) {
  constexpr const char* kGroup = "Output";
  options.add_flag("--stats", command.stats, "Count calls, frames, bytes, steals, and firings per region")
      ->group(kGroup);
  options.add_flag("--json", command.json, "Print one JSON object instead of lines")->group(kGroup);
  options
      .add_option("--events", command.events,
                  "Write every token as a line of JSON to this file; runs with the reference executor")
      ->type_name("FILE")
      ->group(kGroup);
}

/// Once, whatever else is reported.
void report_fallback(const RunStats& stats) {
  if (stats.fallback.empty()) return;
  const std::string note =
      fmt::format("note: this graph runs by the reference rules, slowly: {}\n", stats.fallback);
  std::fputs(note.c_str(), stderr);
}

void report_success(const RunCommand& command, const Program& program, const RunResult& result) {
  if (!command.json) {
    write_results(result.values, program.results());
    if (command.stats) std::fputs(show_stats(result.stats).c_str(), stderr);
    return;
  }
  nlohmann::ordered_json report{{"results", to_json(result.values, program.results())},
                                {"seconds", result.stats.seconds}};
  if (command.stats) report["stats"] = to_json(result.stats);
  write_to_stdout(dump(report));
}

void report_failure(const RunCommand& command, const RunError& error, const RunStats& stats) {
  if (!command.json) {
    if (command.stats) std::fputs(show_stats(stats).c_str(), stderr);
    return;
  }
  nlohmann::ordered_json report{{"error", to_json(error)}};
  if (command.stats) report["stats"] = to_json(stats);
  write_to_stdout(dump(report));
}

/// Runs by calling `make_result`, and reports.
template <class MakeResult>
int run_and_report(RunCommand& command, const PreparedRun& prepared, MakeResult make_result) {
  RunStats stats;
  command.program.run.stats = &stats;
  try {
    const RunResult result = make_result();
    end_on_interrupt();
    report_fallback(result.stats);
    report_success(command, prepared.program, result);
  } catch (const RunError& error) {
    report_fallback(stats);
    report_failure(command, error, stats);
    throw;
  }
  return kSuccess;
}

int run_program(RunCommand& command, const PreparedRun& prepared) {
  RunOptions& run = command.program.run;
  run.count_regions = command.stats;
  std::unique_ptr<EventWriter> events;
  if (!command.events.empty()) {
    events = std::make_unique<EventWriter>(command.events);
    run.on_token = [&](const TokenEvent& event) { events->write(prepared.program.graph(), event); };
  }
  return run_and_report(command, prepared, [&] {
    RunResult result = prepared.program.run(prepared.arguments, run);
    if (events != nullptr) events->close();
    return result;
  });
}

/// The same in one process, with its timeline in a file where that is wanted.
int run_alone(RunCommand& command, const PreparedRun& prepared) {
  if (command.trace_file.empty()) return run_program(command, prepared);
  require_writable(command.trace_file);
  Trace trace(command.trace);
  command.program.run.trace = &trace;
  try {
    run_program(command, prepared);
  } catch (...) {
    write_trace(command.trace_file, trace);  // what was until then
    throw;
  }
  write_trace(command.trace_file, trace);
  return kSuccess;
}

partition::Places places_of(const RunCommand& command, int processes) {
  return places_for(command.places, processes, command.program.run.max_bytes);
}

/// The literal form: the parts of the graph, one for each process, on the rules of the reference executor.
int run_split(RunCommand& command, const PreparedRun& prepared) {
  if (net::find_launched() || !command.processes.hosts.empty()) {
    throw UsageError(
        "--executor=reference: expected --processes, which it simulates, found processes on hosts");
  }
  const graph::Graph& graph = prepared.program.graph();
  const partition::Places places = places_of(command, command.processes.processes);
  const partition::Partition parts = partition::split(graph, places);
  if (command.stats && !command.json) std::fputs(show_places(graph, places).c_str(), stderr);
  std::unique_ptr<EventWriter> events;
  if (!command.events.empty()) events = std::make_unique<EventWriter>(command.events);
  return run_and_report(command, prepared, [&] {
    exec::PartitionedRunOptions options{.run = command.program.run, .order = {}};
    if (events != nullptr)
      options.on_crossing = [&](const exec::CrossingEvent& event) { events->write(parts, event); };
    RunResult result = exec::run_partitioned(graph, parts, prepared.arguments, options);
    if (events != nullptr) events->close();
    return result;
  });
}

/// What decides the results: processes that differ in it would not run the same program.
std::string hash_of(const PreparedRun& prepared, const RunOptions& run, bool is_traced) {
  std::string all = graph::to_json(prepared.program.graph());
  for (std::size_t i = 0; i < prepared.arguments.size(); ++i)
    all += to_string(prepared.arguments[i], prepared.program.parameters()[i].type) + "\n";
  for (const auto& [name, processes] : run.places)
    all += fmt::format("{}={} ", name, fmt::join(processes, "+"));
  if (run.place_parameters) all += fmt::format("auto={} ", run.max_bytes);
  all += fmt::format("{} {} {}", run.batching, run.parallel_iterations, static_cast<int>(run.executor));
  all += fmt::format(" {}", static_cast<int>(prepared.program.overflow()));
  if (is_traced) all += " traced";
  return net::hash_of(std::as_bytes(std::span(all)));
}

/// One of several processes, which give each other calls. Process 0 has the results.
class SharedRunWork : public net::Work {
 public:
  /// `error` is set where the run of process 0 fails: its processes end in good order all the same.
  SharedRunWork(const RunCommand& command, const PreparedRun& prepared, std::exception_ptr& error)
      : command_(command), prepared_(prepared), error_(error) {}

  std::string prepare(int /*self*/) override {
    return "the program " + hash_of(prepared_, command_.program.run, !command_.trace_file.empty());
  }

  void work(net::Transport& transport) override {
    RunCommand own = command_;
    own.program.run.processes = &transport;
    own.trace.process = transport.self();
    std::optional<Trace> trace;
    if (!own.trace_file.empty()) own.program.run.trace = &trace.emplace(own.trace);
    if (transport.self() == 0) {
      if (own.stats && !own.json)
        std::fputs(show_places(prepared_.program.graph(), places_of(own, transport.size())).c_str(), stderr);
      try {
        run_program(own, prepared_);
      } catch (const RunError&) {
        error_ = std::current_exception();
      }
    } else {
      RunOptions& run = own.program.run;
      run.count_regions = own.stats;
      run.cancel = nullptr;
      prepared_.program.run(prepared_.arguments, run);
    }
    if (trace) write_trace(own.trace_file, *trace, transport);
    // A question may have come too late.
    transport.end([](int, const net::Header&, std::span<const std::byte>) {});
  }

 private:
  const RunCommand& command_;
  const PreparedRun& prepared_;
  std::exception_ptr& error_;
};

int run_in_processes(RunCommand& command, const PreparedRun& prepared) {
  const Executor executor = command.program.run.executor;
  const bool is_shared = is_spread(command.processes);
  const bool is_on_demand = command.program.run.evaluation == Evaluation::DemandDriven;
  if (is_on_demand && is_shared) throw UsageError("--evaluation=demand: expected one process, found several");
  if (command.places.has_any() && !is_shared)
    throw UsageError("--place: expected several processes, as --processes=N, found one");
  if (!command.trace_file.empty() && executor != Executor::Production && executor != Executor::Flow)
    throw UsageError(
        "--trace: expected --executor=production or flow, which have workers, found another one");
  if (!command.trace_file.empty() && is_on_demand)
    throw UsageError("--trace: expected --evaluation=data, found demand");
  if (!is_shared) return run_alone(command, prepared);
  if (executor == Executor::Reference) return run_split(command, prepared);
  if (executor != Executor::Production)
    throw UsageError(
        "--executor: expected production or reference with several processes, found another one");
  command.program.run.places = command.places.places.named;
  command.program.run.place_parameters = command.places.is_automatic;
  // What cannot be placed is said once, where the number of processes is known before they start.
  const graph::Graph& graph = prepared.program.graph();
  if (command.processes.processes > 1) {
    const partition::Places places = places_of(command, command.processes.processes);
    if (exec::has_places(graph, places)) partition::split(graph, places);
  }
  std::exception_ptr error;
  const int status = work_in_processes(command.processes, words_for_processes(), [&] {
    return std::make_unique<SharedRunWork>(command, prepared, error);
  });
  if (error != nullptr) std::rethrow_exception(error);
  return status;
}

/// Only the reference executor knows tokens.
void choose_executor(const CLI::App& options, RunCommand& command) {
  if (command.events.empty()) return;
  RunOptions& run = command.program.run;
  if (options.count("--executor") > 0 && run.executor != Executor::Reference) {
    throw UsageError("--events: expected --executor=reference, found another executor, which has no tokens");
  }
  run.executor = Executor::Reference;
}

}  // namespace

Command add_run_command(CLI::App& app) {
  auto command = std::make_shared<RunCommand>();
  CLI::App* options = app.add_subcommand("run", "Run a program and print its results");
  add_program_options(*options, command->program);
  add_executor_options(*options, command->program.run, {"production", "flow", "reference", "expanding"});
  add_budgets(*options, command->program.run);
  add_output_options(*options, *command);
  add_trace_file(*options, command->trace_file, command->trace);
  add_process_options(*options, command->processes, true);
  add_place_option(*options, command->places);
  return {options, [options, command](const std::vector<std::string>& after_dashes) {
            choose_executor(*options, *command);
            const std::optional<PreparedRun> prepared = prepare(*options, command->program, after_dashes);
            return prepared ? run_in_processes(*command, *prepared) : int{kSuccess};
          }};
}

}  // namespace hiaton::cli
