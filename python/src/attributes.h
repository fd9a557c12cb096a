// Attributes of objects of one class, read where the objects hold them.
#pragma once

#include <cstdint>
#include <vector>

#include "tensors.h"

namespace hiaton::python {

/// Where the objects of a class hold some of their attributes. Reading them there gives what `getattr` gives,
/// in a fraction of its time.
class AttributePlaces {
 public:
  AttributePlaces(PyTypeObject* type, std::vector<nb::object> names);

  /// An object of this very class, and what it holds. Good until code of Python runs.
  struct Opened {
    PyObject* object;
    PyObject* const* values;  ///< null: none are known
  };
  Opened open(PyObject* object) {
    if (!is_current()) look();
    return open_as_known(object);
  }
  /// The same while the class is current.
  Opened open_as_known(PyObject* object) const {
    return {object, has_values_ ? known_values_of(object) : nullptr};
  }
  /// Whether the class is as it was when it was looked at.
  bool is_current() const {
    return type_->tp_version_tag == version_ && PyType_HasFeature(type_, Py_TPFLAGS_VALID_VERSION_TAG);
  }
  /// What the object holds in its attribute of this number: borrowed from the object. Null: `read` must look
  /// for it.
  PyObject* find(const Opened& opened, std::size_t number) const {
    const Place& place = places_[number];
    if (opened.values != nullptr && place.index >= 0) return opened.values[place.index];
    if (place.is_in_dict) return opened.values == nullptr ? find_in_dict(opened.object, place) : nullptr;
    if (place.offset == 0) return nullptr;
    return *reinterpret_cast<PyObject**>(reinterpret_cast<char*>(opened.object) + place.offset);
  }
  /// Begins to load what `find` is going to read of another object of the class, which is being loaded
  /// itself.
  void expect(PyObject* object) const {
    if (has_values_) __builtin_prefetch(values_of(object));
  }
  PyTypeObject* type() const { return type_; }
  /// The attribute as Python reads it; not valid where there is none.
  nb::object read(PyObject* object, std::size_t number) const;
  const nb::object& name(std::size_t number) const { return places_[number].name; }
  std::size_t count() const { return places_.size(); }

 private:
  struct Place {
    nb::object name;
    Py_ssize_t offset = 0;         ///< where a slot is in the object; 0: there is none
    Py_ssize_t index = -1;         ///< among the values that go with the object; -1: none
    bool is_in_dict = false;       ///< the `__dict__` of the object has it, if the object has one
    mutable Py_ssize_t entry = 0;  ///< where it stood in the last such dict
  };

  void look();
  void find_place(Place& place) const;
  /// For an object without known values, as of a copy or from a file: its dict has keys of its own.
  static PyObject* find_in_dict(PyObject* object, const Place& place);
  /// Null where they are not there.
  PyObject* const* known_values_of(PyObject* object) const;
  static PyObject* const* values_of(PyObject* object);

  PyTypeObject* type_;
  std::vector<Place> places_;
  bool has_values_ = false;  ///< some place has an index
  uint32_t version_ = 0;     ///< the version of the class, when it was looked at
#if PY_VERSION_HEX < 0x030C0000
  PyDictKeysObject* keys_ = nullptr;  ///< that objects of the class share
#endif
};

#if PY_VERSION_HEX < 0x030C0000
// CPython 3.11: an object has its values apart from their names, which all objects of its class share, also
// when somebody asked for its `__dict__`, as long as that is not changed beyond these names. The pointers to
// the values and to the dict stand before the object (_PyObject_ValuesPointer and
// _PyObject_ManagedDictPointer, which pycore_object.h defines for C alone).
inline PyObject* const* AttributePlaces::values_of(PyObject* object) {
  return reinterpret_cast<PyObject* const* const*>(object)[-4];
}

inline PyObject* const* AttributePlaces::known_values_of(PyObject* object) const {
  const auto* values = values_of(object);
  if (values != nullptr) return values;
  const auto* dict = reinterpret_cast<PyDictObject* const*>(object)[-3];
  if (dict == nullptr || dict->ma_keys != keys_) return nullptr;
  return reinterpret_cast<PyObject* const*>(dict->ma_values);
}
#else
inline PyObject* const* AttributePlaces::values_of(PyObject*) {
  return nullptr;
}

inline PyObject* const* AttributePlaces::known_values_of(PyObject*) const {
  return nullptr;
}
#endif

}  // namespace hiaton::python
