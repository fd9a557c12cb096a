// Which constants instructions hold themselves. All others are put into slots, from which the instruction
// reads them.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "exec/direct/compile/statements.h"
#include "exec/structure.h"
#include "hiaton/run.h"

namespace hiaton::exec::direct {

/// Whether the code knows the value. A learned parameter, which a run is given, it does not.
inline bool is_known(const graph::Node& node) {
  return node.kind == graph::NodeKind::Const && node.parameter < 0;
}

/// How many fields an instruction that makes a value or takes it apart names.
inline constexpr std::size_t kMostFieldsNamed = 4;

/// By operand of an operation on scalars.
std::array<bool, 3> held_operands(const graph::Graph& graph, const Structure& structure,
                                  const graph::Node& node, OverflowMode overflow);

/// By argument. One fits into a call of two or three arguments; where they stand in a list, all do.
std::vector<bool> held_arguments(const graph::Graph& graph, const Structure& structure,
                                 const ScheduledCall& call);

/// The field of the new value that is one.
std::optional<std::size_t> held_field(const graph::Graph& graph, const Structure& structure,
                                      const graph::Node& make);

}  // namespace hiaton::exec::direct
