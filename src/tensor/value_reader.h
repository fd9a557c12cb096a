// Values of any type from text, one after the other.
//
// A value stands as `hiaton run` prints it, or in JSON, also mixed:
//   numbers, truth values   3, -0.5, true, NaN
//   tensors, lists          [[1, 2], [3, 4]]
//   tuples                  (1, 2.5) or [1, 2.5]
//   data values             Node(3, Leaf), {"Node": {"label": 3, "left": "Leaf"}}, {"Node": [3, "Leaf"]} or
//                           ["Node", 3, "Leaf"]; of a type with one variant also {"label": 3, "left": ...};
//                           a variant without fields is Leaf or "Leaf", one with one field also {"Leaf": 3}
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hiaton/value.h"

namespace hiaton {

/// Turns strings into numbers where a program wants whole numbers.
class StringIds {
 public:
  virtual ~StringIds() = default;
  /// `literal` is a string of JSON, with its quotes and escapes. Nothing where it is not well formed.
  virtual std::optional<int64_t> id_of(std::string_view literal) = 0;
};

/// What ends the reading: a part of the text, and a message that says what was expected and found.
struct ValueFault {
  std::size_t at = 0;
  std::size_t length = 0;
  std::string message;
};

/// Reads along a text. Values of data types may stand inside each other as deep as memory allows, so they
/// wait in a list for their fields. Its functions throw ValueFault.
class ValueReader {
 public:
  /// `ids` may be null: strings are no numbers then. Both must outlive the reader.
  explicit ValueReader(std::string_view text, StringIds* ids = nullptr) : text_(text), ids_(ids) {}

  Value read(const Type& type);
  /// Skips blanks, and the character if it stands there.
  bool accept(char sign);
  /// The first character behind blanks; 0 at the end.
  char peek();
  /// The literal of a string without its quotes. Only what needs no escape is compared with it.
  std::string_view key();
  /// Fails unless the text ends here.
  void require_end(const Type& type);
  /// Where the next character that is no blank stands.
  std::size_t at();
  /// `expected` says what should stand here.
  [[noreturn]] void fail(std::string_view expected) const;
  [[noreturn]] static void fail_at(std::size_t at, std::size_t length, std::string message);

 private:
  enum class Form : uint8_t { List, ByPosition, ByName };

  /// A value of a data type whose fields are being read, or a list in brackets.
  struct Open {
    Type type;
    uint32_t variant = 0;
    Form form = Form::ByPosition;
    std::string_view closers{};  ///< behind the last part
    std::size_t next = 0;        ///< the field that is being read
    std::vector<Value> parts{};
    std::vector<bool> is_read{};  ///< by name only
    std::size_t begin = 0;
  };

  std::optional<Value> begin(const Type& type);
  std::optional<Value> begin_object(const Type& type);
  std::optional<Value> begin_array(const Type& type);
  std::optional<Value> begin_fields(const Type& type, std::size_t variant, Form form,
                                    std::string_view closers, std::size_t begin);
  std::optional<Value> put(Value part);
  std::optional<Value> close();
  void fail_on_count();
  Type next_type() const;
  void begin_named_field();
  std::size_t variant_named(const Type& type, std::string_view name, std::string_view shown_name) const;
  static Value list(std::vector<Value>& elements);
  Value scalar(DType dtype);
  Value string(const Type& type);
  Value number_of_string(DType dtype);
  Value tensor(const Type& type);
  void read_axis(const Type& type, std::size_t axis, std::vector<int64_t>& dims,
                 std::vector<Value>& elements);
  void skip_blanks();
  void expect(char sign, const Type& type);
  std::string_view literal();
  std::string_view word();
  std::string_view rest() const { return text_.substr(at_); }
  [[noreturn]] void fail(const Type& expected, std::string_view found, std::string_view how = "") const;
  [[noreturn]] void fail_at(std::string_view part, std::string message) const;

  std::string_view text_;
  StringIds* ids_;
  std::size_t at_ = 0;
  std::vector<Open> open_;  ///< outermost first
};

}  // namespace hiaton
