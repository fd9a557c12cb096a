// Which copy of a function a call goes to, in a graph that names several processes for the function's place.
//
// Such a call site is one for each copy, behind Switch nodes. Their predicates are Const nodes that are not
// the same under each tag: the tags of calls and iterations take turns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "hiaton/graph.h"

namespace hiaton::graph {

/// A Const with a control edge that is true under the tags whose number (exec/tag.h) is `number` modulo
/// `copies`, and false under all others.
struct Turn {
  uint64_t number;
  uint64_t copies;
};

inline Node choice_of_copy(const Turn& turn, FunctionId function, OutPort tags) {
  Node node{.kind = NodeKind::Const,
            .controls = {tags},
            .type = DType::Bool,
            .function = function,
            .constant = Value(false)};
  node.attributes = {static_cast<int64_t>(turn.number), static_cast<int64_t>(turn.copies)};
  return node;
}

/// Nothing for any other node.
inline std::optional<Turn> turn_of(const Node& node) {
  if (node.kind != NodeKind::Const || node.attributes.size() != 2) return std::nullopt;
  return Turn{static_cast<uint64_t>(node.attributes[0]), static_cast<uint64_t>(node.attributes[1])};
}

}  // namespace hiaton::graph
