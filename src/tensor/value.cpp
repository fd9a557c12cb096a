#include "hiaton/value.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "hiaton/error.h"

namespace hiaton {
namespace {

constexpr std::string_view kNames[] = {"bool", "i32", "i64", "f32", "f64"};

template <class T>
std::string float_text(T number) {
  if (std::isnan(number)) return "nan";
  std::string text = fmt::format("{}", number);
  const bool looks_integral = text.find_first_not_of("-0123456789") == std::string::npos;
  return looks_integral ? text + ".0" : text;
}

template <class T>
Value parse_number(std::string_view text) {
  T number{};
  const std::string_view digits = text.starts_with('+') ? text.substr(1) : text;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const std::string_view expected = name_of(ScalarTraits<T>::dtype);
  if (code == std::errc::result_out_of_range) {
    throw ProgramError(
        fmt::format("expected a value of type {}, found '{}', which is out of its range", expected, text));
  }
  if (code != std::errc() || end != digits.data() + digits.size() || text.starts_with("+-")) {
    throw ProgramError(fmt::format("expected a value of type {}, found '{}'", expected, text));
  }
  return Value(number);
}

}  // namespace

std::string_view name_of(DType dtype) {
  return kNames[static_cast<std::size_t>(dtype)];
}

std::optional<DType> dtype_from_name(std::string_view name) {
  for (std::size_t i = 0; i < std::size(kNames); ++i) {
    if (kNames[i] == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

std::string to_string(const Type& type) {
  std::string text(name_of(type.dtype));
  if (type.is_scalar()) return text;
  text += '[';
  for (std::size_t i = 0; i < type.shape.size(); ++i) {
    if (i > 0) text += ", ";
    text += type.shape[i].size >= 0 ? std::to_string(type.shape[i].size) : type.shape[i].symbol;
  }
  return text + ']';
}

std::string to_string(const Value& value) {
  switch (value.dtype()) {
    case DType::Bool:
      return value.as<bool>() ? "true" : "false";
    case DType::I32:
      return std::to_string(value.as<int32_t>());
    case DType::I64:
      return std::to_string(value.as<int64_t>());
    case DType::F32:
      return float_text(value.as<float>());
    case DType::F64:
      return float_text(value.as<double>());
  }
  return "?";
}

Value parse_value(DType dtype, std::string_view text) {
  switch (dtype) {
    case DType::Bool:
      if (text == "true" || text == "false") return Value(text == "true");
      throw ProgramError(fmt::format("expected a value of type bool ('true' or 'false'), found '{}'", text));
    case DType::I32:
      return parse_number<int32_t>(text);
    case DType::I64:
      return parse_number<int64_t>(text);
    case DType::F32:
      return parse_number<float>(text);
    case DType::F64:
      return parse_number<double>(text);
  }
  throw ProgramError("unknown type");
}

Value zero_of(DType dtype) {
  return Value(dtype, Slot());
}

}  // namespace hiaton
