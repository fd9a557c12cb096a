#include "hiaton/data.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <unordered_set>
#include <vector>

#include "hiaton/error.h"
#include "hiaton/value.h"
#include "tensor/data_heap.h"
#include "tensor/data_references.h"
#include "tensor/small_objects.h"

namespace hiaton {
namespace {

/// Layouts that FieldLayout does not hold itself. They are never taken out, so that reading needs no
/// lock.
class WideLayouts {
 public:
  static constexpr std::size_t kMost = 1 << 15;

  uint16_t number_of(std::span<const FieldKind> kinds) {
    const std::lock_guard lock(mutex_);
    std::vector<FieldKind> key(kinds.begin(), kinds.end());
    const auto known = numbers_.find(key);
    if (known != numbers_.end()) return known->second;
    if (numbers_.size() == kMost) {
      throw ProgramError(
          "more than 32768 variants of data types whose fields differ and are more than 5, or of which one "
          "is u8");
    }
    const auto number = static_cast<uint16_t>(numbers_.size());
    const auto added = numbers_.emplace(std::move(key), number).first;
    // Pairs with the acquire of `kinds`, for threads that were handed a value of this layout.
    by_number_[number].store(&added->first, std::memory_order_release);
    return number;
  }
  std::span<const FieldKind> kinds(uint16_t number) const {
    return *by_number_[number].load(std::memory_order_acquire);
  }

 private:
  std::mutex mutex_;
  std::map<std::vector<FieldKind>, uint16_t> numbers_;
  std::array<std::atomic<const std::vector<FieldKind>*>, kMost> by_number_{};
};

WideLayouts& wide_layouts() {
  static WideLayouts layouts;
  return layouts;
}

std::size_t bytes_of(std::size_t fields) {
  return sizeof(DataObject) + fields * sizeof(Slot);
}

/// A value that is referred to once, and whose fields are still to be filled in.
DataObject* allocate(uint32_t variant, FieldLayout layout, std::size_t fields) {
  if (variant >= DataObject::kMostVariants) {
    throw ProgramError("expected a data type with at most 32768 variants");
  }
  if (fields == 0) return reinterpret_cast<DataObject*>(Data::bits_of_variant(variant));
  auto* object = new (allocate_counted(bytes_of(fields))) DataObject;
  object->layout = layout.code();
  object->variant_bits = static_cast<uint16_t>(variant << 1);
  object->references = DataObject::kOutside + 1;
  return object;
}

FieldLayout layout_of(std::span<const Value> fields) {
  if (fields.size() <= FieldLayout::kMostInline) {
    std::array<FieldKind, FieldLayout::kMostInline> kinds{};
    for (std::size_t i = 0; i < fields.size(); ++i) kinds[i] = ValueView(fields[i]).kind;
    return FieldLayout(std::span(kinds).first(fields.size()));
  }
  std::vector<FieldKind> kinds;
  for (const Value& field : fields) kinds.push_back(ValueView(field).kind);
  return FieldLayout(kinds);
}

}  // namespace

FieldLayout::FieldLayout(std::span<const FieldKind> kinds) {
  if (!fits_inline(kinds)) {
    code_ = static_cast<uint16_t>(kWide | wide_layouts().number_of(kinds));
    return;
  }
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    code_ = static_cast<uint16_t>(code_ | static_cast<unsigned>(kinds[i]) << (kBitsOfKind * i));
  }
}

std::span<const FieldKind> FieldLayout::wide() const {
  return wide_layouts().kinds(static_cast<uint16_t>(code_ & ~kWide));
}

std::vector<FieldKind> field_kinds(const Variant& variant) {
  std::vector<FieldKind> kinds;
  for (const Field& field : variant.fields) {
    kinds.push_back(field.type.is_data()     ? FieldKind::Data
                    : field.type.is_tensor() ? FieldKind::Tensor
                                             : field_kind(field.type.dtype));
  }
  return kinds;
}

Data Data::take(uint32_t variant, std::span<Value> fields) {
  DataObject* object = allocate(variant, layout_of(fields), fields.size());
  for (std::size_t i = 0; i < fields.size(); ++i) object->slots()[i] = fields[i].detach();
  return Data(object);
}

Data Data::take(uint32_t variant, FieldLayout layout, std::span<const Slot> slots) {
  DataObject* object = nullptr;
  try {
    object = allocate(variant, layout, slots.size());
  } catch (...) {
    release_slots(layout, slots);
    throw;
  }
  if (!slots.empty()) std::copy(slots.begin(), slots.end(), object->slots());
  return Data(object);
}

void Data::release_slots(FieldLayout layout, std::span<const Slot> slots) {
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const FieldKind kind = layout.kind(i);
    if (kind == FieldKind::Tensor) Tensor::release(slots[i].tensor);
    if (kind == FieldKind::Data) release(slots[i].data);
  }
}

Data::Data(uint32_t variant, std::span<const Value> fields) {
  std::vector<Value> copies(fields.begin(), fields.end());
  object_ = take(variant, copies).detach();
}

Data::Data(uint32_t variant, std::initializer_list<Value> fields)
    : Data(variant, std::span<const Value>(fields.begin(), fields.size())) {}

void Data::refuse_field(std::size_t index) const {
  throw ProgramError(
      fmt::format("expected a field below {} of a data value, found {}", field_count(), index));
}

/// Takes no memory: values that nobody refers to any more hang together by their headers.
void Data::free(DataObject* object) {
  DeadValues dead;
  DeadCells cells;
  dead.push(object);
  while (!dead.empty()) {
    const DeadValues::Value next = dead.pop();
    for_each_reference(next.object, next.layout, [&](FieldKind kind, Slot slot) {
      if (kind == FieldKind::Tensor) return Tensor::release(slot.tensor);
      constexpr int32_t kLast = DataObject::kOutside + 1;
      DataObject* inner = slot.data;
      if (!has_object(inner)) return;
      if (inner->counter().load(std::memory_order_acquire) == kLast ||
          inner->counter().fetch_sub(1, std::memory_order_acq_rel) == kLast) {
        dead.push(inner);
      }
    });
    if (next.is_in_heap) {
      cells.push(next.object);
    } else {
      free_counted(next.object, bytes_of(next.layout.count()));
    }
  }
}

// A friend that is first declared in its class does not get the visibility of the header.
[[gnu::visibility("default")]] bool operator==(const Data& a, const Data& b) {
  std::vector<std::pair<const DataObject*, const DataObject*>> pairs{{a.object_, b.object_}};
  while (!pairs.empty()) {
    const auto [x, y] = pairs.back();
    pairs.pop_back();
    if (x == y) continue;
    if (!Data::has_object(x) || !Data::has_object(y) || x->variant() != y->variant() ||
        x->layout != y->layout) {
      return false;
    }
    const DataFields left(x);
    const DataFields right(y);
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (left.view(i).is_data()) {
        pairs.emplace_back(left.view(i).slot.data, right.view(i).slot.data);
      } else if (left.view(i).is_scalar() ? left.view(i).slot.bits != right.view(i).slot.bits
                                          : !(left[i] == right[i])) {
        return false;
      }
    }
  }
  return true;
}

Data make_list(std::span<const Value> elements) {
  Data list(0, {});
  for (std::size_t i = elements.size(); i-- > 0;) {
    std::array<Value, 2> cell{elements[i], Value(std::move(list))};
    list = Data::take(1, cell);
  }
  return list;
}

Data make_list(std::initializer_list<Value> elements) {
  return make_list(std::span(elements.begin(), elements.size()));
}

std::vector<Value> list_elements(const Value& list) {
  std::vector<Value> elements;
  Data rest = list.data();
  while (rest.variant() == 1 && rest.field_count() == 2) {
    elements.push_back(rest.field(0));
    rest = rest.field(1).data();
  }
  if (rest.variant() != 0 || rest.field_count() != 0) {
    throw ProgramError(fmt::format("expected a list, found a data value of variant {} with {} fields",
                                   rest.variant(), rest.field_count()));
  }
  return elements;
}

std::size_t content_bytes(const TensorObject* tensor) {
  std::size_t bytes = size_of(tensor->dtype);
  for (std::size_t i = tensor->is_batch ? 1 : 0; i < tensor->rank; ++i)
    bytes *= static_cast<std::size_t>(tensor->dims[i]);
  return bytes;
}

std::size_t content_bytes(DataObject* object) {
  std::size_t bytes = 0;
  std::vector<DataObject*> open{object};
  std::unordered_set<const DataObject*> counted;
  while (!open.empty()) {
    DataObject* const next = open.back();
    open.pop_back();
    if (!Data::has_object(next) || (is_shared(next) && !counted.insert(next).second)) continue;
    const FieldLayout layout = next->fields_layout();
    bytes += layout.count() * sizeof(Slot);
    for_each_reference(next, layout, [&](FieldKind kind, Slot slot) {
      if (kind == FieldKind::Tensor) {
        bytes += content_bytes(slot.tensor);
      } else {
        __builtin_prefetch(slot.data);  // of a variant without an object, too: that is no access
        open.push_back(slot.data);
      }
    });
  }
  return bytes;
}

}  // namespace hiaton
