#include "hiaton/value.h"

#include <fmt/format.h>

#include <atomic>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "hiaton/error.h"
#include "hiaton/small_vector.h"
#include "tensor/shown.h"
#include "tensor/strings.h"

namespace hiaton {
namespace {

template <class T>
std::string float_text(T number) {
  if (std::isnan(number)) return "nan";
  std::string text = fmt::format("{}", number);
  const bool looks_integral = text.find_first_not_of("-0123456789") == std::string::npos;
  return looks_integral ? text + ".0" : text;
}

/// The float nearest to the number that the text is. What lies nearer to zero than every other float becomes
/// zero.
template <class T>
std::optional<T> nearest_float(std::string_view digits) {
  static const locale_t with_points = newlocale(LC_ALL_MASK, "C", nullptr);
  const std::string text(digits);
  T nearest{};
  if constexpr (std::is_same_v<T, float>) nearest = strtof_l(text.c_str(), nullptr, with_points);
  if constexpr (std::is_same_v<T, double>) nearest = strtod_l(text.c_str(), nullptr, with_points);
  return std::isfinite(nearest) ? std::optional(nearest) : std::nullopt;
}

template <class T>
Value parse_number(std::string_view text) {
  T number{};
  const std::string_view digits = text.starts_with('+') ? text.substr(1) : text;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const std::string_view expected = name_of(ScalarTraits<T>::dtype);
  if (code == std::errc::result_out_of_range) {
    if constexpr (std::is_floating_point_v<T>) {
      const std::optional<T> nearest = nearest_float<T>(digits);
      if (nearest && end == digits.data() + digits.size() && !text.starts_with("+-")) return Value(*nearest);
    }
    throw ProgramError(fmt::format("expected a value of type {}, found {}, which is out of its range",
                                   expected, shown(text)));
  }
  if (code != std::errc() || end != digits.data() + digits.size() || text.starts_with("+-")) {
    throw ProgramError(fmt::format("expected a value of type {}, found {}", expected, shown(text)));
  }
  return Value(number);
}

}  // namespace

namespace {

template <class T>
T element_at(const TensorObject& tensor, int64_t index) {
  return reinterpret_cast<const T*>(tensor.elements)[index];
}

Value element_of(const TensorObject& tensor, int64_t index) {
  switch (tensor.dtype) {
    case DType::Bool:
      return element_at<bool>(tensor, index);
    case DType::U8:
      return element_at<uint8_t>(tensor, index);
    case DType::I32:
      return element_at<int32_t>(tensor, index);
    case DType::I64:
      return element_at<int64_t>(tensor, index);
    case DType::F32:
      return element_at<float>(tensor, index);
    case DType::F64:
      return element_at<double>(tensor, index);
  }
  return Value();
}

}  // namespace

Value element_of(const Tensor& tensor, int64_t index) {
  return element_of(*tensor.object(), index);
}

namespace {

std::string tensor_text(const TensorObject& tensor, std::size_t axis, int64_t& next) {
  if (axis == tensor.rank) return to_string(element_of(tensor, next++));
  std::string text = "[";
  for (int64_t i = 0; i < tensor.dims[axis]; ++i)
    text += (i > 0 ? ", " : "") + tensor_text(tensor, axis + 1, next);
  return text + "]";
}

/// Text that is still to be written, innermost last: fields of data values, or text as it is.
struct Piece {
  std::optional<ValueView> value;
  Type type;
  std::string text;
};

/// The elements of a list and the bracket behind them.
void add_elements(const DataObject* list, const Type& type, std::vector<Piece>& pieces) {
  std::vector<ValueView> heads;
  for (const DataObject* cell = list; Data::has_object(cell); cell = DataFields(cell).view(1).slot.data) {
    heads.push_back(DataFields(cell).view(0));
  }
  const Type element = heads.empty() ? Type() : field_type(type, 1, 0);
  pieces.push_back({std::nullopt, {}, "]"});
  for (std::size_t i = heads.size(); i-- > 0;) {
    pieces.push_back({heads[i], element, ""});
    if (i > 0) pieces.push_back({std::nullopt, {}, ", "});
  }
}

void write_data(const Value& value, const Type& type, const std::function<void(std::string_view)>& write) {
  constexpr std::size_t kMostKept = std::size_t{1} << 16;
  std::string text;
  std::vector<Piece> pieces{{value, type, ""}};
  while (!pieces.empty()) {
    if (text.size() > kMostKept) {
      write(text);
      text.clear();
    }
    const Piece piece = std::move(pieces.back());
    pieces.pop_back();
    if (!piece.value) {
      text += piece.text;
      continue;
    }
    if (!piece.value->is_data()) {
      text += to_string(*piece.value);
      continue;
    }
    const DataObject* object = piece.value->slot.data;
    if (is_string(piece.type)) {
      text += quoted_string(to_utf8(code_points_of(object)));
      continue;
    }
    if (piece.type.data->name.starts_with("List[")) {
      text += '[';
      add_elements(object, piece.type, pieces);
      continue;
    }
    const uint32_t variant = Data::variant_of(object);
    text += piece.type.data->variants[variant].name;
    const DataFields fields(object);
    if (fields.empty()) continue;
    text += '(';
    pieces.push_back({std::nullopt, {}, ")"});
    for (std::size_t i = fields.size(); i-- > 0;) {
      pieces.push_back({fields.view(i), field_type(piece.type, variant, i), ""});
      if (i > 0) pieces.push_back({std::nullopt, {}, ", "});
    }
  }
  write(text);
}

}  // namespace

namespace {

bool fits_undivided(const ValueView& value, const Type& type) {
  if (value.dtype() != type.dtype) return false;
  if (value.is_scalar()) return type.is_scalar();
  const TensorObject& tensor = *value.slot.tensor;
  if (tensor.rank != type.shape.size()) return false;
  for (std::size_t i = 0; i < type.shape.size(); ++i) {
    if (type.shape[i].size >= 0 && type.shape[i].size != tensor.dims[i]) return false;
  }
  return true;
}

/// "1.5 (f64)", "f32[2, 3]".
std::string described(const ValueView& value) {
  const Value whole = value.value();
  const std::string type = to_string(whole.type());
  return whole.is_scalar() ? fmt::format("{} ({})", to_string(whole), type) : type;
}

/// Whether more than one reference leads to a data value with fields.
bool has_several_references(const DataObject* object) {
  const int32_t count =
      std::atomic_ref(const_cast<DataObject*>(object)->references).load(std::memory_order_relaxed);
  return count != 1 && count != -1 && count != DataObject::kOutside + 1;
}

/// Parts that several others share, each with the types that it was looked at as.
using SharedParts = std::set<std::pair<const DataObject*, const DataType*>>;

/// How the fields of data values that fit are laid out, of the types that it was asked for.
class ExpectedLayouts {
 public:
  /// The code of the layout that makes each variant fit as far as it is not looked below; kUnknown
  /// where the fields have to be looked at one by one, as tensors have. Valid until the next call.
  std::span<const uint16_t> of(const DataType& type) {
    if (&type != latest_.type) latest_ = known(type);
    return std::span(codes_.data() + latest_.begin, type.variants.size());
  }

  static constexpr uint16_t kUnknown = 0;  ///< no value with fields has it

 private:
  struct Known {
    const DataType* type = nullptr;
    std::size_t begin = 0;
  };

  Known known(const DataType& type) {
    for (const Known& one : types_) {
      if (one.type == &type) return one;
    }
    types_.push_back({&type, codes_.size()});
    for (const Variant& variant : type.variants) codes_.push_back(code_of(variant.fields));
    return types_.back();
  }

  static uint16_t code_of(const std::vector<Field>& fields) {
    std::array<FieldKind, FieldLayout::kMostInline> kinds{};
    if (fields.size() > kinds.size()) return kUnknown;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const Type& type = fields[i].type;
      if (type.is_tensor()) return kUnknown;
      kinds[i] = type.is_data() ? FieldKind::Data : field_kind(type.dtype);
    }
    const auto used = std::span(kinds).first(fields.size());
    return FieldLayout::fits_inline(used) ? FieldLayout(used).code() : kUnknown;
  }

  Known latest_;
  SmallVector<Known, 4> types_;
  SmallVector<uint16_t, 32> codes_;
};

/// Whether all of it fits. Each run of a program on data looks through its arguments: this tells what nearly
/// all do, without a note of which field a part is.
bool fits_data(const DataObject* whole, const DataType& whole_type) {
  struct Open {
    const DataObject* part;
    const DataType* wanted;
  };
  SmallVector<Open, 64> waiting;
  SharedParts known;
  ExpectedLayouts expected;
  waiting.push_back({whole, &whole_type});
  while (!waiting.empty()) {
    const auto [part, wanted] = waiting.back();
    waiting.pop_back();
    const uint32_t variant = Data::variant_of(part);
    const std::span<const uint16_t> codes = expected.of(*wanted);
    if (variant >= codes.size()) return false;
    const std::vector<Field>& fields = wanted->variants[variant].fields;
    if (!Data::has_object(part)) {
      if (!fields.empty()) return false;
      continue;
    }
    if (has_several_references(part) && !known.emplace(part, wanted).second) continue;
    const FieldLayout layout = part->fields_layout();
    if (layout.code() == codes[variant]) {
      const Field* field = fields.data();
      const Slot* slot = part->slots();
      for (unsigned code = layout.code(); code != 0; code >>= FieldLayout::kBitsOfKind, ++field, ++slot) {
        if (static_cast<FieldKind>(code & 7) == FieldKind::Data)
          waiting.push_back({slot->data, field->type.data.get()});
      }
      continue;
    }
    if (layout.count() != fields.size()) return false;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const Type& type = fields[i].type;
      const FieldKind kind = layout.kind(i);
      const Slot slot = part->slots()[i];
      if (kind == FieldKind::Data) {
        if (!type.is_data()) return false;
        waiting.push_back({slot.data, type.data.get()});
      } else if (type.is_data() || !fits_undivided({kind, slot}, type)) {
        return false;
      }
    }
  }
  return true;
}

/// What in it does not fit, named as `misfit` names it. This is a loop, not a recursion, for values may be as
/// deep as memory allows. A part that several others share is looked at once for each type.
std::optional<std::string> find_misfit(const Value& value, const Type& type) {
  struct Open {
    ValueView part;
    const Type* wanted;
    const Field* field = nullptr;  ///< which it is of `of`
    const Variant* of = nullptr;
  };
  const auto told = [](const Open& open, std::string_view found) {
    if (open.field == nullptr) return std::string(found);
    // Strings and tuples have variants without a name.
    return fmt::format("{} as field '{}: {}'{}{}", found, open.field->name, to_string(*open.wanted),
                       open.of->name.empty() ? "" : " of ", open.of->name);
  };
  SmallVector<Open, 64> waiting;
  SharedParts known;
  waiting.push_back({value, &type});
  while (!waiting.empty()) {
    const Open open = waiting.back();
    const auto& [part, wanted, field, of] = open;
    waiting.pop_back();
    if (!part.is_data()) {
      if (wanted->is_data() || !fits_undivided(part, *wanted)) return told(open, described(part));
      continue;
    }
    if (!wanted->is_data()) return told(open, "a data value");
    const uint32_t variant = Data::variant_of(part.slot.data);
    const std::vector<Variant>& variants = wanted->data->variants;
    if (variant >= variants.size()) {
      return told(open, fmt::format("a data value of variant {}, where {} has {}", variant,
                                    wanted->data->name, variants.size()));
    }
    const std::vector<Field>& fields = variants[variant].fields;
    const DataFields found(part.slot.data);
    if (found.size() != fields.size()) {
      return told(open, fmt::format("a data value of variant {} with {} fields, where {} has {}", variant,
                                    found.size(), variants[variant].name, fields.size()));
    }
    if (!fields.empty() && has_several_references(part.slot.data) &&
        !known.emplace(part.slot.data, wanted->data.get()).second) {
      continue;
    }
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const ValueView inner = found.view(i);
      const Type& inner_type = fields[i].type;
      const Open open_field{inner, &inner_type, &fields[i], &variants[variant]};
      if (!inner.is_scalar()) {
        waiting.push_back(open_field);
      } else if (inner.dtype() != inner_type.dtype || !inner_type.is_scalar()) {
        return told(open_field, described(inner));
      }
    }
  }
  return std::nullopt;
}

}  // namespace

bool fits(const Value& value, const Type& type) {
  if (type.is_data()) return value.is_data() && fits_data(value.slot().data, *type.data);
  return !value.is_data() && fits_undivided(value, type);
}

std::optional<std::string> misfit(const Value& value, const Type& type) {
  return fits(value, type) ? std::nullopt : find_misfit(value, type);
}

void Value::refuse_as(std::string_view asked) const {
  throw ProgramError(
      fmt::format("expected {}, found {}", asked, is_data() ? "a data value" : described(*this)));
}

void Value::refuse_as(DType asked) const {
  refuse_as(fmt::format("a value of type {}", name_of(asked)));
}

std::string_view Value::refuse_no_text() {
  throw ProgramError("expected text, found a pointer that is null");
}

void Value::refuse_nothing() {
  throw ProgramError("expected a value, found a Tensor or Data that was made without one");
}

void write_text(const Value& value, const Type& type, const std::function<void(std::string_view)>& write) {
  if (!value.is_data()) return write(to_string(value));
  if (const std::optional<std::string> found = misfit(value, type))
    throw ProgramError(fmt::format("expected a value of type {}, found {}", to_string(type), *found));
  write_data(value, type, write);
}

std::string to_string(const Value& value, const Type& type) {
  std::string text;
  write_text(value, type, [&text](std::string_view piece) { text += piece; });
  return text;
}

std::string to_string(const ValueView& value) {
  if (value.is_tensor()) {
    int64_t next = 0;
    return tensor_text(*value.slot.tensor, 0, next);
  }
  return to_string(value.value());
}

std::string to_string(const Value& value) {
  if (value.is_data()) return "a data value";
  if (value.is_tensor()) return to_string(ValueView(value));
  switch (value.dtype()) {
    case DType::Bool:
      return value.as<bool>() ? "true" : "false";
    case DType::U8:
      return std::to_string(value.as<uint8_t>());
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
      throw ProgramError(
          fmt::format("expected a value of type bool ('true' or 'false'), found {}", shown(text)));
    case DType::U8:
      return parse_number<uint8_t>(text);
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
