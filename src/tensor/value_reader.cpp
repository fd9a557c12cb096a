#include "tensor/value_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/utf8.h"
#include "hiaton/error.h"
#include "hiaton/source.h"
#include "tensor/shown.h"
#include "tensor/strings.h"

namespace hiaton {
namespace {

constexpr std::string_view kBlanks = " \t\n\r";
constexpr std::string_view kEndOfWord = "()[]{},:|\" \t\n\r";

bool is_list(const Type& type) {
  return type.data->name.starts_with("List[");
}

std::string describe(std::string_view found) {
  if (found.empty()) return "nothing";
  if (utf8_length(found) == 0) return "bytes that are not UTF-8";
  return shown(found.substr(0, utf8_prefix(found)));
}

std::string names_of(const std::vector<Field>& fields) {
  std::string names;
  for (const Field& field : fields) names += fmt::format("{}'{}'", names.empty() ? "" : ", ", field.name);
  return names;
}

/// "T (Leaf, Node)": a data type with its variants, where these tell more than its name.
std::string described(const Type& type) {
  constexpr std::size_t kMostNames = 12;
  const std::string name = to_string(type);
  const bool has_names = type.is_data() && !is_list(type) && !is_tuple(type) && !is_string(type);
  if (!has_names || (type.data->variants.size() == 1 && type.data->variants[0].name == name)) return name;
  std::string names;
  for (std::size_t i = 0; i < type.data->variants.size() && i < kMostNames; ++i)
    names += fmt::format("{}{}", i > 0 ? ", " : "", type.data->variants[i].name);
  return fmt::format("{} ({}{})", name, names, type.data->variants.size() > kMostNames ? ", ..." : "");
}

}  // namespace

Value ValueReader::read(const Type& type) {
  open_.clear();
  Type wanted = type;
  while (true) {
    std::optional<Value> read = begin(wanted);
    while (read && !open_.empty()) read = put(std::move(*read));
    if (read) return std::move(*read);
    wanted = next_type();
  }
}

/// A whole value, or nothing where its fields come first.
std::optional<Value> ValueReader::begin(const Type& type) {
  if (!type.is_data()) return type.is_scalar() ? scalar(type.dtype) : tensor(type);
  const char first = peek();
  if (is_string(type)) return string(type);
  const std::size_t begin = at_;
  if (first == '{') return begin_object(type);
  if (first == '[') return begin_array(type);
  if (first == '"') {
    const std::string_view name = key();
    const std::size_t variant = variant_named(type, name, text_.substr(begin, at_ - begin));
    if (type.data->variants[variant].fields.empty()) return Value(Data(static_cast<uint32_t>(variant), {}));
    fail(fmt::format("the fields of {}, as in [\"{}\", ...]", name, name));
  }
  const std::string_view name = word();
  const std::size_t variant = variant_named(type, name, name.empty() ? rest() : name);
  if (type.data->variants[variant].fields.empty()) return Value(Data(static_cast<uint32_t>(variant), {}));
  expect('(', type);
  return begin_fields(type, variant, Form::ByPosition, ")", begin);
}

/// {"Node": ...}, or {"label": ...} of a type with one variant.
std::optional<Value> ValueReader::begin_object(const Type& type) {
  const std::size_t begin = at_;
  accept('{');
  const std::size_t before_key = at();
  if (peek() == '"') {
    const std::string_view name = key();
    const std::optional<std::size_t> variant = type.data->find(name);
    if (variant && !(is_list(type) || is_tuple(type))) {
      expect(':', type);
      const std::vector<Field>& fields = type.data->variants[*variant].fields;
      if (accept('{')) return begin_fields(type, *variant, Form::ByName, "}}", begin);
      if (accept('[')) return begin_fields(type, *variant, Form::ByPosition, "]}", begin);
      if (fields.size() == 1) return begin_fields(type, *variant, Form::ByPosition, "}", begin);
      fail(fmt::format("the fields of {} as '{{' or '['", name));
    }
    if (type.data->variants.size() != 1 || is_tuple(type))
      fail(type, text_.substr(before_key, at_ - before_key));
    at_ = before_key;
  } else if (type.data->variants.size() != 1 || is_tuple(type)) {
    at_ = begin;
    fail(type, rest());
  }
  return begin_fields(type, 0, Form::ByName, "}", begin);
}

/// A list, a tuple, or ["Node", ...].
std::optional<Value> ValueReader::begin_array(const Type& type) {
  const std::size_t begin = at_;
  accept('[');
  if (is_list(type)) {
    if (accept(']')) return Value(Data(0, {}));
    open_.push_back({.type = type, .form = Form::List, .closers = "]", .begin = begin});
    return std::nullopt;
  }
  if (is_tuple(type)) return begin_fields(type, 0, Form::ByPosition, "]", begin);
  if (peek() != '"') fail(type, text_.substr(begin));
  const std::size_t before_name = at_;
  const std::string_view name = key();
  const std::size_t variant = variant_named(type, name, text_.substr(before_name, at_ - before_name));
  if (!type.data->variants[variant].fields.empty()) expect(',', type);
  return begin_fields(type, variant, Form::ByPosition, "]", begin);
}

std::optional<Value> ValueReader::begin_fields(const Type& type, std::size_t variant, Form form,
                                               std::string_view closers, std::size_t begin) {
  const std::size_t count = type.data->variants[variant].fields.size();
  open_.push_back({.type = type,
                   .variant = static_cast<uint32_t>(variant),
                   .form = form,
                   .closers = closers,
                   .begin = begin});
  if (count == 0) return close();
  open_.back().parts.resize(count);
  if (form == Form::ByName) {
    open_.back().is_read.resize(count);
    begin_named_field();
  }
  return std::nullopt;
}

Type ValueReader::next_type() const {
  const Open& open = open_.back();
  return open.form == Form::List ? field_type(open.type, 1, 0)
                                 : field_type(open.type, open.variant, open.next);
}

/// Reads the name of a field, up to its value.
void ValueReader::begin_named_field() {
  Open& open = open_.back();
  const Variant& variant = open.type.data->variants[open.variant];
  const std::size_t begin = at();
  const std::string_view name = peek() == '"' ? key() : "";
  const auto field = std::find_if(variant.fields.begin(), variant.fields.end(),
                                  [name](const Field& one) { return one.name == name; });
  if (field == variant.fields.end()) {
    const std::string_view found = at_ > begin ? text_.substr(begin, at_ - begin) : rest();
    fail_at(found, fmt::format("expected a field of {} ({}), found {}", variant.name,
                               names_of(variant.fields), describe(found)));
  }
  open.next = static_cast<std::size_t>(field - variant.fields.begin());
  if (open.is_read[open.next])
    fail_at(begin, at_ - begin, fmt::format("expected each field once, found '{}' twice", name));
  open.is_read[open.next] = true;
  expect(':', open.type);
}

/// Puts a part into the innermost open value, which is given where it is complete.
std::optional<Value> ValueReader::put(Value part) {
  Open& open = open_.back();
  if (open.form == Form::List) {
    open.parts.push_back(std::move(part));
    if (accept(',')) return std::nullopt;
    return close();
  }
  open.parts[open.next] = std::move(part);
  if (open.form == Form::ByName) {
    if (accept(',')) {
      begin_named_field();
      return std::nullopt;
    }
    const auto missing = std::find(open.is_read.begin(), open.is_read.end(), false);
    if (missing != open.is_read.end() && peek() == '}') {
      const Variant& variant = open.type.data->variants[open.variant];
      const Field& field = variant.fields[static_cast<std::size_t>(missing - open.is_read.begin())];
      fail_at(at_, 1, fmt::format("expected the field '{}' of {}, found none", field.name, variant.name));
    }
  } else if (++open.next < open.parts.size()) {
    if (peek() != ',') fail_on_count();
    accept(',');
    return std::nullopt;
  } else if (peek() == ',') {
    fail_on_count();
  }
  return close();
}

/// Less or more fields than the innermost open value has.
void ValueReader::fail_on_count() {
  const Open& open = open_.back();
  const Variant& variant = open.type.data->variants[open.variant];
  const bool is_closed = std::string_view(")]}").find(peek()) != std::string_view::npos;
  if (variant.name.empty() || !(is_closed || peek() == ','))
    expect(peek() == ',' ? open.closers[0] : ',', open.type);
  fail_at(at_, 1,
          fmt::format("expected {} field{} of {} ({}), found {}", open.parts.size(),
                      open.parts.size() == 1 ? "" : "s", variant.name, names_of(variant.fields),
                      is_closed ? std::to_string(open.next) : "more"));
}

std::optional<Value> ValueReader::close() {
  Open& open = open_.back();
  for (const char closer : open.closers) expect(closer, open.type);
  Value whole = open.form == Form::List ? list(open.parts) : Value(Data::take(open.variant, open.parts));
  open_.pop_back();
  return whole;
}

std::size_t ValueReader::variant_named(const Type& type, std::string_view name,
                                       std::string_view shown_name) const {
  const std::optional<std::size_t> variant = type.data->find(name);
  if (!variant) fail(type, shown_name);
  return *variant;
}

Value ValueReader::list(std::vector<Value>& elements) {
  Value list = Data(0, {});
  for (std::size_t i = elements.size(); i-- > 0;) {
    Value fields[] = {std::move(elements[i]), std::move(list)};
    list = Data::take(1, fields);
  }
  return list;
}

Value ValueReader::scalar(DType dtype) {
  if (peek() == '"' && ids_ != nullptr && is_integer(dtype) && dtype != DType::U8)
    return number_of_string(dtype);
  const std::string_view found = word();
  if (found.empty()) fail(dtype, peek() == '"' ? literal() : rest());
  try {
    return parse_value(dtype, found);
  } catch (const ProgramError& error) {
    if (!is_utf8(found)) fail(dtype, found);
    fail_at(found, error.what());
  }
}

Value ValueReader::string(const Type& type) {
  if (peek() != '"') fail(type, rest(), " without quotes");
  const std::string_view text = literal();
  if (const std::size_t bad = utf8_prefix(text); bad != text.size())
    fail_at(text.substr(bad), "expected text in UTF-8, found bytes that are not");
  try {
    return unquoted(text);
  } catch (const QuotedFault& fault) {
    fail_at(text.substr(fault.at), fmt::format("expected {} in a string, found {}", fault.expected,
                                               describe(text.substr(fault.at))));
  }
}

Value ValueReader::number_of_string(DType dtype) {
  const std::string_view text = literal();
  const std::optional<int64_t> id = ids_->id_of(text);
  if (!id) fail_at(text, fmt::format("expected a string of JSON, found {}", describe(text)));
  return dtype == DType::I32 ? Value(static_cast<int32_t>(*id)) : Value(*id);
}

Value ValueReader::tensor(const Type& type) {
  std::vector<int64_t> dims(type.shape.size(), -1);
  const std::string_view begin = text_.substr(at());
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

void ValueReader::read_axis(const Type& type, std::size_t axis, std::vector<int64_t>& dims,
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

void ValueReader::skip_blanks() {
  at_ = std::min(text_.find_first_not_of(kBlanks, at_), text_.size());
}

std::size_t ValueReader::at() {
  skip_blanks();
  return at_;
}

char ValueReader::peek() {
  skip_blanks();
  return at_ < text_.size() ? text_[at_] : '\0';
}

bool ValueReader::accept(char sign) {
  if (at() >= text_.size() || text_[at_] != sign) return false;
  ++at_;
  return true;
}

/// Reads a character that a value of this type must have here.
void ValueReader::expect(char sign, const Type& type) {
  if (accept(sign)) return;
  const std::string_view found = rest();
  fail_at(found, fmt::format("expected a value of type {}, found {} instead of '{}'", to_string(type),
                             describe(found), sign));
}

/// A string with its quotes; the next character is the first one.
std::string_view ValueReader::literal() {
  const std::size_t begin = at_;
  for (++at_; at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n'; ++at_) {
    if (text_[at_] == '\\') ++at_;
  }
  if (at_ >= text_.size() || text_[at_] != '"') {
    at_ = begin;
    fail_at(rest(), fmt::format("expected '\"' at the end of the string {}, found the end of the line",
                                describe(rest())));
  }
  ++at_;
  return text_.substr(begin, at_ - begin);
}

std::string_view ValueReader::key() {
  skip_blanks();
  const std::string_view text = literal();
  return text.substr(1, text.size() - 2);
}

/// Up to the next bracket, comma or blank.
std::string_view ValueReader::word() {
  skip_blanks();
  const std::size_t end = std::min(text_.find_first_of(kEndOfWord, at_), text_.size());
  const std::string_view found = text_.substr(at_, end - at_);
  at_ = end;
  return found;
}

void ValueReader::require_end(const Type& type) {
  if (at() >= text_.size()) return;
  fail_at(rest(),
          fmt::format("expected a value of type {}, found {} behind it", to_string(type), describe(rest())));
}

void ValueReader::fail(std::string_view expected) const {
  const std::size_t at = std::min(text_.find_first_not_of(kBlanks, at_), text_.size());
  const std::string_view found = text_.substr(at);
  fail_at(found, fmt::format("expected {}, found {}", expected, describe(found)));
}

void ValueReader::fail_at(std::size_t at, std::size_t length, std::string message) {
  throw ValueFault{at, length, std::move(message)};
}

/// `found` stands in the text.
void ValueReader::fail(const Type& expected, std::string_view found, std::string_view how) const {
  fail_at(found,
          fmt::format("expected a value of type {}, found {}{}", described(expected), describe(found), how));
}

/// `part` stands in the text.
void ValueReader::fail_at(std::string_view part, std::string message) const {
  const auto at = static_cast<std::size_t>(part.data() - text_.data());
  const std::size_t end = std::min(part.find_first_of("\r\n"), part.size());
  fail_at(at, end, std::move(message));
}

Value parse_value(const Type& type, std::string_view text) {
  if (type.is_scalar()) return parse_value(type.dtype, text);
  try {
    ValueReader reader(text);
    Value value = reader.read(type);
    reader.require_end(type);
    return value;
  } catch (const ValueFault& fault) {
    const Source source("", std::string(text));
    const auto [line, column] = source.locate(static_cast<uint32_t>(fault.at));
    const bool is_one_line = text.find('\n') == std::string_view::npos;
    throw ProgramError(fmt::format("{}, at {}column {}", fault.message,
                                   is_one_line ? "" : fmt::format("line {}, ", line), column));
  }
}

}  // namespace hiaton
