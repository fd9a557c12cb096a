// Values of any type from text.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "hiaton/error.h"
#include "hiaton/value.h"

namespace hiaton {
namespace {

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
    if (!variant) fail(fmt::format("a value of type {}", to_string(type)), name);
    if (type.data->variants[*variant].fields.empty()) {
      return Value(Data(static_cast<uint32_t>(*variant), {}));
    }
    expect('(');
    open_.push_back({.type = type, .variant = *variant});
    return std::nullopt;
  }

  /// Puts a part into the innermost open value, which is given where it is complete.
  std::optional<Value> put(Value part) {
    Open& open = open_.back();
    open.parts.push_back(std::move(part));
    if (open.is_brackets) {
      if (accept(',')) return std::nullopt;
      expect(']');
    } else if (open.parts.size() < open.type.data->variants[open.variant].fields.size()) {
      expect(',');
      return std::nullopt;
    } else {
      expect(')');
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
    if (at_ < text_.size())
      fail(fmt::format("a value of type {} and nothing behind it", to_string(type)), rest());
    return value;
  }

  Value scalar(DType dtype) { return parse_value(dtype, word()); }

  Value tensor(const Type& type) {
    std::vector<int64_t> dims(type.shape.size(), -1);
    std::vector<Value> elements;
    read_axis(type, 0, dims, elements);
    for (std::size_t i = 0; i < dims.size(); ++i) {
      const int64_t wanted = type.shape[i].size;
      if (dims[i] < 0) dims[i] = std::max<int64_t>(wanted, 0);
      if (wanted >= 0 && wanted != dims[i]) {
        throw ProgramError(fmt::format("expected a value of type {}, found {} elements along dimension {}",
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
    expect('[');
    int64_t count = 0;
    if (!accept(']')) {
      do {
        read_axis(type, axis + 1, dims, elements);
        ++count;
      } while (accept(','));
      expect(']');
    }
    if (dims[axis] >= 0 && dims[axis] != count) {
      throw ProgramError(fmt::format("expected a value of type {}, found rows of {} and of {} elements",
                                     to_string(type), dims[axis], count));
    }
    dims[axis] = count;
  }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }

  bool accept(char sign) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != sign) return false;
    ++at_;
    return true;
  }

  void expect(char sign) {
    if (!accept(sign)) fail(fmt::format("'{}'", sign), rest());
  }

  /// Up to the next bracket, comma or blank.
  std::string_view word() {
    skip_blanks();
    const std::size_t end = std::min(text_.find_first_of("()[], \n\t", at_), text_.size());
    const std::string_view found = text_.substr(at_, end - at_);
    at_ = end;
    return found;
  }

  std::string_view rest() const {
    constexpr std::size_t kShown = 20;
    return text_.substr(std::min(at_, text_.size()), kShown);
  }

  [[noreturn]] void fail(const std::string& expected, std::string_view found) const {
    throw ProgramError(fmt::format("expected {}, found {}", expected,
                                   found.empty() ? "nothing" : fmt::format("'{}'", found)));
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
