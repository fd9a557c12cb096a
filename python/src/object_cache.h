// Data values of objects that come again in later calls, as the examples of a training set do in each epoch.
#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_set>
#include <vector>

#include "hiaton/data.h"
#include "tensor/data_heap.h"
#include "tensors.h"

namespace hiaton::python {

struct ObjectTable;
struct Plan;

/// An object or a list that becomes a data value, the plan, and the field that is to refer to it.
struct Walked {
  PyObject* object;
  const Plan* plan;
  Slot* slot;
};

/// Knows what objects looked like, with all that they reach, when data values were made of them. Objects may
/// change at any time, so each is compared before its data value is used: whether it is of the same class
/// and holds the very same objects. All of these comparisons are known beforehand, so that they do not wait
/// for each other's memory, as reading a tree does.
///
/// An object is remembered when it comes for the second time, and as long as it lives. Numbers, texts and
/// tuples of such live as long as they are remembered, since another number may stand at the same address
/// else. Where objects mostly do not come again, or not unchanged, nothing is remembered any more.
class ObjectCache {
 public:
  /// An object that others may refer to as well, and the data value that stands for it.
  struct Shared {
    PyObject* object;
    DataObject* data;
  };
  struct Entry;

  ObjectCache();
  ObjectCache(const ObjectCache&) = delete;
  ObjectCache& operator=(const ObjectCache&) = delete;
  ~ObjectCache();

  /// What is known of the object. Null: nothing, or it has changed.
  const Entry* find(PyObject* root, const ObjectTable& table);
  /// Takes note that the object comes, and gives a weak reference to it where it is to be added when it was
  /// walked through. May run code of Python.
  nb::object expect(PyObject* root);
  /// A data value of an object that is to be remembered. Such values stand side by side: where a tree lies
  /// scattered between others, to read it waits for memory at each node.
  Data make(uint32_t variant, FieldLayout layout, std::span<const Slot> slots);
  /// Remembers all objects of a walk, the first of which reaches the others. `shared`: some of them, in the
  /// same order.
  void add(nb::object reference, std::span<const Walked> walked, std::span<const Walked> shared,
           ObjectTable& table);

 private:
  /// An object or a list, as it is compared.
  struct Node {
    static constexpr uint32_t kList = ~uint32_t{0};

    PyObject* object;
    const void* contents;   ///< where it held its fields or elements, to load these early
    uint32_t class_number;  ///< or kList
    bool may_be_shared;     ///< else nobody but what it was reached by refers to it
  };

  /// Memory for the data values. It lives as long as one of them.
  std::unique_ptr<DataHeap, LeaveHeap> heap_;
  std::unique_ptr<DataCells> cells_;

  using Entries = tsl::robin_map<PyObject*, std::unique_ptr<Entry>>;

  static bool holds(const Entry& entry, const ObjectTable& table);
  static bool is_list_same(PyObject* list, PyObject* const*& expected);
  static PyObject* when_gone(PyObject* self, PyObject* reference);
  void forget(Entries::iterator found);

  Entries entries_;
  tsl::robin_map<PyObject*, PyObject*> roots_;  ///< by the weak references to them
  std::unordered_set<PyObject*> seen_;          ///< addresses of objects that came once
  nb::object callback_;  ///< the weak references call it; not valid: there are none yet
  std::size_t bytes_ = 0;
  uint64_t hits_ = 0;
  uint64_t wasted_ = 0;  ///< how many entries were never of use
};

struct ObjectCache::Entry {
  Entry() = default;
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;
  ~Entry();

  Data data;
  std::vector<Shared> shared;
  std::vector<Node> nodes;            ///< each is reached by one before it; the first is the root
  std::vector<PyObject*> expected;    ///< what the nodes hold, one after the other
  std::vector<PyObject*> kept_alive;  ///< the entry holds a reference to each
  nb::object reference;               ///< a weak one to the root
  bool was_of_use = false;

  void add(const Walked& walked, bool may_be_shared, ObjectTable& table);
  void expect(PyObject* value);
  std::size_t bytes() const;
};

}  // namespace hiaton::python
