#include <fmt/format.h>

#include <functional>

#include "choices.h"
#include "output.h"
#include "program_options.h"
#include "units.h"

namespace hiaton::cli {
namespace {

/// An option whose value `set` reads; it throws UsageError where the value is not one.
CLI::Option* add_parsed_option(CLI::App& command, const std::string& name,
                               const std::function<void(const std::string&)>& set,
                               const std::string& description) {
  return command.add_option_function<std::string>(
      name,
      [name, set](const std::string& text) {
        try {
          set(text);
        } catch (const UsageError& error) {
          throw UsageError(fmt::format("{}: {}", name, error.what()));
        }
      },
      description);
}

}  // namespace

void add_max_bytes(CLI::App& command, uint64_t& bytes, const std::string& group) {
  add_parsed_option(
      command, "--max-bytes", [&bytes](const std::string& text) { bytes = parse_bytes(text); },
      "Memory that a run may hold: a number of bytes, or with K, M or G")
      ->type_name("SIZE")
      ->group(group);
}

void add_budgets(CLI::App& command, RunOptions& run) {
  constexpr const char* kGroup = "Budgets (a run that needs more ends with an error)";
  command
      .add_option("--max-frames", run.max_frames, "Live frames: how deep calls may go, all workers together")
      ->check(positive())
      ->type_name("N")
      ->group(kGroup);
  add_max_bytes(command, run.max_bytes, kGroup);
  add_parsed_option(
      command, "--timeout", [&run](const std::string& text) { run.timeout = parse_duration(text); },
      "Wall time of compilation and run: seconds, or with ms, s, m or h")
      ->type_name("TIME")
      ->group(kGroup);
}

}  // namespace hiaton::cli
