// Options of the commands that compile programs, and of those that run programs or models.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <string>

#include "hiaton/engine.h"
#include "hiaton/run.h"

namespace hiaton::cli {

/// Adds --size NAME=VALUE. `sizes` must outlive the parsing.
void add_size_option(CLI::App& command, std::map<std::string, int64_t>& sizes);

/// Adds --size, --overflow and the switches of the simplifications. `options` must outlive the parsing.
void add_compile_options(CLI::App& command, CompileOptions& options);

/// --max-frames, --max-bytes and --timeout.
void add_budgets(CLI::App& command, RunOptions& run);

/// --max-bytes alone, in a group of the help.
void add_max_bytes(CLI::App& command, uint64_t& bytes, const std::string& group);

}  // namespace hiaton::cli
