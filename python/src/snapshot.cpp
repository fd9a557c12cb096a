// Objects of Python as values of a graph, and back.
#include <array>

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
      return given == Py_None || plan.objects->by_type.contains(Py_TYPE(given));
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

void Snapshot::take(nb::handle object, const Plan& plan, std::vector<Value>& values) {
  if (plan.kind == Plan::Kind::Union) {
    for (std::size_t side = 0; side < plan.parts.size(); ++side) {
      if (!fits(object, plan.parts[side])) continue;
      values.emplace_back(static_cast<int64_t>(side));
      for (std::size_t other = 0; other < plan.parts.size(); ++other) {
        if (other == side) {
          take(object, plan.parts[side], values);
        } else {
          for (const Type& type : plan.parts[other].components) values.push_back(default_of(type));
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
      values.emplace_back(given == Py_True);
      break;
    case Plan::Kind::Int:
      values.emplace_back(integer_in(object));
      break;
    case Plan::Kind::Float:
      values.emplace_back(PyFloat_AS_DOUBLE(given));
      break;
    case Plan::Kind::Symbol:
      values.emplace_back(number_of_symbol(object, plan.constant));
      break;
    case Plan::Kind::Tensor:
      values.push_back(nb::inst_ptr<EagerTensor>(object)->value);
      break;
    case Plan::Kind::Object:
      values.emplace_back(this->object(object, *plan.objects));
      break;
    case Plan::Kind::Tuple:
      for (std::size_t i = 0; i < plan.parts.size(); ++i)
        take(PyTuple_GET_ITEM(given, static_cast<Py_ssize_t>(i)), plan.parts[i], values);
      break;
    case Plan::Kind::List:
      values.emplace_back(list(object, plan));
      break;
    default:
      break;
  }
}

Data Snapshot::object(nb::handle object, const ObjectTable& table) {
  if (object.is_none()) return {0, {}};
  PyObject* const given = object.ptr();
  const bool may_be_shared = Py_REFCNT(given) > 1;
  if (may_be_shared) {
    const auto known = values_.find(given);
    if (known != values_.end()) {
      if (!known->second.complete) miss("an object that reaches itself through fields that are read", object);
      return known->second.data;
    }
    values_.emplace(given, Known{});
  }
  const Deeper deeper(depth_);
  if (depth_ > kDeepest) miss("objects that stand too deep inside each other", object);
  const ObjectTable::Class& described = table.classes[table.by_type.at(Py_TYPE(given))];
  std::vector<Value> fields;
  fields.reserve(described.fields.size());
  for (const ObjectTable::Field& field : described.fields) {
    const auto value = nb::steal(PyObject_GetAttr(given, field.name.ptr()));
    if (!value.is_valid()) {
      PyErr_Clear();
      miss("an object without a field that others of its class have", object);
    }
    take(value, field.plan, fields);
  }
  Data data = Data::take(described.variant, fields);
  if (may_be_shared) values_[given] = {data, true};
  objects_.emplace(data.object(), given);
  return data;
}

Data Snapshot::list(nb::handle object, const Plan& plan) {
  const Deeper deeper(depth_);
  if (depth_ > kDeepest) miss("objects that stand too deep inside each other", object);
  const Plan& element = plan.parts[0];
  Data made(kNil, {});
  std::vector<Value> parts;
  for (Py_ssize_t i = PyList_GET_SIZE(object.ptr()); i-- > 0;) {
    parts.clear();
    take(nb::borrow(PyList_GET_ITEM(object.ptr(), i)), element, parts);
    Value head = parts.size() == 1 ? std::move(parts[0]) : Value(Data::take(1, parts));
    std::array fields = {std::move(head), Value(std::move(made))};
    made = Data::take(kCons, fields);
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
