// Calls of functions of Python that became graphs, and their gradients.
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "graphs.h"
#include "tapes.h"

namespace hiaton::python {
namespace {

PyObject* miss_class = nullptr;

[[noreturn]] void raise_miss(const Snapshot::Miss& miss) {
  const nb::object raised = nb::handle(miss_class)(miss.reason, miss.object, miss.is_of_type);
  PyErr_SetObject(miss_class, raised.ptr());
  nb::raise_python_error();
}

FieldLayout layout_of(const std::vector<Type>& types) {
  std::vector<FieldKind> kinds;
  for (const Type& type : types) {
    kinds.push_back(type.is_data()     ? FieldKind::Data
                    : type.is_tensor() ? FieldKind::Tensor
                                       : field_kind(type.dtype));
  }
  return FieldLayout(kinds);
}

/// `_core.ObjectTable`, as Python holds it.
struct TableHandle {
  std::shared_ptr<ObjectTable> table = std::make_shared<ObjectTable>();

  void add_class(nb::object made, uint32_t variant,
                 const std::vector<std::pair<nb::object, Plan>>& fields) const {
    std::vector<nb::object> names;
    std::vector<Plan> plans;
    std::vector<Type> types;
    for (const auto& [name, plan] : fields) {
      names.push_back(name);
      plans.push_back(plan);
      types.insert(types.end(), plan.components.begin(), plan.components.end());
    }
    const bool is_bare = types.empty();
    if (is_bare) types.emplace_back(DType::I64);
    std::vector<Slot> blank;
    for (const Type& type : types) blank.push_back(blank_of(type));
    AttributePlaces attributes(reinterpret_cast<PyTypeObject*>(made.ptr()), std::move(names));
    table->add({std::move(made), variant, std::move(attributes), std::move(plans), layout_of(types),
                std::move(blank), is_bare});
  }
};

Plan plan_of(const std::string& kind, nb::object constant, const GraphType& type, std::vector<Plan> parts,
             const std::vector<GraphType>& components, const TableHandle* table) {
  static const std::map<std::string, Plan::Kind> kinds = {
      {"constant", Plan::Kind::Constant}, {"bool", Plan::Kind::Bool},     {"int", Plan::Kind::Int},
      {"float", Plan::Kind::Float},       {"symbol", Plan::Kind::Symbol}, {"tensor", Plan::Kind::Tensor},
      {"object", Plan::Kind::Object},     {"union", Plan::Kind::Union},   {"tuple", Plan::Kind::Tuple},
      {"dict", Plan::Kind::Dict},         {"list", Plan::Kind::List},     {"array", Plan::Kind::Array},
      {"items", Plan::Kind::Items},       {"sink", Plan::Kind::Sink}};
  Plan plan;
  plan.kind = kinds.at(kind);
  if (plan.kind == Plan::Kind::Symbol) {
    plan.symbols = nb::cast<std::shared_ptr<Symbols>>(constant);
  } else {
    plan.constant = std::move(constant);
  }
  if (plan.kind == Plan::Kind::Object) {
    for (nb::handle cls : plan.constant) plan.takes_none |= cls.is_none();
  }
  plan.type = type.type;
  plan.parts = std::move(parts);
  for (const GraphType& component : components) plan.components.push_back(component.type);
  plan.objects = table == nullptr ? nullptr : table->table.get();
  if (plan.kind == Plan::Kind::List || plan.kind == Plan::Kind::Items) {
    const Type head = field_type(plan.type, 1, 0);
    plan.layout = layout_of({head, plan.type});
  } else {
    plan.layout = layout_of(plan.components);
  }
  return plan;
}

/// `_core.GraphFunction`: one graph of a function of Python.
struct GraphFunction {
  std::shared_ptr<Source> source;
  std::string entry;
  std::vector<Plan> parameters;
  Plan result;
  TableHandle table;  ///< that the plans refer to
  std::vector<nb::object> learned;
  RunSettings settings;
  std::vector<nb::object> appended;  ///< lists that grow when a run is over
  std::shared_ptr<const Program> program;
  std::shared_ptr<GraphForm> form;  ///< null: no tape has asked yet

  std::vector<Value> arguments(Snapshot& snapshot, const nb::tuple& given) const {
    try {
      for (const nb::object& list : appended) snapshot.keep_out_of(list.ptr());
      std::vector<Value> values = snapshot.arguments(given, parameters);
      if (values.empty()) values.emplace_back(int64_t{0});
      return values;
    } catch (const Snapshot::Miss& miss) {
      raise_miss(miss);
    }
  }

  nb::object given_by(Snapshot& snapshot, const std::vector<Value>& results) const {
    const Value* next = results.data();
    try {
      return snapshot.give(result, next);
    } catch (const Snapshot::Miss& miss) {
      raise_miss(miss);
    }
  }

  /// Whether arguments like these fit.
  bool takes(const nb::tuple& given) const {
    try {
      Snapshot snapshot(nullptr);
      for (const nb::object& list : appended) snapshot.keep_out_of(list.ptr());
      snapshot.arguments(given, parameters);
      return true;
    } catch (const Snapshot::Miss&) {
      return false;
    }
  }

  void run(const std::function<void(RunOptions)>& run) const {
    std::vector<Value> values;
    values.reserve(learned.size());
    for (const nb::object& one : learned) values.push_back(nb::inst_ptr<LearnedTensor>(one)->value);
    run_interruptibly([&](const std::atomic<bool>& cancel) {
      RunOptions options = settings.options(cancel);
      options.parameters = values;
      options.checks_data = false;  // snapshots make values of the types of the graph
      run(std::move(options));
    });
  }

  const Program& compiled() {
    if (program == nullptr) program = source->program(entry);
    return *program;
  }

  nb::object call(const nb::tuple& given) {
    compiled();
    Snapshot snapshot(&result);
    const std::vector<Value> values = arguments(snapshot, given);
    std::vector<Value> results;
    run([&](RunOptions options) { results = program->run(values, std::move(options)).values; });
    return given_by(snapshot, results);
  }

  /// The same as one step that the tapes of this thread see. NotImplemented where they would not see all:
  /// where parts of arguments have marks.
  nb::object call_on_tape(const nb::tuple& given) {
    compiled();
    Snapshot snapshot(nullptr);
    std::vector<Value> operands = arguments(snapshot, given);
    if (snapshot.has_marks_inside()) return nb::borrow(Py_NotImplemented);
    std::vector<uint64_t> marks(operands.size(), 0);
    std::size_t place = 0;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (parameters[i].kind == Plan::Kind::Tensor) marks[place] = nb::inst_ptr<EagerTensor>(given[i])->mark;
      place += parameters[i].components.size();
    }
    const std::size_t arguments = operands.size();
    for (const nb::object& one : learned) {
      operands.push_back(nb::inst_ptr<LearnedTensor>(one)->value);
      marks.push_back(nb::inst_ptr<LearnedTensor>(one)->mark);
    }
    if (form == nullptr) {
      CompileOptions options = source->options();
      options.entry = entry;
      form = std::make_shared<GraphForm>(source->module(), options);
    }
    const auto opened = form->opened(operands_known_to_tapes(operands, marks));
    std::shared_ptr<OpenGradient> open;
    std::vector<Value> results;
    run([&](const RunOptions& options) {
      open = opened != nullptr ? form->open(*opened, operands, options, results) : nullptr;
      if (open == nullptr)
        results = program->run(std::span<const Value>(operands).first(arguments), options).values;
    });
    const std::vector<EagerTensor> seen = seen_by_tapes(form, operands, marks, results, std::move(open));
    snapshot.give_marks(seen);
    return given_by(snapshot, results);
  }

  /// Runs it for what the run counts: (function, place, runs of that, batches that these were) of each
  /// region.
  nb::list regions(const nb::tuple& given) {
    compiled();
    Snapshot snapshot(nullptr);
    const std::vector<Value> values = arguments(snapshot, given);
    RunStats stats;
    run([&](RunOptions options) {
      options.count_regions = true;
      stats = program->run(values, std::move(options)).stats;
    });
    nb::list regions;
    for (const RegionStats& one : stats.regions)
      regions.append(nb::make_tuple(one.function, one.name, one.firings, one.launches));
    return regions;
  }

  nb::tuple value_and_grad(const nb::tuple& given, bool times_kernels) const {
    const std::shared_ptr<const Model> model = source->model();
    Snapshot snapshot(&result);
    const std::vector<std::vector<Value>> examples = {arguments(snapshot, given)};
    const std::shared_ptr<Gradients> sums = source->sums();
    RunStats stats;
    std::vector<Value> results;
    run([&](RunOptions options) {
      sums->clear(options.pool);
      options.gradients = sums.get();
      options.time_kernels = times_kernels;
      if (times_kernels) options.stats = &stats;
      results = std::move(model->loss(examples, std::move(options)).front());
    });
    return nb::make_tuple(
        given_by(snapshot, results),
        nb::cast(GraphGradients{sums, {model, &model->parameters()}, stats.kernel_seconds}));
  }
};

}  // namespace

void bind_graph_calls(nb::module_& m) {
  const std::string full = nb::cast<std::string>(m.attr("__name__")) + ".Miss";
  miss_class = PyErr_NewException(full.c_str(), PyExc_Exception, nullptr);
  if (miss_class == nullptr) nb::raise_python_error();
  m.attr("Miss") = nb::handle(miss_class);
  nb::class_<Plan>(m, "Plan");
  nb::class_<Symbols>(m, "Symbols")
      .def(
          "__init__",
          [](Symbols* self, const nb::dict& numbers) {
            new (self) Symbols{numbers, std::vector<nb::object>(numbers.size())};
            for (const auto& [text, number] : numbers)
              self->texts.at(nb::cast<std::size_t>(number)) = nb::borrow(text);
          },
          nb::arg("numbers"), "`numbers` are 0, 1 and so on.");
  nb::class_<TableHandle>(m, "ObjectTable")
      .def(nb::init<>())
      .def("add_class", &TableHandle::add_class, nb::arg("made"), nb::arg("variant"), nb::arg("fields"));
  m.def("plan", &plan_of, nb::arg("kind"), nb::arg("constant").none(), nb::arg("type"), nb::arg("parts"),
        nb::arg("components"), nb::arg("table").none());
  nb::class_<GraphFunction>(m, "GraphFunction")
      .def(
          "__init__",
          [](GraphFunction* self, std::shared_ptr<Source> source, std::string entry,
             std::vector<Plan> parameters, Plan result, const TableHandle& table,
             std::vector<nb::object> learned, int workers, double max_frames, double max_bytes,
             std::vector<nb::object> appended) {
            new (self) GraphFunction{
                std::move(source),  std::move(entry), std::move(parameters), std::move(result), table,
                std::move(learned), RunSettings(),    std::move(appended),   nullptr,           nullptr};
            self->settings.workers = workers;
            if (max_frames > 0) self->settings.max_frames = static_cast<uint64_t>(max_frames);
            if (max_bytes > 0) self->settings.max_bytes = static_cast<uint64_t>(max_bytes);
          },
          nb::arg("source"), nb::arg("entry"), nb::arg("parameters"), nb::arg("result"), nb::arg("table"),
          nb::arg("learned"), nb::arg("workers"), nb::arg("max_frames"), nb::arg("max_bytes"),
          nb::arg("appended"))
      .def("call", &GraphFunction::call, nb::arg("arguments"))
      .def("call_on_tape", &GraphFunction::call_on_tape, nb::arg("arguments"))
      .def("takes", &GraphFunction::takes, nb::arg("arguments"))
      .def("regions", &GraphFunction::regions, nb::arg("arguments"),
           nb::sig("def regions(self, arguments: tuple) -> list[tuple[str, str, int, int]]"))
      .def("svg", [](GraphFunction& f) { return graph::to_svg(f.compiled().graph()); })
      .def("dot", [](GraphFunction& f) { return graph::to_dot(f.compiled().graph()); })
      .def("listing", [](GraphFunction& f) { return graph::to_text(f.compiled().graph()); })
      .def("value_and_grad", &GraphFunction::value_and_grad, nb::arg("arguments"),
           nb::arg("times_kernels") = false);
}

}  // namespace hiaton::python
