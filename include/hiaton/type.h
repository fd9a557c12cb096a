// Element types, shapes and the types of values.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)
namespace hiaton {

enum class DType : uint8_t { Bool, I32, I64, F32, F64 };

constexpr bool is_integer(DType dtype) {
  return dtype == DType::I32 || dtype == DType::I64;
}
constexpr bool is_float(DType dtype) {
  return dtype == DType::F32 || dtype == DType::F64;
}
constexpr bool is_number(DType dtype) {
  return dtype != DType::Bool;
}

/// "bool", "i32", "i64", "f32", "f64".
std::string_view name_of(DType dtype);
std::optional<DType> dtype_from_name(std::string_view name);

/// One dimension of a tensor: a size, or a symbol that stands for one size throughout a function's type.
struct Dim {
  int64_t size = -1;   ///< -1: symbolic
  std::string symbol;  ///< empty: fixed

  friend bool operator==(const Dim&, const Dim&) = default;
};

class DataType;

/// The type of a value: an element type and a shape, or a data type. A scalar has the empty shape.
struct Type {
  DType dtype = DType::I64;  ///< of the elements; without meaning for a data type
  std::vector<Dim> shape;
  std::shared_ptr<const DataType> data;  ///< null: a scalar or a tensor

  Type() = default;
  Type(DType element) : dtype(element) {}  // NOLINT(google-explicit-constructor): a DType is a scalar type
  Type(DType element, std::vector<Dim> dims) : dtype(element), shape(std::move(dims)) {}
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
/// What is known of a value that has the one or the other of two compatible types.
Type join(const Type& a, const Type& b);

/// Whether all dimensions are known. True for scalars and data.
bool is_fixed(const Type& type);

/// A tensor type with fixed dimensions.
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
/// that names one keeps alive; the types of fields refer to their siblings without owning them.
class DataType {
 public:
  std::string name;
  std::vector<Variant> variants;

  /// The index of the variant of this name.
  std::optional<std::size_t> find(std::string_view variant) const;
};

/// The type of a field, as a type that owns what it refers to. `data` is a data type.
Type field_type(const Type& data, std::size_t variant, std::size_t field);

/// The data types of a module: declared first, so that fields may name any of them, then defined.
class DataTypes {
 public:
  DataTypes();
  /// Throws ProgramError where the name is taken.
  Type declare(std::string name);
  /// Gives a declared type its variants. The types of fields may be types of this collection.
  void define(const Type& type, std::vector<Variant> variants);
  /// The built-in list of `element`: variants Nil() and Cons(head: element, tail: List[element]). The same
  /// type for the same element.
  Type list_of(const Type& element);
  /// Invalid (not data) where there is none of this name.
  std::optional<Type> find(std::string_view name) const;
  /// In the order of declaration.
  std::vector<Type> all() const;

 private:
  struct Arena;
  std::shared_ptr<Arena> arena_;
};

/// As written in programs: "i64", "f32[2, d]", "Tree".
std::string to_string(const Type& type);

}  // namespace hiaton
#pragma GCC visibility pop
