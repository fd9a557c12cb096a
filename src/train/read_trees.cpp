// Bracketed text to trees. Each line is one tree, so that a bad one cannot swallow its successors.
#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <string_view>
#include <unordered_map>

#include "base/utf8.h"
#include "hiaton/engine.h"
#include "hiaton/error.h"
#include "hiaton/trees.h"

namespace hiaton::train {
namespace {

constexpr std::size_t kErrorsShown = 5;
constexpr std::size_t kFoundShown = 40;
/// A class needs weights; a larger label is a mistake in the file.
constexpr int32_t kLargestLabel = 999'999;

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

bool is_bracket(char c) {
  return c == '(' || c == ')';
}

/// What stops the reading of one line.
struct LineError {
  Span span;
  std::string message;
};

class TreeReader {
 public:
  TreeReader(std::shared_ptr<const Source> source, const ReadTreesOptions& options)
      : source_(std::move(source)), text_(source_->text()), options_(options) {}

  Treebank read() {
    for (line_begin_ = 0; line_begin_ < text_.size(); line_begin_ = line_end_ + 1, ++line_) {
      line_end_ = std::min(text_.find('\n', line_begin_), text_.size());
      read_line_or_note_error();
    }
    if (!errors_.empty()) throw ProgramError(source_, std::move(errors_), kErrorsShown);
    return std::move(trees_);
  }

 private:
  void read_line_or_note_error() {
    at_ = counted_to_ = line_begin_;
    column_ = 1;
    skip_spaces();
    if (at_ == line_end_) return;
    try {
      trees_.trees.push_back(read_tree());
    } catch (const LineError& error) {
      errors_.push_back({error.span, error.message});
    }
  }

  Tree read_tree() {
    Tree tree;
    open_.clear();
    if (text_[at_] != '(') fail("'(', the begin of a tree");
    do {
      if (at_ == line_end_) fail(fmt::format("')' for the '(' in column {}", open_node(tree).column));
      if (text_[at_] == '(') {
        open(tree);
      } else if (text_[at_] == ')') {
        close(tree);
      } else {
        read_word(tree);
      }
      skip_spaces();
    } while (!open_.empty());
    if (at_ != line_end_) fail("the end of the line after a tree");
    tree.nodes.shrink_to_fit();
    return tree;
  }

  Node& open_node(Tree& tree) { return tree.nodes[static_cast<std::size_t>(open_.back())]; }

  void open(Tree& tree) {
    if (!open_.empty()) {
      if (open_node(tree).word != Node::kNone) fail("')' after the word of a leaf");
      ++open_node(tree).child_count;
    }
    Node node;
    node.line = line_;
    node.column = column();
    ++at_;
    skip_spaces();
    node.label = read_label();
    open_.push_back(static_cast<int32_t>(tree.nodes.size()));
    tree.nodes.push_back(node);
  }

  void close(Tree& tree) {
    Node& node = open_node(tree);
    if (node.word == Node::kNone && node.child_count == 0) fail("a word or a subtree after the label");
    node.subtree_end = static_cast<int32_t>(tree.nodes.size());
    open_.pop_back();
    ++at_;
  }

  void read_word(Tree& tree) {
    Node& node = open_node(tree);
    if (node.word != Node::kNone) fail("')' after the word of a leaf");
    if (node.child_count > 0) fail("a subtree or ')' after a subtree");
    const std::string_view word = token();
    node.word = intern(word);
    at_ += word.size();
  }

  int32_t intern(std::string_view word) {
    const auto [entry, is_new] = ids_.try_emplace(word, static_cast<int32_t>(ids_.size()));
    if (is_new) {
      if (!is_utf8(word)) {
        ids_.erase(entry);
        fail("a word in UTF-8");
      }
      trees_.words.emplace_back(word);
    }
    return entry->second;
  }

  int32_t read_label() {
    const std::string_view text = token();
    if (text == "_") {
      ++at_;
      return Node::kNone;
    }
    int32_t label = -1;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), label);
    if (text.empty() || end != text.data() + text.size() || (code != std::errc() && !is_digits(text)) ||
        text[0] == '-') {
      fail("a label, which is a number or '_'");
    }
    const int32_t largest = options_.classes > 0 ? options_.classes - 1 : kLargestLabel;
    if (code != std::errc() || label > largest) fail(fmt::format("a label from 0 to {} or '_'", largest));
    at_ += text.size();
    return label;
  }

  static bool is_digits(std::string_view text) {
    return text.find_first_not_of("0123456789") == std::string_view::npos;
  }

  /// All up to the next space or bracket or the end of the line; may be empty.
  std::string_view token() const {
    std::size_t end = at_;
    while (end < line_end_ && !is_space(text_[end]) && !is_bracket(text_[end])) ++end;
    return text_.substr(at_, end - at_);
  }

  void skip_spaces() {
    while (at_ < line_end_ && is_space(text_[at_])) ++at_;
  }

  /// The column of the place reached, in characters.
  uint32_t column() {
    for (; counted_to_ < at_; ++counted_to_) {
      const bool continues_a_character = (static_cast<unsigned char>(text_[counted_to_]) & 0xC0) == 0x80;
      if (!continues_a_character) ++column_;
    }
    return column_;
  }

  [[noreturn]] void fail(const std::string& expected) {
    const std::string_view found = at_ == line_end_         ? ""
                                   : is_bracket(text_[at_]) ? text_.substr(at_, 1)
                                                            : token();
    const auto begin = static_cast<uint32_t>(at_);
    throw LineError{{begin, begin + static_cast<uint32_t>(found.size())},
                    fmt::format("expected {}, found {}", expected, describe(found))};
  }

  static std::string describe(std::string_view found) {
    if (found.empty()) return "the end of the line";
    if (!is_utf8(found)) return "bytes that are not UTF-8";
    if (found.size() <= kFoundShown) return fmt::format("'{}'", found);
    return fmt::format("'{}...'", found.substr(0, utf8_prefix(found.substr(0, kFoundShown))));
  }

  std::shared_ptr<const Source> source_;
  std::string_view text_;
  ReadTreesOptions options_;
  Treebank trees_;
  std::unordered_map<std::string_view, int32_t> ids_;  ///< of the words; the keys are parts of the source
  std::vector<Diagnostic> errors_;

  uint32_t line_ = 1;
  std::size_t line_begin_ = 0;
  std::size_t line_end_ = 0;
  std::size_t at_ = 0;          ///< in the text
  std::size_t counted_to_ = 0;  ///< up to here the characters of the line are counted in `column_`
  uint32_t column_ = 1;
  std::vector<int32_t> open_;  ///< nodes whose closing bracket is still to come, innermost last
};

}  // namespace

Treebank read_trees(std::shared_ptr<const Source> source, const ReadTreesOptions& options) {
  return TreeReader(std::move(source), options).read();
}

Treebank read_trees(const std::filesystem::path& path, const ReadTreesOptions& options) {
  Treebank trees = read_trees(read_source(path), options);
  if (trees.trees.empty()) throw ProgramError(fmt::format("{}: expected trees, found none", path.string()));
  return trees;
}

}  // namespace hiaton::train
