// Values that a graph gives as objects of Python.
#include <algorithm>
#include <functional>
#include <utility>

#include "graphs.h"

namespace hiaton::python {
namespace {

/// What `cls.__new__(cls)` gives.
nb::object new_object(const ObjectTable::Class& described) {
  auto* const type = reinterpret_cast<PyTypeObject*>(described.made.ptr());
  if (type->tp_new == nullptr) throw nb::type_error("a graph gave an object of a class that makes none");
  nb::object object = nb::steal(type->tp_new(type, nb::tuple().ptr(), nullptr));
  if (!object.is_valid()) nb::raise_python_error();
  return object;
}

PyObject* new_number(const Plan& plan, Slot slot) {
  switch (plan.kind) {
    case Plan::Kind::Bool:
      return PyBool_FromLong(slot.boolean ? 1 : 0);
    case Plan::Kind::Int:
      return PyLong_FromLongLong(slot.i64);
    default:
      return PyFloat_FromDouble(slot.f64);
  }
}

/// The elements of a list, which are numbers.
nb::list list_of_numbers(const Plan& element, const DataObject* first) {
  Py_ssize_t count = 0;
  for (const DataObject* cell = first; Data::has_object(cell); cell = cell->slots()[1].data) ++count;
  const auto made = nb::steal<nb::list>(PyList_New(count));
  if (!made.is_valid()) nb::raise_python_error();
  for (Py_ssize_t i = 0; i < count; ++i, first = first->slots()[1].data) {
    PyObject* const number = new_number(element, first->slots()[0]);
    if (number == nullptr) nb::raise_python_error();
    PyList_SET_ITEM(made.ptr(), i, number);
  }
  return made;
}

/// Whether no more than one other value, or result, refers to a value outside of runs.
bool is_referred_to_once(DataObject* object) {
  return object->counter().load(std::memory_order_relaxed) == DataObject::kOutside + 1;
}

/// What stands in a cell of a list.
Value value_in(DataObject* cell) {
  Data::retain(cell);
  return Data::adopt(cell).field(0);
}

/// Puts the fields of a data value in place of what the vector holds.
void read_fields(const Data& data, std::vector<Value>& values) {
  values.clear();
  for (std::size_t i = 0; i < data.field_count(); ++i) values.push_back(data.field(i));
}

}  // namespace

nb::object Snapshot::text_of(int64_t number, const Symbols& symbols) const {
  const auto place = static_cast<std::size_t>(number);
  const std::size_t known = symbols.texts.size();
  return place < known ? symbols.texts[place] : texts_.at(place - known);
}

nb::object Snapshot::made(const Data& data, const ObjectTable& table) {
  if (data.variant() == 0) return nb::none();
  const auto given = objects_.find(data.object());
  if (given != objects_.end()) return given->second;
  const bool has_memory = Data::has_object(data.object());
  if (has_memory) {
    const auto before = made_.find(data.object());
    if (before != made_.end()) return before->second;
  }
  for (const ObjectTable::Class& described : table.classes) {
    if (described.variant != data.variant()) continue;
    nb::object object = new_object(described);
    if (has_memory) made_.emplace(data.object(), object);
    without_fields_.push_back({object, data, &described});
    return object;
  }
  throw nb::value_error("a graph gave an object of a class that there is not");
}

/// Objects get their fields one after the other: objects may stand deep inside each other.
void Snapshot::set_fields() {
  std::vector<Value> values;
  while (!without_fields_.empty()) {
    const Made last = std::move(without_fields_.back());
    without_fields_.pop_back();
    read_fields(last.data, values);
    const Value* next = values.data();
    for (std::size_t i = 0; i < last.described->fields.size(); ++i) {
      const nb::object value = part(last.described->fields[i], next);
      const nb::object& name = last.described->attributes.name(i);
      if (PyObject_GenericSetAttr(last.object.ptr(), name.ptr(), value.ptr()) != 0) nb::raise_python_error();
    }
  }
}

/// Marks a tensor as one that tapes have seen where it is one of the results themselves.
EagerTensor Snapshot::with_mark(const Value& value) const {
  const auto place = static_cast<std::size_t>(&value - first_given_);
  const bool is_result = !std::less<>()(&value, first_given_) && place < marked_.size();
  return {value, is_result ? marked_[place].mark : 0};
}

nb::object Snapshot::give(const Plan& plan, const Value*& values) {
  first_given_ = values;
  nb::object given = part(plan, values);
  set_fields();
  return given;
}

nb::object Snapshot::part(const Plan& plan, const Value*& values) {
  switch (plan.kind) {
    case Plan::Kind::Sink:
    case Plan::Kind::Constant:
      return plan.constant;
    case Plan::Kind::Bool:
    case Plan::Kind::Int:
    case Plan::Kind::Float:
      return number_object(*values++);
    case Plan::Kind::Symbol:
      return text_of((values++)->as<int64_t>(), *plan.symbols);
    case Plan::Kind::Tensor:
      return to_object(marked_.empty() ? EagerTensor{*values++} : with_mark(*values++));
    case Plan::Kind::Object:
      return made((values++)->data(), *plan.objects);
    case Plan::Kind::Tuple:
      return tuple_of(plan, values);
    case Plan::Kind::Dict:
      return dict_of(plan, values);
    case Plan::Kind::Union:
      return side_of(plan, values);
    case Plan::Kind::List:
      return list_of(plan, (values++)->data().object(), false);
    case Plan::Kind::Items:
      return dict_of_items(plan, (values++)->data());
    case Plan::Kind::Array:
      break;  // results are lists of cells
  }
  return nb::none();
}

nb::object Snapshot::tuple_of(const Plan& plan, const Value*& values) {
  const auto items = nb::steal<nb::tuple>(PyTuple_New(static_cast<Py_ssize_t>(plan.parts.size())));
  if (!items.is_valid()) nb::raise_python_error();
  for (std::size_t i = 0; i < plan.parts.size(); ++i)
    PyTuple_SET_ITEM(items.ptr(), static_cast<Py_ssize_t>(i), part(plan.parts[i], values).release().ptr());
  if (plan.constant.ptr() == reinterpret_cast<PyObject*>(&PyTuple_Type)) return items;
  return plan.constant.attr("_make")(items);
}

nb::object Snapshot::dict_of(const Plan& plan, const Value*& values) {
  nb::dict made;
  for (std::size_t i = 0; i < plan.parts.size(); ++i)
    made[nb::handle(PyTuple_GET_ITEM(plan.constant.ptr(), static_cast<Py_ssize_t>(i)))] =
        part(plan.parts[i], values);
  return made;
}

/// The dict that came in, or was made before, where it is that one. No object is made that holds an empty one
/// which came in.
nb::object Snapshot::dict_of_items(const Plan& plan, const Data& first) {
  if (first.variant() == kEmptyList) return nb::dict();
  const nb::object items = list_of(plan, first.object(), false);
  if (PyDict_CheckExact(items.ptr())) return items;
  nb::dict made;
  for (nb::handle pair : items) made[pair[0]] = pair[1];
  if (Data::has_object(first.object())) made_[first.object()] = made;
  return made;
}

/// What a union holds: its first value says which of the parts it is; the others have values, too.
nb::object Snapshot::side_of(const Plan& plan, const Value*& values) {
  const auto side = static_cast<std::size_t>((values++)->as<int64_t>());
  nb::object chosen;
  for (std::size_t i = 0; i < plan.parts.size(); ++i) {
    if (i == side) {
      chosen = part(plan.parts[i], values);
    } else {
      values += plan.parts[i].components.size();
    }
  }
  return chosen;
}

/// The list that came in, or was made before, where it is that one. `may_come_again`: something else refers
/// to what holds it. Lists may share cells, and so what these hold.
nb::object Snapshot::list_of(const Plan& plan, DataObject* first, bool may_come_again) {
  const auto given = objects_.find(first);
  if (given != objects_.end()) return given->second;
  if (!Data::has_object(first)) {
    if (std::ranges::find(empty_lists_, plan.type) != empty_lists_.end())
      throw Miss{"an empty list to be given back, which may be one that came in", nb::list(), false};
    return nb::list();
  }
  may_come_again = may_come_again || !is_referred_to_once(first);
  if (may_come_again) {
    const auto before = made_.find(first);
    if (before != made_.end()) return before->second;
  }
  const Plan& element = plan.parts[0];
  nb::list made = is_number(element) ? list_of_numbers(element, first) : nb::list();
  if (may_come_again) made_.emplace(first, made);
  if (is_number(element)) return made;
  std::vector<Value> parts;
  for (DataObject* cell = first; Data::has_object(cell); cell = cell->slots()[1].data) {
    may_come_again = may_come_again || !is_referred_to_once(cell);
    if (element.kind == Plan::Kind::List) {
      made.append(list_of(element, cell->slots()[0].data, may_come_again));
      continue;
    }
    const Value held = value_in(cell);
    const Value* next = &held;
    if (element.components.size() != 1) {
      read_fields(held.data(), parts);
      next = parts.data();
    }
    made.append(part(element, next));
  }
  return made;
}

}  // namespace hiaton::python
