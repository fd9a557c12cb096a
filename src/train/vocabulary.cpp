#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/file_bytes.h"
#include "hiaton/engine.h"
#include "hiaton/error.h"
#include "hiaton/trees.h"

namespace hiaton::train {
namespace {

std::vector<int64_t> count_words(const Treebank& trees) {
  std::vector<int64_t> counts(trees.words.size());
  for (const Tree& tree : trees.trees) {
    for (const Node& node : tree.nodes) {
      if (node.word != Node::kNone) ++counts[static_cast<std::size_t>(node.word)];
    }
  }
  return counts;
}

bool is_quoted(std::string_view line) {
  return line.size() > 1 && line.front() == '"' && line.back() == '"';
}

/// As a line of a file.
std::string written(const std::string& word) {
  const bool is_plain = !word.empty() && !is_quoted(word) && word.find_first_of("\r\n") == std::string::npos;
  return is_plain ? word : nlohmann::json(word).dump();
}

[[noreturn]] void fail(const std::shared_ptr<const Source>& file, std::size_t at, std::string_view line,
                       const std::string& message) {
  const auto begin = static_cast<uint32_t>(at);
  throw ProgramError(file, {{{begin, begin + static_cast<uint32_t>(line.size())}, message}});
}

}  // namespace

Vocabulary::Vocabulary() {
  add(std::string(kUnknownWord));
}

bool Vocabulary::add(std::string word) {
  if (!ids_.try_emplace(word, size()).second) return false;
  words_.push_back(std::move(word));
  return true;
}

Vocabulary Vocabulary::of(const Treebank& trees, int64_t min_count) {
  return of(trees.words, count_words(trees), min_count);
}

Vocabulary Vocabulary::of(std::span<const std::string> words, std::span<const int64_t> counts,
                          int64_t min_count) {
  Vocabulary vocabulary;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] >= std::max<int64_t>(min_count, 1)) vocabulary.add(words[i]);
  }
  return vocabulary;
}

int32_t Vocabulary::id(std::string_view word) const {
  const auto found = ids_.find(word);
  return found == ids_.end() ? kUnknown : found->second;
}

void Vocabulary::save(const std::filesystem::path& path) const {
  std::string text;
  for (const std::string& word : words_) text.append(written(word)) += '\n';
  write_atomically(path, {text});
}

Vocabulary Vocabulary::load(const std::filesystem::path& path) {
  const std::shared_ptr<const Source> file = read_source(path);
  const std::string_view text = file->text();
  Vocabulary vocabulary;
  std::size_t line_count = 0;
  for (std::size_t at = 0, end = 0; at < text.size(); at = end + 1, ++line_count) {
    end = text.find('\n', at);
    if (end == std::string_view::npos) {
      fail(file, at, text.substr(at), "expected a line break after the word: the file is cut off");
    }
    const std::string_view word = text.substr(at, end - at);
    if (line_count == 0 && word != kUnknownWord) {
      fail(file, at, word,
           fmt::format("expected '{}', which begins a vocabulary, found '{}'", kUnknownWord, word));
    }
    if (word.empty()) fail(file, at, word, "expected a word, found an empty line");
    const nlohmann::json quoted =
        is_quoted(word) ? nlohmann::json::parse(word, nullptr, false) : nlohmann::json(std::string());
    if (!quoted.is_string()) fail(file, at, word, fmt::format("expected a string of JSON, found {}", word));
    if (line_count > 0 && !vocabulary.add(is_quoted(word) ? quoted.get<std::string>() : std::string(word))) {
      fail(file, at, word, fmt::format("expected words that differ, found '{}' again", word));
    }
  }
  if (line_count == 0)
    throw ProgramError(fmt::format("{}: expected a vocabulary, found nothing", path.string()));
  return vocabulary;
}

std::vector<Tree> encode(std::vector<Tree> trees, std::span<const std::string> words,
                         const Vocabulary& vocabulary) {
  std::vector<int32_t> ids(words.size());
  std::transform(words.begin(), words.end(), ids.begin(),
                 [&](const std::string& word) { return vocabulary.id(word); });
  for (Tree& tree : trees) {
    for (Node& node : tree.nodes) {
      if (node.word != Node::kNone) node.word = ids[static_cast<std::size_t>(node.word)];
    }
  }
  return trees;
}

}  // namespace hiaton::train
