// How data values go to another worker: as they are, shared from then on, or copied.

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <new>
#include <span>

#include "base/shared_loop.h"
#include "tensor/data_heap.h"
#include "tensor/data_references.h"

namespace hiaton {
namespace {

/// Values whose fields are still to be visited. Not a vector: where a run ends because the C library has no
/// memory, its values are walked all the same. Throws std::bad_alloc where the system has none.
class OpenValues {
 public:
  OpenValues() = default;
  OpenValues(const OpenValues&) = delete;
  ~OpenValues() {
    if (values_ != first_.data()) munmap(values_, capacity_ * sizeof(DataObject*));
  }

  bool empty() const { return count_ == 0; }
  DataObject* pop() { return values_[--count_]; }
  void push(DataObject* object) {
    if (count_ == capacity_) grow();
    values_[count_++] = object;
  }

 private:
  void grow() {
    const std::size_t larger = std::max<std::size_t>(capacity_ * 2, 8192);
    void* memory = mmap(nullptr, larger * sizeof(DataObject*), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    std::copy_n(values_, count_, static_cast<DataObject**>(memory));
    if (values_ != first_.data()) munmap(values_, capacity_ * sizeof(DataObject*));
    values_ = static_cast<DataObject**>(memory);
    capacity_ = larger;
  }

  std::array<DataObject*, 64> first_;
  DataObject** values_ = first_.data();
  std::size_t capacity_ = first_.size();
  std::size_t count_ = 0;
};

/// How many values may still go as they are, for several threads that walk them.
class Steps {
 public:
  explicit Steps(std::atomic<std::size_t>& left) : left_(left) {}
  Steps(const Steps&) = delete;
  ~Steps() { left_.fetch_add(own_, std::memory_order_relaxed); }

  /// False: there are none.
  bool take() {
    if (own_ == 0 && !take_many()) return false;
    --own_;
    return true;
  }

 private:
  bool take_many() {
    constexpr std::size_t kMany = 1024;
    std::size_t left = left_.load(std::memory_order_relaxed);
    do {
      own_ = std::min(left, kMany);
    } while (!left_.compare_exchange_weak(left, left - own_, std::memory_order_relaxed));
    return own_ > 0;
  }

  std::atomic<std::size_t>& left_;
  std::size_t own_ = 0;  ///< taken from there, and not used yet
};

/// How many references to the value a worker counts for itself; 0: it is counted otherwise. Another thread
/// may share it at the same time.
int32_t own_references(DataObject* object) {
  return Data::has_object(object) ? std::max(object->counter().load(std::memory_order_relaxed), 0) : 0;
}

/// The tensors below a value that another worker gets are shared, since nothing tells who else shows their
/// elements.
template <class Visit>
void visit_below(DataObject* object, Visit visit) {
  for_each_reference(object, object->fields_layout(), [&](FieldKind kind, Slot slot) {
    if (kind == FieldKind::Data) {
      visit(slot.data);
    } else {
      TensorCells::share(slot.tensor);
    }
  });
}

/// Shares of the value, to which the reference in hand is the only one, what others refer to as well. May
/// run in several threads at once, on values of which none stands below another: where two share the same
/// part, both write the same.
void share_parts_of_others(DataObject* object, Steps& steps) {
  OpenValues open;
  const auto visit = [&](DataObject* one) {
    const int32_t references = own_references(one);
    if (references == 0) return;
    if (references > 1 || !steps.take()) {
      DataCells::share(one);
    } else {
      open.push(one);
    }
  };
  visit(object);
  while (!open.empty()) visit_below(open.pop(), visit);
}

/// The uppermost values of one to which the reference in hand is the only one.
class Top {
 public:
  static constexpr std::size_t kMost = DataCells::kMostCopied;

  explicit Top(DataObject* object) {
    const auto visit = [&](DataObject* one) {
      const int32_t references = own_references(one);
      if (references > 1) {
        parts_of_others_[parts_++] = one;
      } else if (references == 1) {
        values_[end_++] = one;
      }
    };
    visit(object);
    while (begin_ < end_ && end_ + parts_ < kMost) visit_below(values_[begin_++], visit);
  }

  /// What others refer to as well.
  std::span<DataObject* const> parts_of_others() const { return std::span(parts_of_others_).first(parts_); }
  /// The values below which nothing has been looked at yet. None stands below another.
  std::span<DataObject* const> open() const { return std::span(values_).subspan(begin_, end_ - begin_); }

 private:
  static constexpr std::size_t kRoom = kMost + kMostHeapFields;
  std::array<DataObject*, kRoom> values_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::array<DataObject*, kRoom> parts_of_others_;
  std::size_t parts_ = 0;
};

}  // namespace

void DataCells::share(DataObject* object) {
  OpenValues open;
  const auto visit = [&](DataObject* one) {
    const int32_t references = own_references(one);
    if (references == 0) return;
    open.push(one);  // before it is shared: where there is no memory, what is below must not be missed
    one->counter().store(-references, std::memory_order_relaxed);
  };
  visit(object);
  while (!open.empty()) visit_below(open.pop(), visit);
}

DataObject* DataCells::hand_over(DataObject* object, DataCells& taker, std::size_t& steps,
                                 SharedLoop* helpers) {
  const Top top(object);
  if (top.open().empty()) {
    if (top.parts_of_others().empty()) return object;
    if (DataObject* copied = taker.copy(object); copied != nullptr) {
      release(object);
      return copied;
    }
  }
  for (DataObject* part : top.parts_of_others()) share(part);
  std::atomic<std::size_t> left = steps;
  std::atomic<bool> has_memory = true;
  const std::function<void(std::size_t)> look_below = [&](std::size_t i) {
    try {
      Steps own(left);
      share_parts_of_others(top.open()[i], own);
    } catch (const std::bad_alloc&) {
      has_memory = false;
    }
  };
  if (helpers != nullptr) {
    helpers->run(top.open().size(), look_below, [] {});
  } else {
    for (std::size_t i = 0; i < top.open().size(); ++i) look_below(i);
  }
  steps = left;
  if (!has_memory) throw std::bad_alloc();
  return object;
}

DataObject* DataCells::copy(DataObject* object) {
  const auto is_copied = [](DataObject* one) { return Data::has_object(one) && !is_outside(one); };
  if (!is_copied(object)) return object;
  std::array<DataObject*, kMostCopied> values;  // before the copies are made, what they are of
  std::size_t count = 1;
  values[0] = object;
  for (std::size_t i = 0; i < count; ++i) {
    bool fits = true;
    for_each_reference(values[i], values[i]->fields_layout(), [&](FieldKind kind, Slot slot) {
      if (kind != FieldKind::Data || !is_copied(slot.data)) return;
      fits = fits && count < kMostCopied;
      if (fits) values[count++] = slot.data;
    });
    if (!fits) return nullptr;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t fields = values[i]->fields_layout().count();
    DataObject* made = make(fields);
    if (made == nullptr) {
      while (i-- > 0) free_cell(values[i], values[i]->fields_layout().count());
      return nullptr;
    }
    std::copy_n(values[i]->slots(), fields, made->slots());
    made->layout = values[i]->layout;
    made->variant_bits = values[i]->variant_bits;
    made->references = 1;
    values[i] = made;
  }
  // The copies stand in the order in which the references to them were met.
  std::size_t next = 1;
  for (std::size_t i = 0; i < count; ++i) {
    const FieldLayout layout = values[i]->fields_layout();
    for (std::size_t f = 0; f < layout.count(); ++f) {
      Slot& slot = values[i]->slots()[f];
      if (layout.kind(f) == FieldKind::Tensor) {
        TensorCells::retain(slot.tensor);
        TensorCells::share(slot.tensor);
      } else if (layout.kind(f) == FieldKind::Data && is_copied(slot.data)) {
        slot.data = values[next++];
      }
    }
  }
  return values[0];
}

DataObject* DataCells::hold(std::span<DataObject* const> held) {
  DataObject* made = make(held.size());
  if (made == nullptr) return nullptr;
  const std::array<FieldKind, kMostHeld> kinds = [] {
    std::array<FieldKind, kMostHeld> all{};
    all.fill(FieldKind::Data);
    return all;
  }();
  made->layout = FieldLayout(std::span(kinds).first(held.size())).code();
  made->variant_bits = 1;  // it stands in a heap
  made->references = 1;
  for (std::size_t i = 0; i < held.size(); ++i) made->slots()[i].data = held[i];
  return made;
}

}  // namespace hiaton
