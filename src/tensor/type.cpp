#include "hiaton/type.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <mutex>
#include <set>
#include <unordered_map>

#include "hiaton/error.h"

namespace hiaton {
namespace {

constexpr std::string_view kDTypeNames[] = {"bool", "i32", "i64", "f32", "f64", "u8"};
constexpr std::string_view kStringName = "str";

void require_variants(const std::string& type, const std::vector<Variant>& variants) {
  if (variants.empty())
    throw ProgramError(fmt::format("data type '{}': expected variants, found none", type));
  std::set<std::string_view> names;
  for (const Variant& variant : variants) {
    if (!names.insert(variant.name).second) {
      throw ProgramError(
          fmt::format("data type '{}': expected the variant '{}' once, found it twice", type, variant.name));
    }
    std::set<std::string_view> fields;
    for (const Field& field : variant.fields) {
      if (!fields.insert(field.name).second) {
        throw ProgramError(fmt::format("variant '{}': expected the field '{}' once, found it twice",
                                       variant.name, field.name));
      }
    }
  }
}

/// A reference that does not own: between the types of one collection.
std::shared_ptr<const DataType> unowned(const DataType* type) {
  return {std::shared_ptr<const void>(), type};
}

}  // namespace

std::string_view name_of(DType dtype) {
  return kDTypeNames[static_cast<std::size_t>(dtype)];
}

std::optional<DType> dtype_from_name(std::string_view name) {
  for (std::size_t i = 0; i < std::size(kDTypeNames); ++i) {
    if (kDTypeNames[i] == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

// A friend that is first declared in its class does not get the visibility of the header.
[[gnu::visibility("default")]] bool operator==(const Type& a, const Type& b) {
  if (a.data != nullptr || b.data != nullptr) {
    return a.data == b.data || (a.data != nullptr && b.data != nullptr && a.data->name == b.data->name);
  }
  return a.dtype == b.dtype && a.shape == b.shape;
}

Dim unknown_dim() {
  return Dim{.size = -1, .symbol = "_"};
}

bool compatible(const Type& a, const Type& b) {
  if (a.is_data() || b.is_data()) return a == b;
  const auto may_equal = [](const Dim& x, const Dim& y) {
    return x.size < 0 || y.size < 0 || x.size == y.size;
  };
  return a.dtype == b.dtype &&
         std::equal(a.shape.begin(), a.shape.end(), b.shape.begin(), b.shape.end(), may_equal);
}

Type without_sizes(Type type) {
  std::fill(type.shape.begin(), type.shape.end(), unknown_dim());
  return type;
}

Type join(const Type& a, const Type& b) {
  Type type = a;
  for (std::size_t i = 0; i < type.shape.size(); ++i) {
    if (a.shape[i] != b.shape[i]) type.shape[i] = unknown_dim();
  }
  return type;
}

bool is_fixed(const Type& type) {
  return std::all_of(type.shape.begin(), type.shape.end(), [](const Dim& dim) { return dim.size >= 0; });
}

Type tensor_type(DType dtype, const std::vector<int64_t>& dims) {
  std::vector<Dim> shape;
  for (int64_t dim : dims) {
    if (dim < 0) throw ProgramError(fmt::format("expected dimensions of 0 or more, found {}", dim));
    shape.push_back({.size = dim, .symbol = ""});
  }
  return Type(dtype, std::move(shape));
}

std::string to_string(const Type& type) {
  if (type.is_data()) return type.data->name;
  std::string text(name_of(type.dtype));
  if (type.is_scalar()) return text;
  text += '[';
  for (std::size_t i = 0; i < type.shape.size(); ++i) {
    if (i > 0) text += ", ";
    text += type.shape[i].size >= 0 ? std::to_string(type.shape[i].size) : type.shape[i].symbol;
  }
  return text + ']';
}

std::optional<std::size_t> DataType::find(std::string_view variant) const {
  for (std::size_t i = 0; i < variants.size(); ++i) {
    if (variants[i].name == variant) return i;
  }
  return std::nullopt;
}

bool is_tuple(const Type& type) {
  return type.is_data() && type.data->name.starts_with('(');
}

Type string_type() {
  static const auto string = std::make_shared<const DataType>(DataType{
      std::string(kStringName), {{"", {{"code_points", Type(DType::I32, std::vector{unknown_dim()})}}}}});
  return Type(string);
}

bool is_string(const Type& type) {
  return type.is_data() && type.data->name == kStringName;
}

bool is_ordered(const Type& type) {
  if (!type.is_data()) return type.is_scalar() && is_number(type.dtype);
  if (is_string(type)) return true;
  if (!is_tuple(type)) return false;
  const std::vector<Field>& fields = type.data->variants[0].fields;
  return std::all_of(fields.begin(), fields.end(), [](const Field& field) { return is_ordered(field.type); });
}

Type field_type(const Type& data, std::size_t variant, std::size_t field) {
  const bool is_there = data.is_data() && variant < data.data->variants.size() &&
                        field < data.data->variants[variant].fields.size();
  if (!is_there) {
    throw ProgramError(fmt::format("expected a data type with a field {} of variant {}, found {}", field,
                                   variant, to_string(data)));
  }
  Type type = data.data->variants[variant].fields[field].type;
  if (type.is_data()) type.data = std::shared_ptr<const DataType>(data.data, type.data.get());
  return type;
}

bool holds_floats(const Type& type) {
  if (!type.is_data()) return is_float(type.dtype);
  std::set<const DataType*> seen{type.data.get()};
  std::vector<const DataType*> waiting{type.data.get()};
  while (!waiting.empty()) {
    const DataType* data = waiting.back();
    waiting.pop_back();
    for (const Variant& variant : data->variants) {
      for (const Field& field : variant.fields) {
        if (!field.type.is_data() && is_float(field.type.dtype)) return true;
        if (field.type.is_data() && seen.insert(field.type.data.get()).second) {
          waiting.push_back(field.type.data.get());
        }
      }
    }
  }
  return false;
}

bool is_gradient_of_tensor(const Type& type) {
  if (!type.is_data() || !type.data->name.starts_with("Gradient[")) return false;
  const std::vector<Variant>& variants = type.data->variants;
  return variants.size() == 2 && variants[1].fields.size() == 1 && variants[1].fields[0].type.is_tensor();
}

/// Modules share it with their copies, which may be compiled at the same time.
struct DataTypes::Arena {
  std::recursive_mutex mutex;
  std::deque<DataType> types;
  std::unordered_map<std::string_view, DataType*> by_name;
};

/// The name of a tuple says all of it, and may be twice as long as that of each of its parts, level by level.
constexpr std::size_t kMostNameBytes = std::size_t{1} << 16;

DataTypes::DataTypes() : arena_(std::make_shared<Arena>()) {}

Type DataTypes::declare(std::string name) {
  const std::lock_guard lock(arena_->mutex);
  if (arena_->by_name.contains(name) || name == kStringName)
    throw ProgramError(fmt::format("data type '{}' is defined twice", name));
  if (name.size() > kMostNameBytes) {
    throw ProgramError(fmt::format("expected a type of at most {} characters, found {} of them: '{}...'",
                                   kMostNameBytes, name.size(), std::string_view(name).substr(0, 40)));
  }
  DataType& type = arena_->types.emplace_back();
  type.name = std::move(name);
  arena_->by_name.emplace(type.name, &type);
  return Type(std::shared_ptr<const DataType>(arena_, &type));
}

void DataTypes::define(const Type& type, std::vector<Variant> variants) {
  const std::lock_guard lock(arena_->mutex);
  const DataType& declared = declared_as(type);
  if (!declared.variants.empty())
    throw ProgramError(fmt::format("data type '{}' is defined twice", declared.name));
  require_variants(declared.name, variants);
  redefine(type, std::move(variants));
}

void DataTypes::require_own(const Type& type) const {
  if (!type.is_data() || type.data == string_type().data) return;
  const auto found = arena_->by_name.find(type.data->name);
  if (found != arena_->by_name.end() && found->second == type.data.get()) return;
  throw ProgramError(fmt::format(
      "expected a type of this collection of data types, found '{}' of another one: declare it here, too",
      to_string(type)));
}

void DataTypes::redefine(const Type& type, std::vector<Variant> variants) {
  const std::lock_guard lock(arena_->mutex);
  for (Variant& variant : variants) {
    for (Field& field : variant.fields) {
      require_own(field.type);
      if (field.type.is_data()) field.type.data = unowned(field.type.data.get());
    }
  }
  declared_as(type).variants = std::move(variants);
}

DataType& DataTypes::declared_as(const Type& type) {
  const auto found = type.is_data() ? arena_->by_name.find(type.data->name) : arena_->by_name.end();
  if (found == arena_->by_name.end() || found->second != type.data.get())
    throw ProgramError("expected a data type that was declared here, found " + to_string(type));
  return *found->second;
}

Type DataTypes::list_of(const Type& element) {
  const std::lock_guard lock(arena_->mutex);
  require_own(element);
  const std::string name = "List[" + to_string(element) + "]";
  if (std::optional<Type> known = find(name)) return *known;
  const Type list = declare(name);
  define(list, {{"Nil", {}}, {"Cons", {{"head", element}, {"tail", list}}}});
  return list;
}

Type DataTypes::tuple_of(const std::vector<Type>& parts) {
  const std::lock_guard lock(arena_->mutex);
  std::string name;
  Variant variant;
  for (const Type& part : parts) {
    require_own(part);
    name += (name.empty() ? "(" : ", ") + to_string(part);
    variant.fields.push_back({std::to_string(variant.fields.size()), part});
  }
  name += ')';
  if (std::optional<Type> known = find(name)) return *known;
  const Type tuple = declare(name);
  define(tuple, {std::move(variant)});
  return tuple;
}

Type DataTypes::gradient_of(const Type& type) {
  if (!type.is_data()) return type;
  const std::lock_guard lock(arena_->mutex);
  require_own(type);
  std::vector<std::pair<Type, Type>> waiting;  // types, and theirs of gradients, which are not defined
  const auto of_field = [&](const Type& field) {
    if (field.is_scalar()) return field;
    const std::string name = "Gradient[" + to_string(field) + "]";
    if (std::optional<Type> known = find(name)) return *known;
    const Type made = declare(name);
    if (field.is_data()) {
      waiting.emplace_back(field, made);
    } else {
      define(made, {{"Zero", {}}, {"Tensor", {{"value", field}}}});
    }
    return made;
  };
  Type gradient = of_field(type);
  while (!waiting.empty()) {
    const auto [of, made] = waiting.back();
    waiting.pop_back();
    std::vector<Variant> variants{{"Zero", {}}};
    for (std::size_t v = 0; v < of.data->variants.size(); ++v) {
      const std::string& name = of.data->variants[v].name;
      Variant& variant =
          variants.emplace_back(Variant{name.empty() ? "Gradient" : "Gradient[" + name + "]", {}});
      for (std::size_t i = 0; i < of.data->variants[v].fields.size(); ++i) {
        const Type field = field_type(of, v, i);
        if (holds_floats(field))
          variant.fields.push_back({of.data->variants[v].fields[i].name, of_field(field)});
      }
    }
    define(made, std::move(variants));
  }
  return gradient;
}

std::optional<Type> DataTypes::find(std::string_view name) const {
  if (name == kStringName) return string_type();
  const std::lock_guard lock(arena_->mutex);
  const auto found = arena_->by_name.find(name);
  if (found == arena_->by_name.end()) return std::nullopt;
  return Type(std::shared_ptr<const DataType>(arena_, found->second));
}

std::vector<Type> DataTypes::all() const {
  const std::lock_guard lock(arena_->mutex);
  std::vector<Type> types;
  for (const DataType& type : arena_->types)
    types.emplace_back(std::shared_ptr<const DataType>(arena_, &type));
  return types;
}

}  // namespace hiaton
