// Bracketed text to trees. Each line is one tree, so that a bad one cannot swallow its successors.
#include "train/read_trees.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <string_view>

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

/// Reads one line. Places are counted from the begin of the line, since a file may be larger than a span can
/// say.
class TreeReader {
 public:
  TreeReader(std::string_view line, uint32_t number, int32_t classes, WordIds& ids)
      : text_(line), line_(number), classes_(classes), ids_(ids) {}

  std::optional<Tree> read() {
    skip_spaces();
    if (at_ == text_.size()) return std::nullopt;
    return read_tree();
  }

 private:
  Tree read_tree() {
    Tree tree;
    open_.clear();
    if (text_[at_] != '(') fail("'(', the begin of a tree");
    do {
      if (at_ == text_.size()) fail(fmt::format("')' for the '(' in column {}", open_node(tree).column));
      if (text_[at_] == '(') {
        open(tree);
      } else if (text_[at_] == ')') {
        close(tree);
      } else {
        read_word(tree);
      }
      skip_spaces();
    } while (!open_.empty());
    if (at_ != text_.size()) fail("the end of the line after a tree");
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
    const std::optional<int32_t> id = ids_.id_of(word);
    if (!id) fail("a word in UTF-8");
    node.word = *id;
    at_ += word.size();
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
    const int32_t largest = classes_ > 0 ? classes_ - 1 : kLargestLabel;
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
    while (end < text_.size() && !is_space(text_[end]) && !is_bracket(text_[end])) ++end;
    return text_.substr(at_, end - at_);
  }

  void skip_spaces() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
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
    const std::string_view found = at_ == text_.size()      ? ""
                                   : is_bracket(text_[at_]) ? text_.substr(at_, 1)
                                                            : token();
    throw TreeFault{at_, found.size(), fmt::format("expected {}, found {}", expected, describe(found))};
  }

  static std::string describe(std::string_view found) {
    if (found.empty()) return "the end of the line";
    if (!is_utf8(found)) return "bytes that are not UTF-8";
    if (found.size() <= kFoundShown) return fmt::format("'{}'", found);
    return fmt::format("'{}...'", found.substr(0, utf8_prefix(found.substr(0, kFoundShown))));
  }

  std::string_view text_;
  uint32_t line_;
  int32_t classes_;
  WordIds& ids_;

  std::size_t at_ = 0;          ///< in the text
  std::size_t counted_to_ = 0;  ///< up to here the characters of the line are counted in `column_`
  uint32_t column_ = 1;
  std::vector<int32_t> open_;  ///< nodes whose closing bracket is still to come, innermost last
};

}  // namespace

std::optional<int32_t> NumberedWords::id_of(std::string_view word) {
  const auto found = ids_.find(word);
  if (found != ids_.end()) return found->second;
  if (!is_utf8(word)) return std::nullopt;
  const auto id = static_cast<int32_t>(words_.size());
  words_.emplace_back(word);
  ids_.emplace(words_.back(), id);
  return id;
}

std::optional<Tree> read_tree(std::string_view line, uint32_t number, int32_t classes, WordIds& ids) {
  return TreeReader(line, number, classes, ids).read();
}

Treebank read_trees(std::shared_ptr<const Source> source, const ReadTreesOptions& options) {
  const std::string_view text = source->text();
  NumberedWords words;
  std::vector<Tree> trees;
  std::vector<Diagnostic> errors;
  for_each_line(text, [&](std::string_view line, uint32_t number, std::size_t begin) {
    try {
      if (std::optional<Tree> tree = read_tree(line, number, options.classes, words))
        trees.push_back(std::move(*tree));
    } catch (const TreeFault& fault) {
      const auto at = static_cast<uint32_t>(begin + fault.at);
      errors.push_back({{at, at + static_cast<uint32_t>(fault.length)}, fault.message});
    }
  });
  if (!errors.empty()) throw ProgramError(std::move(source), std::move(errors), kErrorsShown);
  return {std::move(trees), words.take()};
}

Treebank read_trees(const std::filesystem::path& path, const ReadTreesOptions& options) {
  Treebank trees = read_trees(read_source(path), options);
  if (trees.trees.empty()) throw ProgramError(fmt::format("{}: expected trees, found none", path.string()));
  return trees;
}

}  // namespace hiaton::train
