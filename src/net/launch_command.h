// The command that starts a program on several hosts. It is a list of words: no shell ever sees a host's
// name.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/launched.h"

namespace hiaton::net {

struct Host {
  std::string name;
  int processes = 1;

  friend bool operator==(const Host&, const Host&) = default;
};

/// Reads "a:2,b": two processes on host a, one on b. Throws ProgramError.
std::vector<Host> parse_hosts(std::string_view text);

struct LaunchCommand {
  std::vector<std::string> words;
  std::vector<std::pair<std::string, std::string>> environment;  ///< to be set for it
};

/// Starts `program`, a command with its words, on the hosts. `launcher` is the path of mpirun or mpiexec;
/// `this_host` is what this machine is called besides "localhost".
LaunchCommand launch_command(Mpi mpi, const std::string& launcher, const std::vector<Host>& hosts,
                             const std::vector<std::string>& program, std::string_view this_host,
                             bool is_root);

/// The names that the launcher of an MPI has, the one to try first at the front.
std::vector<std::string> launcher_names(Mpi mpi);

/// A process that has ended without being asked to.
struct LostProcess {
  std::string host;
  std::string message;  ///< which process, and why: "process 1 (nodeb) was killed by signal 9"
};

/// The hosts without one process of `lost`; the same where none is called like this.
std::vector<Host> without_process_on(std::string_view lost, std::vector<Host> hosts);

/// What a launcher has said on standard error: its notes about a process that ended, without what the
/// processes themselves have written.
class LauncherNotes {
 public:
  /// Takes a line. Returns whether it is a note of the launcher.
  bool take(std::string_view line);
  /// Which process was lost, as far as the notes and what the processes wrote say it: MPICH names only the
  /// host.
  std::optional<LostProcess> lost_process() const;
  /// Whether a process has said which other one it does not hear of any more.
  bool has_reported() const { return reported_.has_value(); }
  const std::string& text() const { return text_; }

 private:
  bool is_inside_ = false;
  std::string text_;
  std::optional<LostProcess> reported_;  ///< by a process
};

}  // namespace hiaton::net
