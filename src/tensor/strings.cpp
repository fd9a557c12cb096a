#include "tensor/strings.h"

#include <fmt/format.h>

#include "hiaton/error.h"

namespace hiaton {
namespace {

constexpr int64_t kNoHexNumber = -1;

/// The number of four hexadecimal digits at `at`.
int64_t hex_number(std::string_view text, std::size_t at) {
  int64_t number = 0;
  for (std::size_t i = at; i < at + 4; ++i) {
    const char c = i < text.size() ? text[i] : '\0';
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) return kNoHexNumber;
    number = number * 16 + digit;
  }
  return number;
}

char escaped(char kind) {
  switch (kind) {
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case 'r':
      return '\r';
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case '"':
    case '\\':
    case '/':
      return kind;
    default:
      return '\0';
  }
}

}  // namespace

void append_utf8(int32_t code_point, std::string& text) {
  const auto number = static_cast<uint32_t>(code_point);
  const auto add = [&](uint32_t byte) { text += static_cast<char>(byte); };
  if (number < 0x80) return add(number);
  if (number < 0x800) {
    add(0xC0 | number >> 6);
  } else {
    if (number < 0x10000) {
      add(0xE0 | number >> 12);
    } else {
      add(0xF0 | number >> 18);
      add(0x80 | (number >> 12 & 0x3F));
    }
    add(0x80 | (number >> 6 & 0x3F));
  }
  add(0x80 | (number & 0x3F));
}

std::string to_utf8(std::span<const int32_t> code_points) {
  std::string text;
  text.reserve(code_points.size());
  for (const int32_t code_point : code_points) append_utf8(code_point, text);
  return text;
}

std::size_t count_code_points(std::string_view text) {
  std::size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80 ? 1 : 0;
  return count;
}

std::string quoted_string(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (c == '\n') {
      quoted += "\\n";
    } else if (c == '\t') {
      quoted += "\\t";
    } else if (c == '\r') {
      quoted += "\\r";
    } else if (byte < 0x20 || byte == 0x7F) {
      quoted += fmt::format("\\u{:04x}", byte);
    } else {
      quoted += c;
    }
  }
  return quoted += '"';
}

std::string unquoted(std::string_view quoted) {
  std::string text;
  const std::size_t end = quoted.size() - 1;
  for (std::size_t at = 1; at < end;) {
    if (static_cast<unsigned char>(quoted[at]) < 0x20) throw QuotedFault{at, "no control characters"};
    if (quoted[at] != '\\') {
      text += quoted[at++];
      continue;
    }
    if (const char simple = escaped(quoted[at + 1]); simple != '\0') {
      text += simple;
      at += 2;
      continue;
    }
    constexpr std::string_view kEscapes =
        R"(\", \\, \/, \n, \t, \r, \b, \f or \u with four hexadecimal digits)";
    int64_t number = quoted[at + 1] == 'u' ? hex_number(quoted, at + 2) : kNoHexNumber;
    if (number == kNoHexNumber) throw QuotedFault{at, kEscapes};
    std::size_t length = 6;
    if (number >= 0xD800 && number < 0xDC00 && quoted.substr(at + 6, 2) == "\\u") {
      const int64_t second = hex_number(quoted, at + 8);
      if (second >= 0xDC00 && second <= 0xDFFF) {
        number = 0x10000 + ((number - 0xD800) << 10) + (second - 0xDC00);
        length = 12;
      }
    }
    if (!is_code_point(number)) throw QuotedFault{at, "surrogates in pairs"};
    append_utf8(static_cast<int32_t>(number), text);
    at += length;
  }
  return text;
}

Value::Value(std::string_view text) : kind_(Kind::Data) {
  if (const std::size_t bad = utf8_prefix(text); bad != text.size()) {
    throw ProgramError(fmt::format("expected text in UTF-8, found the byte 0x{:02x} at offset {}",
                                   static_cast<unsigned char>(text[bad]), bad));
  }
  const int64_t dims[] = {static_cast<int64_t>(count_code_points(text))};
  Tensor code_points = Tensor::uninitialized(DType::I32, dims);
  int32_t* next = code_points.mutable_data<int32_t>();
  for_each_code_point(text, [&](int32_t code_point) { *next++ = code_point; });
  Value fields[] = {std::move(code_points)};
  slot_.data = Data::take(0, fields).detach();
}

std::string Value::string() const {
  const bool may_be_one = is_data() && Data::count_of(slot_.data) == 1 &&
                          slot_.data->fields_layout().kind(0) == FieldKind::Tensor &&
                          slot_.data->slots()[0].tensor->dtype == DType::I32 &&
                          slot_.data->slots()[0].tensor->rank == 1;
  if (!may_be_one) refuse_as("a string");
  return to_utf8(code_points_of(slot_.data));
}

}  // namespace hiaton
