// What is wrong with the words of a command line, as our own errors say it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace hiaton::cli {

/// The command that stood in the words: "hiaton train", or "hiaton" alone.
std::string command_read(const CLI::App& app);

/// Why `app`, or a command of it, could not read its words.
std::string explain(const CLI::App& app, const CLI::ParseError& error);

/// The long options of a command: "--workers".
std::vector<std::string> option_names(const CLI::App& command);

/// "; did you mean '--workers'?" where one of the known words is near; nothing else. What stands behind a '='
/// is the value of an option.
std::string suggestion_for(const std::string& word, const std::vector<std::string>& known);

}  // namespace hiaton::cli
