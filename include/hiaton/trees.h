// Labelled trees as data: in memory, as bracketed text, and generated.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "hiaton/source.h"

#pragma GCC visibility push(default)
namespace hiaton::train {

/// A node of a Tree.
struct Node {
  static constexpr int32_t kNone = -1;

  int32_t label = kNone;    ///< class, counted from 0; kNone: unlabelled
  int32_t word = kNone;     ///< index of the word of a leaf; kNone: an inner node
  int32_t child_count = 0;  ///< 0 exactly where there is a word
  int32_t subtree_end = 0;  ///< index behind the last node of this node's subtree
  uint32_t line = 0;        ///< where the node stands in its file, from 1; 0: it comes from no file
  uint32_t column = 0;      ///< where the opening bracket stands, in characters, from 1

  friend bool operator==(const Node&, const Node&) = default;
};

/// The indices of the children of one node, from left to right, for `for (int32_t child : tree.children(i))`.
class Children {
 public:
  class Iterator {
   public:
    Iterator(const Node* nodes, int32_t index) : nodes_(nodes), index_(index) {}
    int32_t operator*() const { return index_; }
    Iterator& operator++() {
      index_ = nodes_[index_].subtree_end;
      return *this;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.index_ == b.index_; }

   private:
    const Node* nodes_;
    int32_t index_;
  };

  Children(const Node* nodes, int32_t parent) : nodes_(nodes), parent_(parent) {}
  Iterator begin() const { return {nodes_, parent_ + 1}; }
  Iterator end() const { return {nodes_, nodes_[parent_].subtree_end}; }

 private:
  const Node* nodes_;
  int32_t parent_;
};

/// A tree as in a data file: its nodes in preorder. The root is node 0, the first child of node i is node i +
/// 1, each further child stands where the subtree of the one before ends. So a loop over the nodes is
/// top-down, a loop from the last to the first is bottom-up, and neither needs a stack.
struct Tree {
  std::vector<Node> nodes;  ///< never empty in a tree that was read or generated

  Children children(int32_t node) const { return {nodes.data(), node}; }
  bool is_leaf(int32_t node) const { return nodes[static_cast<std::size_t>(node)].child_count == 0; }
  friend bool operator==(const Tree&, const Tree&) = default;
};

/// What a model says about one tree.
struct Prediction {
  std::vector<int32_t> nodes;  ///< the nodes with a prediction, in increasing order
  int32_t classes = 0;
  std::vector<float> probabilities;  ///< nodes.size() times classes

  /// The class of the largest probability; the first of equal ones.
  int32_t best_class(std::size_t index) const;
  float probability(std::size_t index, int32_t label) const;
};

/// Trees that were read or generated together; Node::word is an index into `words`.
struct Treebank {
  std::vector<Tree> trees;
  std::vector<std::string> words;  ///< all different, in order of their first use

  int32_t class_count() const;  ///< the largest label and 1; 0 where no node has a label
  std::size_t node_count() const;
};

struct ReadTreesOptions {
  int32_t classes = 0;  ///< labels must be less; 0: any label will do
};

/// Reads one tree a line, as the Stanford Sentiment Treebank has them: `(3 (2 It) (4 (2 's) (4 good)))`. A
/// node is a label, then one word or any number of subtrees; the label `_` means unlabelled. Lines without
/// text are skipped. Throws ProgramError that shows the first wrong lines, each at the place of its first
/// error.
Treebank read_trees(std::shared_ptr<const Source> source, const ReadTreesOptions& options = {});
/// The same from a file. Throws ProgramError also where the file cannot be read or holds no tree.
Treebank read_trees(const std::filesystem::path& path, const ReadTreesOptions& options = {});

/// One line that read_trees reads back to an equal tree (but for places). `words` as in Treebank.
std::string to_string(const Tree& tree, std::span<const std::string> words);
/// All trees, one a line.
void write_trees(std::ostream& out, const Treebank& trees);

/// The words that a model knows. Id 0 stands for every other word.
class Vocabulary {
 public:
  static constexpr int32_t kUnknown = 0;
  static constexpr std::string_view kUnknownWord = "<unk>";

  /// Knows no word.
  Vocabulary();
  /// Knows the words that occur at least `min_count` times, in order of their first occurrence.
  static Vocabulary of(const Treebank& trees, int64_t min_count = 1);
  /// The same for words that are all different, with how often each occurs.
  static Vocabulary of(std::span<const std::string> words, std::span<const int64_t> counts,
                       int64_t min_count);

  int32_t size() const { return static_cast<int32_t>(words_.size()); }  ///< counts the unknown word too
  int32_t id(std::string_view word) const;                              ///< kUnknown where it is not known
  const std::vector<std::string>& words() const { return words_; }      ///< by id

  /// Writes one word a line, so that line n holds id n - 1. A word that is empty, stands in '"' or has line
  /// breaks stands there as a string of JSON. Atomic: the file is the old one or the new one.
  void save(const std::filesystem::path& path) const;
  /// Throws ProgramError where the file is not one that save wrote.
  static Vocabulary load(const std::filesystem::path& path);

  friend bool operator==(const Vocabulary& a, const Vocabulary& b) { return a.words_ == b.words_; }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };

  bool add(std::string word);

  std::vector<std::string> words_;
  std::unordered_map<std::string, int32_t, Hash, std::equal_to<>> ids_;
};

/// The trees with ids of the vocabulary as words.
std::vector<Tree> encode(std::vector<Tree> trees, std::span<const std::string> words,
                         const Vocabulary& vocabulary);

/// What ListOps expressions look like: `[MAX 2 9 [MIN 4 7] 0]`, over digits.
struct ListOpsOptions {
  std::vector<std::string> operators = {"MAX", "MIN", "MED", "SM"};  ///< SM: the sum modulo 10
  int32_t min_depth = 1;  ///< operations inside of each other; 1: an operation on digits
  int32_t max_depth = 4;
  int32_t min_arity = 2;  ///< operands of an operation
  int32_t max_arity = 4;
  int32_t max_operations = 1000;  ///< from here on operands are digits, but for those that reach the depth
  uint64_t seed = 1;
};

struct ListOps {
  Treebank train;
  Treebank dev;
};

/// Random expressions, no two alike, neither in `train` nor in `dev` nor across; the same for a seed on every
/// machine. Values of the whole expressions are spread evenly over 0 to 9 where the operators allow it. An
/// operation `OP a b c` comes as the binary tree `(value (_ (_ (_ OP) a) b) c)`; digits are leaves `(4 4)`;
/// operators and operations that lack operands have no label. Throws ProgramError for options that make no
/// sense or allow too few expressions.
ListOps generate_listops(const ListOpsOptions& options, std::size_t train_count, std::size_t dev_count);

/// The expressions of generate_listops(), drawn when they are asked for.
class ListOpsStream {
 public:
  /// Throws ProgramError where no expressions are like this.
  explicit ListOpsStream(const ListOpsOptions& options);
  ListOpsStream(ListOpsStream&&) noexcept;
  ListOpsStream& operator=(ListOpsStream&&) noexcept;
  ~ListOpsStream();

  /// All trees that were drawn, at least `count` of them: draws what is missing. Throws ProgramError where
  /// there are not so many.
  const Treebank& first(std::size_t count);
  const Treebank& drawn() const;
  /// Frees the nodes of the first `count` trees that were drawn: these trees are empty from then on.
  void forget(std::size_t count);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace hiaton::train
#pragma GCC visibility pop
