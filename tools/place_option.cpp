#include "place_option.h"

#include <fmt/format.h>

#include <charconv>

#include "choices.h"
#include "output.h"

namespace hiaton::cli {
namespace {

int parse_process(std::string_view word, std::string_view digits) {
  int process = 0;
  const char* const last = digits.data() + digits.size();
  const auto [end, error] = std::from_chars(digits.data(), last, process);
  if (digits.empty() || end != last || error != std::errc() || process < 0)
    throw UsageError(fmt::format("--place={}: expected the number of a process, found '{}'", word, digits));
  return process;
}

/// "encoder=0+2".
void parse_place(std::string_view word, partition::Places& places) {
  const std::size_t equals = word.rfind('=');
  if (equals == std::string_view::npos || equals == 0)
    throw UsageError(fmt::format("--place={}: expected NAME=PROCESS, found no '=' behind a name", word));
  std::vector<int> processes;
  std::string_view rest = word.substr(equals + 1);
  for (std::size_t plus = rest.find('+'); plus != std::string_view::npos; plus = rest.find('+')) {
    processes.push_back(parse_process(word, rest.substr(0, plus)));
    rest.remove_prefix(plus + 1);
  }
  processes.push_back(parse_process(word, rest));
  const std::string name(word.substr(0, equals));
  if (!places.named.emplace(name, std::move(processes)).second)
    throw UsageError(fmt::format("--place: expected each name once, found '{}' twice", name));
}

}  // namespace

void add_place_option(CLI::App& command, partition::Places& places) {
  command
      .add_option_function<std::vector<std::string>>(
          "--place",
          [&places](const std::vector<std::string>& words) {
            for (const std::string& word : words) parse_place(word, places);
          },
          "Which processes the names of places are, as table=1,encoder=0+2")
      ->delimiter(',')
      ->type_name("NAME=PROCESS ...")
      ->group("Processes");
}

void add_split_options(CLI::App& command, partition::Places& places, const std::string& text) {
  command.add_option("--processes", places.processes, text)
      ->check(in_range(1, 1024))
      ->type_name("N")
      ->default_str("1");
  add_place_option(command, places);
}

}  // namespace hiaton::cli
