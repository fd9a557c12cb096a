#include "program_run.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "choices.h"
#include "commands.h"
#include "compilation_limit.h"
#include "hiaton/error.h"
#include "hiaton/lang.h"
#include "output.h"
#include "process.h"
#include "program_arguments.h"
#include "program_file.h"
#include "program_options.h"
#include "train/checkpoint.h"
#include "trained_model.h"

namespace hiaton::cli {
namespace {

/// Puts the FILE before the options: what a program takes is known from it.
class ProgramHelp : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* command, std::string) const override {
    return fmt::format("Usage: hiaton {} FILE [--NAME=VALUE ...] [OPTIONS] [-- --NAME=VALUE ...]\n",
                       command->get_name());
  }
};

Executor executor_named(const std::string& name) {
  if (name == "reference") return Executor::Reference;
  if (name == "expanding") return Executor::Expanding;
  if (name == "flow") return Executor::Flow;
  return Executor::Production;
}

/// The sizes that the command line gives, and those of the training that the program declares too.
std::map<std::string, int64_t> with_trained_sizes(std::map<std::string, int64_t> sizes,
                                                  const std::shared_ptr<const Source>& program,
                                                  const ModelDirectory& directory) {
  const std::map<std::string, int64_t> declared = lang::declared_sizes(program, {sizes});
  for (const auto& [name, size] : trained_sizes(directory)) {
    if (!declared.contains(name)) continue;
    const auto given = sizes.emplace(name, size).first;
    if (given->second != size) {
      throw UsageError(
          fmt::format("--size: expected {0}={1}, as in the training of the checkpoint, found {0}={2}", name,
                      size, given->second));
    }
  }
  return sizes;
}

bool is_saved_graph(const std::string& file) {
  return std::filesystem::path(file).extension() == ".json";
}

Program load_program(const ProgramRun& run, const std::optional<Checkpoint>& checkpoint) {
  if (!checkpoint || is_saved_graph(run.file)) return load_program_named(run.file, run.compile);
  const std::shared_ptr<const Source> source = read_program_named(run.file);
  CompileOptions compile = run.compile;
  if (!is_bare_parameters(checkpoint->parameters))
    compile.sizes = with_trained_sizes(compile.sizes, source, checkpoint->directory);
  return Program::from_text(source->name(), std::string(source->text()), compile);
}

/// The time of the run is what the compilation leaves of it.
Program load_in_time(ProgramRun& run, const std::optional<Checkpoint>& checkpoint) {
  const CompilationLimit limit(run.file, run.run.timeout);
  Program program = load_program(run, checkpoint);
  run.run.timeout = limit.left();
  return program;
}

/// The program of the checkpoint runs where no other is named.
std::optional<Checkpoint> checkpoint_of(ProgramRun& run) {
  if (run.checkpoint.empty()) return std::nullopt;
  if (is_bare_parameters(run.checkpoint)) {
    if (run.file.empty())
      throw UsageError(fmt::format("expected a FILE to run: '{}' has parameters alone", run.checkpoint));
    return Checkpoint{ModelDirectory(""), run.checkpoint};
  }
  Checkpoint checkpoint = find_checkpoint(run.checkpoint);
  if (run.file.empty()) run.file = checkpoint.directory.program().string();
  return checkpoint;
}

void show_help(const CLI::App& command, ProgramRun& run) {
  std::string text = command.help("hiaton");
  const std::optional<Checkpoint> checkpoint = checkpoint_of(run);
  if (!run.file.empty()) {
    text += "\n" + ProgramArguments(load_program(run, checkpoint), run.file, command).help();
  }
  write_to_stdout(text);
}

}  // namespace

void add_program_options(CLI::App& command, ProgramRun& run) {
  auto formatter = std::make_shared<ProgramHelp>();
  formatter->column_width(kHelpColumn);
  command.formatter(formatter);
  command.set_help_flag();
  command.add_flag("-h,--help", run.help, "Print this help; with a FILE, also its parameters");
  command
      .add_option("FILE", run.file,
                  "A program (.hia), or a saved graph (.json); - is a program on standard input")
      ->type_name("");
  command
      .add_option("--checkpoint", run.checkpoint,
                  "Parameters that 'hiaton train' learned: its directory, or a checkpoint in there; its "
                  "program runs where no FILE is given; or any safetensors file with the parameters of FILE")
      ->type_name("PATH")
      ->group("Execution");
  command
      .add_option("--seed", run.seed,
                  "Which random numbers learned parameters begin with, without --checkpoint")
      ->check(any_number<uint64_t>())
      ->type_name("N")
      ->default_str("0")
      ->group("Execution");
  add_compile_options(command, run.compile);
  command.allow_extras();
  command.footer(fmt::format(
      "The parameters of the program's main are options too, written after FILE: --n=3, or --n=@FILE\n"
      "where a file holds the value; @- is standard input, and @@ one @ that a string begins with.\n"
      "'hiaton {} FILE --help' lists them. All that follows a '--' belongs to the program.",
      command.get_name()));
}

void add_evaluation_option(CLI::App& command, RunOptions& run) {
  command
      .add_option_function<std::string>(
          "--evaluation",
          [&run](const std::string& name) {
            run.evaluation = name == "demand" ? Evaluation::DemandDriven : Evaluation::DataDriven;
          },
          "Compute values as soon as they can be (data), or when they are asked for (demand)")
      ->check(one_of({"data", "demand"}))
      ->type_name("NAME")
      ->default_str("data")
      ->group("Execution");
}

void add_executor_options(CLI::App& command, RunOptions& run, const std::vector<std::string>& executors) {
  constexpr const char* kGroup = "Execution";
  command
      .add_option_function<std::string>(
          "--executor", [&run](const std::string& name) { run.executor = executor_named(name); },
          executors.size() > 2
              ? "The fast one for this program (production), the one that batches (flow), the one that "
                "follows the rules literally (reference), or the one in which calls copy graphs "
                "(expanding)"
              : "The fast one for this program (production), or the one that batches (flow)")
      ->check(one_of(executors))
      ->type_name("NAME")
      ->default_str("production")
      ->group(kGroup);
  if (executors.size() > 2) add_evaluation_option(command, run);
  command.add_option("--batching", run.batching, "Run the same operations of many calls as one kernel")
      ->transform(on_or_off())
      ->type_name("MODE")
      ->default_str("on")
      ->group(kGroup);
  command.add_option("--workers", run.workers, "How many threads share the run")
      ->check(in_range(1, 1024))
      ->type_name("N")
      ->default_str("1")
      ->group(kGroup);
  command
      .add_option("--parallel-iterations", run.parallel_iterations,
                  "How many iterations of one loop may be under way at once")
      ->check(in_range(1, 1'000'000))
      ->type_name("N")
      ->default_str("10")
      ->group(kGroup);
}

std::optional<PreparedRun> prepare(const CLI::App& command, ProgramRun& run,
                                   const std::vector<std::string>& after_dashes) {
  if (run.help) {
    show_help(command, run);
    return std::nullopt;
  }
  if (command.count("--checkpoint") > 0 && command.count("--seed") > 0)
    throw UsageError("--seed: expected no --checkpoint beside it, which has the values of all parameters");
  const std::optional<Checkpoint> checkpoint = checkpoint_of(run);
  if (run.file.empty()) {
    throw UsageError(
        fmt::format("expected a FILE to run, or a --checkpoint; see 'hiaton {} --help'", command.get_name()));
  }
  PreparedRun prepared{load_in_time(run, checkpoint), {}, {}};
  std::vector<std::string> words = command.remaining();
  words.insert(words.end(), after_dashes.begin(), after_dashes.end());
  prepared.arguments = ProgramArguments(prepared.program, run.file, command).parse(words);
  const std::vector<graph::Parameter>& parameters = prepared.program.graph().parameters();
  prepared.parameters = checkpoint ? train::load_values(checkpoint->parameters, parameters)
                                   : initial_parameters(parameters, run.seed);
  run.run.cancel = &cancel_on_interrupt();
  run.run.parameters = prepared.parameters;  // a vector that is moved keeps its elements where they are
  return prepared;
}

}  // namespace hiaton::cli
