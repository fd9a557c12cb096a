#include "tree_wire.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <utility>

namespace hiaton::cli {
namespace {

using train::Node;
using train::Prediction;
using train::Tree;

template <class T>
void write_all(std::span<const T> elements, net::ByteWriter& out) {
  out.compact(elements.size());
  out.align(alignof(T));
  out.raw(elements.data(), elements.size_bytes());
}

template <class T>
std::vector<T> read_all(net::ByteReader& in) {
  const uint64_t count = in.compact();
  if (count > in.left() / sizeof(T))
    in.fail(fmt::format("expected {} numbers and more, found {} bytes", count, in.left()));
  in.align(alignof(T));
  std::vector<T> elements(static_cast<std::size_t>(count));
  const std::byte* bytes = in.take(elements.size() * sizeof(T));
  if (!elements.empty()) std::memcpy(elements.data(), bytes, elements.size() * sizeof(T));
  return elements;
}

/// A node is two numbers, its label and its shape: the word of a leaf, or the negated count of the children.
/// Two more tell its place in a file, where trees have one.
constexpr std::size_t kNumbers = 2;
constexpr std::size_t kNumbersWithPlace = 4;

bool has_place(const Tree& tree) {
  return std::any_of(tree.nodes.begin(), tree.nodes.end(),
                     [](const Node& node) { return node.line != 0 || node.column != 0; });
}

/// Nodes come in preorder: each closes the subtrees that end with it.
class SubtreeEnds {
 public:
  explicit SubtreeEnds(std::vector<Node>& nodes) : nodes_(nodes) {}

  /// False: the root's subtree has ended before.
  bool add(std::size_t node) {
    if (node > 0 && open_.empty()) return false;
    if (nodes_[node].child_count > 0) {
      open_.push_back({node, nodes_[node].child_count});
      return true;
    }
    end_with(node, node);
    while (!open_.empty() && --open_.back().children_left == 0) {
      end_with(open_.back().node, node);
      open_.pop_back();
    }
    return true;
  }
  bool are_all() const { return open_.empty(); }

 private:
  struct Open {
    std::size_t node;
    int32_t children_left;
  };

  void end_with(std::size_t node, std::size_t last) {
    nodes_[node].subtree_end = static_cast<int32_t>(last) + 1;
  }

  std::vector<Node>& nodes_;
  std::vector<Open> open_;
};

bool are_nodes_of(const Tree& tree, const std::vector<int32_t>& nodes) {
  return std::adjacent_find(nodes.begin(), nodes.end(), std::greater_equal<>()) == nodes.end() &&
         (nodes.empty() || (nodes.front() >= 0 && nodes.back() < static_cast<int64_t>(tree.nodes.size())));
}

/// Mostly all nodes of the tree: then their count alone.
void write_nodes(const std::vector<int32_t>& nodes, net::ByteWriter& out) {
  const bool are_all = !nodes.empty() && static_cast<std::size_t>(nodes.back()) + 1 == nodes.size();
  out.number(static_cast<uint8_t>(are_all));
  if (are_all) return out.compact(nodes.size());
  write_all(std::span<const int32_t>(nodes), out);
}

std::vector<int32_t> read_nodes(const Tree& tree, net::ByteReader& in) {
  std::vector<int32_t> nodes;
  if (in.number<uint8_t>() == 0) {
    nodes = read_all<int32_t>(in);
  } else {
    const uint64_t count = in.compact();
    if (count <= tree.nodes.size()) nodes.resize(static_cast<std::size_t>(count));
    if (count != nodes.size())
      in.fail(fmt::format("expected at most {} nodes, found {}", tree.nodes.size(), count));
    std::iota(nodes.begin(), nodes.end(), 0);
  }
  if (!are_nodes_of(tree, nodes)) in.fail("expected a prediction of the tree, found another one");
  return nodes;
}

}  // namespace

void TreeWire::write(std::span<const Tree> trees, net::ByteWriter& out) const {
  out.compact(trees.size());
  std::vector<int32_t> numbers;
  for (const Tree& tree : trees) {
    const bool with_place = has_place(tree);
    numbers.clear();
    for (const Node& node : tree.nodes) {
      numbers.insert(numbers.end(), {node.label, node.child_count > 0 ? -node.child_count : node.word});
      if (with_place)
        numbers.insert(numbers.end(), {static_cast<int32_t>(node.line), static_cast<int32_t>(node.column)});
    }
    out.number(static_cast<uint8_t>(with_place));
    write_all(std::span<const int32_t>(numbers), out);
  }
}

std::vector<Tree> TreeWire::read_trees(net::ByteReader& in) const {
  std::vector<Tree> trees;
  for (uint64_t left = in.compact(); left > 0; --left) trees.push_back(read_tree(in));
  return trees;
}

Tree TreeWire::read_tree(net::ByteReader& in) const {
  const std::size_t numbers_of_node = in.number<uint8_t>() == 0 ? kNumbers : kNumbersWithPlace;
  const std::vector<int32_t> numbers = read_all<int32_t>(in);
  Tree tree;
  tree.nodes.resize(numbers.size() / numbers_of_node);
  SubtreeEnds ends(tree.nodes);
  bool is_legal = !numbers.empty() && numbers.size() % numbers_of_node == 0;
  for (std::size_t i = 0; i < tree.nodes.size() && is_legal; ++i) {
    const int32_t* number = &numbers[i * numbers_of_node];
    Node& node = tree.nodes[i];
    node.label = number[0];
    if (number[1] < 0) {
      node.child_count = -std::max(number[1], -INT32_MAX);
    } else {
      node.word = number[1];
    }
    if (numbers_of_node == kNumbersWithPlace) {
      node.line = static_cast<uint32_t>(number[2]);
      node.column = static_cast<uint32_t>(number[3]);
    }
    is_legal = node.label >= Node::kNone && node.label < classes_ && node.word < words_ && ends.add(i);
  }
  if (!is_legal || !ends.are_all()) {
    in.fail(fmt::format("expected a tree of words below {} and labels below {}, found other numbers", words_,
                        classes_));
  }
  return tree;
}

void TreeWire::write(std::span<const Prediction> predictions, net::ByteWriter& out) const {
  for (const Prediction& one : predictions) {
    write_nodes(one.nodes, out);
    out.compact(static_cast<uint64_t>(one.classes));
    write_all(std::span<const float>(one.probabilities), out);
  }
}

std::vector<Prediction> TreeWire::read_predictions(std::span<const Tree> trees, net::ByteReader& in) const {
  std::vector<Prediction> predictions;
  for (const Tree& tree : trees) {
    Prediction one;
    one.nodes = read_nodes(tree, in);
    const uint64_t classes = in.compact();
    one.probabilities = read_all<float>(in);
    one.classes = static_cast<int32_t>(std::min<uint64_t>(classes, INT32_MAX));
    if (one.probabilities.size() != one.nodes.size() * static_cast<std::size_t>(one.classes))
      in.fail("expected a probability of each class, found another number of them");
    predictions.push_back(std::move(one));
  }
  return predictions;
}

void TreeWire::write(const BestClasses& prediction, net::ByteWriter& out) const {
  write_nodes(prediction.nodes, out);
  write_all(std::span<const int32_t>(prediction.classes), out);
  write_all(std::span<const float>(prediction.probabilities), out);
}

BestClasses TreeWire::read_best_classes(const Tree& tree, net::ByteReader& in) const {
  BestClasses prediction{read_nodes(tree, in), read_all<int32_t>(in), read_all<float>(in)};
  const std::size_t nodes = prediction.nodes.size();
  if (prediction.classes.size() != nodes || prediction.probabilities.size() != nodes)
    in.fail("expected a class and a probability of each node, found another number of them");
  return prediction;
}

}  // namespace hiaton::cli
