// The options of every command that compiles a program.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "hiaton/engine.h"

namespace hiaton::cli {

/// Adds --overflow and the switches of the simplifications. `options` must outlive the parsing.
void add_compile_options(CLI::App& command, CompileOptions& options);

}  // namespace hiaton::cli
