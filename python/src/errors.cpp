// Errors of the engine as Python exceptions, with the engine's messages.
#include <nanobind/stl/string.h>

#include <string>

#include "hiaton/error.h"
#include "tensors.h"

namespace hiaton::python {
namespace {

struct ErrorClasses {
  PyObject* error;
  PyObject* program;
  PyObject* run;
  PyObject* internal;
};

PyObject* add_class(nb::module_& m, const char* name, const char* doc, nb::handle bases) {
  const std::string full = nb::cast<std::string>(m.attr("__name__")) + "." + name;
  PyObject* made = PyErr_NewExceptionWithDoc(full.c_str(), doc, bases.ptr(), nullptr);
  if (made == nullptr) nb::raise_python_error();
  m.attr(name) = nb::handle(made);
  return made;  // the module lives as long as the interpreter, and so does its class
}

nb::object instance(PyObject* type, const std::string& message) {
  return nb::handle(type)(message);
}

void translate(const std::exception_ptr& thrown, void* payload) {
  const auto& classes = *static_cast<const ErrorClasses*>(payload);
  try {
    std::rethrow_exception(thrown);
  } catch (const RunError& error) {
    nb::object raised = instance(classes.run, error.what());
    raised.attr("fault") = std::string(name_of(error.fault()));
    raised.attr("assumption") = error.assumption();
    PyErr_SetObject(classes.run, raised.ptr());
  } catch (const ProgramError& error) {
    PyErr_SetObject(classes.program, instance(classes.program, error.what()).ptr());
  } catch (const InternalError& error) {
    PyErr_SetObject(classes.internal, instance(classes.internal, error.what()).ptr());
  } catch (const Error& error) {
    PyErr_SetObject(classes.error, instance(classes.error, error.what()).ptr());
  }
}

}  // namespace

void bind_errors(nb::module_& m) {
  PyObject* base = add_class(m, "Error", "What the engine raises.", PyExc_Exception);
  // They live as long as the interpreter, as the translator does.
  static ErrorClasses classes{
      base,
      add_class(m, "ProgramError", "A program, an argument or an operand is wrong.",
                nb::make_tuple(nb::handle(base), nb::handle(PyExc_ValueError))),
      add_class(
          m, "RunError",
          "An operation failed, or a budget ended the run; `fault` is a short name of what happened, and "
          "`assumption` the id of an `assume` whose condition did not hold.",
          nb::make_tuple(nb::handle(base), nb::handle(PyExc_RuntimeError))),
      add_class(m, "InternalError", "A defect of Hiaton: please report it.", base)};
  nb::register_exception_translator(translate, &classes);
}

}  // namespace hiaton::python
