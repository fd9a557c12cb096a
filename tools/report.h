// Results, statistics and faults, as tables for people and as JSON for programs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "hiaton/error.h"
#include "hiaton/run.h"
#include "hiaton/value.h"

namespace hiaton::cli {

/// Writes one line a result to standard output.
void write_results(const std::vector<Value>& values, const std::vector<Type>& types);
/// The same as a text.
std::string show_results(const std::vector<Value>& values, const std::vector<Type>& types);

/// A table: totals, then the firings of each region.
std::string show_stats(const RunStats& stats);

/// Numbers and booleans as such; what JSON has no number for ("nan", "inf", "-inf") as a string.
nlohmann::ordered_json to_json(const std::vector<Value>& values, const std::vector<Type>& types);
nlohmann::ordered_json to_json(const RunStats& stats);
nlohmann::ordered_json to_json(const RunError& error);

/// One line of text. Bytes that are not UTF-8, as file names may hold, become replacement characters.
std::string dump(const nlohmann::ordered_json& json);

}  // namespace hiaton::cli
