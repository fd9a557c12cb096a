// --place: which processes the names of places are.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "partition/partition.h"

namespace hiaton::cli {

/// --place=NAME=PROCESS[+PROCESS ...],... Whether the program has the names, and the run so many processes,
/// the split says.
void add_place_option(CLI::App& command, partition::Places& places);

/// The same, behind --processes=N, for commands that show what each of so many processes has: `text` says it.
void add_split_options(CLI::App& command, partition::Places& places, const std::string& text);

}  // namespace hiaton::cli
