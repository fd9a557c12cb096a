// The whole way of a program, on one page: text, Builder or graph in; results out.
//
//   Program program = Program::from_file("examples/fact.hia");
//   RunResult result = program.run({Value(int64_t{3})});
//   fmt::print("{}\n", to_string(result.values[0]));
#pragma once

#include <filesystem>
#include <initializer_list>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hiaton/graph.h"
#include "hiaton/ir.h"
#include "hiaton/open_run.h"
#include "hiaton/passes.h"
#include "hiaton/run.h"
#include "hiaton/value.h"

namespace hiaton::exec {
class PlanCache;
}  // namespace hiaton::exec

#pragma GCC visibility push(default)
namespace hiaton {

struct CompileOptions {
  /// Which simplifications are made before lowering. `simplify.overflow` is the overflow mode of every run of
  /// the program.
  passes::SimplifyOptions simplify{};
  /// Values for sizes that the program declares (`size d = 128`).
  std::map<std::string, int64_t> sizes{};
  /// The function that a Program runs. A Model has entries of its own.
  std::string entry = "main";
};

/// A parameter of the function that runs.
struct EntryParameter {
  std::string name;
  Type type;
};

/// A program that is ready to run. Immutable: several threads may run the same program at once, in parallel
/// and each with its own options and workers, and any number of programs live in one process. Only what the
/// options of a run point to (`gradients`, `stats`, `trace`) belongs to one run at a time.
class Program {
 public:
  /// Reads program text, or a saved graph where the name ends in ".json". Throws ProgramError where the file
  /// cannot be read or holds no legal program with the function `options.entry`.
  static Program from_file(const std::filesystem::path& path, const CompileOptions& options = {});
  /// `name` is what messages call the text.
  static Program from_text(std::string name, std::string text, const CompileOptions& options = {});
  /// The sizes are those that the module was made with, whatever `options` says.
  static Program from_module(ir::Module module, const CompileOptions& options = {});
  /// A graph is run as it is; of `options` only the overflow mode counts.
  static Program from_graph(graph::Graph graph, const CompileOptions& options = {});

  /// What the function that runs takes, in order.
  const std::vector<EntryParameter>& parameters() const { return parameters_; }
  /// The types of what it gives, in order.
  const std::vector<Type>& results() const { return results_; }
  /// The functions before any simplification; empty for a program made from a graph.
  const std::optional<ir::Module>& module() const { return module_; }
  /// The static tagged graph that runs.
  const graph::Graph& graph() const { return graph_; }
  OverflowMode overflow() const { return overflow_; }

  /// Runs the program; `arguments` are by parameter. The overflow mode is the program's, whatever
  /// `options.overflow` says. Throws ProgramError where arguments or options are wrong, RunError where the
  /// run ends without its results.
  RunResult run(std::span<const Value> arguments, RunOptions options = {}) const;
  RunResult run(std::initializer_list<Value> arguments, RunOptions options = {}) const {
    return run(std::span<const Value>(arguments.begin(), arguments.size()), std::move(options));
  }

  /// Runs the program for each argument list. What they have in common runs in batches.
  std::vector<std::vector<Value>> run_all(std::span<const std::vector<Value>> arguments,
                                          RunOptions options = {}) const;
  /// The same with argument lists that are made, and results that are taken, while it runs.
  void run_all(Examples& examples, RunOptions options = {}) const;

  /// Begins a run that takes its arguments, and gives its results, while it goes on: first those for the
  /// first parameters, which may be none. It may outlive the Program. Throws as run() does. Open runs are
  /// data-driven. Where the parameters come in several phases (OpenRun::phases), they run in one process, by
  /// the executors Production, Flow and Reference.
  OpenRun open(std::span<const Value> arguments = {}, RunOptions options = {}) const;
  OpenRun open(std::initializer_list<Value> arguments, RunOptions options = {}) const {
    return open(std::span<const Value>(arguments.begin(), arguments.size()), std::move(options));
  }

 private:
  friend class Model;
  static Program from_verified(ir::Module module, const CompileOptions& options);
  Program(std::optional<ir::Module> module, graph::Graph graph, const CompileOptions& options);
  void require_not_moved() const;
  class OnDemand;
  class Opened;

  std::optional<ir::Module> module_;
  graph::Graph graph_;
  OverflowMode overflow_;
  std::shared_ptr<exec::PlanCache> plans_;  ///< what runs have compiled so far; guards itself
  std::shared_ptr<OnDemand> on_demand_;     ///< what runs by demand have compiled so far; guards itself
  std::shared_ptr<Opened> opened_;          ///< what open runs have compiled so far; guards itself
  std::vector<EntryParameter> parameters_;
  std::vector<Type> results_;
};

/// The longest file that a Source may hold: positions in it are 32-bit offsets.
inline constexpr std::size_t kMaxSourceBytes = std::numeric_limits<uint32_t>::max() - 1;

/// The text of a file as a Source of its name. Throws ProgramError that names the file and says why it cannot
/// be read, also where it is longer than `most_bytes`; it reads no further then.
std::shared_ptr<const Source> read_source(const std::filesystem::path& path,
                                          std::size_t most_bytes = kMaxSourceBytes);
/// The same for a file with a program: text, with the files that it imports (lang::kMaxProgramBytes at most),
/// or a saved graph where the name ends in ".json" (graph::kMaxSavedBytes at most).
std::shared_ptr<const Source> read_program(const std::filesystem::path& path);

}  // namespace hiaton
#pragma GCC visibility pop
