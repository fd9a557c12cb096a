// hiaton trace FILE [--name=value ...] --out trace.json
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "choices.h"
#include "commands.h"
#include "hiaton/engine.h"
#include "hiaton/trace.h"
#include "net/collect.h"
#include "output.h"
#include "process.h"
#include "program_options.h"
#include "program_run.h"
#include "report.h"
#include "trace_options.h"

namespace hiaton::cli {
namespace {

struct TraceCommand {
  ProgramRun program;
  std::string out = "trace.json";
  Trace::Options trace;
};

int trace_program(TraceCommand& command, const PreparedRun& prepared) {
  Trace trace(command.trace);
  RunStats stats;
  command.program.run.trace = &trace;
  command.program.run.stats = &stats;
  RunResult result;
  try {
    result = prepared.program.run(prepared.arguments, command.program.run);
  } catch (...) {
    write_trace(command.out, trace);  // what was until then
    throw;
  }
  write_trace(command.out, trace);
  if (!stats.fallback.empty()) {
    complain(fmt::format("warning: the trace is empty: the program ran by the reference rules, because {}",
                         stats.fallback));
  }
  end_on_interrupt();
  write_results(result.values, prepared.program.results());
  return kSuccess;
}

void say_what_was_dropped(const std::string& path, uint64_t dropped) {
  if (dropped == 0) return;
  std::fprintf(stderr,
               "%s: the trace holds the first events of each worker, %llu later ones are left out; "
               "--trace-events=N keeps more\n",
               path.c_str(), static_cast<unsigned long long>(dropped));
}

}  // namespace

std::vector<CLI::Option*> add_trace_limits(CLI::App& command, Trace::Options& options) {
  constexpr const char* kGroup = "Trace";
  CLI::Option* depth = command
                           .add_option("--trace-depth", options.call_depth,
                                       "Calls in direct code: draw them this deep, count the others")
                           ->check(in_range(0, 1'000'000))
                           ->type_name("N")
                           ->capture_default_str()
                           ->group(kGroup);
  CLI::Option* events =
      command
          .add_option("--trace-events", options.most_events,
                      "Keep the first N slices, arrows and samples of each worker, count the others")
          ->check(in_range(std::size_t{1}, std::size_t{100'000'000}))
          ->type_name("N")
          ->capture_default_str()
          ->group(kGroup);
  return {depth, events};
}

void add_trace_file(CLI::App& command, std::string& file, Trace::Options& options) {
  CLI::Option* trace =
      command.add_option("--trace", file, "Write the timeline here, of all processes; for ui.perfetto.dev")
          ->type_name("FILE")
          ->group("Trace");
  for (CLI::Option* limit : add_trace_limits(command, options)) limit->needs(trace);
}

void write_trace(const std::string& path, const Trace& trace) {
  write_to(path, trace.to_json());
  say_what_was_dropped(path, trace.dropped());
}

void write_trace(const std::string& path, const Trace& trace, net::Transport& processes) {
  const auto make = [&](std::chrono::nanoseconds earliest) {
    net::ByteWriter out;
    out.number(trace.dropped());
    out.text(trace.events({.number = processes.self(),
                           .name = processes.name(processes.self()),
                           .delay = trace.begin() - earliest.count()}));
    return std::move(out).take();
  };
  const auto made = net::collect(processes, std::chrono::nanoseconds(trace.begin()), make);
  if (processes.self() != 0) return;
  std::vector<std::string> events;
  uint64_t dropped = 0;
  for (std::size_t i = 0; i < made.size(); ++i) {
    net::ByteReader in(made[i], processes.name(static_cast<int>(i)));
    dropped += in.number<uint64_t>();
    events.push_back(in.text());
    in.require_end();
  }
  write_to(path, Trace::file_of(events, dropped));
  say_what_was_dropped(path, dropped);
}

Command add_trace_command(CLI::App& app) {
  auto command = std::make_shared<TraceCommand>();
  CLI::App* options =
      app.add_subcommand("trace", "Run a program and write its timeline, for ui.perfetto.dev");
  add_program_options(*options, command->program);
  options->add_option("--out", command->out, "Where the timeline goes")
      ->type_name("FILE")
      ->capture_default_str();
  add_trace_limits(*options, command->trace);
  add_executor_options(*options, command->program.run, {"production", "flow"});
  add_budgets(*options, command->program.run);
  return {options, [options, command](const std::vector<std::string>& after_dashes) {
            const std::optional<PreparedRun> prepared = prepare(*options, command->program, after_dashes);
            if (!prepared) return int{kSuccess};
            const int status = trace_program(*command, *prepared);
            if (options->count("--out") == 0) note(fmt::format("the timeline is {}", command->out));
            return status;
          }};
}

}  // namespace hiaton::cli
