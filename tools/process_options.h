// Commands that work in several processes: --processes, --hosts and --heartbeat, or what a launcher says.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "net/processes.h"

namespace hiaton::cli {

struct ProcessOptions {
  int processes = 1;
  std::string hosts;
  net::Transport::Options transport;
};

/// --processes and --heartbeat; the others too, but for `hosts` itself, which takes them as words.
void add_process_options(CLI::App& command, ProcessOptions& options, bool with_hosts);

/// Whether the command is to work in more processes than this one alone. Throws UsageError where the options
/// contradict each other or the launcher.
bool is_spread(const ProcessOptions& options);

/// Works in the processes that the options or the launcher ask for. `words` are those of this command without
/// the hosts, for the processes that are started there. Returns the exit status. Errors are reported once;
/// throws those of this process where it is the one that reports them.
int work_in_processes(const ProcessOptions& options, const std::vector<std::string>& words,
                      const net::MakeWork& make_work);

/// Reports the exception that is being handled, of a command that works in all processes of a launcher, and
/// returns the exit status. Where there are several that have not joined yet, they join to tell each other:
/// process 0 reports it alone where it has an error too, and says which other one has one where it has none.
int report_once();

/// The words that this process was started with, without its name and without what says where the others are
/// started: --hosts and --restart.
std::vector<std::string> words_for_processes();

}  // namespace hiaton::cli
