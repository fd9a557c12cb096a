// Starts this command on other hosts, by the launcher of an MPI that is installed.
#pragma once

#include <string>
#include <vector>

#include "net/launch.h"

namespace hiaton::cli {

/// Starts this program with the words in each of the processes, and waits for their end. Returns their exit
/// status. What they write goes on to the outputs of this process; of what the launcher itself says, an error
/// that names the process remains. Throws SystemError where there is no launcher.
int launch(const std::vector<net::Host>& hosts, const std::vector<std::string>& words);

}  // namespace hiaton::cli
