// Trees to bracketed text, and counts.
#include "hiaton/trees.h"

#include <algorithm>
#include <ostream>

namespace hiaton::train {

int32_t Treebank::class_count() const {
  int32_t largest = Node::kNone;
  for (const Tree& tree : trees) {
    for (const Node& node : tree.nodes) largest = std::max(largest, node.label);
  }
  return largest + 1;
}

std::size_t Treebank::node_count() const {
  std::size_t count = 0;
  for (const Tree& tree : trees) count += tree.nodes.size();
  return count;
}

std::string to_string(const Tree& tree, std::span<const std::string> words) {
  std::string text;
  std::vector<int32_t> open;  ///< where the subtrees end whose bracket is not closed, innermost last
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    for (; !open.empty() && open.back() == static_cast<int32_t>(i); open.pop_back()) text += ')';
    const Node& node = tree.nodes[i];
    if (i > 0) text += ' ';
    text += '(';
    text += node.label == Node::kNone ? "_" : std::to_string(node.label);
    if (node.word != Node::kNone) {
      text += ' ';
      text += words[static_cast<std::size_t>(node.word)];
    }
    open.push_back(node.subtree_end);
  }
  return text.append(open.size(), ')');
}

void write_trees(std::ostream& out, const Treebank& trees) {
  for (const Tree& tree : trees.trees) out << to_string(tree, trees.words) << '\n';
}

}  // namespace hiaton::train
