// hiaton run FILE [--name=value ...]
#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "commands.h"
#include "compile_options.h"
#include "hiaton/engine.h"
#include "hiaton/error.h"
#include "interrupt.h"
#include "output.h"
#include "program_arguments.h"
#include "report.h"
#include "units.h"

namespace hiaton::cli {
namespace {

/// Puts the FILE before the options: what a program takes is known from it.
class RunHelp : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App*, std::string) const override {
    return "Usage: hiaton run FILE [--NAME=VALUE ...] [OPTIONS] [-- --NAME=VALUE ...]\n";
  }
};

struct RunCommand {
  std::string file;
  CompileOptions compile;
  RunOptions run;
  bool help = false;
  bool stats = false;
  bool json = false;
  uint64_t seed = 0;
};

/// An option whose value `set` reads; it throws UsageError where the value is not one.
CLI::Option* add_parsed_option(CLI::App& options, const std::string& name,
                               const std::function<void(const std::string&)>& set,
                               const std::string& description) {
  return options.add_option_function<std::string>(
      name,
      [name, set](const std::string& text) {
        try {
          set(text);
        } catch (const UsageError& error) {
          throw UsageError(fmt::format("{}: {}", name, error.what()));
        }
      },
      description);
}

Executor executor_named(const std::string& name) {
  if (name == "reference") return Executor::Reference;
  if (name == "expanding") return Executor::Expanding;
  if (name == "flow") return Executor::Flow;
  return Executor::Production;
}

void add_execution_options(CLI::App& options, RunCommand& command) {
  constexpr const char* kGroup = "Execution";
  RunOptions& run = command.run;
  options
      .add_option_function<std::string>(
          "--executor", [&run](const std::string& name) { run.executor = executor_named(name); },
          "The fast one, the literal one, or the one in which calls copy graphs")
      ->check(CLI::IsMember({"production", "flow", "reference", "expanding"}))
      ->type_name("NAME")
      ->default_str("production")
      ->group(kGroup);
  options.add_option("--batching", run.batching, "Run the same operations of many calls as one kernel")
      ->transform(CLI::CheckedTransformer(std::map<std::string, bool>{{"on", true}, {"off", false}}))
      ->type_name("on|off")
      ->default_str("on");
  options.add_option("--workers", run.workers, "How many threads share the run")
      ->check(CLI::Range(1, 1024))
      ->type_name("N")
      ->default_str("1")
      ->group(kGroup);
  options
      .add_option("--parallel-iterations", run.parallel_iterations,
                  "How many iterations of one loop may be under way at once")
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("N")
      ->default_str("10")
      ->group(kGroup);
  options.add_option("--seed", command.seed, "Where the learned parameters of the program begin")
      ->type_name("N")
      ->default_str("0")
      ->group(kGroup);
}

void add_budgets(CLI::App& options, RunOptions& run) {
  constexpr const char* kGroup = "Budgets (a run that needs more ends with an error)";
  options
      .add_option("--max-frames", run.max_frames, "Live frames: how deep calls may go, all workers together")
      ->check(CLI::PositiveNumber)
      ->type_name("N")
      ->group(kGroup);
  add_parsed_option(
      options, "--max-bytes", [&run](const std::string& text) { run.max_bytes = parse_bytes(text); },
      "Memory for frames: a number of bytes, or with K, M or G")
      ->type_name("SIZE")
      ->group(kGroup);
  add_parsed_option(
      options, "--timeout", [&run](const std::string& text) { run.timeout = parse_duration(text); },
      "Wall time: seconds, or with ms, s, m or h")
      ->type_name("TIME")
      ->group(kGroup);
}

void add_output_options(CLI::App& options, RunCommand& command) {
  constexpr const char* kGroup = "Output";
  options.add_flag("--stats", command.stats, "Count calls, frames, bytes, steals, and firings per region")
      ->group(kGroup);
  options.add_flag("--json", command.json, "One JSON object for programs instead of lines for people")
      ->group(kGroup);
}

void show_help(const CLI::App& options, const RunCommand& command) {
  std::string text = options.help("hiaton");
  if (!command.file.empty()) {
    const Program program = Program::from_file(command.file, command.compile);
    text += "\n" + ProgramArguments(program, command.file, options).help();
  }
  write_to_stdout(text);
}

void report_success(const RunCommand& command, const Program& program, const RunResult& result) {
  if (!command.json) {
    write_to_stdout(show_results(result.values, program.results()));
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

int run_program(RunCommand& command, const Program& program, const std::vector<Value>& arguments) {
  RunStats stats;
  command.run.stats = &stats;
  command.run.count_regions = command.stats;
  command.run.cancel = &cancel_on_interrupt();
  const std::vector<Value> parameters = initial_parameters(program.graph().parameters(), command.seed);
  command.run.parameters = parameters;
  try {
    report_success(command, program, program.run(arguments, command.run));
  } catch (const RunError& error) {
    report_failure(command, error, stats);
    throw;
  }
  return kSuccess;
}

int execute(const CLI::App& options, RunCommand& command, const std::vector<std::string>& after_dashes) {
  if (command.help) {
    show_help(options, command);
    return kSuccess;
  }
  if (command.file.empty()) throw UsageError("expected a FILE to run; see 'hiaton run --help'");
  const Program program = Program::from_file(command.file, command.compile);
  std::vector<std::string> words = options.remaining();
  words.insert(words.end(), after_dashes.begin(), after_dashes.end());
  ProgramArguments arguments(program, command.file, options);
  return run_program(command, program, arguments.parse(words));
}

}  // namespace

Command add_run_command(CLI::App& app) {
  auto command = std::make_shared<RunCommand>();
  CLI::App* options = app.add_subcommand("run", "Run a program and print its results");
  auto formatter = std::make_shared<RunHelp>();
  formatter->column_width(kHelpColumn);
  options->formatter(formatter);
  options->set_help_flag();
  options->add_flag("-h,--help", command->help, "Print this help; with a FILE, also its parameters");
  options->add_option("FILE", command->file, "A program (.hia), or a saved graph (.json)")->type_name("");
  add_execution_options(*options, *command);
  add_budgets(*options, command->run);
  add_output_options(*options, *command);
  add_compile_options(*options, command->compile);
  options->allow_extras();
  options->footer(
      "The parameters of the program's main are options too, written after FILE: --n=3.\n"
      "'hiaton run FILE --help' lists them. All that follows a '--' belongs to the program.");
  return {options, [options, command](const std::vector<std::string>& after_dashes) {
            return execute(*options, *command, after_dashes);
          }};
}

}  // namespace hiaton::cli
