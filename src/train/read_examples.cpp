// Lines of text to examples. Each line is one example, so that a bad one cannot swallow its successors.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "hiaton/error.h"
#include "hiaton/examples.h"
#include "tensor/value_reader.h"
#include "train/columns.h"
#include "train/random_stream.h"
#include "train/streamed_text.h"

namespace hiaton::train {
namespace {

constexpr std::size_t kExampleErrorsShown = 5;
constexpr std::string_view kBlanksOfLine = " \t\r";

/// The text that a string of JSON stands for.
std::optional<std::string> unescaped(std::string_view literal) {
  const nlohmann::json json = nlohmann::json::parse(literal, nullptr, false);
  if (!json.is_string()) return std::nullopt;
  return json.get<std::string>();
}

class KnownWords : public StringIds {
 public:
  explicit KnownWords(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {}
  std::optional<int64_t> id_of(std::string_view literal) override {
    const std::optional<std::string> word = unescaped(literal);
    if (!word) return std::nullopt;
    return vocabulary_.id(*word);
  }

 private:
  const Vocabulary& vocabulary_;
};

class CountedWords : public StringIds {
 public:
  std::optional<int64_t> id_of(std::string_view literal) override {
    std::optional<std::string> word = unescaped(literal);
    if (!word) return std::nullopt;
    const auto [entry, is_new] = ids_.try_emplace(std::move(*word), words_.size());
    if (is_new) {
      words_.push_back(entry->first);
      counts_.push_back(0);
    }
    ++counts_[entry->second];
    return Vocabulary::kUnknown;
  }
  Vocabulary vocabulary(int64_t min_count) const { return Vocabulary::of(words_, counts_, min_count); }

 private:
  std::unordered_map<std::string, std::size_t> ids_;
  std::vector<std::string> words_;
  std::vector<int64_t> counts_;
};

/// One line.
class LineReader {
 public:
  LineReader(std::string_view line, const ExampleForm& form, StringIds& ids)
      : line_(line), form_(form), ids_(ids), reader_(line, &ids) {}

  std::vector<Value> read() {
    if (is_object_of_parameters()) {
      read_by_name();
    } else if (count() > 1 && reader_.peek() == '[' && !has_bar()) {
      read_array();
    } else {
      read_by_position('|');
    }
    reader_.require_end(form_.parameters.back().type);
    values_.resize(form_.required);
    return std::move(values_);
  }

 private:
  std::size_t count() const { return form_.parameters.size(); }

  /// Whether the line begins with '{' and the name of a parameter.
  bool is_object_of_parameters() const {
    ValueReader ahead(line_);
    if (!ahead.accept('{')) return false;
    if (form_.required > 1 && !has_bar()) return true;
    if (ahead.peek() != '"' || has_bar()) return false;
    const std::string_view name = ahead.key();
    return ahead.peek() == ':' &&
           std::ranges::any_of(form_.parameters,
                               [name](const EntryParameter& parameter) { return parameter.name == name; });
  }

  /// Whether a '|' stands outside of strings: the arguments are separated by it then.
  bool has_bar() const {
    bool in_string = false;
    for (std::size_t i = 0; i < line_.size(); ++i) {
      if (in_string && line_[i] == '\\') {
        ++i;
      } else if (line_[i] == '"') {
        in_string = !in_string;
      } else if (line_[i] == '|' && !in_string) {
        return true;
      }
    }
    return false;
  }

  /// All arguments, or, where one alone will do, perhaps that one: its value may begin with a bracket too.
  void read_array() {
    std::optional<ValueFault> fault;
    if (form_.required == 1) {
      try {
        values_.push_back(reader_.read(form_.parameters[0].type));
        return reader_.require_end(form_.parameters[0].type);
      } catch (const ValueFault& alone) {
        fault = alone;
      }
      values_.clear();
      reader_ = ValueReader(line_, &ids_);
    }
    try {
      reader_.accept('[');
      read_by_position(',');
      if (!reader_.accept(']')) reader_.fail("']' behind the arguments");
    } catch (const ValueFault& in_array) {
      // What was read further is more likely what was meant.
      if (fault && fault->at > in_array.at) throw *fault;
      throw;
    }
  }

  void read_by_position(char separator) {
    for (std::size_t i = 0; i < count(); ++i) {
      if (i > 0 && !reader_.accept(separator)) {
        if (i == form_.required) return;
        reader_.fail(fmt::format("'{}' and the argument {}", separator, show(i)));
      }
      values_.push_back(reader_.read(form_.parameters[i].type));
    }
  }

  void read_by_name() {
    values_.resize(count());
    std::vector<bool> is_read(count());
    reader_.accept('{');
    do {
      const std::size_t begin = reader_.at();
      const std::string_view name = reader_.peek() == '"' ? reader_.key() : "";
      const auto found = std::find_if(form_.parameters.begin(), form_.parameters.end(),
                                      [name](const EntryParameter& one) { return one.name == name; });
      if (found == form_.parameters.end()) fail_on_name(begin, reader_.at());
      const auto index = static_cast<std::size_t>(found - form_.parameters.begin());
      if (is_read[index])
        ValueReader::fail_at(begin, 1, fmt::format("expected '{}' once, found it twice", name));
      if (!reader_.accept(':')) reader_.fail("':' behind the name");
      values_[index] = reader_.read(found->type);
      is_read[index] = true;
    } while (reader_.accept(','));
    const auto missing =
        static_cast<std::size_t>(std::find(is_read.begin(), is_read.end(), false) - is_read.begin());
    if (missing < form_.required) reader_.fail(fmt::format("',' and the argument {}", show(missing)));
    if (!reader_.accept('}')) reader_.fail("',' or '}' behind an argument");
  }

  [[noreturn]] void fail_on_name(std::size_t begin, std::size_t end) const {
    std::string known;
    for (std::size_t i = 0; i < count(); ++i) known += (i > 0 ? ", " : "") + show(i);
    const std::string_view found = line_.substr(begin, std::max(end, begin + 1) - begin);
    ValueReader::fail_at(begin, found.size(),
                         fmt::format("expected the name of an argument of the program ({}), found {}", known,
                                     found.empty() ? "the end of the line" : found));
  }

  std::string show(std::size_t parameter) const {
    return fmt::format("{}: {}", form_.parameters[parameter].name,
                       hiaton::to_string(form_.parameters[parameter].type));
  }

  std::string_view line_;
  const ExampleForm& form_;
  StringIds& ids_;
  ValueReader reader_;
  std::vector<Value> values_;
};

/// Where the first line, which is wrong, seems to begin one document of JSON for all examples.
std::string_view hint_at_document(std::string_view line) {
  const std::size_t begin = std::min(line.find_first_not_of(kBlanksOfLine), line.size());
  const std::string_view text = line.substr(begin, line.find_last_not_of(kBlanksOfLine) + 1 - begin);
  const bool seems_document = text == "[" || text == "{" || text.starts_with("[{") || text.starts_with("[[");
  return seems_document ? "; examples stand one on a line, also in JSON, with no brackets around all of them"
                        : "";
}

/// Calls take(values, line number, place of its first byte, bytes) for each line with text, and
/// fail(line number, place of its first byte, fault) for each that is wrong, until that says to stop.
template <class Take, class Fail>
void for_each_line(std::string_view text, const std::string& name, const ExampleForm& form, StringIds& ids,
                   const Take& take, const Fail& fail) {
  require_parameters(form, name);
  uint32_t line_number = 1;
  bool found = false;
  for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end + 1, ++line_number) {
    end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    if (line.find_first_not_of(kBlanksOfLine) == std::string_view::npos) continue;
    found = true;
    try {
      if (line.size() > kMaxExampleBytes) {
        ValueReader::fail_at(0, 1,
                             fmt::format("expected a line of at most {} MiB, found {} bytes",
                                         kMaxExampleBytes >> 20, line.size()));
      }
      take(LineReader(line, form, ids).read(), line_number, begin, line.size());
    } catch (ValueFault& fault) {
      if (line_number == 1) fault.message += hint_at_document(line);
      if (!fail(line_number, begin, fault)) break;
    }
  }
  if (!found) throw ProgramError(fmt::format("{}: expected examples, one a line, found none", name));
}

template <class Take>
void for_each_example(const std::shared_ptr<const Source>& source, const ExampleForm& form, StringIds& ids,
                      const Take& take) {
  std::vector<Diagnostic> errors;
  for_each_line(source->text(), source->name(), form, ids, take,
                [&errors](uint32_t /*line*/, std::size_t begin, const ValueFault& fault) {
                  const auto at = static_cast<uint32_t>(begin + fault.at);
                  errors.push_back({{at, at + static_cast<uint32_t>(fault.length)}, fault.message});
                  return errors.size() <= kExampleErrorsShown;
                });
  if (!errors.empty()) throw ProgramError(source, std::move(errors), kExampleErrorsShown);
}

/// The lines of a text of any size, up to the first that is wrong.
template <class Take>
void for_each_line(const StreamedText& text, const ExampleForm& form, StringIds& ids, const Take& take) {
  for_each_line(text.text(), text.name(), form, ids, take,
                [&text](uint32_t line, std::size_t begin, const ValueFault& fault) -> bool {
                  text.fail(line, begin, fault.at, fault.message);
                });
}

/// The lines of such a text as examples.
class StreamedExamples : public DataSet {
 public:
  StreamedExamples(const std::filesystem::path& path, ExampleForm form, Vocabulary vocabulary)
      : text_(path), form_(std::move(form)), vocabulary_(std::move(vocabulary)) {
    KnownWords ids(vocabulary_);
    for_each_line(text_, form_, ids,
                  [&](const std::vector<Value>&, uint32_t number, std::size_t begin, std::size_t bytes) {
                    lines_.push_back({begin, static_cast<uint32_t>(bytes), number});
                    hash_ = mix_bits(hash_ ^ hash_of(text_.line(lines_.back())));
                    bytes_ += bytes;
                  });
  }

  std::size_t size() const override { return lines_.size(); }
  std::vector<Value> arguments(std::size_t index) const override {
    const StreamedLine& line = lines_[index];
    KnownWords ids(vocabulary_);
    try {
      return LineReader(text_.line(line), form_, ids).read();
    } catch (const ValueFault& fault) {
      text_.fail(line.number, line.begin, fault.at, fault.message);
    }
  }
  std::size_t weight(std::size_t index) const override { return lines_[index].bytes; }
  std::string place_of(std::size_t index) const override { return place_of_line(lines_[index].number); }
  uint64_t fingerprint() const override { return hash_; }
  std::size_t block() const override { return examples_of_block(bytes_, lines_.size()); }

 private:
  const StreamedText text_;
  const ExampleForm form_;
  const Vocabulary vocabulary_;
  std::vector<StreamedLine> lines_;
  uint64_t hash_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace

bool takes_seed(const Program& loss) {
  const std::vector<EntryParameter>& parameters = loss.parameters();
  return !parameters.empty() && parameters.back().name == "seed" &&
         parameters.back().type == Type(DType::I64);
}

std::vector<EntryParameter> example_parameters(const Program& loss) {
  std::vector<EntryParameter> parameters = loss.parameters();
  if (takes_seed(loss)) parameters.pop_back();
  return parameters;
}

std::vector<Example> read_examples(const std::shared_ptr<const Source>& source, const ExampleForm& form,
                                   const Vocabulary& vocabulary) {
  KnownWords ids(vocabulary);
  std::vector<Example> examples;
  for_each_example(source, form, ids,
                   [&](std::vector<Value> arguments, uint32_t line, std::size_t, std::size_t bytes) {
                     examples.push_back({std::move(arguments), line, static_cast<uint32_t>(bytes)});
                   });
  return examples;
}

Vocabulary vocabulary_of(const std::shared_ptr<const Source>& source, const ExampleForm& form,
                         int64_t min_count) {
  CountedWords words;
  for_each_example(source, form, words,
                   [](const std::vector<Value>& /*arguments*/, uint32_t, std::size_t, std::size_t) {});
  return words.vocabulary(min_count);
}

std::unique_ptr<DataSet> stream_examples(const std::filesystem::path& path, const ExampleForm& form,
                                         const Vocabulary& vocabulary) {
  return std::make_unique<StreamedExamples>(path, form, vocabulary);
}

Vocabulary stream_vocabulary(const std::filesystem::path& path, const ExampleForm& form, int64_t min_count) {
  CountedWords words;
  for_each_line(StreamedText(path), form, words,
                [](const std::vector<Value>& /*arguments*/, uint32_t, std::size_t, std::size_t) {});
  return words.vocabulary(min_count);
}

std::string to_string(std::span<const Value> arguments, std::span<const EntryParameter> parameters) {
  std::string line;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    line += (i > 0 ? " | " : "") + hiaton::to_string(arguments[i], parameters[i].type);
  return line;
}

bool looks_like_trees(const Source& source) {
  constexpr std::string_view kBlanks = " \t\r\n\v\f";
  const std::string_view text = source.text();
  const std::size_t begin = std::min(text.find_first_not_of(kBlanks), text.size());
  if (begin == text.size() || text[begin] != '(') return false;
  const std::size_t label = std::min(text.find_first_not_of(" \t", begin + 1), text.size());
  const std::size_t end = std::min(text.find_first_of(" \t\r\n(),", label), text.size());
  if (end == label || end == text.size() || text[end] == ',') return false;
  // Tuples have a comma behind their first part; a name with a bracket behind it makes a data value.
  return text[end] != '(' || text.find_first_not_of("0123456789_", label) == end;
}

}  // namespace hiaton::train
