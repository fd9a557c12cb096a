// Values of any type from text.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "hiaton/error.h"
#include "hiaton/source.h"
#include "hiaton/value.h"
#include "tensor/shown.h"

namespace hiaton {
namespace {

constexpr std::string_view kBlanks = " \t\n\r";
constexpr std::string_view kEndOfWord = "()[], \t\n\r";

/// Reads along the text. Values of data types may stand inside each other as deep as memory allows, so they
/// wait in a list for their fields.
class ValueReader {
 public:
  explicit ValueReader(std::string_view text) : text_(text) {}

  Value run(const Type& type) {
    Type wanted = type;
    while (true) {
      std::optional<Value> read = begin(wanted);
      while (read && !open_.empty()) read = put(std::move(*read));
      if (read) return finish(std::move(*read), type);
      wanted = open_.back().next_type();
    }
  }

 private:
  /// A value of a data type whose fields are being read, or a list in brackets.
  struct Open {
    Type type;
    std::size_t variant = 0;
    bool is_brackets = false;
    std::vector<Value> parts{};

    Type next_type() const {
      return is_brackets ? field_type(type, 1, 0) : field_type(type, variant, parts.size());
    }
  };

  /// A whole value, or nothing where its fields come first.
  std::optional<Value> begin(const Type& type) {
    if (!type.is_data()) return type.is_scalar() ? scalar(type.dtype) : tensor(type);
    const bool is_list = type.data->name.starts_with("List[");
    if (is_list && accept('[')) {
      if (accept(']')) return Value(Data(0, {}));
      open_.push_back({.type = type, .is_brackets = true});
      return std::nullopt;
    }
    const std::string_view name = word();
    const std::optional<std::size_t> variant = type.data->find(name);
    if (!variant) fail(type, name.empty() ? rest() : name);
    if (type.data->variants[*variant].fields.empty()) {
      return Value(Data(static_cast<uint32_t>(*variant), {}));
    }
    expect('(', type);
    open_.push_back({.type = type, .variant = *variant});
    return std::nullopt;
  }

  /// Puts a part into the innermost open value, which is given where it is complete.
  std::optional<Value> put(Value part) {
    Open& open = open_.back();
    open.parts.push_back(std::move(part));
    if (open.is_brackets) {
      if (accept(',')) return std::nullopt;
      expect(']', open.type);
    } else if (open.parts.size() < open.type.data->variants[open.variant].fields.size()) {
      expect(',', open.type);
      return std::nullopt;
    } else {
      expect(')', open.type);
    }
    Value whole = open.is_brackets ? list(open.parts) : Data(static_cast<uint32_t>(open.variant), open.parts);
    open_.pop_back();
    return whole;
  }

  static Value list(const std::vector<Value>& elements) {
    Value list = Data(0, {});
    for (std::size_t i = elements.size(); i-- > 0;) {
      const Value fields[] = {elements[i], list};
      list = Data(1, fields);
    }
    return list;
  }

  Value finish(Value value, const Type& type) {
    skip_blanks();
    if (at_ < text_.size()) fail(type, rest(), " behind it");
    return value;
  }

  Value scalar(DType dtype) {
    const std::string_view found = word();
    if (found.empty()) fail(dtype, rest());
    try {
      return parse_value(dtype, found);
    } catch (const ProgramError& error) {
      fail_at(found, error.what());
    }
  }

  Value tensor(const Type& type) {
    std::vector<int64_t> dims(type.shape.size(), -1);
    skip_blanks();
    const std::string_view begin = rest();
    std::vector<Value> elements;
    read_axis(type, 0, dims, elements);
    for (std::size_t i = 0; i < dims.size(); ++i) {
      const int64_t wanted = type.shape[i].size;
      if (dims[i] < 0) dims[i] = std::max<int64_t>(wanted, 0);
      if (wanted >= 0 && wanted != dims[i]) {
        fail_at(begin, fmt::format("expected a value of type {}, found {} elements along dimension {}",
                                   to_string(type), dims[i], i));
      }
    }
    Tensor tensor(type.dtype, dims);
    const std::size_t size = size_of(type.dtype);
    for (std::size_t i = 0; i < elements.size(); ++i) {
      std::memcpy(tensor.mutable_data<std::byte>() + i * size, &elements[i].slot(), size);
    }
    return tensor;
  }

  void read_axis(const Type& type, std::size_t axis, std::vector<int64_t>& dims,
                 std::vector<Value>& elements) {
    if (axis == dims.size()) {
      elements.push_back(scalar(type.dtype));
      return;
    }
    expect('[', type);
    const std::string_view begin = text_.substr(at_ - 1);
    int64_t count = 0;
    if (!accept(']')) {
      do {
        read_axis(type, axis + 1, dims, elements);
        ++count;
      } while (accept(','));
      expect(']', type);
    }
    if (dims[axis] >= 0 && dims[axis] != count) {
      fail_at(begin, fmt::format("expected a value of type {}, found rows of {} and of {} elements",
                                 to_string(type), dims[axis], count));
    }
    dims[axis] = count;
  }

  void skip_blanks() { at_ = std::min(text_.find_first_not_of(kBlanks, at_), text_.size()); }

  bool accept(char sign) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != sign) return false;
    ++at_;
    return true;
  }

  /// Reads a character that a value of this type must have here.
  void expect(char sign, const Type& type) {
    if (!accept(sign)) fail(type, rest(), fmt::format(" instead of '{}'", sign));
  }

  /// Up to the next bracket, comma or blank.
  std::string_view word() {
    skip_blanks();
    const std::size_t end = std::min(text_.find_first_of(kEndOfWord, at_), text_.size());
    const std::string_view found = text_.substr(at_, end - at_);
    at_ = end;
    return found;
  }

  std::string_view rest() const { return text_.substr(at_); }

  /// `found` stands in the text.
  [[noreturn]] void fail(const Type& expected, std::string_view found, std::string_view how = "") const {
    fail_at(found, fmt::format("expected a value of type {}, found {}{}", to_string(expected),
                               found.empty() ? "nothing" : shown(found), how));
  }

  /// Says where `part` of the text begins.
  [[noreturn]] void fail_at(std::string_view part, std::string_view message) const {
    const Source source("", std::string(text_));
    const auto [line, column] = source.locate(static_cast<uint32_t>(part.data() - text_.data()));
    const bool is_one_line = text_.find('\n') == std::string_view::npos;
    throw ProgramError(fmt::format("{}, at {}column {}", message,
                                   is_one_line ? "" : fmt::format("line {}, ", line), column));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<Open> open_;  ///< outermost first
};

}  // namespace

Value parse_value(const Type& type, std::string_view text) {
  return type.is_scalar() ? parse_value(type.dtype, text) : ValueReader(text).run(type);
}

}  // namespace hiaton
