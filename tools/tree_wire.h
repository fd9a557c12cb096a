// Trees and predictions as bytes, for the processes that share the work on them.
#pragma once

#include <span>
#include <vector>

#include "hiaton/trees.h"
#include "net/bytes.h"
#include "show_prediction.h"

namespace hiaton::cli {

/// Trees whose words are ids of a vocabulary, as bytes on the wire.
class TreeWire {
 public:
  /// Ids are below `words`, labels below `classes`.
  TreeWire(int32_t words, int32_t classes) : words_(words), classes_(classes) {}

  void write(std::span<const train::Tree> trees, net::ByteWriter& out) const;
  /// Throws ProgramError where the bytes are no trees.
  std::vector<train::Tree> read_trees(net::ByteReader& in) const;

  void write(std::span<const train::Prediction> predictions, net::ByteWriter& out) const;
  /// Throws ProgramError where the bytes are no predictions of these trees.
  std::vector<train::Prediction> read_predictions(std::span<const train::Tree> trees,
                                                  net::ByteReader& in) const;

  /// What is shown of predictions: two numbers a node, however many classes there are.
  void write(const BestClasses& prediction, net::ByteWriter& out) const;
  /// Throws ProgramError where the bytes are none of this tree.
  BestClasses read_best_classes(const train::Tree& tree, net::ByteReader& in) const;

 private:
  train::Tree read_tree(net::ByteReader& in) const;

  int32_t words_;
  int32_t classes_;
};

}  // namespace hiaton::cli
