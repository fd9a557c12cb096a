// Timelines as files.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "hiaton/trace.h"

namespace hiaton::cli {

/// Adds --trace-depth and --trace-events. `options` must outlive the parsing.
void add_trace_limits(CLI::App& command, Trace::Options& options);

/// Says on standard error where something was left out. Throws SystemError.
void write_trace(const std::string& path, const Trace& trace);

}  // namespace hiaton::cli
