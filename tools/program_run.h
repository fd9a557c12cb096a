// What the commands that run a program have in common: its file, its arguments, how it runs.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hiaton/engine.h"

namespace hiaton::cli {

struct ProgramRun {
  std::string file;
  std::string checkpoint;  ///< empty: none
  CompileOptions compile;
  RunOptions run;
  uint64_t seed = 0;
  bool help = false;
};

/// FILE, --help with the program's parameters, --checkpoint, --seed and the options of compilation. All that
/// the command does not know is left to the program.
void add_program_options(CLI::App& command, ProgramRun& run);
/// --evaluation alone
void add_evaluation_option(CLI::App& command, RunOptions& run);
/// --evaluation (of commands that know all executors), --executor, --batching, --workers and
/// --parallel-iterations.
void add_executor_options(CLI::App& command, RunOptions& run, const std::vector<std::string>& executors);

/// A program with all that a run of it needs.
struct PreparedRun {
  Program program;
  std::vector<Value> arguments;
  std::vector<Value> parameters;  ///< parameters of the program; the options of the run refer to them
};

/// Reads the program and its arguments, and lets Ctrl-C cancel the run. Nothing where help was asked for,
/// which it shows. `run` must outlive the parsing. Throws UsageError.
std::optional<PreparedRun> prepare(const CLI::App& command, ProgramRun& run,
                                   const std::vector<std::string>& after_dashes);

}  // namespace hiaton::cli
