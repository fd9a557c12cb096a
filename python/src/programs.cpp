// Programs and their functions, called from Python.
#include "programs.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <utility>

#include "hiaton/lang.h"

namespace hiaton::python {
namespace {

[[noreturn]] void refuse_arguments(const std::string& function, const std::string& message) {
  throw nb::type_error((function + "(): " + message).c_str());
}

std::string counted(std::size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

/// One result as itself, several as a tuple.
nb::object result_object(const Function& function, const std::vector<Value>& values) {
  const std::vector<Type>& types = function.program->results();
  if (values.size() == 1) return function.classes->to_object(values[0], types[0]);
  nb::list results;
  for (std::size_t i = 0; i < values.size(); ++i)
    results.append(function.classes->to_object(values[i], types[i]));
  return nb::tuple(results);
}

/// A run by the reference rules takes many times as long. Python shows a warning once for each place in a
/// program that has called the function.
void warn_of_fallback(const RunStats& stats) {
  if (stats.fallback.empty()) return;
  const std::string text = "this program runs by the reference rules, slowly: " + stats.fallback;
  if (PyErr_WarnEx(PyExc_RuntimeWarning, text.c_str(), 1) != 0) throw nb::python_error();
}

nb::object call_function(const Function& function, const nb::args& args, const nb::kwargs& named) {
  const std::vector<Value> arguments = function.arguments(args, named);
  RunResult result;
  function.run([&](RunOptions options) { result = function.program->run(arguments, std::move(options)); });
  warn_of_fallback(result.stats);
  return result_object(function, result.values);
}

nb::object call_for_each(const Function& function, const nb::args& lists) {
  const std::vector<std::vector<Value>> arguments = function.argument_lists(lists);
  std::vector<std::vector<Value>> results;
  RunStats stats;
  function.run([&](RunOptions options) {
    options.stats = &stats;
    results = function.program->run_all(arguments, std::move(options));
  });
  warn_of_fallback(stats);
  nb::list made;
  for (const std::vector<Value>& values : results) made.append(result_object(function, values));
  return made;
}

/// "fact(n: i64) -> i64".
std::string signature_of(const Function& function) {
  std::string text = function.name + "(";
  std::string_view between;
  for (const EntryParameter& parameter : function.program->parameters()) {
    text += std::string(between) + parameter.name + ": " + to_string(parameter.type);
    between = ", ";
  }
  text += ") -> ";
  const std::vector<Type>& results = function.program->results();
  if (results.size() == 1) return text + to_string(results[0]);
  between = "(";
  for (const Type& type : results) {
    text += std::string(between) + to_string(type);
    between = ", ";
  }
  return text + ")";
}

std::chrono::nanoseconds duration(double seconds) {
  if (!(seconds > 0)) throw nb::value_error("timeout: expected a number of seconds above 0");
  constexpr double kLongest = 1e9;
  if (seconds > kLongest) return std::chrono::nanoseconds::max();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(seconds));
}

template <class T>
void set_positive(nb::handle object, const char* name, T& setting) {
  if (object.is_none()) return;
  const auto value = nb::cast<int64_t>(object);
  if (value < 1) throw nb::value_error((std::string(name) + ": expected 1 or more").c_str());
  setting = static_cast<T>(value);
}

RunSettings settings_from(RunSettings settings, nb::handle workers, nb::handle batching,
                          nb::handle evaluation, nb::handle max_frames, nb::handle max_bytes,
                          nb::handle timeout) {
  set_positive(workers, "workers", settings.workers);
  set_positive(max_frames, "max_frames", settings.max_frames);
  set_positive(max_bytes, "max_bytes", settings.max_bytes);
  if (!timeout.is_none()) settings.timeout = duration(nb::cast<double>(timeout));
  if (!evaluation.is_none()) {
    const auto name = nb::cast<std::string>(evaluation);
    if (name != "data" && name != "demand") throw nb::value_error("evaluation: expected 'data' or 'demand'");
    settings.evaluation = name == "demand" ? Evaluation::DemandDriven : Evaluation::DataDriven;
  }
  if (batching.is_none()) return settings;
  const bool is_deterministic =
      PyUnicode_Check(batching.ptr()) && nb::cast<std::string>(batching) == "deterministic";
  if (!is_deterministic && !PyBool_Check(batching.ptr()))
    throw nb::value_error("batching: expected True, False or 'deterministic'");
  settings.batching = is_deterministic || batching.ptr() == Py_True;
  settings.parts = is_deterministic ? Source::kDeterministicParts : 0;
  return settings;
}

std::shared_ptr<Source> source_of(const std::string& name, const std::string& text, bool is_file,
                                  const std::map<std::string, int64_t>& sizes, const std::string& overflow) {
  CompileOptions options;
  options.sizes = sizes;
  if (overflow == "trap") {
    options.simplify.overflow = OverflowMode::Trap;
  } else if (overflow != "wrap") {
    throw nb::value_error(("overflow: expected 'wrap' or 'trap', found '" + overflow + "'").c_str());
  }
  const nb::gil_scoped_release released;
  const auto file = is_file ? read_program(name) : std::make_shared<const hiaton::Source>(name, text);
  return std::make_shared<Source>(lang::parse(file, {options.sizes}), options);
}

std::vector<std::string> loops_in_phases(const Source& source, const std::string& entry) {
  ir::Module module = source.module();
  module.entry = module.function_named(entry);
  const bool is_trained = module.gradient_requests.empty();
  module = passes::simplify(std::move(module), source.options().simplify);
  const auto trained = is_trained ? std::optional(module.entry) : std::nullopt;
  module = passes::loops_to_calls_for_gradients(std::move(module), trained);
  const std::size_t count = module.functions.size();
  module = passes::split_loops(std::move(module), source.options().simplify.overflow);
  std::vector<std::string> names;
  for (std::size_t i = count; i < module.functions.size(); ++i) {
    const std::string& name = module.functions[i].name;
    names.push_back(name.substr(0, name.rfind("_ahead")));
  }
  return names;
}

std::vector<std::string> function_names(const Source& source) {
  std::vector<std::string> names;
  for (const ir::Function& function : source.module().functions) {
    if (source.module().gradient_requests.empty() || function.name.find('[') == std::string::npos)
      names.push_back(function.name);
  }
  return names;
}

Function function_of(const std::shared_ptr<Source>& source, const std::string& name, nb::object classes,
                     const std::shared_ptr<ParameterStore>& store, nb::handle workers, nb::handle batching,
                     nb::handle evaluation, nb::handle max_frames, nb::handle max_bytes, nb::handle timeout) {
  const auto* held = nb::inst_ptr<DataClasses>(classes);
  return {source,
          name,
          std::move(classes),
          held,
          store,
          settings_from({}, workers, batching, evaluation, max_frames, max_bytes, timeout),
          source->program(name)};
}

}  // namespace

Source::Source(ir::Module module, CompileOptions options)
    : module_(std::move(module)), options_(std::move(options)) {}

std::shared_ptr<const Program> Source::program(const std::string& function) {
  const nb::gil_scoped_release released;
  const Running running;
  const std::lock_guard lock(mutex_);
  std::shared_ptr<const Program>& program = programs_[function];
  if (program == nullptr) {
    CompileOptions options = options_;
    options.entry = function;
    program = std::make_shared<const Program>(Program::from_module(module_, options));
  }
  return program;
}

std::shared_ptr<const Model> Source::model() {
  const nb::gil_scoped_release released;
  const Running running;
  const std::lock_guard lock(mutex_);
  if (model_ == nullptr) model_ = std::make_shared<const Model>(Model::from_module(module_, options_));
  return model_;
}

std::shared_ptr<Gradients> Source::sums() {
  constexpr std::size_t kMostKept = 2;  // a loop holds the last ones until it has the next ones
  const std::shared_ptr<const Model> of = model();
  for (const std::shared_ptr<Gradients>& kept : sums_) {
    if (kept.use_count() == 1) return kept;
  }
  auto made = std::make_shared<Gradients>(of->parameters());
  if (sums_.size() < kMostKept) sums_.push_back(made);
  return made;
}

std::vector<Value> Function::arguments(const nb::args& args, const nb::kwargs& named) const {
  const std::vector<EntryParameter>& parameters = program->parameters();
  if (args.size() > parameters.size())
    refuse_arguments(name, "expected " + counted(parameters.size(), "argument") + ", found " +
                               std::to_string(args.size()));
  for (auto [key, given] : named) {
    const auto text = nb::cast<std::string>(key);
    const auto found = std::ranges::find(parameters, text, &EntryParameter::name);
    if (found == parameters.end())
      refuse_arguments(name, "there is no parameter '" + text + "' in " + signature_of(*this));
    if (static_cast<std::size_t>(found - parameters.begin()) < args.size())
      refuse_arguments(name, "expected one argument '" + text + "', found two");
  }
  std::vector<Value> values;
  values.reserve(parameters.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const EntryParameter& parameter = parameters[i];
    nb::handle given;
    if (i < args.size()) {
      given = args[i];
    } else if (named.size() > 0 && named.contains(parameter.name.c_str())) {
      given = PyDict_GetItemString(named.ptr(), parameter.name.c_str());
    } else {
      refuse_arguments(name, "expected an argument '" + parameter.name + "' of " + to_string(parameter.type));
    }
    values.push_back(classes->to_value(given, parameter.type, name + "(): '" + parameter.name + "'"));
  }
  return values;
}

std::vector<std::vector<Value>> Function::argument_lists(const nb::args& lists) const {
  const std::vector<EntryParameter>& parameters = program->parameters();
  if (lists.size() != parameters.size() || lists.size() == 0)
    refuse_arguments(name, "expected a list for each of " + counted(parameters.size(), "parameter") + " of " +
                               signature_of(*this) + ", found " + counted(lists.size(), "list"));
  for (std::size_t i = 0; i < lists.size(); ++i) {
    if (nb::hasattr(lists[i], "__iter__") || PySequence_Check(lists[i].ptr()) != 0) continue;
    refuse_arguments(name, "'" + parameters[i].name +
                               "': expected a list with a value for each call, found " +
                               nb::cast<std::string>(lists[i].type().attr("__name__")));
  }
  std::vector<std::vector<Value>> all;
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    const std::string what = name + "(): '" + parameters[p].name + "'";
    std::size_t index = 0;
    for (nb::handle one : lists[p]) {
      if (p == 0) all.emplace_back();
      if (index == all.size()) refuse_arguments(name, "expected lists of one length");
      all[index++].push_back(classes->to_value(one, parameters[p].type, what));
    }
    if (index != all.size()) refuse_arguments(name, "expected lists of one length");
  }
  return all;
}

namespace {

/// As print() of Python does, which may write to a notebook. What it raises has nowhere to go.
void print_line(std::string_view line) {
  const nb::gil_scoped_acquire held;
  try {
    nb::module_::import_("builtins").attr("print")(nb::str(line.data(), line.size()));
  } catch (nb::python_error& error) {
    error.discard_as_unraisable("print");
  }
}

}  // namespace

RunOptions RunSettings::options(const std::atomic<bool>& cancel) const {
  RunOptions options;
  options.workers = workers;
  options.batching = batching;
  options.evaluation = evaluation;
  options.parts = parts;
  options.max_frames = max_frames;
  options.max_bytes = max_bytes;
  options.timeout = timeout;
  options.cancel = &cancel;
  options.print = print_line;
  return options;
}

void Function::run(const std::function<void(RunOptions)>& run) const {
  run_interruptibly([&](const std::atomic<bool>& cancel) {
    RunOptions options = settings.options(cancel);
    if (store == nullptr) return run(std::move(options));
    const std::shared_lock lock(store->mutex());
    const bool gives_scalars = std::ranges::all_of(program->results(), &Type::is_scalar);
    if (!gives_scalars) store->share();
    options.parameters = store->values();
    run(std::move(options));
  });
}

void bind_programs(nb::module_& m) {
  nb::class_<Source>(m, "Source")
      .def_prop_ro("functions", &function_names)
      .def("text", [](const Source& source) { return ir::print(source.module()); })
      .def("loops_in_phases", &loops_in_phases, nb::arg("entry"),
           "The functions that call themselves and that run in two phases, of those that the entry reaches.")
      .def_prop_ro("has_parameters", [](const Source& source) { return !source.module().parameters.empty(); })
      .def(
          "new_classes", [](const Source& source) { return new DataClasses(source.module().data_types); },
          nb::rv_policy::take_ownership);
  m.def("source", &source_of, nb::arg("name"), nb::arg("text"), nb::arg("is_file"), nb::arg("sizes"),
        nb::arg("overflow"));
  m.def("function", &function_of, nb::arg("source"), nb::arg("name"), nb::arg("classes"),
        nb::arg("store").none(), nb::arg("workers").none(), nb::arg("batching").none(),
        nb::arg("evaluation").none(), nb::arg("max_frames").none(), nb::arg("max_bytes").none(),
        nb::arg("timeout").none());
  nb::class_<Function>(m, "Function",
                       "A function of a program. Other Python threads go on while it runs; Ctrl-C ends it.")
      .def_ro("name", &Function::name)
      .def_prop_ro("signature", &signature_of, "Its parameters and results, as the program has them.")
      .def("__call__", &call_function,
           nb::sig("def __call__(self, *args: typing.Any, **kwargs: typing.Any) -> typing.Any"))
      .def("map", &call_for_each,
           nb::sig("def map(self, *lists: collections.abc.Iterable[typing.Any]) -> list[typing.Any]"),
           "Calls it for the first of each of the lists, for the second of each, and so on, as Python's "
           "`map` does. All "
           "calls run together: what is alike in them runs in batches.")
      .def("__repr__",
           [](const Function& function) { return "<hiaton function " + signature_of(function) + ">"; });
}

}  // namespace hiaton::python
