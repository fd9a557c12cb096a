// Trees of files that may be larger than memory.
#include <fmt/format.h>

#include <algorithm>

#include "hiaton/error.h"
#include "hiaton/examples.h"
#include "train/columns.h"
#include "train/random_stream.h"
#include "train/read_trees.h"
#include "train/streamed_text.h"
#include "train/tree_place.h"

namespace hiaton::train {
namespace {

class VocabularyIds final : public WordIds {
 public:
  explicit VocabularyIds(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {}
  std::optional<int32_t> id_of(std::string_view word) override { return vocabulary_.id(word); }

 private:
  const Vocabulary& vocabulary_;
};

}  // namespace

struct TreeFile::Parts {
  Parts(const std::filesystem::path& path, const ReadTreesOptions& options)
      : text(path), classes(options.classes) {}

  /// The tree of a line; nothing where it has no text.
  std::optional<Tree> read(const StreamedLine& line, WordIds& ids) const {
    try {
      if (line.bytes > kMaxExampleBytes) {
        throw TreeFault{0, 1,
                        fmt::format("expected a line of at most {} MiB, found {} bytes",
                                    kMaxExampleBytes >> 20, line.bytes)};
      }
      return read_tree(text.line(line), line.number, classes, ids);
    } catch (const TreeFault& fault) {
      text.fail(line.number, line.begin, fault.at, fault.message);
    }
  }

  /// A line that had a tree when the file was read first.
  Tree read_again(std::size_t index, WordIds& ids) const {
    std::optional<Tree> tree = read(lines[index], ids);
    if (!tree)
      text.fail(lines[index].number, lines[index].begin, 0,
                "expected a tree, found that the file has changed");
    return std::move(*tree);
  }

  void count(const Tree& tree, bool with_words) {
    for (const Node& node : tree.nodes) {
      largest_label = std::max(largest_label, node.label);
      if (with_words && node.word != Node::kNone) ++counts[static_cast<std::size_t>(node.word)];
    }
  }

  const StreamedText text;
  const int32_t classes;
  std::vector<StreamedLine> lines;
  int32_t largest_label = Node::kNone;
  std::vector<std::string> words;
  std::vector<int64_t> counts;  ///< by word
};

TreeFile::TreeFile(const std::filesystem::path& path, const ReadTreesOptions& options,
                   const std::function<bool(std::size_t)>& is_counted)
    : parts_([&] {
        auto parts = std::make_unique<Parts>(path, options);
        NumberedWords words;
        for_each_line(parts->text.text(), [&](std::string_view text, uint32_t number, std::size_t begin) {
          const auto bytes = static_cast<uint32_t>(std::min<std::size_t>(text.size(), UINT32_MAX));
          const StreamedLine line{begin, bytes, number};
          const std::optional<Tree> tree = parts->read(line, words);
          if (!tree) return;
          parts->counts.resize(words.size());
          parts->count(*tree, !is_counted || is_counted(parts->lines.size()));
          parts->lines.push_back(line);
        });
        if (parts->lines.empty())
          throw ProgramError(fmt::format("{}: expected trees, found none", path.string()));
        parts->words = words.take();
        return parts;
      }()) {}

TreeFile::~TreeFile() = default;

std::size_t TreeFile::size() const {
  return parts_->lines.size();
}

int32_t TreeFile::class_count() const {
  return parts_->largest_label + 1;
}

Vocabulary TreeFile::vocabulary(int64_t min_count) const {
  return Vocabulary::of(parts_->words, parts_->counts, min_count);
}

Treebank TreeFile::tree(std::size_t index) const {
  NumberedWords words;
  Treebank bank;
  bank.trees.push_back(parts_->read_again(index, words));
  bank.words = words.take();
  return bank;
}

Tree TreeFile::tree(std::size_t index, const Vocabulary& vocabulary) const {
  VocabularyIds ids(vocabulary);
  return parts_->read_again(index, ids);
}

StreamedTrees::StreamedTrees(const Model& model, std::shared_ptr<const TreeFile> file,
                             std::vector<uint32_t> chosen, Vocabulary vocabulary, int32_t classes)
    : TreeData(model, classes),
      file_(std::move(file)),
      chosen_(std::move(chosen)),
      vocabulary_(std::move(vocabulary)) {}

std::size_t StreamedTrees::weight(std::size_t index) const {
  return file_->parts_->lines[chosen_[index]].bytes;
}

std::string StreamedTrees::place_of(std::size_t index) const {
  return place_of_tree_in_line(file_->parts_->lines[chosen_[index]].number);
}

uint64_t StreamedTrees::fingerprint() const {
  uint64_t hash = chosen_.size();
  for (const uint32_t index : chosen_)
    hash = mix_bits(hash ^ hash_of(file_->parts_->text.line(file_->parts_->lines[index])));
  return hash;
}

std::size_t StreamedTrees::block() const {
  uint64_t bytes = 0;
  for (const uint32_t index : chosen_) bytes += file_->parts_->lines[index].bytes;
  return examples_of_block(bytes, chosen_.size());
}

const Tree& StreamedTrees::tree(std::size_t index, Tree& space) const {
  space = file_->tree(chosen_[index], vocabulary_);
  return space;
}

}  // namespace hiaton::train
