// The command line, and its commands, one file each.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): it is the name of the library
class App;
}

namespace hiaton::cli {

/// Reads the words, runs a command, turns what it throws into messages. Gives the exit status of the process.
int run(int argc, char** argv);

/// Where the descriptions start in every help text.
inline constexpr std::size_t kHelpColumn = 34;

/// A command: its part of the command line, and what to do once that has been read.
struct Command {
  CLI::App* options;
  /// Gets the words after `--`. Returns the exit status, or throws.
  std::function<int(const std::vector<std::string>& after_dashes)> execute;
};

Command add_run_command(CLI::App& app);
Command add_trace_command(CLI::App& app);
Command add_watch_command(CLI::App& app);
Command add_check_command(CLI::App& app);
Command add_graph_command(CLI::App& app);
Command add_ops_command(CLI::App& app);
Command add_train_command(CLI::App& app);
Command add_predict_command(CLI::App& app);
Command add_eval_command(CLI::App& app);
Command add_hosts_command(CLI::App& app);

}  // namespace hiaton::cli
