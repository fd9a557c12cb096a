// The trees that the benchmarks learn from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hiaton/trees.h"

namespace hiaton::benchmarks {

/// Trees whose words are ids of a vocabulary.
struct Corpus {
  std::vector<train::Tree> trees;
  int32_t vocabulary = 0;
  int32_t classes = 0;
};

/// Reads a file of bracketed trees; "generated" stands for ListOps expressions. The vocabulary is that of all
/// trees, and the first `count` of them are kept; 0: all. Throws ProgramError where the file is wrong.
Corpus load_corpus(const std::string& trees, std::size_t count = 0);

/// Labels above the middle one are 1, all others that there are 0.
void make_binary(Corpus& corpus);

/// How the words of a sentence are put together.
enum class Form : uint8_t {
  Balanced,  ///< halves
  Moderate,  ///< cut at random places
  Linear,    ///< a chain
};
/// Throws ProgramError where it is not one of them.
Form form_named(const std::string& name);

/// A binary tree over these leaves, from left to right; inner nodes have the label `label`. The same for a
/// seed on every machine.
train::Tree tree_over(const std::vector<train::Node>& leaves, Form form, int32_t label, uint64_t seed);

/// The same words in trees of another form; inner nodes have the label of the root.
void reshape(Corpus& corpus, Form form);

/// A tree of that many nodes, rounded up to an odd number, over random words and labels.
train::Tree random_tree(int64_t nodes, Form form, int32_t vocabulary, int32_t classes, uint64_t seed);

/// The trees of a corpus in batches of one size, from the first to the last and over again.
class Batches {
 public:
  /// The corpus must outlive it.
  Batches(const Corpus& corpus, std::size_t size) : corpus_(corpus), size_(size) {}

  std::vector<const train::Tree*> next();
  void restart() { next_ = 0; }

 private:
  const Corpus& corpus_;
  const std::size_t size_;
  std::size_t next_ = 0;  ///< tree
};

int64_t nodes_in(const std::vector<const train::Tree*>& trees);

}  // namespace hiaton::benchmarks
