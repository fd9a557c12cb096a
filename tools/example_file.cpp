#include "example_file.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "hiaton/error.h"
#include "tree_data.h"

namespace hiaton::cli {
namespace {

constexpr uintmax_t kMostKept = uintmax_t{1} << 30;

bool is_large(const std::string& file) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(file, ignored) &&
         std::filesystem::file_size(file, ignored) > kMostKept;
}

/// What a large file begins with.
std::string beginning_of(const std::string& file) {
  std::string text(std::size_t{1} << 16, '\0');
  std::ifstream stream(file, std::ios::binary);
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  return text;
}

}  // namespace

ExampleFile::ExampleFile(const std::string& file, bool is_streamed)
    : file_(file), has_columns_(train::holds_columns(file)), is_streamed_(is_streamed || is_large(file)) {
  if (!has_columns_ && !is_streamed_) text_ = read_data(file);
}

bool ExampleFile::holds_trees() const {
  if (has_columns_) return false;
  if (!is_streamed_) return train::looks_like_trees(*text_);
  return train::looks_like_trees(Source(file_, beginning_of(file_)));
}

train::Vocabulary ExampleFile::vocabulary(const train::ExampleForm& form, int64_t min_count) const {
  if (has_columns_) return {};
  return is_streamed_ ? train::stream_vocabulary(file_, form, min_count)
                      : train::vocabulary_of(text_, form, min_count);
}

std::unique_ptr<train::DataSet> ExampleFile::examples(const Model& model, const train::ExampleForm& form,
                                                      const train::Vocabulary& words) const {
  if (is_streamed_)
    return has_columns_ ? train::stream_columns(file_, form) : train::stream_examples(file_, form, words);
  return std::make_unique<train::ExampleList>(
      model, has_columns_ ? train::read_columns(file_, form) : train::read_examples(text_, form, words));
}

}  // namespace hiaton::cli
