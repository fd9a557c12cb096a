// The options of every command that compiles a program.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <string>

#include "hiaton/engine.h"

namespace hiaton::cli {

/// Adds --size NAME=VALUE. `sizes` must outlive the parsing.
void add_size_option(CLI::App& command, std::map<std::string, int64_t>& sizes);

/// Adds --size, --overflow and the switches of the simplifications. `options` must outlive the parsing.
void add_compile_options(CLI::App& command, CompileOptions& options);

}  // namespace hiaton::cli
