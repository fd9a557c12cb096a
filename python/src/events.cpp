// Files of numbers over the steps, for TensorBoard.
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string_view.h>

#include "tensors.h"
#include "train/tensorboard.h"

namespace hiaton::python {

void bind_events(nb::module_& m) {
  nb::class_<train::EventWriter>(m, "EventFile")
      .def(nb::init<const std::filesystem::path&, uint64_t>(), nb::arg("directory"), nb::arg("first_step"))
      .def("add_scalar", &train::EventWriter::add_scalar, nb::arg("tag"), nb::arg("step"), nb::arg("value"))
      .def("flush", &train::EventWriter::flush);
}

}  // namespace hiaton::python
