// hiaton watch FILE [--name=value ...] [--processes=N] --out run.html
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "choices.h"
#include "commands.h"
#include "exec/partitioned.h"
#include "hiaton/engine.h"
#include "hiaton/error.h"
#include "output.h"
#include "partition/partition.h"
#include "place_option.h"
#include "program_options.h"
#include "program_run.h"
#include "recording.h"
#include "report.h"
#include "watch_page.h"

namespace hiaton::cli {
namespace {

struct WatchCommand {
  ProgramRun program;
  PlaceOptions places;
  std::string out = "run.html";
  std::size_t most_tokens = 50'000;
};

std::string title_of(const WatchCommand& command, const PreparedRun& prepared) {
  std::string arguments;
  for (std::size_t i = 0; i < prepared.arguments.size(); ++i) {
    const EntryParameter& parameter = prepared.program.parameters()[i];
    arguments += fmt::format("{}{} = {}", i > 0 ? ", " : "", parameter.name,
                             to_string(prepared.arguments[i], parameter.type));
  }
  return fmt::format("{}: main({})", command.program.file, arguments);
}

/// By the rules of the reference executor; over a simulated network where the graph is split.
RunResult record(const WatchCommand& command, const PreparedRun& prepared,
                 const partition::Partition* partition, Recording& recording) {
  RunOptions run = command.program.run;
  run.executor = Executor::Reference;
  if (partition == nullptr) {
    run.on_token = [&](const TokenEvent& event) { recording.add(0, event); };
    return prepared.program.run(prepared.arguments, run);
  }
  exec::PartitionedRunOptions options{.run = run, .order = {}};
  options.on_token = [&](int process, const TokenEvent& event) {
    recording.add(static_cast<std::size_t>(process), event);
  };
  return exec::run_partitioned(prepared.program.graph(), *partition, prepared.arguments, options);
}

int watch(const WatchCommand& command, const PreparedRun& prepared) {
  const graph::Graph& graph = prepared.program.graph();
  std::optional<partition::Partition> partition;
  const int processes = command.places.places.processes;
  if (processes > 1) {
    if (command.program.run.evaluation == Evaluation::DemandDriven)
      throw UsageError("--evaluation=demand: expected one process, found several");
    partition = partition::split(graph, places_for(command.places, processes, command.program.run.max_bytes));
  } else if (command.places.has_any()) {
    throw UsageError("--place: expected --processes=N, found one process");
  }
  Recording recording =
      partition ? Recording(*partition, command.most_tokens) : Recording(graph, command.most_tokens);
  nlohmann::json ending;
  std::optional<RunError> failure;
  std::string text;
  try {
    const RunResult result = record(command, prepared, partition ? &*partition : nullptr, recording);
    text = show_results(result.values, prepared.program.results());
    ending = {{"result", text}};
  } catch (const RunError& error) {  // a run that fails can be watched until then
    ending = {{"error", error.what()}};
    failure = error;
  }
  const std::string title = title_of(command, prepared);
  nlohmann::json json = recording.to_json();
  json["ending"] = std::move(ending);
  json["title"] = title;
  if (graph.source() != nullptr) json["source"] = graph.source()->text();
  const graph::DrawOptions draw{.roomy = true};
  const std::string svg =
      partition ? graph::to_svg(drawn_parts(*partition), draw) : graph::to_svg(graph, draw);
  write_to(command.out, watch_page(title, svg, json));
  if (failure) throw RunError(*failure);
  write_to_stdout(text);
  return kSuccess;
}

}  // namespace

Command add_watch_command(CLI::App& app) {
  auto command = std::make_shared<WatchCommand>();
  CLI::App* options =
      app.add_subcommand("watch", "Run a small program and write a page that replays it, token by token");
  add_program_options(*options, command->program);
  options->add_option("--out", command->out, "Where the page goes: one file, for any browser")
      ->type_name("FILE")
      ->capture_default_str();
  options
      ->add_option("--most-tokens", command->most_tokens,
                   "A run that makes more is not for watching, and ends with an error")
      ->check(in_range(std::size_t{1}, std::size_t{10'000'000}))
      ->type_name("N")
      ->capture_default_str();
  add_evaluation_option(*options, command->program.run);
  add_split_options(*options, command->places,
                    "What each of so many processes does, with tokens that cross between them");
  add_budgets(*options, command->program.run);
  return {options, [options, command](const std::vector<std::string>& after_dashes) {
            const std::optional<PreparedRun> prepared = prepare(*options, command->program, after_dashes);
            if (!prepared) return int{kSuccess};
            const int status = watch(*command, *prepared);
            if (options->count("--out") == 0) note(fmt::format("the page is {}", command->out));
            return status;
          }};
}

}  // namespace hiaton::cli
