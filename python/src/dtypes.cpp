// Element types.
#include <nanobind/stl/string.h>

#include <string>

#include "hiaton/apply.h"
#include "tensors.h"

namespace hiaton::python {
namespace {

constexpr std::array kAll = {DType::Bool, DType::U8, DType::I32, DType::I64, DType::F32, DType::F64};

/// As NumPy names it.
constexpr std::string_view numpy_name(DType dtype) {
  switch (dtype) {
    case DType::Bool:
      return "bool";
    case DType::U8:
      return "uint8";
    case DType::I32:
      return "int32";
    case DType::I64:
      return "int64";
    case DType::F32:
      return "float32";
    case DType::F64:
      return "float64";
  }
  return "";
}

std::optional<DType> named(std::string_view name) {
  for (const DType dtype : kAll) {
    if (name == name_of(dtype) || name == numpy_name(dtype)) return dtype;
  }
  return std::nullopt;
}

nb::object cast_to(const ElementType& type, nb::handle x) {
  const std::optional<Operand> operand = operand_of(x);
  if (!operand) throw nb::type_error("expected a tensor, an array or a number");
  const EagerTensor tensor = {operand->value, operand->mark};
  return to_object(apply_eager(*catalog().find(name_of(type.dtype)), {&tensor, 1}));
}

}  // namespace

DType dtype_of(nb::handle object) {
  ElementType known{};
  if (nb::try_cast(object, known)) return known.dtype;
  if (object.is(&PyBool_Type)) return DType::Bool;
  if (object.is(&PyLong_Type)) return DType::I64;
  if (object.is(&PyFloat_Type)) return DType::F32;
  std::string name;
  if (!nb::try_cast(object, name)) {
    const nb::object dtype = nb::module_::import_("numpy").attr("dtype")(object);
    name = nb::cast<std::string>(dtype.attr("name"));
  }
  if (const std::optional<DType> dtype = named(name)) return *dtype;
  throw nb::type_error(("expected an element type bool, u8, i32, i64, f32 or f64, found " + name +
                        "; convert with .astype first")
                           .c_str());
}

void bind_dtypes(nb::module_& m) {
  nb::class_<ElementType> type(
      m, "DType",
      "The type of the elements of a tensor. Called with a tensor, an array or a number, it "
      "converts the elements to itself.");
  type.def(
          "__init__", [](ElementType* t, nb::handle object) { new (t) ElementType{dtype_of(object)}; },
          nb::arg("object"), "From a name, a type of Python or one of NumPy.")
      .def_prop_ro("name", [](const ElementType& t) { return std::string(name_of(t.dtype)); })
      .def_prop_ro("itemsize", [](const ElementType& t) { return size_of(t.dtype); })
      .def("__repr__", [](const ElementType& t) { return "hiaton." + std::string(name_of(t.dtype)); })
      .def(
          "__eq__",
          [](const ElementType& t, nb::handle other) {
            try {
              return t.dtype == dtype_of(other);
            } catch (...) {
              PyErr_Clear();
              return false;
            }
          },
          nb::arg("other").none())
      .def("__hash__", [](const ElementType& t) { return static_cast<int>(t.dtype); })
      .def("__call__", &cast_to, nb::arg("x"), nb::sig("def __call__(self, x: typing.Any, /) -> Tensor"))
      .def("__reduce__", [](const ElementType& t) {
        return nb::make_tuple(nb::type<ElementType>(), nb::make_tuple(std::string(name_of(t.dtype))));
      });
  m.def(
      "numpy_name", [](const ElementType& t) { return std::string(numpy_name(t.dtype)); }, nb::arg("dtype"),
      "The name that NumPy has for it.");
  for (const DType dtype : kAll) m.attr(std::string(name_of(dtype)).c_str()) = ElementType{dtype};
}

}  // namespace hiaton::python
