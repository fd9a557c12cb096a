// Values: what tokens carry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hiaton/data.h"
#include "hiaton/tensor.h"
#include "hiaton/type.h"

#pragma GCC visibility push(default)
namespace hiaton {

/// Eight bytes that hold one scalar, or refer to a tensor or a data value; which member counts is known from
/// the type beside it. Unused bytes are zero, so equal scalars have equal `bits`.
union Slot {
  uint64_t bits;
  bool boolean;
  uint8_t u8;
  int32_t i32;
  int64_t i64;
  float f32;
  double f64;
  TensorObject* tensor;
  DataObject* data;

  constexpr Slot() : bits(0) {}
};
static_assert(sizeof(Slot) == 8);

inline Slot* DataObject::slots() {
  return reinterpret_cast<Slot*>(this + 1);
}
inline const Slot* DataObject::slots() const {
  return reinterpret_cast<const Slot*>(this + 1);
}

template <class T>
struct ScalarTraits;
template <>
struct ScalarTraits<bool> {
  static constexpr DType dtype = dtype_of<bool>();
  static constexpr bool Slot::*member = &Slot::boolean;
};
template <>
struct ScalarTraits<uint8_t> {
  static constexpr DType dtype = dtype_of<uint8_t>();
  static constexpr uint8_t Slot::*member = &Slot::u8;
};
template <>
struct ScalarTraits<int32_t> {
  static constexpr DType dtype = dtype_of<int32_t>();
  static constexpr int32_t Slot::*member = &Slot::i32;
};
template <>
struct ScalarTraits<int64_t> {
  static constexpr DType dtype = dtype_of<int64_t>();
  static constexpr int64_t Slot::*member = &Slot::i64;
};
template <>
struct ScalarTraits<float> {
  static constexpr DType dtype = dtype_of<float>();
  static constexpr float Slot::*member = &Slot::f32;
};
template <>
struct ScalarTraits<double> {
  static constexpr DType dtype = dtype_of<double>();
  static constexpr double Slot::*member = &Slot::f64;
};

template <class T>
inline T get(const Slot& slot) {
  return slot.*ScalarTraits<T>::member;
}
template <class T>
inline Slot make_slot(T scalar) {
  Slot slot;
  slot.*ScalarTraits<T>::member = scalar;
  return slot;
}

/// A scalar, a tensor or a data value, as a string is one. Immutable; copies share what they refer to.
class Value {
 public:
  enum class Kind : uint8_t { Scalar, Tensor, Data };

  Value() : Value(int64_t{0}) {}
  template <class T>
  requires requires { ScalarTraits<T>::dtype; }
  Value(T scalar)  // NOLINT(google-explicit-constructor): a scalar is a value
      : dtype_(ScalarTraits<T>::dtype), slot_(make_slot(scalar)) {}
  Value(DType dtype, Slot slot) : dtype_(dtype), slot_(slot) {}
  /// Throws ProgramError where `tensor` was made without a type and sizes, and so is none.
  Value(Tensor tensor) {  // NOLINT(google-explicit-constructor): a tensor is a value
    if (!tensor) refuse_nothing();
    dtype_ = tensor.dtype();
    kind_ = Kind::Tensor;
    slot_.tensor = tensor.detach();
  }
  /// A string, which is a data value of the type "str". Throws ProgramError where the text is not UTF-8.
  Value(std::string_view text);   // NOLINT(google-explicit-constructor): a string is a value
  Value(const std::string& text)  // NOLINT(google-explicit-constructor): likewise
      : Value(std::string_view(text)) {}
  /// Throws ProgramError where there is no text.
  Value(const char* text)  // NOLINT(google-explicit-constructor): likewise
      : Value(text == nullptr ? refuse_no_text() : std::string_view(text)) {}
  Value(std::nullptr_t) = delete;
  /// Throws ProgramError where `data` was made without a variant, and so is none.
  Value(Data data) {  // NOLINT(google-explicit-constructor): a data value is a value
    if (!data) refuse_nothing();
    kind_ = Kind::Data;
    slot_.data = data.detach();
  }

  Value(const Value& other) : dtype_(other.dtype_), kind_(other.kind_), slot_(other.slot_) { retain(); }
  Value(Value&& other) noexcept
      : dtype_(other.dtype_), kind_(std::exchange(other.kind_, Kind::Scalar)), slot_(other.slot_) {}
  Value& operator=(const Value& other) {
    other.retain();
    release();
    dtype_ = other.dtype_;
    kind_ = other.kind_;
    slot_ = other.slot_;
    return *this;
  }
  Value& operator=(Value&& other) noexcept {
    std::swap(dtype_, other.dtype_);
    std::swap(kind_, other.kind_);
    std::swap(slot_, other.slot_);
    return *this;
  }
  ~Value() { release(); }

  Kind kind() const { return kind_; }
  bool is_scalar() const { return kind_ == Kind::Scalar; }
  bool is_tensor() const { return kind_ == Kind::Tensor; }
  bool is_data() const { return kind_ == Kind::Data; }
  /// The type of a scalar, or of the elements of a tensor.
  DType dtype() const { return dtype_; }
  /// The type of a scalar or a tensor. A data value does not know its type.
  Type type() const { return kind_ == Kind::Tensor ? tensor().type() : Type(dtype_); }
  const Slot& slot() const { return slot_; }
  /// The scalar; T is the C++ type of dtype(), as int64_t of i64. Throws ProgramError where it is another
  /// one.
  template <class T>
  T as() const {
    if (kind_ != Kind::Scalar || dtype_ != ScalarTraits<T>::dtype) refuse_as(ScalarTraits<T>::dtype);
    return get<T>(slot_);
  }
  /// One more reference to the tensor. Throws ProgramError where this is none.
  Tensor tensor() const {
    if (kind_ != Kind::Tensor) refuse_as("a tensor");
    slot_.tensor->references.fetch_add(1, std::memory_order_relaxed);
    return Tensor::adopt(slot_.tensor);
  }
  /// One more reference to the data value. Throws ProgramError where this is none.
  Data data() const {
    if (kind_ != Kind::Data) refuse_as("a data value");
    Data::retain(slot_.data);
    return Data::adopt(slot_.data);
  }
  /// The text of a string in UTF-8. Throws ProgramError where this is no value of the type "str", as far as
  /// values know their types: a data value with a single field, a tensor of i32, can be taken for one.
  std::string string() const;
  /// Gives up what it refers to without letting go: the caller owns the reference.
  Slot detach() {
    kind_ = Kind::Scalar;
    return slot_;
  }

  /// Same type and same bits: NaN equals itself, 0.0 differs from -0.0.
  friend bool operator==(const Value& a, const Value& b) {
    if (a.kind_ != b.kind_) return false;
    if (a.kind_ == Kind::Data) return a.slot_.data == b.slot_.data || a.data() == b.data();
    if (a.kind_ == Kind::Tensor) return a.tensor() == b.tensor();
    return a.dtype_ == b.dtype_ && a.slot_.bits == b.slot_.bits;
  }

 private:
  [[noreturn]] static void refuse_nothing();
  [[noreturn]] static std::string_view refuse_no_text();
  [[noreturn]] void refuse_as(DType asked) const;
  [[noreturn]] void refuse_as(std::string_view asked) const;
  void retain() const {
    if (kind_ == Kind::Tensor) slot_.tensor->references.fetch_add(1, std::memory_order_relaxed);
    if (kind_ == Kind::Data) Data::retain(slot_.data);
  }
  void release() {
    if (kind_ == Kind::Tensor) Tensor::release(slot_.tensor);
    if (kind_ == Kind::Data) Data::release(slot_.data);
  }

  DType dtype_ = DType::I64;
  Kind kind_ = Kind::Scalar;
  Slot slot_;
};

/// A field of a data value, or any value, without a reference of its own.
struct ValueView {
  FieldKind kind = FieldKind::None;
  Slot slot{};

  ValueView() = default;
  ValueView(FieldKind its_kind, Slot its_slot) : kind(its_kind), slot(its_slot) {}
  ValueView(const Value& value)  // NOLINT(google-explicit-constructor): a value can be looked at
      : kind(value.is_data()     ? FieldKind::Data
             : value.is_tensor() ? FieldKind::Tensor
                                 : field_kind(value.dtype())),
        slot(value.slot()) {}

  bool is_data() const { return kind == FieldKind::Data; }
  bool is_tensor() const { return kind == FieldKind::Tensor; }
  bool is_scalar() const { return !is_reference(kind); }
  /// The type of a scalar, or of the elements of a tensor.
  DType dtype() const { return is_tensor() ? slot.tensor->dtype : scalar_dtype(kind); }
  /// The same with a reference of its own.
  Value value() const {
    if (is_data()) {
      Data::retain(slot.data);
      return Data::adopt(slot.data);
    }
    if (!is_tensor()) return Value(dtype(), slot);
    Tensor::retain(slot.tensor);
    return Tensor::adopt(slot.tensor);
  }
};

/// The fields of a data value that somebody else holds, in their order.
class DataFields {
 public:
  explicit DataFields(const DataObject* object) : object_(object), count_(Data::count_of(object)) {}

  std::size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  ValueView view(std::size_t index) const {
    return {object_->fields_layout().kind(index), object_->slots()[index]};
  }
  Value operator[](std::size_t index) const { return view(index).value(); }

  class Iterator {
   public:
    Iterator(const DataFields& fields, std::size_t index) : fields_(&fields), index_(index) {}
    Value operator*() const { return (*fields_)[index_]; }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    bool operator==(const Iterator& other) const { return index_ == other.index_; }

   private:
    const DataFields* fields_;
    std::size_t index_;
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, count_}; }

 private:
  const DataObject* object_;
  std::size_t count_;
};

inline DataFields Data::fields() const {
  return DataFields(object_);
}
inline Value Data::field(std::size_t index) const {
  if (index >= field_count()) refuse_field(index);
  return fields()[index];
}

/// The list of these values, as programs write it with brackets.
Data make_list(std::span<const Value> elements);
Data make_list(std::initializer_list<Value> elements);
/// The elements of a list. Throws ProgramError where the value is none.
std::vector<Value> list_elements(const Value& list);

/// One element of a tensor, in row-major order.
Value element_of(const Tensor& tensor, int64_t index);

/// Whether a value may stand where `type` is asked for: kinds, element types and fixed dimensions agree.
bool fits(const Value& value, const Type& type);

/// For people: the shortest text that reads back as the same value ("3", "0.1", "nan", "true").
/// Tensors as nested brackets.
std::string to_string(const Value& value);
std::string to_string(const ValueView& value);
/// The same for a value of any type, which it must fit: data values as `Node(Leaf(1), Leaf(2))`, lists as
/// `[1, 2]`.
std::string to_string(const Value& value, const Type& type);
/// The same, handed on in pieces: a value whose parts are shared may have more text than there is memory.
void write_text(const Value& value, const Type& type, const std::function<void(std::string_view)>& write);

/// Reads a scalar of the given type from text that holds nothing else. Throws ProgramError that says what was
/// expected and found, also where a number is out of the type's range.
Value parse_value(DType dtype, std::string_view text);

/// The same for any type, as to_string(value, type) writes it.
Value parse_value(const Type& type, std::string_view text);

/// 0, 0.0 or false.
Value zero_of(DType dtype);

}  // namespace hiaton
#pragma GCC visibility pop
