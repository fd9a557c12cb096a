// Trees in messages.
#pragma once

#include <fmt/format.h>

#include <string>

#include "hiaton/trees.h"

namespace hiaton::train {

/// Where it stands in its file; of a tree from elsewhere, how large it is.
inline std::string place_of(const Tree& tree) {
  const Node& root = tree.nodes[0];
  return root.line > 0 ? fmt::format("the tree in line {} of the data", root.line)
                       : fmt::format("a tree of {} nodes", tree.nodes.size());
}

}  // namespace hiaton::train
