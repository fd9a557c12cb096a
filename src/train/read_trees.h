// One line of bracketed text to a tree, for files that are kept in memory and for those that are not.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "hiaton/trees.h"

namespace hiaton::train {

/// What stops the reading of a line, at a place that is counted in bytes from its begin.
struct TreeFault {
  std::size_t at;
  std::size_t length;
  std::string message;
};

/// Numbers for the words of leaves.
class WordIds {
 public:
  virtual ~WordIds() = default;
  /// Nothing where the word is not UTF-8.
  virtual std::optional<int32_t> id_of(std::string_view word) = 0;
};

/// Numbers words in the order of their first use, and keeps them.
class NumberedWords final : public WordIds {
 public:
  std::optional<int32_t> id_of(std::string_view word) override;
  std::size_t size() const { return words_.size(); }
  /// By number; none are left.
  std::vector<std::string> take() {
    ids_.clear();
    return {std::make_move_iterator(words_.begin()), std::make_move_iterator(words_.end())};
  }

 private:
  std::deque<std::string> words_;  ///< words stay where they are: the keys are views of them
  std::unordered_map<std::string_view, int32_t> ids_;
};

/// The tree of a line; nothing where it has no text. Labels are less than `classes`, if that is above 0.
/// Throws TreeFault.
std::optional<Tree> read_tree(std::string_view line, uint32_t number, int32_t classes, WordIds& ids);

/// Calls take(line, its number from 1, the place of its first byte) for each line.
template <class Take>
void for_each_line(std::string_view text, const Take& take) {
  uint32_t number = 1;
  for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end + 1, ++number) {
    end = std::min(text.find('\n', begin), text.size());
    take(text.substr(begin, end - begin), number, begin);
  }
}

}  // namespace hiaton::train
