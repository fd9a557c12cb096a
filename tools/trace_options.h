// Timelines as files.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "hiaton/trace.h"
#include "net/transport.h"

namespace hiaton::cli {

/// Adds --trace-depth and --trace-events, and returns them. `options` must outlive the parsing.
std::vector<CLI::Option*> add_trace_limits(CLI::App& command, Trace::Options& options);

/// Adds --trace=FILE with its limits. Both must outlive the parsing.
void add_trace_file(CLI::App& command, std::string& file, Trace::Options& options);

/// Says on standard error where something was left out. Throws SystemError.
void write_trace(const std::string& path, const Trace& trace);
/// To be called by all processes when their work is over. Process 0 writes one file of the traces of all:
/// their times are those of one clock, and each has the name of its process.
void write_trace(const std::string& path, const Trace& trace, net::Transport& processes);

}  // namespace hiaton::cli
