#include "object_cache.h"

#include <algorithm>
#include <memory>

#include "graphs.h"

namespace hiaton::python {
namespace {

constexpr std::size_t kMostBytes = std::size_t{128} << 20;
constexpr std::size_t kMostSeen = 1 << 20;
constexpr uint64_t kMostWasted = 256;
constexpr std::size_t kNodesAhead = 8;  // how far ahead of a node its memory is loaded

/// Whether the object is compared by its address alone, and another one may stand there when it is gone.
bool must_be_kept_alive(PyObject* value) {
  if (PyLong_CheckExact(value)) {
    constexpr int64_t kOftenUsed = 256;  // there is one object for each integer up to here
    int64_t n = 0;
    if (!read_integer(value, n) || n < 0 || n > kOftenUsed) return true;
    return nb::steal(PyLong_FromLongLong(n)).ptr() != value;
  }
  return PyFloat_CheckExact(value) || PyUnicode_CheckExact(value) || PyTuple_Check(value);
}

}  // namespace

ObjectCache::Entry::~Entry() {
  for (PyObject* const one : kept_alive) Py_DECREF(one);
}

std::size_t ObjectCache::Entry::bytes() const {
  // The data values take about as much as what the fields are expected to hold.
  return sizeof(Entry) + shared.capacity() * sizeof(Shared) +
         nodes.capacity() * (sizeof(Node) + sizeof(DataObject)) +
         (2 * expected.capacity() + kept_alive.capacity()) * sizeof(PyObject*);
}

ObjectCache::ObjectCache() = default;
ObjectCache::~ObjectCache() = default;

const ObjectCache::Entry* ObjectCache::find(PyObject* root, const ObjectTable& table) {
  const auto found = entries_.find(root);
  if (found == entries_.end()) return nullptr;
  if (!holds(*found->second, table)) {
    forget(found);
    return nullptr;
  }
  found.value()->was_of_use = true;
  ++hits_;
  return found->second.get();
}

bool ObjectCache::holds(const Entry& entry, const ObjectTable& table) {
  for (const ObjectTable::Class& one : table.classes) {
    if (!one.attributes.is_current()) return false;
  }
  const std::size_t count = entry.nodes.size();
  PyObject* const* expected = entry.expected.data();
  for (std::size_t i = 0; i < count; ++i) {
    const Node& ahead = entry.nodes[std::min(i + kNodesAhead, count - 1)];
    __builtin_prefetch(ahead.object);
    __builtin_prefetch(reinterpret_cast<PyObject**>(ahead.object) - 4);  // see AttributePlaces::values_of
    __builtin_prefetch(ahead.contents);
    const Node& node = entry.nodes[i];
    if (node.class_number == Node::kList) {
      if (!is_list_same(node.object, expected)) return false;
      continue;
    }
    const AttributePlaces& attributes = table.classes[node.class_number].attributes;
    if (!Py_IS_TYPE(node.object, attributes.type())) return false;
    if (!node.may_be_shared && Py_REFCNT(node.object) != 1) return false;
    const AttributePlaces::Opened opened = attributes.open_as_known(node.object);
    for (std::size_t field = 0; field < attributes.count(); ++field) {
      if (attributes.find(opened, field) != *expected++) return false;
    }
  }
  return true;
}

/// Moves `expected` behind the elements.
bool ObjectCache::is_list_same(PyObject* list, PyObject* const*& expected) {
  if (!PyList_CheckExact(list)) return false;
  const Py_ssize_t count = PyList_GET_SIZE(list);
  if (reinterpret_cast<intptr_t>(*expected++) != count) return false;
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (PyList_GET_ITEM(list, i) != *expected++) return false;
  }
  return true;
}

nb::object ObjectCache::expect(PyObject* root) {
  if (wasted_ > kMostWasted + hits_ || bytes_ > kMostBytes) return {};
  if (Py_TYPE(root)->tp_weaklistoffset == 0) return {};
  if (seen_.size() == kMostSeen) seen_.clear();
  if (seen_.insert(root).second) return {};
  if (!callback_.is_valid()) {
    static PyMethodDef method = {"when_gone", &ObjectCache::when_gone, METH_O, nullptr};
    const auto self = nb::steal(PyCapsule_New(this, nullptr, nullptr));
    if (!self.is_valid()) nb::raise_python_error();
    callback_ = nb::steal(PyCFunction_New(&method, self.ptr()));
    if (!callback_.is_valid()) nb::raise_python_error();
  }
  nb::object reference = nb::steal(PyWeakref_NewRef(root, callback_.ptr()));
  if (!reference.is_valid()) nb::raise_python_error();
  return reference;
}

Data ObjectCache::make(uint32_t variant, FieldLayout layout, std::span<const Slot> slots) {
  if (slots.size() > kMostHeapFields) return Data::take(variant, layout, slots);
  if (heap_ == nullptr) {
    heap_.reset(DataHeap::make([](std::size_t) { return true; }));
    cells_ = std::make_unique<DataCells>(*heap_);
  }
  return cells_->make_outside(variant, layout, slots);
}

void ObjectCache::add(nb::object reference, std::span<const Walked> walked, std::span<const Walked> shared,
                      ObjectTable& table) {
  auto entry = std::make_unique<Entry>();
  entry->reference = std::move(reference);
  Data::retain(walked.front().slot->data);
  entry->data = Data::adopt(walked.front().slot->data);
  entry->nodes.reserve(walked.size());
  const ObjectTable::Class* const like_root = table.find(Py_TYPE(walked.front().object));
  entry->expected.reserve(walked.size() * like_root->fields.size());
  for (const Walked& one : walked) {
    const bool may_be_shared = !shared.empty() && shared.front().slot == one.slot;
    if (may_be_shared) {
      entry->shared.push_back({one.object, one.slot->data});
      shared = shared.subspan(1);
    }
    entry->add(one, may_be_shared, table);
  }
  bytes_ += entry->bytes();
  roots_[entry->reference.ptr()] = walked.front().object;
  entries_[walked.front().object] = std::move(entry);
}

void ObjectCache::Entry::add(const Walked& walked, bool may_be_shared, ObjectTable& table) {
  PyObject* const object = walked.object;
  if (walked.plan->kind == Plan::Kind::List) {
    PyObject* const* const elements = PySequence_Fast_ITEMS(object);
    const Py_ssize_t count = PyList_GET_SIZE(object);
    nodes.push_back({object, elements, Node::kList, may_be_shared});
    expected.push_back(reinterpret_cast<PyObject*>(static_cast<intptr_t>(count)));
    for (Py_ssize_t i = 0; i < count; ++i) expect(elements[i]);
    return;
  }
  const ObjectTable::Class* const described = table.find(Py_TYPE(object));
  const AttributePlaces& attributes = described->attributes;
  const AttributePlaces::Opened opened = attributes.open_as_known(object);
  const auto number = static_cast<uint32_t>(described - table.classes.data());
  nodes.push_back({object, opened.values, number, may_be_shared});
  for (std::size_t i = 0; i < attributes.count(); ++i) expect(attributes.find(opened, i));
}

void ObjectCache::Entry::expect(PyObject* value) {
  expected.push_back(value);
  if (!must_be_kept_alive(value)) return;
  Py_INCREF(value);
  kept_alive.push_back(value);
}

void ObjectCache::forget(Entries::iterator found) {
  const std::unique_ptr<Entry> entry = std::move(found.value());
  entries_.erase(found);
  roots_.erase(entry->reference.ptr());
  bytes_ -= entry->bytes();
  if (!entry->was_of_use) ++wasted_;
}

/// What Python calls when an object is gone that a weak reference was to.
PyObject* ObjectCache::when_gone(PyObject* self, PyObject* reference) {
  auto& cache = *static_cast<ObjectCache*>(PyCapsule_GetPointer(self, nullptr));
  const auto root = cache.roots_.find(reference);
  if (root != cache.roots_.end()) cache.forget(cache.entries_.find(root->second));
  Py_RETURN_NONE;
}

}  // namespace hiaton::python
