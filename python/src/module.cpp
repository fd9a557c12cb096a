// The extension module hiaton._core.
#include "graphs.h"
#include "tapes.h"

NB_MODULE(_core, m) {
  m.attr("version") = HIATON_VERSION;
  m.doc() = "What the package hiaton has from the engine.";
  // Classes of programs and their values refer to each other until the interpreter ends.
  nanobind::set_leak_warnings(false);
  hiaton::python::bind_errors(m);
  hiaton::python::bind_dtypes(m);
  hiaton::python::bind_tensors(m);
  hiaton::python::bind_operations(m);
  hiaton::python::bind_tapes(m);
  hiaton::python::bind_data(m);
  hiaton::python::bind_programs(m);
  hiaton::python::bind_learning(m);
  hiaton::python::bind_events(m);
  hiaton::python::bind_interrupts(m);
  hiaton::python::bind_forks(m);
  hiaton::python::bind_graphs(m);
  hiaton::python::bind_graph_calls(m);
  hiaton::python::bind_learned(m);
  hiaton::python::bind_distributed(m);
}
