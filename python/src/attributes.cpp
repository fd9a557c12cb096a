#include "attributes.h"

#include <structmember.h>

#include <utility>

#if PY_VERSION_HEX < 0x030C0000
#define Py_BUILD_CORE  // NOLINT(bugprone-reserved-identifier): what the header asks for
#include <internal/pycore_dict.h>
#undef Py_BUILD_CORE
#endif

namespace hiaton::python {

AttributePlaces::AttributePlaces(PyTypeObject* type, std::vector<nb::object> names) : type_(type) {
  for (nb::object& name : names) places_.push_back({.name = std::move(name)});
  look();
}

void AttributePlaces::look() {
#if PY_VERSION_HEX < 0x030C0000
  const bool shares_keys =
      PyType_HasFeature(type_, Py_TPFLAGS_HEAPTYPE) && PyType_HasFeature(type_, Py_TPFLAGS_MANAGED_DICT);
  keys_ = shares_keys ? reinterpret_cast<PyHeapTypeObject*>(type_)->ht_cached_keys : nullptr;
#endif
  has_values_ = false;
  for (Place& place : places_) {
    place.offset = 0;
    place.index = -1;
    place.is_in_dict = false;
    if (type_->tp_getattro == PyObject_GenericGetAttr) find_place(place);
    has_values_ |= place.index >= 0;
  }
  version_ = type_->tp_version_tag;  // looking for an attribute gives the class one, where it has none
}

void AttributePlaces::find_place(Place& place) const {
  PyObject* const found = _PyType_Lookup(type_, place.name.ptr());
  if (found != nullptr && Py_IS_TYPE(found, &PyMemberDescr_Type)) {
    const auto* member = reinterpret_cast<PyMemberDescrObject*>(found);
    const bool is_ours = PyType_IsSubtype(type_, member->d_common.d_type) != 0;
    if (is_ours && member->d_member->type == T_OBJECT_EX) place.offset = member->d_member->offset;
    return;
  }
  if (found != nullptr && Py_TYPE(found)->tp_descr_set != nullptr) return;  // a property, say
#if PY_VERSION_HEX < 0x030C0000
  if (keys_ == nullptr) return;
  place.is_in_dict = true;
  if (keys_->dk_kind != DICT_KEYS_SPLIT) return;
  const PyDictUnicodeEntry* entries = DK_UNICODE_ENTRIES(keys_);
  for (Py_ssize_t i = 0; i < keys_->dk_nentries; ++i) {
    if (entries[i].me_key == place.name.ptr()) place.index = i;
  }
#endif
}

#if PY_VERSION_HEX < 0x030C0000
PyObject* AttributePlaces::find_in_dict(PyObject* object, const Place& place) {
  if (values_of(object) != nullptr) return nullptr;
  auto* const dict = reinterpret_cast<PyDictObject* const*>(object)[-3];
  if (dict == nullptr || dict->ma_values != nullptr || dict->ma_keys->dk_kind != DICT_KEYS_UNICODE) {
    return nullptr;
  }
  const PyDictUnicodeEntry* const entries = DK_UNICODE_ENTRIES(dict->ma_keys);
  const Py_ssize_t count = dict->ma_keys->dk_nentries;
  if (place.entry < count && entries[place.entry].me_key == place.name.ptr())
    return entries[place.entry].me_value;
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (entries[i].me_key != place.name.ptr()) continue;
    place.entry = i;
    return entries[i].me_value;
  }
  return nullptr;
}
#else
PyObject* AttributePlaces::find_in_dict(PyObject*, const Place&) {
  return nullptr;
}
#endif

nb::object AttributePlaces::read(PyObject* object, std::size_t number) const {
  const auto found = nb::steal(PyObject_GetAttr(object, places_[number].name.ptr()));
  if (!found.is_valid()) PyErr_Clear();
  return found;
}

}  // namespace hiaton::python
