// Values of data types as objects of Python, and back.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <limits>
#include <set>
#include <utility>

#include "hiaton/apply.h"
#include "programs.h"

namespace hiaton::python {
namespace {

bool is_list(const Type& type) {
  return type.is_data() && type.data->name.starts_with("List[");
}

constexpr uint32_t kNil = 0;
constexpr uint32_t kCons = 1;

std::string name_of_type(nb::handle object) {
  EagerTensor* tensor = nullptr;
  if (nb::try_cast(object, tensor) && tensor != nullptr) return to_string(tensor->value.type());
  return nb::cast<std::string>(
      nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(object.ptr()))).attr("__name__"));
}

[[noreturn]] void refuse_value(const std::string& what, const std::string& expected, nb::handle found) {
  std::string of = name_of_type(found);
  if (nb::hasattr(found, "dtype") && nb::hasattr(found, "shape"))
    of += std::string(" of ") + nb::str(nb::object(found.attr("dtype"))).c_str();
  throw nb::type_error((what + ": expected " + expected + ", found " + of).c_str());
}

Value integer_value(nb::handle object, DType dtype, const std::string& what) {
  const long long n = PyLong_AsLongLong(object.ptr());
  const bool overflows = n == -1 && PyErr_Occurred() != nullptr;
  PyErr_Clear();
  const bool fits = dtype == DType::U8    ? std::in_range<uint8_t>(n)
                    : dtype == DType::I32 ? std::in_range<int32_t>(n)
                                          : true;
  if (overflows || !fits) {
    const std::string text = what + ": expected an integer that fits " + std::string(name_of(dtype));
    PyErr_SetString(PyExc_OverflowError, text.c_str());
    nb::raise_python_error();
  }
  if (dtype == DType::U8) return static_cast<uint8_t>(n);
  return dtype == DType::I32 ? Value(static_cast<int32_t>(n)) : Value(static_cast<int64_t>(n));
}

Value scalar_value(nb::handle object, DType dtype, const std::string& what) {
  PyObject* given = object.ptr();
  if (PyBool_Check(given)) {
    if (dtype == DType::Bool) return given == Py_True;
  } else if (PyLong_Check(given)) {
    if (is_integer(dtype)) return integer_value(object, dtype, what);
    if (is_float(dtype)) {
      const double x = PyLong_AsDouble(given);
      if (x == -1 && PyErr_Occurred() != nullptr) nb::raise_python_error();
      return dtype == DType::F32 ? Value(static_cast<float>(x)) : Value(x);
    }
  } else if (PyFloat_Check(given)) {
    if (dtype == DType::F32) return static_cast<float>(PyFloat_AS_DOUBLE(given));
    if (dtype == DType::F64) return PyFloat_AS_DOUBLE(given);
  } else if (const std::optional<Operand> operand = operand_of(object);
             operand && operand->value.is_scalar()) {
    const Value& value = operand->value;
    if (value.dtype() == dtype) return value;
    // Numbers of NumPy and tensors of one number go where numbers of Python go.
    const bool is_widened =
        is_number(value.dtype()) && (is_float(dtype) || (is_integer(dtype) && is_integer(value.dtype())));
    if (is_widened) return scalar_value(object.attr("item")(), dtype, what);
  }
  refuse_value(what, std::string(name_of(dtype)), object);
}

Value string_value(nb::handle object, const std::string& what) {
  if (!PyUnicode_Check(object.ptr())) refuse_value(what, "str", object);
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(object.ptr(), &size);
  if (text == nullptr) nb::raise_python_error();  // a surrogate, which is no character
  return std::string_view(text, static_cast<std::size_t>(size));
}

Value tensor_value(nb::handle object, const Type& type, const std::string& what) {
  std::optional<Value> value;
  if (PyList_Check(object.ptr()) || PyTuple_Check(object.ptr())) {
    const nb::object make = nb::module_::import_("hiaton").attr("tensor");
    value = nb::cast<EagerTensor>(make(object, ElementType{type.dtype})).value;
  } else if (std::optional<Operand> operand = operand_of(object); operand && !operand->weak) {
    value = std::move(operand->value);
  }
  if (!value) refuse_value(what, to_string(type), object);
  if (!compatible(value->type(), type)) {
    const bool only_elements =
        value->type().dtype != type.dtype && value->type().shape.size() == type.shape.size();
    throw nb::type_error((what + ": expected " + to_string(type) + ", found " + to_string(value->type()) +
                          (only_elements ? "; .astype converts the elements" : ""))
                             .c_str());
  }
  return std::move(*value);
}

/// Whether two data types are built alike, all the way down.
bool built_alike(const Type& a, const Type& b, std::set<std::pair<const DataType*, const DataType*>>& seen) {
  if (!a.is_data() || !b.is_data()) return !a.is_data() && !b.is_data() && a == b;
  if (a.data == b.data || !seen.insert({a.data.get(), b.data.get()}).second) return true;
  if (a.data->name != b.data->name || a.data->variants.size() != b.data->variants.size()) return false;
  for (std::size_t v = 0; v < a.data->variants.size(); ++v) {
    const Variant& ours = a.data->variants[v];
    const Variant& theirs = b.data->variants[v];
    if (ours.name != theirs.name || ours.fields.size() != theirs.fields.size()) return false;
    for (std::size_t f = 0; f < ours.fields.size(); ++f) {
      if (ours.fields[f].name != theirs.fields[f].name) return false;
      if (!built_alike(field_type(a, v, f), field_type(b, v, f), seen)) return false;
    }
  }
  return true;
}

/// What a class of a variant has as `_variant`.
struct VariantHandle {
  const VariantInfo* info;
  nb::object classes;  ///< the object of Python that the info stands in
};

int visit_handle(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (nb::inst_ready(self)) Py_VISIT(nb::inst_ptr<VariantHandle>(self)->classes.ptr());
  return 0;
}
int clear_handle(PyObject* self) {
  nb::inst_ptr<VariantHandle>(self)->classes.reset();
  return 0;
}
int visit_classes(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  for (auto& [name, variants] : nb::inst_ptr<DataClasses>(self)->entries()) {
    for (DataClasses::Entry& entry : variants) Py_VISIT(entry.made.ptr());
  }
  return 0;
}
int clear_classes(PyObject* self) {
  for (auto& [name, variants] : nb::inst_ptr<DataClasses>(self)->entries()) {
    for (DataClasses::Entry& entry : variants) entry.made.reset();
  }
  return 0;
}
PyType_Slot handle_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(visit_handle)},
                              {Py_tp_clear, reinterpret_cast<void*>(clear_handle)},
                              {0, nullptr}};
PyType_Slot classes_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(visit_classes)},
                               {Py_tp_clear, reinterpret_cast<void*>(clear_classes)},
                               {0, nullptr}};

void construct(nb::pointer_and_handle<DataValue> self, const nb::args& args, const nb::kwargs& named) {
  const nb::object handle = nb::getattr(self.h.type(), "_variant", nb::none());
  if (handle.is_none()) {
    const auto name = nb::cast<std::string>(self.h.type().attr("__name__"));
    throw nb::type_error(("expected a variant of " + name + ", which has no values of its own").c_str());
  }
  const VariantInfo& info = *nb::inst_ptr<VariantHandle>(handle)->info;
  std::size_t by_name = 0;
  std::vector<Value> fields;
  fields.reserve(info.fields.size());
  for (std::size_t i = 0; i < info.fields.size(); ++i) {
    nb::handle given;
    if (i < args.size()) {
      given = args[i];
    } else if (named.contains(info.fields[i].c_str())) {
      given = PyDict_GetItemString(named.ptr(), info.fields[i].c_str());
      ++by_name;
    } else {
      throw nb::type_error((info.name + "(): expected a field '" + info.fields[i] + "'").c_str());
    }
    fields.push_back(info.classes->to_value(given, info.field_types[i], info.name + "." + info.fields[i]));
  }
  if (args.size() > info.fields.size() || by_name != named.size()) {
    throw nb::type_error((info.name + "(): expected " + std::to_string(info.fields.size()) +
                          " fields, found " + std::to_string(args.size() + named.size()))
                             .c_str());
  }
  new (self.p) DataValue{Data::take(info.number, fields), &info};
}

nb::object field_object(const DataValue& value, std::size_t index) {
  return value.variant->classes->to_object(value.data.field(index), value.variant->field_types.at(index));
}

bool equal(const DataValue& a, nb::handle other) {
  DataValue* b = nullptr;
  if (!nb::try_cast(other, b) || b == nullptr) throw nb::next_overload();
  std::set<std::pair<const DataType*, const DataType*>> seen;
  return built_alike(a.variant->type, b->variant->type, seen) && a.data == b->data;
}

}  // namespace

DataClasses::DataClasses(const DataTypes& types) {
  for (const Type& type : types.all()) {
    std::vector<Entry>& variants = entries_[type.data->name];
    for (std::size_t v = 0; v < type.data->variants.size(); ++v) {
      const Variant& variant = type.data->variants[v];
      VariantInfo info{type, static_cast<uint32_t>(v), variant.name, {}, {}, this};
      for (std::size_t f = 0; f < variant.fields.size(); ++f) {
        info.fields.push_back(variant.fields[f].name);
        info.field_types.push_back(field_type(type, v, f));
      }
      variants.push_back({std::move(info), {}});
    }
  }
}

nb::object DataClasses::list_object(const Value& value, const Type& type) const {
  const Type element = field_type(type, kCons, 0);
  nb::list made;
  Data rest = value.data();
  while (rest.variant() == kCons) {
    made.append(to_object(rest.field(0), element));
    rest = rest.field(1).data();
  }
  return made;
}

nb::object DataClasses::to_object(const Value& value, const Type& type) const {
  if (value.is_scalar()) return number_object(value);
  if (value.is_tensor()) return python::to_object(value);
  if (is_list(type)) return list_object(value, type);
  if (is_string(type)) {
    const std::string text = value.string();
    return nb::str(text.c_str(), text.size());
  }
  Data data = value.data();
  if (is_tuple(type)) {
    nb::list parts;
    const std::size_t count = type.data->variants[0].fields.size();
    for (std::size_t i = 0; i < count; ++i) parts.append(to_object(data.field(i), field_type(type, 0, i)));
    return nb::tuple(parts);
  }
  const Entry& entry = entries_.at(type.data->name).at(data.variant());
  nb::object made = nb::inst_alloc(entry.made);
  new (nb::inst_ptr<DataValue>(made)) DataValue{std::move(data), &entry.info};
  nb::inst_mark_ready(made);
  return made;
}

Value DataClasses::list_value(nb::handle object, const Type& type, const std::string& what) const {
  const bool is_sequence = PySequence_Check(object.ptr()) != 0 && !PyUnicode_Check(object.ptr());
  if (!is_sequence) refuse_value(what, "a list for " + to_string(type), object);
  const Type element = field_type(type, kCons, 0);
  std::vector<Value> elements;
  std::size_t index = 0;
  for (nb::handle one : object)
    elements.push_back(to_value(one, element, what + "[" + std::to_string(index++) + "]"));
  Data list(kNil, std::span<const Value>());
  while (!elements.empty()) {
    std::array fields = {std::move(elements.back()), Value(std::move(list))};
    elements.pop_back();
    list = Data::take(kCons, fields);
  }
  return list;
}

Value DataClasses::tuple_value(nb::handle object, const Type& type, const std::string& what) const {
  const std::size_t count = type.data->variants[0].fields.size();
  const bool fits = (PyTuple_Check(object.ptr()) || PyList_Check(object.ptr())) && nb::len(object) == count;
  if (!fits && (PyTuple_Check(object.ptr()) || PyList_Check(object.ptr()))) {
    throw nb::type_error((what + ": expected a tuple of " + std::to_string(count) + " for " +
                          to_string(type) + ", found one of " + std::to_string(nb::len(object)))
                             .c_str());
  }
  if (!fits) refuse_value(what, "a tuple for " + to_string(type), object);
  std::vector<Value> parts;
  for (std::size_t i = 0; i < count; ++i)
    parts.push_back(to_value(object[i], field_type(type, 0, i), what + "[" + std::to_string(i) + "]"));
  return Data::take(0, parts);
}

bool DataClasses::is_same(const Type& ours, const Type& theirs) const {
  if (ours.data == theirs.data) return true;
  const auto known = known_.find(theirs.data.get());
  if (known != known_.end()) return known->second.data->name == ours.data->name;
  std::set<std::pair<const DataType*, const DataType*>> seen;
  if (!built_alike(ours, theirs, seen)) return false;
  known_.emplace(theirs.data.get(), theirs);
  return true;
}

Value DataClasses::to_value(nb::handle object, const Type& type, const std::string& what) const {
  if (type.is_scalar()) return scalar_value(object, type.dtype, what);
  if (type.is_tensor()) return tensor_value(object, type, what);
  if (is_list(type)) return list_value(object, type, what);
  if (is_tuple(type)) return tuple_value(object, type, what);
  if (is_string(type)) return string_value(object, what);
  DataValue* value = nullptr;
  if (!nb::try_cast(object, value) || value == nullptr)
    refuse_value(what, "a value of " + to_string(type), object);
  if (is_same(type, value->variant->type)) return value->data;
  const std::string theirs = to_string(value->variant->type);
  throw nb::type_error((what + ": expected a value of " + to_string(type) + ", found one of the type " +
                        theirs +
                        (theirs == to_string(type) ? " of another program, which is built otherwise" : ""))
                           .c_str());
}

void bind_data(nb::module_& m) {
  nb::class_<VariantHandle>(m, "Variant", nb::type_slots(handle_slots))
      .def_prop_ro("name", [](const VariantHandle& v) { return v.info->name; })
      .def_prop_ro("fields", [](const VariantHandle& v) { return v.info->fields; })
      .def_prop_ro("field_types", [](const VariantHandle& v) {
        std::vector<std::string> texts;
        for (const Type& type : v.info->field_types) texts.push_back(to_string(type));
        return texts;
      });
  nb::class_<DataClasses>(m, "DataClasses", nb::type_slots(classes_slots))
      .def("types",
           [](DataClasses& classes) {
             nb::list names;
             for (const auto& [name, variants] : classes.entries()) {
               const bool is_declared = !name.ends_with(']') && !name.starts_with('(');
               if (is_declared) names.append(name);
             }
             return names;
           })
      .def(
          "variants",
          [](nb::handle self, const std::string& type) {
            nb::list handles;
            for (const DataClasses::Entry& entry : nb::inst_ptr<DataClasses>(self)->entries().at(type))
              handles.append(nb::cast(VariantHandle{&entry.info, nb::borrow(self)}));
            return handles;
          },
          nb::arg("type"))
      .def(
          "set_class",
          [](DataClasses& classes, const std::string& type, std::size_t variant, nb::object made) {
            classes.entries().at(type).at(variant).made = std::move(made);
          },
          nb::arg("type"), nb::arg("variant"), nb::arg("made"));
  nb::class_<DataValue>(m, "Data", "A value of a data type of a program. It never changes.")
      .def("__init__", &construct)
      .def("_field", &field_object, nb::arg("index"))
      .def("__eq__", &equal, nb::is_operator(), nb::arg("other"))
      .def("__repr__",
           [](const DataValue& value) { return to_string(Value(value.data), value.variant->type); })
      .attr("__hash__") = nb::none();
}

}  // namespace hiaton::python
