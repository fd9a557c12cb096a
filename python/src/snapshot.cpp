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
Value default_of(const Type& type) {
  if (type.is_data()) return Data(0, {});
  if (type.is_tensor()) {
    std::vector<int64_t> dims;
    for (const Dim& dim : type.shape) dims.push_back(dim.size < 0 ? 1 : dim.size);
    return Tensor(type.dtype, dims);
  }
  return Value(type.dtype, Slot{});
}

/// Whether the object is None and that stands in the tuple, or is of a class that does.
bool is_one_of(PyObject* object, PyObject* classes) {
  PyObject* const wanted = object == Py_None ? object : reinterpret_cast<PyObject*>(Py_TYPE(object));
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(classes); ++i) {
    if (PyTuple_GET_ITEM(classes, i) == wanted) return true;
  }
  return false;
}

bool fits(nb::handle object, const Plan& plan) {
  PyObject* const given = object.ptr();
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
      return nb::try_cast(object, tensor) && tensor != nullptr && compatible(tensor->value.type(), plan.type);
    }
    case Plan::Kind::Object:
      return is_one_of(given, plan.constant.ptr());
    case Plan::Kind::Tuple:
      return Py_TYPE(given) == reinterpret_cast<PyTypeObject*>(plan.constant.ptr()) &&
             static_cast<std::size_t>(PyTuple_GET_SIZE(given)) == plan.parts.size();
    case Plan::Kind::List:
      return PyList_CheckExact(given);
    case Plan::Kind::Union:
      break;
  }
  return false;
}

[[noreturn]] void miss(const char* reason, nb::handle object) {
  throw Snapshot::Miss{reason, nb::borrow(object)};
}

int64_t integer_in(nb::handle object) {
  int overflow = 0;
  const long long n = PyLong_AsLongLongAndOverflow(object.ptr(), &overflow);
  if (overflow != 0) miss("an integer that does not fit 64 bits", object);
  return n;
}

int64_t number_of_symbol(nb::handle object, const nb::object& numbers) {
  PyObject* const found = PyDict_GetItemWithError(numbers.ptr(), object.ptr());
  if (found != nullptr) return PyLong_AsLongLong(found);
  if (PyErr_Occurred() != nullptr) nb::raise_python_error();
  const auto number = static_cast<int64_t>(PyDict_GET_SIZE(numbers.ptr()));
  numbers[object] = number;
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

std::vector<Value> Snapshot::arguments(const nb::tuple& given, const std::vector<Plan>& plans) {
  for (std::size_t i = 0; i < plans.size(); ++i) take(nb::object(given[i]), plans[i]);
  return std::exchange(values_, {});
}

void Snapshot::take(nb::handle object, const Plan& plan) {
  if (plan.kind == Plan::Kind::Union) {
    for (std::size_t side = 0; side < plan.parts.size(); ++side) {
      if (!fits(object, plan.parts[side])) continue;
      values_.emplace_back(static_cast<int64_t>(side));
      for (std::size_t other = 0; other < plan.parts.size(); ++other) {
        if (other == side) {
          take(object, plan.parts[side]);
        } else {
          for (const Type& type : plan.parts[other].components) values_.push_back(default_of(type));
        }
      }
      return;
    }
    miss("a value of a type that was not seen before", object);
  }
  if (!fits(object, plan)) miss("a value of a type that was not seen before", object);
  PyObject* const given = object.ptr();
  switch (plan.kind) {
    case Plan::Kind::Bool:
      values_.emplace_back(given == Py_True);
      break;
    case Plan::Kind::Int:
      values_.emplace_back(integer_in(object));
      break;
    case Plan::Kind::Float:
      values_.emplace_back(PyFloat_AS_DOUBLE(given));
      break;
    case Plan::Kind::Symbol:
      values_.emplace_back(number_of_symbol(object, plan.constant));
      break;
    case Plan::Kind::Tensor:
      values_.push_back(nb::inst_ptr<EagerTensor>(object)->value);
      break;
    case Plan::Kind::Object:
      values_.emplace_back(this->object(object, *plan.objects));
      break;
    case Plan::Kind::Tuple:
      for (std::size_t i = 0; i < plan.parts.size(); ++i)
        take(nb::borrow(PyTuple_GET_ITEM(given, static_cast<Py_ssize_t>(i))), plan.parts[i]);
      break;
    case Plan::Kind::List:
      values_.emplace_back(list(object, plan));
      break;
    default:
      break;
  }
}

Data Snapshot::taken_from(std::size_t begin, uint32_t variant, FieldLayout layout) {
  constexpr std::size_t kFew = 16;
  std::array<Slot, kFew> few;
  std::vector<Slot> many;
  const std::size_t count = values_.size() - begin;
  if (count > kFew) many.resize(count);
  const std::span<Slot> slots = count > kFew ? std::span(many) : std::span(few).first(count);
  for (std::size_t i = 0; i < count; ++i) slots[i] = values_[begin + i].detach();
  values_.resize(begin);
  return Data::take(variant, layout, slots);
}

Data Snapshot::object(nb::handle object, const ObjectTable& table) {
  if (object.is_none()) return {0, {}};
  PyObject* const given = object.ptr();
  // Whoever reads it holds one reference, and what it was read from another.
  const bool may_be_shared = Py_REFCNT(given) > 2;
  if (may_be_shared) {
    const auto known = shared_.find(given);
    if (known != shared_.end()) {
      if (!known->second.complete) miss("an object that reaches itself through fields that are read", object);
      return known->second.data;
    }
    shared_.emplace(given, Known{});
  }
  const Deeper deeper(depth_);
  if (depth_ > kDeepest) miss("objects that stand too deep inside each other", object);
  const ObjectTable::Class& described = *table.find(Py_TYPE(given));
  const std::size_t begin = values_.size();
  for (const ObjectTable::Field& field : described.fields) {
    const auto value = nb::steal(PyObject_GetAttr(given, field.name.ptr()));
    if (!value.is_valid()) {
      PyErr_Clear();
      miss("an object without a field that others of its class have", object);
    }
    take(value, field.plan);
  }
  Data data = taken_from(begin, described.variant, described.layout);
  if (may_be_shared) shared_[given] = {data, true};
  if (gives_objects_) objects_.emplace(data.object(), given);
  return data;
}

Data Snapshot::list(nb::handle object, const Plan& plan) {
  const Deeper deeper(depth_);
  if (depth_ > kDeepest) miss("objects that stand too deep inside each other", object);
  const Plan& element = plan.parts[0];
  Data made(kNil, {});
  for (Py_ssize_t i = PyList_GET_SIZE(object.ptr()); i-- > 0;) {
    const std::size_t begin = values_.size();
    take(nb::borrow(PyList_GET_ITEM(object.ptr(), i)), element);
    if (element.components.size() != 1) {
      Data box = taken_from(begin, 1, element.layout);
      values_.emplace_back(std::move(box));
    }
    values_.emplace_back(std::move(made));
    made = taken_from(begin, kCons, plan.layout);
  }
  if (gives_objects_) {
    if (!Data::has_object(made.object())) miss("an empty list, which may be given back", object);
    objects_.emplace(made.object(), object.ptr());
  }
  return made;
}

nb::object Snapshot::made(const Data& data, const ObjectTable& table) {
  if (data.variant() == 0) return nb::none();
  const auto given = objects_.find(data.object());
  if (given != objects_.end()) return nb::borrow(given->second);
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
    for (const ObjectTable::Field& field : described.fields) {
      const nb::object value = give(field.plan, next);
      if (PyObject_GenericSetAttr(object.ptr(), field.name.ptr(), value.ptr()) != 0) nb::raise_python_error();
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
      Data rest = (values++)->data();
      const auto given = objects_.find(rest.object());
      if (given != objects_.end()) return nb::borrow(given->second);
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
