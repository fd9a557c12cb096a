// --place: which processes the names of places are, and a graph that is split, as pictures show it.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "hiaton/graph.h"
#include "partition/partition.h"

namespace hiaton::cli {

/// What --place says.
struct PlaceOptions {
  partition::Places places;
  bool is_automatic = false;  ///< `auto`: learned parameters that a process cannot hold are placed
  /// Whether something is said.
  bool has_any() const { return is_automatic || !places.named.empty(); }
};

/// --place=NAME=PROCESS[+PROCESS ...],...,auto. Whether the program has the names, and the run so many
/// processes, the split says.
void add_place_option(CLI::App& command, PlaceOptions& options);

/// As the command line says it, a word for each name.
std::vector<std::string> to_words(const PlaceOptions& options);

/// `max_bytes` is what one process can hold. Throws UsageError where `auto` has none.
partition::Places places_for(const PlaceOptions& options, int processes, uint64_t max_bytes);

/// --place, behind --processes=N, for commands that show what each of so many processes has: `text` says it.
void add_split_options(CLI::App& command, PlaceOptions& options, const std::string& text);

/// A line for each place with a name, and for each learned parameter that has been placed.
std::string show_places(const graph::Graph& graph, const partition::Places& places);

/// The parts of a split graph, by process. `partition` must outlive them.
std::vector<graph::DrawnPart> drawn_parts(const partition::Partition& partition);

}  // namespace hiaton::cli
