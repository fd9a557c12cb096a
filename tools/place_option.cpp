#include "place_option.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>

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

/// "encoder=0+2", or "auto".
void parse_place(std::string_view word, PlaceOptions& options) {
  if (word == "auto") {
    options.is_automatic = true;
    return;
  }
  const std::size_t equals = word.rfind('=');
  if (equals == std::string_view::npos || equals == 0)
    throw UsageError(
        fmt::format("--place={}: expected NAME=PROCESS or auto, found no '=' behind a name", word));
  std::vector<int> processes;
  std::string_view rest = word.substr(equals + 1);
  for (std::size_t plus = rest.find('+'); plus != std::string_view::npos; plus = rest.find('+')) {
    processes.push_back(parse_process(word, rest.substr(0, plus)));
    rest.remove_prefix(plus + 1);
  }
  processes.push_back(parse_process(word, rest));
  const std::string name(word.substr(0, equals));
  if (!options.places.named.emplace(name, std::move(processes)).second)
    throw UsageError(fmt::format("--place: expected each name once, found '{}' twice", name));
}

}  // namespace

void add_place_option(CLI::App& command, PlaceOptions& options) {
  command
      .add_option_function<std::vector<std::string>>(
          "--place",
          [&options](const std::vector<std::string>& words) {
            for (const std::string& word : words) parse_place(word, options);
          },
          "Which processes the names of places are, as table=1,encoder=0+2; with auto, learned parameters "
          "are "
          "placed where --max-bytes does not hold them all")
      ->delimiter(',')
      ->type_name("NAME=PROCESS ...")
      ->group("Processes");
}

std::vector<std::string> to_words(const PlaceOptions& options) {
  std::vector<std::string> words;
  for (const auto& [name, processes] : options.places.named)
    words.push_back(fmt::format("{}={}", name, fmt::join(processes, "+")));
  if (options.is_automatic) words.emplace_back("auto");
  return words;
}

partition::Places places_for(const PlaceOptions& options, int processes, uint64_t max_bytes) {
  partition::Places places = options.places;
  places.processes = processes;
  if (!options.is_automatic) return places;
  if (max_bytes == std::numeric_limits<uint64_t>::max())
    throw UsageError("--place=auto: expected --max-bytes=SIZE, what one process can hold, found none");
  places.most_bytes = max_bytes;
  return places;
}

void add_split_options(CLI::App& command, PlaceOptions& options, const std::string& text) {
  command.add_option("--processes", options.places.processes, text)
      ->check(in_range(1, 1024))
      ->type_name("N")
      ->default_str("1");
  add_place_option(command, options);
}

std::string show_places(const graph::Graph& graph, const partition::Places& places) {
  std::string text;
  for (const partition::NamedPlace& place : partition::named_places(graph, places))
    text += fmt::format("{}: {}\n", place.what, place.where);
  return text;
}

}  // namespace hiaton::cli
