// A model of trees as small as can be, and a step of learning with it.
#pragma once

#include <string>
#include <vector>

#include "hiaton/hiaton.h"

namespace hiaton::tree_model {

inline std::string show(const std::vector<Value>& values) {
  std::string text;
  for (const Value& value : values) text += to_string(value) + " ";
  return text;
}

inline constexpr const char* kTreeModel =
    "data Tree = Leaf(label: i64, word: i64) | Node(label: i64, left: Tree, right: Tree)\n"
    "size d = 2\n"
    "size vocab = 3\n"
    "size classes = 2\n"
    "param E: f32[vocab, d]\n"
    "param W: f32[2 * d, d]\n"
    "param V: f32[d, classes]\n"
    "fn encode(t: Tree) -> f32[d] =\n"
    "  match t\n"
    "    Leaf(_, word) -> E[word]\n"
    "    Node(_, left, right) -> tanh(concat(encode(left), encode(right), axis=0) @ W)\n"
    "fn loss(t: Tree) -> f32 =\n"
    "  match t\n"
    "    Leaf(label, _) -> cross_entropy(encode(t) @ V, label)\n"
    "    Node(label, left, _) -> cross_entropy(encode(t) @ V, label) + loss(left)\n"
    "fn predict(t: Tree) -> f32[classes] = softmax(encode(t) @ V)\n";

inline Value leaf(int64_t label, int64_t word) {
  return Data(0, {label, word});
}

inline Value node(int64_t label, const Value& left, const Value& right) {
  return Data(1, {label, left, right});
}

/// One argument list a tree.
using Trees = std::vector<std::vector<Value>>;

inline Trees small_trees() {
  return {{node(1, node(0, leaf(1, 2), leaf(0, 1)), leaf(1, 0))},
          {leaf(0, 2)},
          {node(0, leaf(1, 1), leaf(0, 2))}};
}

/// The losses and gradients of a minibatch.
inline std::string step(const Model& model, int workers, const Trees& trees = small_trees()) {
  const std::vector<Value> parameters = model.initial_parameters(1);
  Gradients gradients(model.parameters());
  RunOptions options;
  options.workers = workers;
  options.parts = 2;
  options.parameters = parameters;
  options.gradients = &gradients;
  std::string text;
  for (const std::vector<Value>& values : model.loss(trees, options)) text += show(values);
  for (std::size_t i = 0; i < gradients.size(); ++i) text += to_string(gradients[i].values);
  return text;
}

}  // namespace hiaton::tree_model
