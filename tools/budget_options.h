// What a run may use: options of the commands that run programs or models.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "hiaton/run.h"

namespace hiaton::cli {

/// --max-frames, --max-bytes and --timeout.
void add_budgets(CLI::App& command, RunOptions& run);

/// --max-bytes alone, in a group of the help.
void add_max_bytes(CLI::App& command, uint64_t& bytes, const std::string& group);

}  // namespace hiaton::cli
