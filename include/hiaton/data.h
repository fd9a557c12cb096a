// Values of data types: a variant and its fields. Immutable once shared, counted, freed without recursion.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "hiaton/type.h"

#pragma GCC visibility push(default)
namespace hiaton {

class Value;
class DataFields;

/// What a field of a data value holds. All but U8 fit in three bits.
enum class FieldKind : uint8_t { None, Bool, I32, I64, F32, F64, Tensor, Data, U8 };

/// The scalars but U8 stand in the order of DType.
constexpr FieldKind field_kind(DType dtype) {
  return dtype == DType::U8 ? FieldKind::U8 : static_cast<FieldKind>(static_cast<uint8_t>(dtype) + 1);
}
/// The type of a scalar of this kind.
constexpr DType scalar_dtype(FieldKind kind) {
  return kind == FieldKind::U8 ? DType::U8 : static_cast<DType>(static_cast<uint8_t>(kind) - 1);
}
/// Whether the field refers to something that is counted.
constexpr bool is_reference(FieldKind kind) {
  return kind == FieldKind::Tensor || kind == FieldKind::Data;
}

/// How many fields a data value has and what they hold, in two bytes: up to five fields in three bits each;
/// more fields, or such as U8 that three bits do not hold, as a number in a table that only grows and that
/// all threads read.
class FieldLayout {
 public:
  static constexpr std::size_t kMostInline = 5;
  static constexpr std::size_t kBitsOfKind = 3;

  constexpr FieldLayout() = default;
  /// Throws ProgramError where there are more different layouts than can be told apart: 32,768.
  explicit FieldLayout(std::span<const FieldKind> kinds);
  static constexpr FieldLayout from_code(uint16_t code) {
    FieldLayout layout;
    layout.code_ = code;
    return layout;
  }

  /// Whether the code holds these kinds themselves.
  static constexpr bool fits_inline(std::span<const FieldKind> kinds) {
    for (const FieldKind kind : kinds) {
      if (static_cast<unsigned>(kind) >> kBitsOfKind != 0) return false;
    }
    return kinds.size() <= kMostInline;
  }

  uint16_t code() const { return code_; }
  /// Whether the code holds the kinds themselves, the first field's in the lowest bits.
  bool is_inline() const { return code_ < kWide; }
  std::size_t count() const {
    constexpr std::size_t kRoundUp = kBitsOfKind - 1;
    return is_inline() ? (static_cast<std::size_t>(std::bit_width(code_)) + kRoundUp) / kBitsOfKind
                       : wide().size();
  }
  FieldKind kind(std::size_t field) const {
    return is_inline() ? static_cast<FieldKind>(code_ >> (kBitsOfKind * field) & 7) : wide()[field];
  }
  friend bool operator==(const FieldLayout&, const FieldLayout&) = default;

 private:
  static constexpr uint16_t kWide = 0x8000;
  std::span<const FieldKind> wide() const;

  uint16_t code_ = 0;
};

/// What the fields of a variant hold.
std::vector<FieldKind> field_kinds(const Variant& variant);

union Slot;

/// What a Data points to: eight bytes, and eight for each field behind them.
///
/// `references` tells who may count, and how:
///   above 0            only one thread refers to the value: counted by plain operations
///   from -2^30 to -1   workers of one run share it: minus the count, by atomic operations
///   below -2^30        it belongs to values outside of runs: the least number plus the count, by atomic
///                      operations. Runs neither count these nor free them: their arguments hold them.
/// All that a value of the last two kinds refers to is of the last two kinds.
struct DataObject {
  uint16_t layout = 0;
  uint16_t variant_bits = 0;  ///< the variant, above the bit that says that it stands in a DataHeap
  int32_t references = 0;

  static constexpr int32_t kOutside = std::numeric_limits<int32_t>::min();
  static constexpr int32_t kLeastShared = -(1 << 30);
  static constexpr uint32_t kMostVariants = 1 << 15;

  uint32_t variant() const { return variant_bits >> 1; }
  bool is_in_heap() const { return (variant_bits & 1) != 0; }
  FieldLayout fields_layout() const { return FieldLayout::from_code(layout); }
  inline Slot* slots();
  inline const Slot* slots() const;
  std::atomic_ref<int32_t> counter() { return std::atomic_ref(references); }
};
static_assert(sizeof(DataObject) == 8);

/// A reference to a value of a data type: a variant and its fields. Copies share them. A chain of any length
/// is freed without recursion. A variant without fields takes no memory: the reference itself is its number,
/// twice and one more.
class Data {
 public:
  Data() = default;
  /// Throws ProgramError where the variant is 32,768 or more.
  Data(uint32_t variant, std::span<const Value> fields);
  Data(uint32_t variant, std::initializer_list<Value> fields);
  /// The same, but what the fields refer to moves into the data value; they are scalars then.
  static Data take(uint32_t variant, std::span<Value> fields);
  /// The same for fields of a known layout: takes over the references in the slots, also where it throws.
  static Data take(uint32_t variant, FieldLayout layout, std::span<const Slot> slots);
  /// Lets go of the references in the first fields of a layout.
  static void release_slots(FieldLayout layout, std::span<const Slot> slots);
  /// Takes over one reference.
  static Data adopt(DataObject* object) { return Data(object); }

  Data(const Data& other) : object_(other.object_) { retain(object_); }
  Data(Data&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Data& operator=(Data other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Data() { release(object_); }

  explicit operator bool() const { return object_ != nullptr; }
  uint32_t variant() const { return variant_of(object_); }
  std::size_t field_count() const { return count_of(object_); }
  /// Throws ProgramError where there is no such field.
  Value field(std::size_t index) const;
  /// The fields, to be iterated over while this value lives; each field is made a Value as it is read.
  DataFields fields() const;
  DataObject* object() const { return object_; }
  /// Gives up its reference without letting go.
  DataObject* detach() { return std::exchange(object_, nullptr); }

  /// Whether there is memory behind the reference: not of variants without fields, nor of no value at all.
  static bool has_object(const DataObject* object) {
    return object != nullptr && (reinterpret_cast<uintptr_t>(object) & 1) == 0;
  }
  static constexpr uintptr_t bits_of_variant(uint32_t variant) { return uintptr_t{variant} * 2 + 1; }
  static uint32_t variant_of(const DataObject* object) {
    const auto bits = reinterpret_cast<uintptr_t>(object);
    return (bits & 1) != 0 ? static_cast<uint32_t>(bits >> 1) : object->variant();
  }
  static std::size_t count_of(const DataObject* object) {
    return has_object(object) ? object->fields_layout().count() : 0;
  }
  /// Outside of runs.
  static void retain(DataObject* object) {
    if (has_object(object)) object->counter().fetch_add(1, std::memory_order_relaxed);
  }
  static void release(DataObject* object) {
    if (!has_object(object)) return;
    // Who alone holds a reference needs no atomic operation. Acquire and release: what others did with the
    // value comes before it is freed.
    constexpr int32_t kLast = DataObject::kOutside + 1;
    if (object->counter().load(std::memory_order_acquire) == kLast ||
        object->counter().fetch_sub(1, std::memory_order_acq_rel) == kLast) {
      free(object);
    }
  }

  /// Same variants and fields all the way down. Values of one data type only. Without recursion.
  friend bool operator==(const Data& a, const Data& b);

 private:
  explicit Data(DataObject* object) : object_(object) {}
  [[noreturn]] void refuse_field(std::size_t index) const;
  static void free(DataObject* object);
  DataObject* object_ = nullptr;
};

}  // namespace hiaton
#pragma GCC visibility pop
