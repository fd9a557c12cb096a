// Starts this command on other hosts, by the launcher of an MPI that is installed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "net/launch_command.h"

namespace hiaton::cli {

/// How the processes on other hosts ended.
struct LaunchEnd {
  int status = 0;           ///< the exit status of this command
  std::string complaint{};  ///< what went wrong, where no process has said it
  std::optional<net::LostProcess> lost{};
};

/// Starts this program with the words in each of the processes, and waits for their end. What they write goes
/// on to the outputs of this process; of what the launcher itself says, an error that names the process
/// remains. Throws SystemError where there is no launcher.
LaunchEnd launch(const std::vector<net::Host>& hosts, const std::vector<std::string>& words);

/// Says what went wrong, and gives the exit status.
int report(const LaunchEnd& end);

}  // namespace hiaton::cli
