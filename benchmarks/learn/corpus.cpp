#include "corpus.h"

#include <fmt/format.h>

#include <random>

#include "hiaton/error.h"

namespace hiaton::benchmarks {

using train::Node;
using train::Tree;

Corpus load_corpus(const std::string& trees, std::size_t count) {
  train::Treebank bank = trees == "generated"
                             ? train::generate_listops({.min_depth = 2, .max_depth = 4}, 2000, 10).train
                             : train::read_trees(std::filesystem::path(trees));
  const train::Vocabulary vocabulary = train::Vocabulary::of(bank);
  const int32_t classes = bank.class_count();
  Corpus corpus{encode(std::move(bank.trees), bank.words, vocabulary), vocabulary.size(), classes};
  if (count > 0 && count < corpus.trees.size()) corpus.trees.resize(count);
  return corpus;
}

void make_binary(Corpus& corpus) {
  const int32_t middle = (corpus.classes - 1) / 2;
  for (Tree& tree : corpus.trees) {
    for (Node& node : tree.nodes) {
      if (node.label != Node::kNone) node.label = node.label > middle ? 1 : 0;
    }
  }
  corpus.classes = 2;
}

Form form_named(const std::string& name) {
  if (name == "balanced") return Form::Balanced;
  if (name == "moderate") return Form::Moderate;
  if (name == "linear") return Form::Linear;
  throw ProgramError(fmt::format("expected balanced, moderate or linear, found '{}'", name));
}

Tree tree_over(const std::vector<Node>& leaves, Form form, int32_t label, uint64_t seed) {
  struct Part {
    std::size_t begin;
    std::size_t end;
  };
  std::mt19937_64 random(seed);
  const auto cut = [&](const Part& part) {
    const std::size_t count = part.end - part.begin;
    if (form == Form::Balanced) return part.begin + (count + 1) / 2;
    if (form == Form::Linear) return part.begin + 1;
    return part.begin + 1 + random() % (count - 1);
  };
  Tree tree;
  std::vector<Part> open{{0, leaves.size()}};
  while (!open.empty()) {
    const Part part = open.back();
    open.pop_back();
    const auto nodes = static_cast<int32_t>(2 * (part.end - part.begin) - 1);
    const auto here = static_cast<int32_t>(tree.nodes.size());
    Node node = leaves[part.begin];
    if (nodes > 1) {
      node = {.label = label, .child_count = 2};
      const std::size_t middle = cut(part);
      open.push_back({middle, part.end});
      open.push_back({part.begin, middle});
    }
    node.subtree_end = here + nodes;
    tree.nodes.push_back(node);
  }
  return tree;
}

void reshape(Corpus& corpus, Form form) {
  uint64_t seed = 0;
  for (Tree& tree : corpus.trees) {
    std::vector<Node> leaves;
    for (const Node& node : tree.nodes) {
      if (node.child_count == 0) leaves.push_back(node);
    }
    tree = tree_over(leaves, form, tree.nodes[0].label, ++seed);
  }
}

Tree random_tree(int64_t nodes, Form form, int32_t vocabulary, int32_t classes, uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](int32_t limit) {
    return static_cast<int32_t>(random() % static_cast<uint64_t>(limit));
  };
  std::vector<Node> leaves(static_cast<std::size_t>(nodes / 2 + 1));
  for (Node& leaf : leaves) {
    leaf.label = below(classes);
    leaf.word = below(vocabulary);
  }
  return tree_over(leaves, form, below(classes), seed);
}

std::vector<const Tree*> Batches::next() {
  std::vector<const Tree*> batch(size_);
  for (const Tree*& tree : batch) tree = &corpus_.trees[next_++ % corpus_.trees.size()];
  return batch;
}

int64_t nodes_in(const std::vector<const Tree*>& trees) {
  int64_t nodes = 0;
  for (const Tree* tree : trees) nodes += static_cast<int64_t>(tree->nodes.size());
  return nodes;
}

}  // namespace hiaton::benchmarks
