// What a plan says of a value of Python, before it is read.
#include <algorithm>

#include "graphs.h"

namespace hiaton::python {
namespace {

/// How many keys a dict that an attribute holds may have, since a key is looked for along a list of them. It
/// is MOST_KEYS of known_items.py.
constexpr Py_ssize_t kMostItems = 64;

/// Whether it is a dict with these very keys in this order.
bool has_keys(PyObject* object, PyObject* keys) {
  if (!PyDict_CheckExact(object) || PyDict_GET_SIZE(object) != PyTuple_GET_SIZE(keys)) return false;
  Py_ssize_t position = 0;
  PyObject* key = nullptr;
  for (Py_ssize_t i = 0; PyDict_Next(object, &position, &key, nullptr) != 0; ++i) {
    PyObject* const expected = PyTuple_GET_ITEM(keys, i);
    if (key == expected) continue;
    if (Py_TYPE(key) != Py_TYPE(expected)) return false;
    const int same = PyObject_RichCompareBool(key, expected, Py_EQ);
    if (same < 0) nb::raise_python_error();
    if (same == 0) return false;
  }
  return true;
}

}  // namespace

bool is_number(const Plan& plan) {
  return plan.kind == Plan::Kind::Bool || plan.kind == Plan::Kind::Int || plan.kind == Plan::Kind::Float;
}

bool holds_objects(const Plan& plan) {
  return plan.kind == Plan::Kind::Object || plan.kind == Plan::Kind::List || plan.kind == Plan::Kind::Items ||
         std::ranges::any_of(plan.parts, holds_objects);
}

Slot blank_of(const Type& type) {
  Slot slot;
  if (type.is_data()) slot.data = reinterpret_cast<DataObject*>(Data::bits_of_variant(0));
  return slot;
}

bool is_one_of(PyObject* object, PyObject* classes) {
  PyObject* const wanted = object == Py_None ? object : reinterpret_cast<PyObject*>(Py_TYPE(object));
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(classes); ++i) {
    if (PyTuple_GET_ITEM(classes, i) == wanted) return true;
  }
  return false;
}

bool fits(PyObject* given, const Plan& plan) {
  switch (plan.kind) {
    case Plan::Kind::Constant:
      return given == plan.constant.ptr();
    case Plan::Kind::Bool:
      return PyBool_Check(given);
    case Plan::Kind::Int:
      return PyLong_CheckExact(given);
    case Plan::Kind::Float:
      return PyFloat_CheckExact(given);
    case Plan::Kind::Symbol:
      return PyUnicode_CheckExact(given);
    case Plan::Kind::Tensor: {
      EagerTensor* tensor = nullptr;
      return nb::try_cast(nb::handle(given), tensor) && tensor != nullptr &&
             compatible(tensor->value.type(), plan.type);
    }
    case Plan::Kind::Object:
      return is_one_of(given, plan.constant.ptr());
    case Plan::Kind::Tuple:
      return Py_TYPE(given) == reinterpret_cast<PyTypeObject*>(plan.constant.ptr()) &&
             static_cast<std::size_t>(PyTuple_GET_SIZE(given)) == plan.parts.size();
    case Plan::Kind::Dict:
      return has_keys(given, plan.constant.ptr());
    case Plan::Kind::List:
    case Plan::Kind::Array:
    case Plan::Kind::Sink:
      return PyList_CheckExact(given);
    case Plan::Kind::Items:
      return PyDict_CheckExact(given) && PyDict_GET_SIZE(given) <= kMostItems;
    case Plan::Kind::Union:
      break;
  }
  return false;
}

}  // namespace hiaton::python
