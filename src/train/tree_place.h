// Trees in messages.
#pragma once

#include <fmt/format.h>

#include <string>

#include "hiaton/trees.h"

namespace hiaton::train {

/// A tree by where it stands in its file.
inline std::string place_of_tree_in_line(uint32_t line) {
  return fmt::format("the tree in line {} of the data", line);
}

/// Where it stands in its file; of a tree from elsewhere, how large it is.
inline std::string place_of(const Tree& tree) {
  const Node& root = tree.nodes[0];
  return root.line > 0 ? place_of_tree_in_line(root.line)
                       : fmt::format("a tree of {} nodes", tree.nodes.size());
}

}  // namespace hiaton::train
