
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "commands.h"
#include "output.h"
#include "process.h"
#include "process_options.h"
#include "word_errors.h"

namespace hiaton::cli {
namespace {

struct CommandLine {
  std::vector<std::string> options;
  std::vector<std::string> after_dashes;
};

CommandLine split_at_dashes(int argc, char** argv) {
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  const auto dashes = std::find(words.begin(), words.end(), "--");
  CommandLine line{{words.begin(), dashes}, {}};
  if (dashes != words.end()) line.after_dashes.assign(dashes + 1, words.end());
  return line;
}

/// Else it would be the word behind that is the value.
void require_values(const CLI::App& app, const std::vector<std::string>& words) {
  const auto found = app.get_subcommands(
      [&](const CLI::App* command) { return !words.empty() && command->get_name() == words[0]; });
  if (found.empty()) return;
  for (const std::string& word : words) {
    if (!word.starts_with("--") || word.find('=') != word.size() - 1) continue;
    const std::string name = word.substr(0, word.size() - 1);
    if (found[0]->get_option_no_throw(name) != nullptr)
      throw UsageError(fmt::format("{}: expected a value behind '=', found none", name));
  }
}

struct KnownCommand {
  std::string_view name;
  Command (*add)(CLI::App& app);
  const char* example;         ///< what its help ends with; empty: that tells how to give arguments instead
  bool has_processes = false;  ///< it works in all processes that a launcher starts, together
};

constexpr KnownCommand kCommands[] = {
    {"run", add_run_command, "", true},
    {"check", add_check_command, "examples/fact.hia"},
    {"graph", add_graph_command, "examples/fact.hia --out fact.svg"},
    {"trace", add_trace_command, ""},
    {"watch", add_watch_command, ""},
    {"ops", add_ops_command, "tanh"},
    {"train", add_train_command, "models/treernn.hia --epochs=2 --out build/listops", true},
    {"predict", add_predict_command, "build/listops --generate 2", true},
    {"eval", add_eval_command, "build/listops", true},
    {"hosts", add_hosts_command, "--processes=2", true},
};

bool has_processes(int argc, char** argv) {
  return argc > 1 && std::ranges::any_of(kCommands, [argv](const KnownCommand& it) {
           return it.has_processes && it.name == argv[1];
         });
}

/// The command that the first word names; all of them where it names none, so that the help lists them. The
/// options of all commands take longer to add than a small program takes to run.
std::vector<Command> add_commands(CLI::App& app, const std::vector<std::string>& words) {
  const auto is_named = [&](const KnownCommand& known) { return !words.empty() && known.name == words[0]; };
  const bool has_named = std::ranges::any_of(kCommands, is_named);
  std::vector<Command> added;
  for (const KnownCommand& known : kCommands) {
    if (has_named && !is_named(known)) continue;
    added.push_back(known.add(app));
    if (*known.example != '\0')
      added.back().options->footer(fmt::format("Try: hiaton {} {}", known.name, known.example));
  }
  return added;
}

int execute(CLI::App& app, const CommandLine& line) {
  const std::vector<Command> commands = add_commands(app, line.options);
  std::vector<std::string> reversed(line.options.rbegin(), line.options.rend());  // as CLI11 wants it
  require_values(app, line.options);
  app.parse(reversed);
  for (const Command& command : commands) {
    if (command.options->parsed()) return command.execute(line.after_dashes);
  }
  throw UsageError("expected a command; 'hiaton --help' lists them");
}

/// The reason with the help to look at, unless the reason says what to write.
std::string explain_with_help(const CLI::App& app, const CLI::ParseError& error) {
  const std::string reason = explain(app, error);
  return reason.ends_with('?') ? reason : fmt::format("{}; see '{} --help'", reason, command_read(app));
}

int run_command_line(const CommandLine& line) {
  CLI::App app("Hiaton runs recursive programs as static tagged dataflow graphs.", "hiaton");
  app.set_version_flag("--version", "hiaton " HIATON_VERSION, "Print the version and exit");
  app.get_formatter()->column_width(kHelpColumn);
  app.require_subcommand(0, 1);
  app.footer("Try: hiaton run examples/fact.hia --n=3");
  try {
    return execute(app, line);
  } catch (const CLI::CallForHelp&) {
    write_to_stdout(app.help());
  } catch (const CLI::CallForVersion& version) {
    write_to_stdout(std::string(version.what()) + "\n");
  } catch (const CLI::ParseError& error) {
    throw UsageError(explain_with_help(app, error));
  }
  return kSuccess;
}

}  // namespace

int run(int argc, char** argv) {
  prepare_process();
  try {
    return run_command_line(split_at_dashes(argc, argv));
  } catch (const std::exception&) {
    return has_processes(argc, argv) ? report_once() : report_current_exception();
  }
}

}  // namespace hiaton::cli
