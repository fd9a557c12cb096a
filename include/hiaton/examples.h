// Examples of any program as data: argument lists of its `loss`, in memory, as text and as columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hiaton/engine.h"
#include "hiaton/model.h"
#include "hiaton/source.h"
#include "hiaton/trees.h"

#pragma GCC visibility push(default)
namespace hiaton::train {

/// What a model learns from, or is measured on.
struct Example {
  std::vector<Value> arguments;  ///< the arguments of `loss`, without a seed
  uint32_t line = 0;             ///< where it stands in its file, from 1; 0: it comes from no file
  uint32_t size = 1;             ///< how much work it is, compared with others: workers share the work by it
};

/// What an example of a program consists of: the parameters of its `loss`, but for a last one `seed: i64`,
/// which is another number for each example and each step.
std::vector<EntryParameter> example_parameters(const Program& loss);
/// Whether there is such a seed.
bool takes_seed(const Program& loss);

class TreeData;

/// What a model learns from or is measured on: examples in memory, or some that are read when they are asked
/// for. Several threads may ask at once.
class DataSet {
 public:
  virtual ~DataSet() = default;
  virtual std::size_t size() const = 0;
  /// The arguments that `loss` takes for the example, without a seed.
  virtual std::vector<Value> arguments(std::size_t index) const = 0;
  /// How much work it is, compared with the others.
  virtual std::size_t weight(std::size_t /*index*/) const { return 1; }
  /// What messages call the example: "the tree in line 3 of the data".
  virtual std::string place_of(std::size_t index) const = 0;
  /// What to know about an example for which a run failed with this message: follows its place.
  virtual std::string hint(std::size_t /*index*/, std::string_view /*message*/) const { return ""; }
  /// Throws ProgramError that names the first example that `loss` does not take. Examples of files are
  /// checked when they are read.
  virtual void require_fit() const {}
  /// Tells sets of examples apart.
  virtual uint64_t fingerprint() const = 0;
  /// Above 0: so many that stand side by side are read together, and shuffled by such blocks.
  virtual std::size_t block() const { return 0; }
  /// The examples as labelled trees, whose quality is that of their nodes; null where they are no trees.
  virtual const TreeData* trees() const { return nullptr; }
};

/// Examples in memory.
class ExampleList final : public DataSet {
 public:
  /// `places`: what messages call each example, where it is more than a line of a file.
  ExampleList(const Model& model, std::vector<Example> examples, std::vector<std::string> places = {});

  std::size_t size() const override { return examples_.size(); }
  std::vector<Value> arguments(std::size_t index) const override { return examples_[index].arguments; }
  std::size_t weight(std::size_t index) const override { return examples_[index].size; }
  std::string place_of(std::size_t index) const override;
  void require_fit() const override;
  /// Throws ProgramError as require_fit does.
  uint64_t fingerprint() const override;

 private:
  std::vector<Example> examples_;
  std::vector<std::string> places_;
  std::vector<EntryParameter> parameters_;
};

class TreeValues;

/// Labelled trees, whose words are ids of a vocabulary, as the data type of a model.
class TreeData : public DataSet {
 public:
  std::vector<Value> arguments(std::size_t index) const final;
  std::string hint(std::size_t index, std::string_view message) const final;
  const TreeData* trees() const final { return this; }

  /// The tree, which is read to `space` where it is not in memory.
  virtual const Tree& tree(std::size_t index, Tree& space) const = 0;
  /// What `predict` has given for a tree. Throws ProgramError where that is no prediction of its nodes.
  Prediction prediction_in(const Value& predicted, std::size_t index) const;

 protected:
  /// Labels are 0 to classes - 1. Throws ProgramError where `loss` does not take one tree of a data type
  /// with `word: i64` and perhaps `label: i64` (docs/training.md says how).
  TreeData(const Model& model, int32_t classes);

 private:
  int32_t classes_;
  std::string model_;  ///< in messages
  std::shared_ptr<const TreeValues> values_;
};

/// Such trees in memory.
class TreeExamples final : public TreeData {
 public:
  /// The model and the number of classes are those of TreeData.
  TreeExamples(const Model& model, std::vector<Tree> trees, int32_t classes);

  std::size_t size() const override { return list_.size(); }
  std::size_t weight(std::size_t index) const override { return sizes_[index]; }
  std::string place_of(std::size_t index) const override;
  uint64_t fingerprint() const override;
  const Tree& tree(std::size_t index, Tree& /*space*/) const override { return list_[index]; }

  const Tree& operator[](std::size_t index) const { return list_[index]; }
  std::span<const Tree> list() const { return list_; }

 private:
  std::vector<Tree> list_;
  /// How many nodes each has, side by side: every process deals out whole batches of trees by these.
  std::vector<uint32_t> sizes_;
};

/// A file of trees, as read_trees reads them, that may be larger than memory: what is kept are its different
/// words, and 16 bytes for each tree. Nobody may cut off the file meanwhile.
class TreeFile {
 public:
  /// Reads all trees once, to find errors, of which the first is shown, and to count the words of those that
  /// `is_counted` (none given: of all). Throws ProgramError also where there is no tree.
  explicit TreeFile(const std::filesystem::path& path, const ReadTreesOptions& options = {},
                    const std::function<bool(std::size_t)>& is_counted = {});
  ~TreeFile();

  std::size_t size() const;
  int32_t class_count() const;  ///< as that of a Treebank
  /// The words of the trees that were counted.
  Vocabulary vocabulary(int64_t min_count = 1) const;
  /// A tree, and its words.
  Treebank tree(std::size_t index) const;
  /// A tree whose words are ids.
  Tree tree(std::size_t index, const Vocabulary& vocabulary) const;

 private:
  friend class StreamedTrees;
  struct Parts;
  const std::unique_ptr<const Parts> parts_;
};

/// Some trees of such a file, each read when it is used.
class StreamedTrees final : public TreeData {
 public:
  /// `chosen` are in increasing order. Otherwise as for TreeData.
  StreamedTrees(const Model& model, std::shared_ptr<const TreeFile> file, std::vector<uint32_t> chosen,
                Vocabulary vocabulary, int32_t classes);

  std::size_t size() const override { return chosen_.size(); }
  std::size_t weight(std::size_t index) const override;
  std::string place_of(std::size_t index) const override;
  uint64_t fingerprint() const override;
  std::size_t block() const override;
  const Tree& tree(std::size_t index, Tree& space) const override;

 private:
  std::shared_ptr<const TreeFile> file_;
  std::vector<uint32_t> chosen_;
  Vocabulary vocabulary_;
};

/// The parameters of a line, of which the first `required` must be there; the others may be missing, all or
/// none, and are read but not kept.
struct ExampleForm {
  std::vector<EntryParameter> parameters;
  std::size_t required = 0;
};

/// The longest line of a file of examples, in bytes: what is read of it takes some hundred times as much
/// memory at most.
inline constexpr std::size_t kMaxExampleBytes = std::size_t{16} << 20;

/// Reads one example a line. The arguments stand separated by '|', or as an array or an object of JSON; where
/// there is one, it stands alone. Each is written as `hiaton run` prints values, or in JSON (docs/training.md
/// says how). Where a whole number is wanted, a string stands for its id in the vocabulary. Lines without
/// text are skipped. Throws ProgramError that shows the first wrong lines, each at the place of its first
/// error, and where there is no example.
std::vector<Example> read_examples(const std::shared_ptr<const Source>& source, const ExampleForm& form,
                                   const Vocabulary& vocabulary);

/// Whether it is a file that read_columns reads, .safetensors or .npy, or a folder with some of the latter.
bool holds_columns(const std::filesystem::path& path);

/// Examples as tensors whose first axis counts them: those of a .safetensors file by the names of the
/// parameters, of a folder NAME.npy for each, or, where one is required, a .npy file. Numbers become those of
/// the parameter; floating-point numbers do not become whole ones. Elements that have its type already stay
/// in the file, which nobody may cut off meanwhile. Throws ProgramError that names the column and says what
/// was expected and found.
std::vector<Example> read_columns(const std::filesystem::path& path, const ExampleForm& form);

/// The examples of a file that may be larger than memory, as read_examples reads them, but each when it is
/// asked for. All are read once before, to find errors, of which the first is shown. Nobody may cut off the
/// file meanwhile.
std::unique_ptr<DataSet> stream_examples(const std::filesystem::path& path, const ExampleForm& form,
                                         const Vocabulary& vocabulary);
/// The same for columns, as read_columns reads them.
std::unique_ptr<DataSet> stream_columns(const std::filesystem::path& path, const ExampleForm& form);

/// The strings that stand for whole numbers in the examples, as often as `min_count` times at least, in order
/// of their first occurrence. Throws ProgramError as read_examples does.
Vocabulary vocabulary_of(const std::shared_ptr<const Source>& source, const ExampleForm& form,
                         int64_t min_count = 1);

/// The same for a file that may be larger than memory.
Vocabulary stream_vocabulary(const std::filesystem::path& path, const ExampleForm& form,
                             int64_t min_count = 1);

/// One line that read_examples reads back: the arguments as `hiaton run` prints values, separated by '|'.
std::string to_string(std::span<const Value> arguments, std::span<const EntryParameter> parameters);

/// Whether the text is to be read by read_trees: it begins with a bracket and a label, and is no tuple.
bool looks_like_trees(const Source& source);

}  // namespace hiaton::train
#pragma GCC visibility pop
