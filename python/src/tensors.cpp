// The class of tensors.
#include "tensors.h"

#include <nanobind/stl/string.h>

#include <string>

#include "hiaton/apply.h"

namespace hiaton::python {
namespace {

nb::object item(const EagerTensor& tensor) {
  if (tensor.size() != 1) {
    const std::string text = "expected a tensor of one element, found " + to_string(tensor.value.type());
    throw nb::value_error(text.c_str());
  }
  return number_object(tensor.value.is_tensor() ? element_of(tensor.value.tensor(), 0) : tensor.value);
}

nb::tuple shape_of(const EagerTensor& tensor) {
  nb::list sizes;
  for (const int64_t dim : tensor.dims()) sizes.append(dim);
  return nb::tuple(sizes);
}

std::size_t length_of(const EagerTensor& tensor) {
  if (tensor.dims().empty()) throw nb::type_error("a tensor of rank 0 has no length");
  return static_cast<std::size_t>(tensor.dims()[0]);
}

/// `index`, for iteration too: past the end it ends.
nb::object part(const EagerTensor& tensor, nb::handle key) {
  return to_object(part_of(tensor, key));
}

nb::object transposed(const EagerTensor& tensor) {
  if (!tensor.value.is_tensor()) return to_object(tensor);
  return to_object(apply_eager(*catalog().find("transpose"), {&tensor, 1}));
}

/// Parts as NumPy prints them.
std::string printed(nb::handle self) {
  const nb::object numpy = nb::module_::import_("numpy");
  const std::string prefix = "tensor(";
  const nb::object text = numpy.attr("array2string")(self.attr("numpy")(), nb::arg("separator") = ", ",
                                                     nb::arg("prefix") = prefix);
  return prefix + nb::cast<std::string>(text) +
         ", dtype=" + std::string(name_of(nb::inst_ptr<EagerTensor>(self)->value.dtype())) + ")";
}

}  // namespace

nb::object number_object(const Value& value) {
  switch (value.dtype()) {
    case DType::Bool:
      return nb::bool_(value.as<bool>());
    case DType::U8:
      return nb::int_(value.as<uint8_t>());
    case DType::I32:
      return nb::int_(value.as<int32_t>());
    case DType::I64:
      return nb::int_(value.as<int64_t>());
    case DType::F32:
      return nb::float_(value.as<float>());
    case DType::F64:
      return nb::float_(value.as<double>());
  }
  return nb::none();
}

nb::object to_object(EagerTensor tensor) {
  return nb::cast(std::move(tensor));
}

void bind_tensors(nb::module_& m) {
  nb::class_<EagerTensor> tensor(m, "Tensor",
                                 "A tensor; of rank 0, a number. It never changes. Its elements stand in "
                                 "row-major order; NumPy and everyone who "
                                 "knows DLPack reads them where they are.");
  tensor.def_prop_ro("dtype", [](const EagerTensor& t) { return ElementType{t.value.dtype()}; })
      .def_prop_ro("shape", &shape_of, nb::sig("def shape(self) -> tuple[int, ...]"),
                   "The sizes of its dimensions.")
      .def_prop_ro(
          "ndim", [](const EagerTensor& t) { return t.dims().size(); }, "How many dimensions it has.")
      .def_prop_ro("size", &EagerTensor::size, "How many elements it has.")
      .def_prop_ro("T", &transposed, nb::sig("def T(self) -> Tensor"), "With the axes in reverse order.")
      .def("item", &item, "The one element, as a number of Python.")
      .def(
          "tolist", [](nb::handle self) { return self.attr("numpy")().attr("tolist")(); },
          nb::sig("def tolist(self) -> typing.Any"), "As nested lists of numbers of Python.")
      .def(
          "astype",
          [](nb::handle self, nb::handle dtype) {
            const EagerTensor& t = *nb::inst_ptr<EagerTensor>(self);
            const DType to = dtype_of(dtype);
            if (t.value.dtype() == to) return nb::borrow(self);
            return to_object(apply_eager(*catalog().find(name_of(to)), {&t, 1}));
          },
          nb::arg("dtype"), nb::sig("def astype(self, dtype: typing.Any) -> Tensor"),
          "The same elements in another type; floats become integers by rounding toward zero.")
      .def("__getitem__", &part, nb::arg("key").none(),
           nb::sig("def __getitem__(self, key: typing.Any, /) -> Tensor"))
      .def(
          "__setitem__",
          [](nb::handle, nb::handle, nb::handle) {
            throw nb::type_error("a tensor never changes; make another one, as by hia.where(mask, value, x)");
          },
          nb::arg("key").none(), nb::arg("value").none(),
          nb::sig("def __setitem__(self, key: typing.Any, value: typing.Any, /) -> typing.NoReturn"))
      .def(
          "backward",
          [](nb::handle, const nb::args&, const nb::kwargs&) {
            throw nb::type_error(
                "gradients are values here: use hia.value_and_grad, nn.value_and_grad or hia.GradientTape");
          },
          nb::sig("def backward(self, *args: typing.Any, **kwargs: typing.Any) -> typing.NoReturn"),
          "There are no gradients at tensors: an error that tells what to use.")
      .def("__len__", &length_of)
      .def(
          "__iter__",
          [](nb::handle self) {
            length_of(*nb::inst_ptr<EagerTensor>(self));
            return nb::steal(PySeqIter_New(self.ptr()));
          },
          nb::sig("def __iter__(self) -> collections.abc.Iterator[Tensor]"))
      .def("__bool__", [](const EagerTensor& t) { return nb::cast<bool>(nb::bool_(item(t))); })
      .def("__int__", [](const EagerTensor& t) { return nb::int_(item(t)); })
      .def("__float__", [](const EagerTensor& t) { return nb::float_(item(t)); })
      .def("__index__",
           [](const EagerTensor& t) {
             if (!is_integer(t.value.dtype()))
               throw nb::type_error("expected a tensor of integers as an index");
             return nb::int_(item(t));
           })
      .def(
          "__array__",
          [](nb::handle self, nb::handle dtype, nb::handle copy) {
            nb::object array = self.attr("numpy")();
            const bool other = !dtype.is_none() && !array.attr("dtype").attr("__eq__")(dtype).is(Py_True);
            if (other) return nb::object(array.attr("astype")(dtype));
            return copy.is(Py_True) ? nb::object(array.attr("copy")()) : array;
          },
          nb::arg("dtype") = nb::none(), nb::arg("copy") = nb::none(),
          nb::sig("def __array__(self, dtype: typing.Any = None, copy: bool | None = None) -> numpy.ndarray"))
      .def("__copy__", [](nb::handle self) { return nb::borrow(self); })
      .def(
          "__deepcopy__", [](nb::handle self, nb::handle) { return nb::borrow(self); }, nb::arg("memo"))
      .def(
          "__reduce__",
          [](nb::handle self) {
            const nb::object make = nb::module_::import_("hiaton").attr("tensor");
            return nb::make_tuple(make, nb::make_tuple(self.attr("numpy")()));
          },
          nb::sig("def __reduce__(self) -> tuple[typing.Any, ...]"))
      .def("__repr__", &printed)
      .def(
          "__format__",
          [](nb::handle self, const std::string& form) {
            const nb::object shown = form.empty() ? nb::borrow(self) : item(*nb::inst_ptr<EagerTensor>(self));
            if (form.empty()) return printed(self);
            return nb::cast<std::string>(shown.attr("__format__")(form));
          },
          nb::arg("form"));
  tensor.attr("__array_priority__") = 100;  // operators between it and an array of NumPy are its own
  bind_exchange(m, tensor);
  bind_operators(tensor);
}

}  // namespace hiaton::python
