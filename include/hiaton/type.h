// Element types, shapes and the types of values.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)
namespace hiaton {

enum class DType : uint8_t { Bool, I32, I64, F32, F64, U8 };

constexpr bool is_integer(DType dtype) {
  return dtype == DType::I32 || dtype == DType::I64 || dtype == DType::U8;
}
constexpr bool is_float(DType dtype) {
  return dtype == DType::F32 || dtype == DType::F64;
}
constexpr bool is_number(DType dtype) {
  return dtype != DType::Bool;
}

/// "bool", "u8", "i32", "i64", "f32", "f64".
std::string_view name_of(DType dtype);
std::optional<DType> dtype_from_name(std::string_view name);

/// The element type whose elements have this C++ type: DType::I64 of int64_t.
template <class T>
requires(std::same_as<T, bool> || std::same_as<T, uint8_t> || std::same_as<T, int32_t> ||
         std::same_as<T, int64_t> || std::same_as<T, float> || std::same_as<T, double>) constexpr DType
    dtype_of() {
  if constexpr (std::same_as<T, bool>) return DType::Bool;
  if constexpr (std::same_as<T, uint8_t>) return DType::U8;
  if constexpr (std::same_as<T, int32_t>) return DType::I32;
  if constexpr (std::same_as<T, int64_t>) return DType::I64;
  if constexpr (std::same_as<T, float>) return DType::F32;
  if constexpr (std::same_as<T, double>) return DType::F64;
}

/// One dimension of a tensor: a size, or a symbol that stands for one size throughout a function's type.
struct Dim {
  int64_t size = -1;   ///< -1: symbolic
  std::string symbol;  ///< empty: fixed

  friend bool operator==(const Dim&, const Dim&) = default;
};

/// The dimensions of a tensor. Used as a std::vector<Dim>; one pointer where there are none, as in most
/// types.
class Shape {
 public:
  Shape() = default;
  Shape(std::vector<Dim> dims)  // NOLINT(google-explicit-constructor): a list of dimensions is a shape
      : dims_(dims.empty() ? nullptr : std::make_unique<std::vector<Dim>>(std::move(dims))) {}
  Shape(std::initializer_list<Dim> dims) : Shape(std::vector<Dim>(dims)) {}
  Shape(const Shape& other)
      : dims_(other.dims_ == nullptr ? nullptr : std::make_unique<std::vector<Dim>>(*other.dims_)) {}
  Shape(Shape&&) = default;
  Shape& operator=(const Shape& other) { return *this = Shape(other); }
  Shape& operator=(Shape&&) = default;
  ~Shape() = default;

  bool empty() const { return size() == 0; }
  std::size_t size() const { return dims_ == nullptr ? 0 : dims_->size(); }
  Dim* begin() { return dims_ == nullptr ? nullptr : dims_->data(); }
  Dim* end() { return begin() + size(); }
  const Dim* begin() const { return dims_ == nullptr ? nullptr : dims_->data(); }
  const Dim* end() const { return begin() + size(); }
  Dim& operator[](std::size_t i) { return (*dims_)[i]; }
  const Dim& operator[](std::size_t i) const { return (*dims_)[i]; }
  const Dim& front() const { return dims_->front(); }
  const Dim& back() const { return dims_->back(); }

  void push_back(Dim dim) { insert(end(), std::move(dim)); }
  /// Before `position`.
  void insert(const Dim* position, Dim dim) {
    const std::ptrdiff_t index = position - begin();
    if (dims_ == nullptr) dims_ = std::make_unique<std::vector<Dim>>();
    dims_->insert(dims_->begin() + index, std::move(dim));
  }
  void erase(const Dim* position) { dims_->erase(dims_->begin() + (position - begin())); }

  friend bool operator==(const Shape& a, const Shape& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  std::unique_ptr<std::vector<Dim>> dims_;
};

class DataType;

/// The type of a value: an element type and a shape, or a data type. A scalar has the empty shape.
struct Type {
  DType dtype = DType::I64;  ///< the type of the elements; without meaning for a data type
  Shape shape;
  std::shared_ptr<const DataType> data;  ///< null: a scalar or a tensor

  Type() = default;
  Type(DType element) : dtype(element) {}  // NOLINT(google-explicit-constructor): a DType is a scalar type
  Type(DType element, Shape dims) : dtype(element), shape(std::move(dims)) {}
  Type(std::shared_ptr<const DataType> of) : data(std::move(of)) {}  // NOLINT(google-explicit-constructor)
  bool is_scalar() const { return shape.empty() && data == nullptr; }
  bool is_tensor() const { return !shape.empty(); }
  bool is_data() const { return data != nullptr; }
  /// Data types are the same where their names are.
  friend bool operator==(const Type& a, const Type& b);
};

/// A dimension that only the run knows.
Dim unknown_dim();

/// Whether a value of one type may stand where the other is asked for: the same data type, or the same
/// element type and rank and dimensions of which none differs from the other's; one that only the run knows
/// goes with any.
bool compatible(const Type& a, const Type& b);
/// The type with dimensions that only the run knows.
Type without_sizes(Type type);
/// What is known of a value that has the one or the other of two types, which are compatible but for sizes.
Type join(const Type& a, const Type& b);

/// Whether all dimensions are known. True for scalars and data.
bool is_fixed(const Type& type);

/// A tensor type with fixed dimensions. Throws ProgramError where one is negative.
Type tensor_type(DType dtype, const std::vector<int64_t>& dims);

/// A named part of a variant.
struct Field {
  std::string name;
  Type type;
};

/// One way a data value can be made.
struct Variant {
  std::string name;
  std::vector<Field> fields;
};

/// A user-defined data type: `data Tree = Leaf(word: i64) | Node(left: Tree, right: Tree)`.
///
/// Data types may contain each other and themselves. They live together in one DataTypes, which every Type
/// that names one keeps alive; the types of fields refer to their siblings without owning them. Those that
/// programs do not declare have names with brackets: "List[i64]", "Gradient[Tree]", "Pair[i64, f64]", a use
/// of a generic data type, and "(i64, f64)", a tuple.
class DataType {
 public:
  std::string name;
  std::vector<Variant> variants;

  /// The index of the variant of this name.
  std::optional<std::size_t> find(std::string_view variant) const;
};

/// Whether it is a type of tuples: see DataTypes::tuple_of.
bool is_tuple(const Type& type);

/// The built-in type of strings: "str", with one variant, which has no name, and the field "code_points":
/// i32[_]. There is one for all programs.
Type string_type();
bool is_string(const Type& type);

/// Whether values of the type are numbers, strings, or tuples of such ones.
bool is_ordered(const Type& type);

/// The type of a field, as a type that owns what it refers to. Throws ProgramError where `data` is no data
/// type with such a field.
Type field_type(const Type& data, std::size_t variant, std::size_t field);

/// Whether values of the type hold floats: float scalars, float tensors, and data types with such fields,
/// however deep.
bool holds_floats(const Type& type);

/// Whether it is the type of the gradient of a tensor that is a field: see DataTypes::gradient_of.
bool is_gradient_of_tensor(const Type& type);

/// The data types of a module: declared first, so that fields may name any of them, then defined.
class DataTypes {
 public:
  DataTypes();
  /// Throws ProgramError where the name is taken, or longer than any that a program needs. So do the
  /// functions that make a type.
  Type declare(std::string name);
  /// Gives a declared type its variants. Throws ProgramError where the type was not declared here, or has
  /// variants already, where there is no variant or a name stands twice, and where the type of a field is a
  /// data type of another collection. So do the functions that make a type of others.
  void define(const Type& type, std::vector<Variant> variants);
  /// Gives it other variants, as they become known one by one: nothing may have used the ones before. Throws
  /// ProgramError where the type, or that of a field, was not declared here.
  void redefine(const Type& type, std::vector<Variant> variants);
  /// The built-in list of `element`: variants Nil() and Cons(head: element, tail: List[element]). The same
  /// type for the same element.
  Type list_of(const Type& element);
  /// The built-in type of these values together, at least two: "(i64, f64)", with one variant, which has no
  /// name, and fields "0", "1", ... The same type for the same parts.
  Type tuple_of(const std::vector<Type>& parts);
  /// The type of the gradients of values of `type`, which holds floats. That of a scalar or tensor is its
  /// own. That of a data type T is "Gradient[T]": variant 0 means that all is zero; variant i + 1 goes with
  /// variant i of T and has the gradients of those of its fields that hold floats, in their order. As a
  /// field, the gradient of a tensor is "Gradient[f32[3]]": zero, or the tensor.
  Type gradient_of(const Type& type);
  /// The data type of this name, or the type of strings; empty where there is none.
  std::optional<Type> find(std::string_view name) const;
  /// All data types, in the order of declaration.
  std::vector<Type> all() const;

 private:
  struct Arena;
  DataType& declared_as(const Type& type);
  /// Throws ProgramError for a data type of another collection, which may not live as long as this one.
  void require_own(const Type& type) const;
  std::shared_ptr<Arena> arena_;
};

/// The type as it is written in programs: "i64", "f32[2, d]", "Tree".
std::string to_string(const Type& type);

}  // namespace hiaton
#pragma GCC visibility pop
