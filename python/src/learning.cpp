// Models with learned parameters: gradients, optimizers, files of parameters.
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <filesystem>

#include "graphs.h"
#include "hiaton/optimizer.h"
#include "programs.h"
#include "tensor/scalar_or_tensor.h"
#include "train/checkpoint.h"
#include "train/gradient.h"
#include "train/model_sizes.h"
#include "train/setting_names.h"

namespace hiaton::python {
namespace {

std::vector<graph::Parameter> declared(const Source& source) {
  std::vector<graph::Parameter> parameters;
  for (const ir::Parameter& parameter : source.module().parameters)
    parameters.push_back({parameter.name, parameter.type, parameter.initial});
  return parameters;
}

std::vector<train::ParameterValues> trainable(const Source& source, const std::vector<Value>& values) {
  std::vector<train::ParameterValues> parameters;
  for (std::size_t i = 0; i < values.size(); ++i) {
    parameters.push_back(train::parameter_of(source.module().parameters[i].name, values[i]));
  }
  return parameters;
}

std::shared_ptr<ParameterStore> new_store(const Source& source, uint64_t seed) {
  return std::make_shared<ParameterStore>(trainable(source, initial_parameters(declared(source), seed)));
}

std::size_t index_of(const ParameterStore& store, const std::string& name) {
  for (std::size_t i = 0; i < store.parameters().size(); ++i) {
    if (store.parameters()[i].name == name) return i;
  }
  throw nb::key_error(("there is no parameter '" + name + "'").c_str());
}

Tensor copied(const train::ParameterValues& parameter) {
  Tensor tensor(parameter.values.dtype(), parameter.shape);
  std::ranges::copy(parameter.values.bytes(), tensor.mutable_data<std::byte>());
  return tensor;
}

nb::object parameter(ParameterStore& store, const std::string& name) {
  const std::size_t index = index_of(store, name);
  Tensor tensor;
  {
    const nb::gil_scoped_release released;
    const Running running;
    const std::shared_lock lock(store.mutex());
    tensor = copied(store.parameters()[index]);
  }
  return to_object(std::move(tensor));
}

void set_parameter(ParameterStore& store, const std::string& name, const EagerTensor& given) {
  const std::size_t index = index_of(store, name);
  const train::ParameterValues& changed = store.parameters()[index];
  const Type expected = tensor_type(changed.values.dtype(), changed.shape);
  if (!(given.value.type() == expected)) {
    throw nb::type_error(("parameter '" + name + "': expected " + to_string(expected) + ", found " +
                          to_string(given.value.type()))
                             .c_str());
  }
  const nb::gil_scoped_release released;
  const Running running;
  store.update([&](std::vector<train::ParameterValues>& parameters) {
    const std::span<std::byte> to = parameters[index].values.bytes();
    std::copy_n(given.elements(), to.size(), to.begin());
  });
}

void load(ParameterStore& store, const Source& source, const std::filesystem::path& path) {
  const nb::gil_scoped_release released;
  const Running running;
  const std::vector<Value> values = train::load_values(path, declared(source));
  store.update(
      [&](std::vector<train::ParameterValues>& parameters) { parameters = trainable(source, values); });
}

void save(ParameterStore& store, const std::filesystem::path& path) {
  const nb::gil_scoped_release released;
  const Running running;
  const std::shared_lock lock(store.mutex());
  train::save_parameters(path, store.parameters());
}

/// The gradients of a mean loss: sums, and what they are multiplied with.
struct MeanGradients {
  std::shared_ptr<ParameterStore> store;
  std::shared_ptr<Gradients> sums;
  double scale;
  std::shared_ptr<const std::vector<graph::Parameter>> parameters;  ///< that the sums are of
};

template <class T>
Tensor scaled_as(const Tensor& tensor, double scale) {
  Tensor made(tensor.dtype(), tensor.dims());
  const auto* from = tensor.data<T>();
  std::transform(from, from + tensor.size(), made.mutable_data<T>(),
                 [scale](T x) { return static_cast<T>(x * scale); });
  return made;
}

Tensor scaled(const Tensor& tensor, double scale) {
  return tensor.dtype() == DType::F64 ? scaled_as<double>(tensor, scale) : scaled_as<float>(tensor, scale);
}

nb::object gradient(const MeanGradients& gradients, const std::string& name) {
  return to_object(scaled((*gradients.sums)[index_of(*gradients.store, name)].values, gradients.scale));
}

nb::object gradient_rows(const MeanGradients& gradients, const std::string& name) {
  return row_numbers((*gradients.sums)[index_of(*gradients.store, name)]);
}

nb::tuple value_and_grad(const Function& loss, const nb::args& lists) {
  const std::vector<std::vector<Value>> examples = loss.argument_lists(lists);
  if (examples.empty()) throw nb::value_error("expected examples, found none");
  const std::shared_ptr<const Model> model = loss.source->model();
  const std::shared_ptr<Gradients> sums = loss.source->sums();
  const double scale = 1.0 / static_cast<double>(examples.size());
  double mean = 0;
  loss.run([&](RunOptions options) {
    sums->clear(options.pool);
    options.gradients = sums.get();
    mean = 0;
    for (const std::vector<Value>& results : model->loss(examples, std::move(options)))
      mean += scale * train::number_in(results[0]);
  });
  return nb::make_tuple(mean,
                        nb::cast(MeanGradients{loss.store, sums, scale, {model, &model->parameters()}}));
}

/// What `hiaton.optim.Optimizer` has from the engine.
class StoreOptimizer {
 public:
  StoreOptimizer(std::shared_ptr<ParameterStore> store, const train::OptimizerSettings& settings, double rate)
      : learning_rate(rate),
        store_(std::move(store)),
        clip_(settings.clip),
        optimizer_(settings, store_->parameters()) {}

  void update(const MeanGradients& gradients) {
    if (gradients.store != store_) throw nb::value_error("expected gradients of the module of the optimizer");
    const nb::gil_scoped_release released;
    const Running running;
    store_->update([&](std::vector<train::ParameterValues>& parameters) {
      std::vector<train::Gradient> parts;
      for (std::size_t i = 0; i < parameters.size(); ++i)
        parts.push_back(train::gradient_in(*gradients.sums, i));
      const std::vector<double> squares = train::squares_of(parts, parameters);
      train::require_finite(0, squares, parameters);
      const double norm = gradients.scale * train::norm_of_squares(squares);
      optimizer_.step(parameters, parts, learning_rate, gradients.scale * train::clip_factor(norm, clip_));
    });
  }
  uint64_t steps() const { return optimizer_.steps(); }
  void save(const std::filesystem::path& path) const {
    const nb::gil_scoped_release released;
    const Running running;
    const std::shared_lock lock(store_->mutex());
    train::save_optimizer(path, store_->parameters(), optimizer_, learning_rate);
  }
  void load(const std::filesystem::path& path) {
    const nb::gil_scoped_release released;
    const Running running;
    const std::unique_lock lock(store_->mutex());
    learning_rate = train::load_optimizer(path, store_->parameters(), optimizer_);
  }

  double learning_rate;

 private:
  std::shared_ptr<ParameterStore> store_;
  double clip_;
  train::Optimizer optimizer_;
};

void bind_optimizers(nb::module_& m) {
  m.def(
      "store_optimizer",
      [](std::shared_ptr<ParameterStore> store, const std::string& kind, const nb::dict& settings,
         double rate) {
        return new StoreOptimizer(std::move(store), optimizer_settings(kind, settings), rate);
      },
      nb::arg("store"), nb::arg("kind"), nb::arg("settings"), nb::arg("learning_rate"));
  nb::class_<StoreOptimizer>(m, "StoreOptimizer")
      .def_rw("learning_rate", &StoreOptimizer::learning_rate)
      .def_prop_ro("steps", &StoreOptimizer::steps)
      .def("update", &StoreOptimizer::update, nb::arg("gradients"))
      .def("save", &StoreOptimizer::save, nb::arg("path"))
      .def("load", &StoreOptimizer::load, nb::arg("path"));
}

/// The learning rate of a step, from 0, where an epoch is one step.
double rate_at(const std::string& kind, double initial, uint64_t step, uint64_t steps, double decay,
               int64_t every, int64_t warmup) {
  const train::Schedule schedule{
      .kind = train::schedule_kind_from(kind), .decay = decay, .decay_every = every, .warmup = warmup};
  return train::learning_rate_at(schedule, initial, step, 1, steps);
}

/// The values that the sizes of a program had in a training; of the size of a vocabulary 0 says nothing.
std::map<std::string, int64_t> trained_sizes(const std::string& program, std::map<std::string, int64_t> sizes,
                                             int32_t classes, int32_t vocabulary_size) {
  train::TrainerOptions options;
  options.sizes = std::move(sizes);
  options.classes = classes;
  options.vocabulary_size = vocabulary_size;
  return train::sizes_for(options, read_program(program));
}

}  // namespace

nb::object row_numbers(const Gradients::Sum& sum) {
  if (sum.dense || sum.values.dims().empty()) return nb::none();
  std::vector<int64_t> rows = sum.rows;
  std::ranges::sort(rows);
  Tensor tensor(DType::I64, {static_cast<int64_t>(rows.size())});
  std::ranges::copy(rows, tensor.mutable_data<int64_t>());
  return to_object(std::move(tensor));
}

train::OptimizerSettings optimizer_settings(const std::string& kind, const nb::dict& given) {
  train::OptimizerSettings settings;
  settings.kind = train::optimizer_kind_from(kind);
  for (const train::OptimizerNumber& number : train::optimizer_numbers()) {
    const std::string name(number.name);
    if (given.contains(name.c_str())) settings.*number.member = nb::cast<double>(given[name.c_str()]);
  }
  train::check({.optimizer = settings});
  return settings;
}

ParameterStore::ParameterStore(std::vector<train::ParameterValues> parameters)
    : parameters_(std::make_shared<std::vector<train::ParameterValues>>(std::move(parameters))) {
  make_values();
}

void ParameterStore::make_values() {
  values_.clear();
  for (train::ParameterValues& parameter : *parameters_) {
    values_.push_back(scalar_or_tensor(
        Tensor(parameter.values.dtype(), parameter.shape, parameter.values.bytes().data(), parameters_)));
  }
}

void ParameterStore::update(const std::function<void(std::vector<train::ParameterValues>&)>& change) {
  const std::unique_lock lock(mutex_);
  if (shared_.exchange(false))
    parameters_ = std::make_shared<std::vector<train::ParameterValues>>(*parameters_);
  change(*parameters_);
  make_values();
}

void bind_learning(nb::module_& m) {
  m.def("trained_sizes", &trained_sizes, nb::arg("program"), nb::arg("sizes"), nb::arg("classes"),
        nb::arg("vocabulary_size"));
  m.def(
      "vocabulary", [](const std::filesystem::path& path) { return train::Vocabulary::load(path).words(); },
      nb::arg("path"));
  nb::class_<ParameterStore>(m, "ParameterStore")
      .def_prop_ro("names",
                   [](const ParameterStore& store) {
                     std::vector<std::string> names;
                     for (const train::ParameterValues& parameter : store.parameters())
                       names.push_back(parameter.name);
                     return names;
                   })
      .def("get", &parameter, nb::arg("name"))
      .def("set", &set_parameter, nb::arg("name"), nb::arg("tensor"))
      .def("load", &load, nb::arg("source"), nb::arg("path"))
      .def("save", &save, nb::arg("path"));
  m.def("new_store", &new_store, nb::arg("source"), nb::arg("seed"));
  nb::class_<MeanGradients>(m, "MeanGradients")
      .def("get", &gradient, nb::arg("name"))
      .def("rows", &gradient_rows, nb::arg("name"))
      .def(
          "sums",
          [](const MeanGradients& mean) {
            return GraphGradients{mean.sums, mean.parameters};
          },
          "The sums, which belong to both.")
      .def(
          "with_sums",
          [](const MeanGradients& mean, const GraphGradients& sums, double scale) {
            return MeanGradients{mean.store, sums.sums, scale, sums.parameters};
          },
          nb::arg("sums"), nb::arg("scale"), "Other sums for the same parameters.");
  m.def("value_and_grad", &value_and_grad);
  bind_optimizers(m);
  m.def("learning_rate_at", &rate_at, nb::arg("kind"), nb::arg("initial"), nb::arg("step"), nb::arg("steps"),
        nb::arg("decay"), nb::arg("every"), nb::arg("warmup"));
}

}  // namespace hiaton::python
