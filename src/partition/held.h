// Where learned parameters are held, for executors that run a whole graph in one process and ask the others
// for what they hold.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "hiaton/graph.h"
#include "partition/partition.h"

namespace hiaton::partition {

struct Held {
  std::optional<int> process{};  ///< nothing: every process holds the parameter
  bool is_read_by_rows = true;   ///< nothing reads all of it
};

/// By learned parameter. A parameter without a place of its own, of which only rows are read and only at one
/// place, is held there. `graphs` are the entries of one program, with the same parameters; the first decides
/// the places. Frames are made on process 0. Throws ProgramError as split() does, and where another process
/// would have to do more than read rows: the message names what is placed there.
std::vector<Held> held_parameters(std::span<const graph::Graph* const> graphs, const Places& places);

/// Whether nothing else is placed on another process: where held_parameters() gives parameters. Throws
/// ProgramError as split() does.
bool places_parameters_alone(std::span<const graph::Graph* const> graphs, const Places& places);

}  // namespace hiaton::partition
