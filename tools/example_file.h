// A file of examples of any program, in whatever form it has them.
#pragma once

#include <memory>
#include <string>

#include "hiaton/examples.h"

namespace hiaton::cli {

/// Lines of text, or columns. Text is read once, since it may be standard input.
class ExampleFile {
 public:
  /// Where it `is_streamed`, or too large to be kept, nothing is kept. Throws ProgramError where it cannot be
  /// read.
  explicit ExampleFile(const std::string& file, bool is_streamed = false);

  bool is_streamed() const { return is_streamed_; }
  bool holds_trees() const;
  /// Null where it holds columns or is streamed.
  const std::shared_ptr<const Source>& text() const { return text_; }
  /// As train::vocabulary_of; columns have no words.
  train::Vocabulary vocabulary(const train::ExampleForm& form, int64_t min_count) const;
  /// For a program whose example parameters the form begins with. Throws ProgramError as train::read_examples
  /// and train::read_columns do.
  std::unique_ptr<train::DataSet> examples(const Model& model, const train::ExampleForm& form,
                                           const train::Vocabulary& words) const;

 private:
  std::string file_;
  bool has_columns_;
  bool is_streamed_;
  std::shared_ptr<const Source> text_;
};

}  // namespace hiaton::cli
