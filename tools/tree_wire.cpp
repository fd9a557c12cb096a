#include "tree_wire.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

namespace hiaton::cli {
namespace {

using train::Node;
using train::Prediction;
using train::Tree;

static_assert(sizeof(Node) == 6 * sizeof(int32_t), "nodes are numbers without gaps");

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

/// Whether the nodes behind `node` are a subtree as it says. Those below its children are looked at in
/// their turn.
bool is_legal(const std::vector<Node>& nodes, std::size_t node, int32_t words, int32_t classes) {
  const auto count = static_cast<int64_t>(nodes.size());
  const Node& here = nodes[node];
  const int64_t end = here.subtree_end;
  if (here.label < Node::kNone || here.label >= classes || end > count) return false;
  if (here.child_count == 0)
    return here.word >= 0 && here.word < words && end == static_cast<int64_t>(node) + 1;
  if (here.word != Node::kNone || here.child_count < 0) return false;
  auto child = static_cast<int64_t>(node) + 1;
  for (int32_t left = here.child_count; left > 0; --left) {
    if (child >= end || nodes[static_cast<std::size_t>(child)].subtree_end <= child) return false;
    child = nodes[static_cast<std::size_t>(child)].subtree_end;
  }
  return child == end;
}

bool is_legal(const Tree& tree, int32_t words, int32_t classes) {
  if (tree.nodes.empty() || tree.nodes[0].subtree_end != static_cast<int64_t>(tree.nodes.size()))
    return false;
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    if (!is_legal(tree.nodes, i, words, classes)) return false;
  }
  return true;
}

bool fits(const Prediction& prediction, const Tree& tree) {
  const std::vector<int32_t>& nodes = prediction.nodes;
  return prediction.probabilities.size() == nodes.size() * static_cast<std::size_t>(prediction.classes) &&
         std::adjacent_find(nodes.begin(), nodes.end(), std::greater_equal<>()) == nodes.end() &&
         (nodes.empty() || (nodes.front() >= 0 && nodes.back() < static_cast<int64_t>(tree.nodes.size())));
}

}  // namespace

void TreeWire::write(std::span<const Tree> trees, net::ByteWriter& out) const {
  out.compact(trees.size());
  for (const Tree& tree : trees) write_all(std::span<const Node>(tree.nodes), out);
}

std::vector<Tree> TreeWire::read_trees(net::ByteReader& in) const {
  std::vector<Tree> trees;
  for (uint64_t left = in.compact(); left > 0; --left) {
    trees.push_back({read_all<Node>(in)});
    if (!is_legal(trees.back(), words_, classes_)) {
      in.fail(fmt::format("expected a tree of words below {} and labels below {}, found other numbers",
                          words_, classes_));
    }
  }
  return trees;
}

void TreeWire::write(std::span<const Prediction> predictions, net::ByteWriter& out) const {
  for (const Prediction& one : predictions) {
    write_all(std::span<const int32_t>(one.nodes), out);
    out.compact(static_cast<uint64_t>(one.classes));
    write_all(std::span<const float>(one.probabilities), out);
  }
}

std::vector<Prediction> TreeWire::read_predictions(std::span<const Tree> trees, net::ByteReader& in) const {
  std::vector<Prediction> predictions;
  for (const Tree& tree : trees) {
    Prediction one;
    one.nodes = read_all<int32_t>(in);
    const uint64_t classes = in.compact();
    one.probabilities = read_all<float>(in);
    one.classes = static_cast<int32_t>(std::min<uint64_t>(classes, INT32_MAX));
    if (!fits(one, tree)) in.fail("expected a prediction of the tree, found another one");
    predictions.push_back(std::move(one));
  }
  return predictions;
}

}  // namespace hiaton::cli
