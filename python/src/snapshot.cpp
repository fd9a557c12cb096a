// Objects of Python as values of a graph, and back.
#include <array>
#include <utility>

#include "graphs.h"

namespace hiaton::python {
namespace {

/// How deep objects may stand inside each other: the snapshot recurs.
constexpr int kDeepest = 4000;
constexpr uint32_t kNil = 0;
constexpr uint32_t kCons = 1;

class Deeper {
 public:
  explicit Deeper(int& depth) : depth_(++depth) {}
  Deeper(const Deeper&) = delete;
  Deeper& operator=(const Deeper&) = delete;
  ~Deeper() { --depth_; }

 private:
  int& depth_;
};

/// What stands for a part that is not there.
Slot default_of(const Type& type) {
  if (type.is_tensor()) {
    std::vector<int64_t> dims;
    for (const Dim& dim : type.shape) dims.push_back(dim.size < 0 ? 1 : dim.size);
    return Value(Tensor(type.dtype, dims)).detach();
  }
  return type.is_data() ? Value(Data(0, {})).detach() : Slot{};
}

/// The value that owns what the slot refers to.
Value value_of(const Type& type, Slot slot) {
  if (type.is_data()) return Data::adopt(slot.data);
  if (type.is_tensor()) return Tensor::adopt(slot.tensor);
  return {type.dtype, slot};
}

Slot slot_of(const Value& scalar) {
  return scalar.slot();
}

/// Whether the object is None and that stands in the tuple, or is of a class that does.
bool is_one_of(PyObject* object, PyObject* classes) {
  PyObject* const wanted = object == Py_None ? object : reinterpret_cast<PyObject*>(Py_TYPE(object));
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(classes); ++i) {
    if (PyTuple_GET_ITEM(classes, i) == wanted) return true;
  }
  return false;
}

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
      return PyList_CheckExact(given);
    case Plan::Kind::Union:
      break;
  }
  return false;
}

[[noreturn]] void miss(const char* reason, PyObject* object) {
  throw Snapshot::Miss{reason, nb::borrow(object)};
}

int64_t integer_in(PyObject* object) {
  int overflow = 0;
  const long long n = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow != 0) miss("an integer that does not fit 64 bits", object);
  return n;
}

int64_t number_of_symbol(PyObject* object, const nb::object& numbers) {
  PyObject* const found = PyDict_GetItemWithError(numbers.ptr(), object);
  if (found != nullptr) return PyLong_AsLongLong(found);
  if (PyErr_Occurred() != nullptr) nb::raise_python_error();
  const auto number = static_cast<int64_t>(PyDict_GET_SIZE(numbers.ptr()));
  numbers[nb::handle(object)] = number;
  return number;
}

nb::object symbol_of_number(int64_t number, const nb::object& numbers) {
  Py_ssize_t position = 0;
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  while (PyDict_Next(numbers.ptr(), &position, &key, &value) != 0) {
    if (PyLong_AsLongLong(value) == number) return nb::borrow(key);
  }
  throw nb::value_error("a graph gave a text that there is not");
}

}  // namespace

class Snapshot::Unfinished {
 public:
  Unfinished(std::vector<Slot>& slots, FieldLayout layout)
      : slots_(slots), begin_(slots.size()), layout_(layout) {}
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;
  ~Unfinished() {
    if (slots_.size() == begin_) return;
    Data::release_slots(layout_, gathered());
    slots_.resize(begin_);
  }

  std::span<const Slot> gathered() const { return std::span<const Slot>(slots_).subspan(begin_); }
  /// The data value of the slots, which are gone then.
  Slot made(uint32_t variant) {
    Slot slot;
    try {
      slot.data = Data::take(variant, layout_, gathered()).detach();
    } catch (...) {
      slots_.resize(begin_);  // Data::take let go of them
      throw;
    }
    slots_.resize(begin_);
    return slot;
  }
  /// Somebody else has them.
  void forget() { slots_.resize(begin_); }

 private:
  std::vector<Slot>& slots_;
  const std::size_t begin_;
  const FieldLayout layout_;
};

std::vector<Value> Snapshot::arguments(const nb::tuple& given, const std::vector<Plan>& plans) {
  std::vector<Value> values;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const nb::object argument = given[i];
    Unfinished slots(slots_, plans[i].layout);
    take(argument.ptr(), plans[i]);
    values.reserve(values.size() + plans[i].components.size());
    for (std::size_t c = 0; c < plans[i].components.size(); ++c)
      values.push_back(value_of(plans[i].components[c], slots.gathered()[c]));
    slots.forget();
  }
  return values;
}

void Snapshot::take_union(PyObject* given, const Plan& plan) {
  for (std::size_t side = 0; side < plan.parts.size(); ++side) {
    if (!fits(given, plan.parts[side])) continue;
    slots_.push_back(slot_of(static_cast<int64_t>(side)));
    for (std::size_t other = 0; other < plan.parts.size(); ++other) {
      if (other == side) {
        take(given, plan.parts[side]);
      } else {
        for (const Type& type : plan.parts[other].components) slots_.push_back(default_of(type));
      }
    }
    return;
  }
  miss("a value of a type that was not seen before", given);
}

void Snapshot::take(PyObject* given, const Plan& plan) {
  if (plan.kind == Plan::Kind::Union) return take_union(given, plan);
  if (plan.kind == Plan::Kind::Object && given == Py_None && plan.takes_none) {
    slots_.push_back(default_of(plan.type));
    return;
  }
  if (!fits(given, plan)) miss("a value of a type that was not seen before", given);
  switch (plan.kind) {
    case Plan::Kind::Bool:
      slots_.push_back(slot_of(given == Py_True));
      break;
    case Plan::Kind::Int:
      slots_.push_back(slot_of(integer_in(given)));
      break;
    case Plan::Kind::Float:
      slots_.push_back(slot_of(PyFloat_AS_DOUBLE(given)));
      break;
    case Plan::Kind::Symbol:
      slots_.push_back(slot_of(number_of_symbol(given, plan.constant)));
      break;
    case Plan::Kind::Tensor:
      slots_.push_back(Value(nb::inst_ptr<EagerTensor>(given)->value).detach());
      break;
    case Plan::Kind::Object:
      slots_.push_back(object(given, *plan.objects));
      break;
    case Plan::Kind::Tuple:
      for (std::size_t i = 0; i < plan.parts.size(); ++i)
        take(PyTuple_GET_ITEM(given, static_cast<Py_ssize_t>(i)), plan.parts[i]);
      break;
    case Plan::Kind::Dict:
      for (std::size_t i = 0; i < plan.parts.size(); ++i) {
        PyObject* const key = PyTuple_GET_ITEM(plan.constant.ptr(), static_cast<Py_ssize_t>(i));
        PyObject* const value = PyDict_GetItemWithError(given, key);
        if (value == nullptr) miss("a dict that changes while it is read", given);
        take(nb::borrow(value).ptr(), plan.parts[i]);
      }
      break;
    case Plan::Kind::List:
      slots_.push_back(list(given, plan));
      break;
    default:
      break;
  }
}

/// Begins to load what the fields of an object refer to, so that the fields wait for memory together.
void load_ahead(PyObject* given, ObjectTable::Class& described) {
  const std::size_t count = std::min<std::size_t>(described.fields.size(), 8);
  for (std::size_t i = 0; i < count; ++i) {
    PyObject* const value = described.attributes.find(given, i);
    if (value != nullptr) __builtin_prefetch(value);
  }
  for (std::size_t i = 0; i < count; ++i) {
    PyObject* const value = described.attributes.find(given, i);
    if (value != nullptr && Py_IS_TYPE(value, Py_TYPE(given))) described.attributes.expect(value);
  }
}

Slot Snapshot::object(PyObject* given, ObjectTable& table) {
  const nb::object held =
      nb::borrow(given);  // reading an attribute may run code, which may drop it elsewhere
  const bool may_be_shared = Py_REFCNT(given) > 2;
  if (may_be_shared) {
    const auto [known, is_new] = shared_.try_emplace(given);
    if (!is_new) {
      if (!known->second) miss("an object that reaches itself through fields that are read", given);
      return Value(known->second).detach();
    }
  }
  const Deeper deeper(depth_);
  if (depth_ > kDeepest) miss("objects that stand too deep inside each other", given);
  ObjectTable::Class& described = *table.find(Py_TYPE(given));
  Unfinished fields(slots_, described.layout);
  load_ahead(given, described);
  for (std::size_t i = 0; i < described.fields.size(); ++i) {
    PyObject* const value = described.attributes.find(given, i);
    if (value != nullptr) {
      take(value, described.fields[i]);
      continue;
    }
    const nb::object read = described.attributes.read(given, i);
    if (!read.is_valid()) miss("an object without a field that others of its class have", given);
    take(read.ptr(), described.fields[i]);
  }
  const Slot made = fields.made(described.variant);
  if (may_be_shared) {
    Data::retain(made.data);
    shared_[given] = Data::adopt(made.data);
  }
  if (gives_objects_) objects_.emplace(made.data, held);
  return made;
}

/// A data value of the parts of an element.
Slot Snapshot::boxed(PyObject* given, const Plan& element) {
  Unfinished parts(slots_, element.layout);
  take(given, element);
  return parts.made(1);
}

Slot Snapshot::list(PyObject* given, const Plan& plan) {
  const nb::object held = nb::borrow(given);
  const Deeper deeper(depth_);
  if (depth_ > kDeepest) miss("objects that stand too deep inside each other", given);
  const Plan& element = plan.parts[0];
  Data made(kNil, {});
  for (Py_ssize_t i = PyList_GET_SIZE(given); i-- > 0;) {
    if (i >= PyList_GET_SIZE(given)) miss("a list that changes while it is read", given);
    Unfinished cell(slots_, plan.layout);
    if (element.components.size() == 1) {
      take(PyList_GET_ITEM(given, i), element);
    } else {
      slots_.push_back(boxed(PyList_GET_ITEM(given, i), element));
    }
    slots_.push_back(Value(std::move(made)).detach());
    made = Data::adopt(cell.made(kCons).data);
  }
  if (gives_objects_) {
    if (!Data::has_object(made.object())) miss("an empty list, which may be given back", given);
    objects_.emplace(made.object(), held);
  }
  return Value(std::move(made)).detach();
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
    const nb::object object = described.made.attr("__new__")(described.made);
    std::vector<Value> values;
    for (std::size_t i = 0; i < data.field_count(); ++i) values.push_back(data.field(i));
    const Value* next = values.data();
    for (std::size_t i = 0; i < described.fields.size(); ++i) {
      const nb::object value = give(described.fields[i], next);
      const nb::object& name = described.attributes.name(i);
      if (PyObject_GenericSetAttr(object.ptr(), name.ptr(), value.ptr()) != 0) nb::raise_python_error();
    }
    if (has_memory) made_.emplace(data.object(), object);
    return object;
  }
  throw nb::value_error("a graph gave an object of a class that there is not");
}

nb::object Snapshot::give(const Plan& plan, const Value*& values) {
  switch (plan.kind) {
    case Plan::Kind::Constant:
      return plan.constant;
    case Plan::Kind::Bool:
    case Plan::Kind::Int:
    case Plan::Kind::Float:
      return number_object(*values++);
    case Plan::Kind::Symbol:
      return symbol_of_number((values++)->as<int64_t>(), plan.constant);
    case Plan::Kind::Tensor:
      return to_object(*values++);
    case Plan::Kind::Object:
      return made((values++)->data(), *plan.objects);
    case Plan::Kind::Tuple: {
      nb::list items;
      for (const Plan& part : plan.parts) items.append(give(part, values));
      if (plan.constant.ptr() == reinterpret_cast<PyObject*>(&PyTuple_Type)) return nb::tuple(items);
      return plan.constant.attr("_make")(items);
    }
    case Plan::Kind::Dict: {
      nb::dict made;
      for (std::size_t i = 0; i < plan.parts.size(); ++i)
        made[nb::handle(PyTuple_GET_ITEM(plan.constant.ptr(), static_cast<Py_ssize_t>(i)))] =
            give(plan.parts[i], values);
      return made;
    }
    case Plan::Kind::Union: {
      const auto side = static_cast<std::size_t>((values++)->as<int64_t>());
      nb::object chosen;
      for (std::size_t i = 0; i < plan.parts.size(); ++i) {
        if (i == side) {
          chosen = give(plan.parts[i], values);
        } else {
          values += plan.parts[i].components.size();
        }
      }
      return chosen;
    }
    case Plan::Kind::List: {
      nb::list elements;
      const Data first = (values++)->data();
      const auto given = objects_.find(first.object());
      if (given != objects_.end()) return given->second;
      if (Data::has_object(first.object())) {
        const auto [before, is_new] = made_.try_emplace(first.object(), elements);
        if (!is_new) return before->second;
      }
      Data rest = first;
      while (rest.variant() == kCons) {
        const Value head = rest.field(0);
        std::vector<Value> parts;
        if (plan.parts[0].components.size() == 1) {
          parts.push_back(head);
        } else {
          const Data box = head.data();
          for (std::size_t i = 0; i < box.field_count(); ++i) parts.push_back(box.field(i));
        }
        const Value* next = parts.data();
        elements.append(give(plan.parts[0], next));
        rest = rest.field(1).data();
      }
      return elements;
    }
  }
  return nb::none();
}

}  // namespace hiaton::python
