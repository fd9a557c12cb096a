// The command line: reads the words, runs a command, turns what it throws into messages and exit statuses.
#pragma once

namespace hiaton::cli {

/// Gives the exit status of the process.
int run(int argc, char** argv);

}  // namespace hiaton::cli
