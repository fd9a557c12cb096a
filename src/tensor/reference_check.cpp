#include "tensor/reference_check.h"

#include <cstdlib>
#include <unordered_set>
#include <vector>

#include "tensor/data_references.h"

namespace hiaton {
namespace {

/// Counts of live values are kept as this number and what is still to be explained, which may become
/// negative: so a value stays apart from one that is free, whose count is 0, and from those outside of runs.
constexpr int32_t kBase = 1 << 29;
constexpr int32_t kLeastLive = kBase / 2;

class ReferenceCheck {
 public:
  ReferenceCheck(DataHeap* data, TensorHeap* tensors, const VisitSlots& slots)
      : data_(data), tensors_(tensors), slots_(slots) {}

  uint64_t run() {
    begin_counts();
    find_holes();
    explain_by_fields();
    explain_by_slots();
    return unexplained_ + count_left();
  }

 private:
  template <class Visit>
  void visit_values(const Visit& visit) {
    if (data_ != nullptr) data_->visit_values(visit);
  }
  template <class Visit>
  void visit_tensors(const Visit& visit) {
    if (tensors_ != nullptr) tensors_->visit_tensors(visit);
  }

  void begin_counts() {
    visit_values([](DataObject* value) { value->references = kBase + std::abs(value->references); });
    visit_tensors([this](RunTensor* tensor) {
      tensor->references.store(kBase + std::abs(tensor->references.load()));
      live_tensors_.insert(tensor);
    });
  }

  /// Fields that are still to be filled: until then they hold anything. Their addresses stand in slots.
  void find_holes() {
    if (data_ == nullptr) return;
    slots_([this](std::span<const Slot> slots) {
      for (const Slot& slot : slots) {
        const DataObject* value = data_->value_around(slot.bits);
        if (value != nullptr && reinterpret_cast<uint64_t>(value) != slot.bits) holes_.insert(slot.bits);
      }
    });
  }

  void explain_by_fields() {
    visit_values([this](DataObject* value) {
      for_each_reference(value, value->fields_layout(), [this](FieldKind kind, Slot& field) {
        if (holes_.contains(reinterpret_cast<uint64_t>(&field))) {
          perhaps_.push_back(field);
        } else if (kind == FieldKind::Tensor) {
          explain(field.tensor);
        } else {
          explain(field.data);
        }
      });
    });
    visit_tensors([this](RunTensor* tensor) {
      if (tensor->is_view) explain(tensor->base);
    });
  }

  void explain(DataObject* value) {
    if (!Data::has_object(value)) return;
    if (value->references == 0) ++unexplained_;  // it was freed
    if (value->references >= kLeastLive) --value->references;
  }
  void explain(TensorObject* tensor) {
    if (live_tensors_.contains(tensor)) {
      tensor->references.fetch_sub(1);
    } else if (TensorHeap::is_of_run(tensor)) {
      ++unexplained_;
    }
  }

  void explain_by_slots() {
    explain_perhaps(perhaps_);
    slots_([this](std::span<const Slot> slots) { explain_perhaps(slots); });
  }
  void explain_perhaps(std::span<const Slot> slots) {
    for (const Slot& slot : slots) {
      DataObject* value = data_ == nullptr ? nullptr : data_->value_around(slot.bits);
      if (value != nullptr && value == slot.data && value->references > kBase) value->references = kBase;
      if (live_tensors_.contains(slot.tensor) && slot.tensor->references.load() > kBase)
        slot.tensor->references.store(kBase);
    }
  }

  uint64_t count_left() {
    uint64_t count = 0;
    visit_values([&](const DataObject* value) { count += value->references != kBase ? 1 : 0; });
    visit_tensors([&](const RunTensor* tensor) { count += tensor->references.load() != kBase ? 1 : 0; });
    return count;
  }

  DataHeap* const data_;
  TensorHeap* const tensors_;
  const VisitSlots& slots_;
  std::unordered_set<const TensorObject*> live_tensors_;
  std::unordered_set<uint64_t> holes_;  ///< addresses of fields
  std::vector<Slot> perhaps_;           ///< what those fields hold
  uint64_t unexplained_ = 0;
};

}  // namespace

uint64_t count_unexplained(DataHeap* data, TensorHeap* tensors, const VisitSlots& slots) {
  return ReferenceCheck(data, tensors, slots).run();
}

}  // namespace hiaton
