// Tensors that functions of Python learn: their gradients, optimizers and files.
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "graphs.h"
#include "hiaton/optimizer.h"
#include "programs.h"
#include "tapes.h"
#include "train/checkpoint.h"
#include "train/gradient.h"

namespace hiaton::python {
namespace {

void set_values(LearnedTensor& tensor, const std::vector<int64_t>& dims) {
  train::Numbers& numbers = *tensor.storage;
  if (!dims.empty()) {
    tensor.value = Tensor(numbers.dtype(), dims, numbers.bytes().data(), tensor.storage);
  } else if (numbers.dtype() == DType::F32) {
    tensor.value = Value(numbers.floats()[0]);
  } else {
    tensor.value = Value(numbers.doubles()[0]);
  }
}

/// Copies the elements of a tensor of f32 or f64.
void assign_any(LearnedTensor& tensor, const EagerTensor& given) {
  const auto count = static_cast<std::size_t>(given.size());
  tensor.storage = std::make_shared<train::Numbers>(given.value.dtype(), count);
  std::copy_n(given.elements(), tensor.storage->bytes().size(), tensor.storage->bytes().data());
  set_values(tensor, {given.dims().begin(), given.dims().end()});
}

/// A parameter keeps its element type: graphs and optimizers that know it rely on that.
void assign(LearnedTensor& tensor, const EagerTensor& given) {
  if (given.value.dtype() != tensor.storage->dtype()) {
    throw nb::type_error(("a parameter: expected " + std::string(name_of(tensor.storage->dtype())) +
                          ", found " + std::string(name_of(given.value.dtype())))
                             .c_str());
  }
  assign_any(tensor, given);
}

train::Gradient gradient_in(train::Numbers& numbers, bool is_sparse) {
  if (numbers.dtype() == DType::F32) return {is_sparse, std::span(numbers.floats()), {}};
  return {is_sparse, std::span(numbers.doubles()), {}};
}

/// What `hiaton.optim.Optimizer` has from the engine for the parameters of a module of `nn`.
class TensorOptimizer {
 public:
  TensorOptimizer(std::vector<std::string> names, std::vector<nb::object> learned,
                  const train::OptimizerSettings& settings, double rate)
      : learning_rate(rate),
        learned_(std::move(learned)),
        clip_(settings.clip),
        parameters_(described(names, learned_)),
        optimizer_(settings, parameters_) {}

  /// `numbers`: which of the gradients is that of each parameter; -1: none, which is zero.
  void update(const GraphGradients& gradients, const std::vector<int64_t>& numbers) {
    std::vector<train::Gradient> parts;
    std::vector<train::Numbers> zeros;
    zeros.reserve(numbers.size());
    for (std::size_t i = 0; i < learned_.size(); ++i) {
      if (numbers[i] >= 0) {
        parts.push_back(train::gradient_in(*gradients.sums, static_cast<std::size_t>(numbers[i])));
      } else {
        zeros.emplace_back(tensor(i).storage->dtype(), tensor(i).storage->size());
        parts.push_back(gradient_in(zeros.back(), true));
      }
    }
    step(parts);
  }
  /// Changes the parameters by gradients that are tensors; a parameter without one stays as it is.
  void update_by(const std::vector<std::optional<EagerTensor>>& gradients) {
    std::vector<train::Numbers> values(learned_.size());
    std::vector<train::Gradient> parts;
    for (std::size_t i = 0; i < learned_.size(); ++i) {
      const Type type = tensor(i).value.type();
      if (gradients.at(i) && !(gradients[i]->value.type() == type)) {
        throw nb::type_error(("the gradient of '" + parameters_[i].name + "': expected " +
                              hiaton::to_string(type) + ", found " +
                              hiaton::to_string(gradients[i]->value.type()))
                                 .c_str());
      }
      values[i] = train::Numbers(tensor(i).storage->dtype(), tensor(i).storage->size());
      const bool is_sparse = !gradients[i];  // and without rows
      if (gradients[i])
        std::copy_n(gradients[i]->elements(), values[i].bytes().size(), values[i].bytes().data());
      parts.push_back(gradient_in(values[i], is_sparse));
    }
    step(parts);
  }
  uint64_t steps() const { return optimizer_.steps(); }
  void save(const std::filesystem::path& path) const {
    train::save_optimizer(path, parameters_, optimizer_, learning_rate);
  }
  void load(const std::filesystem::path& path) {
    learning_rate = train::load_optimizer(path, parameters_, optimizer_);
  }

  double learning_rate;

 private:
  void step(const std::vector<train::Gradient>& parts) {
    const std::vector<double> squares = train::squares_of(parts, parameters_);
    train::require_finite(0, squares, parameters_);
    for (std::size_t i = 0; i < learned_.size(); ++i) take_out(i);
    optimizer_.step(parameters_, parts, learning_rate,
                    train::clip_factor(train::norm_of_squares(squares), clip_));
    for (std::size_t i = 0; i < learned_.size(); ++i) put_back(i);
  }
  static std::vector<train::ParameterValues> described(const std::vector<std::string>& names,
                                                       const std::vector<nb::object>& learned) {
    std::vector<train::ParameterValues> parameters;
    for (std::size_t i = 0; i < learned.size(); ++i) {
      const auto& tensor = *nb::inst_ptr<LearnedTensor>(learned[i]);
      parameters.push_back({names[i], {tensor.dims().begin(), tensor.dims().end()}, *tensor.storage});
    }
    return parameters;
  }
  LearnedTensor& tensor(std::size_t i) { return *nb::inst_ptr<LearnedTensor>(learned_[i]); }
  /// Whether anybody but the parameter itself sees its elements.
  static bool is_shared(const LearnedTensor& tensor) {
    if (!tensor.value.is_tensor()) return false;
    return tensor.value.slot().tensor->references.load() != 1 || tensor.storage.use_count() != 2;
  }
  void take_out(std::size_t i) {
    LearnedTensor& from = tensor(i);
    if (is_shared(from)) from.storage = std::make_shared<train::Numbers>(*from.storage);
    std::swap(parameters_[i].values, *from.storage);
  }
  void put_back(std::size_t i) {
    LearnedTensor& to = tensor(i);
    std::swap(*to.storage, parameters_[i].values);
    set_values(to, parameters_[i].shape);
  }

  std::vector<nb::object> learned_;
  double clip_;
  std::vector<train::ParameterValues> parameters_;
  train::Optimizer optimizer_;
};

const LearnedTensor& learned_in(nb::handle object) {
  return *nb::inst_ptr<LearnedTensor>(object);
}

void save_parameters(const std::string& path, const std::vector<std::string>& names,
                     const std::vector<nb::object>& learned) {
  std::vector<train::ParameterValues> parameters;
  for (std::size_t i = 0; i < learned.size(); ++i) {
    const LearnedTensor& tensor = learned_in(learned[i]);
    parameters.push_back({names[i], {tensor.dims().begin(), tensor.dims().end()}, *tensor.storage});
  }
  train::save_parameters(path, parameters);
}

/// Values for these parameters, in their order.
nb::list load_parameters(const std::string& path, const std::vector<std::string>& names,
                         const std::vector<nb::object>& learned) {
  std::vector<graph::Parameter> declared;
  for (std::size_t i = 0; i < learned.size(); ++i)
    declared.push_back({names[i], learned_in(learned[i]).value.type(), Initializer()});
  nb::list values;
  for (const Value& value : train::load_values(path, declared)) values.append(to_object(value));
  return values;
}

}  // namespace

nb::object GraphGradients::values(std::size_t index) const {
  const Tensor& values = (*sums)[index].values;
  Tensor copy(values.dtype(), values.dims());
  const std::size_t bytes = static_cast<std::size_t>(values.size()) * size_of(values.dtype());
  std::copy_n(values.data<std::byte>(), bytes, copy.mutable_data<std::byte>());
  return to_object(std::move(copy));
}

nb::object GraphGradients::rows(std::size_t index) const {
  return row_numbers((*sums)[index]);
}

void bind_learned(nb::module_& m) {
  nb::class_<GraphGradients>(m, "GraphGradients")
      .def_ro("kernel_seconds", &GraphGradients::kernel_seconds)
      .def("values", &GraphGradients::values, nb::arg("index"))
      .def("rows", &GraphGradients::rows, nb::arg("index"));
  m.def("save_parameters", &save_parameters, nb::arg("path"), nb::arg("names"), nb::arg("learned"));
  m.def("load_parameters", &load_parameters, nb::arg("path"), nb::arg("names"), nb::arg("learned"));
  nb::class_<LearnedTensor, EagerTensor>(
      m, "Parameter",
      "A tensor of f32 or f64 that an optimizer changes. Operations take it as any other "
      "tensor; what they gave does not change with it.")
      .def(
          "__init__",
          [](LearnedTensor* self, nb::handle given) {
            const nb::object tensor = nb::isinstance<EagerTensor>(given)
                                          ? nb::borrow(given)
                                          : nb::object(nb::module_::import_("hiaton").attr("tensor")(given));
            const EagerTensor& value = *nb::inst_ptr<EagerTensor>(tensor);
            if (!is_float(value.value.dtype())) {
              throw nb::type_error(
                  ("a parameter: expected f32 or f64, found " + std::string(name_of(value.value.dtype())))
                      .c_str());
            }
            new (self) LearnedTensor();
            self->mark = new_parameter_mark();
            assign_any(*self, value);
          },
          nb::arg("value"), nb::sig("def __init__(self, value: numpy.typing.ArrayLike) -> None"))
      .def("assign", &assign, nb::arg("value"), "Gives it the elements of another tensor of its type.")
      .def(
          "__deepcopy__", [](nb::handle self, nb::handle) { return nb::type<LearnedTensor>()(self); },
          nb::arg("memo"))
      .def(
          "__reduce__",
          [](nb::handle self) {
            const nb::object tensor = nb::module_::import_("hiaton").attr("tensor")(self.attr("numpy")());
            return nb::make_tuple(nb::type<LearnedTensor>(), nb::make_tuple(tensor));
          },
          nb::sig("def __reduce__(self) -> tuple[typing.Any, ...]"))
      .attr("__hash__") = nb::none();
  nb::class_<TensorOptimizer>(m, "TensorOptimizer")
      .def(
          "__init__",
          [](TensorOptimizer* self, std::vector<std::string> names, std::vector<nb::object> learned,
             const std::string& kind, const nb::dict& settings, double rate) {
            new (self) TensorOptimizer(std::move(names), std::move(learned),
                                       optimizer_settings(kind, settings), rate);
          },
          nb::arg("names"), nb::arg("learned"), nb::arg("kind"), nb::arg("settings"),
          nb::arg("learning_rate"))
      .def_rw("learning_rate", &TensorOptimizer::learning_rate)
      .def_prop_ro("steps", &TensorOptimizer::steps)
      .def("update", &TensorOptimizer::update, nb::arg("gradients"), nb::arg("numbers"))
      .def("update_by", &TensorOptimizer::update_by, nb::arg("gradients"))
      .def("save", &TensorOptimizer::save, nb::arg("path"))
      .def("load", &TensorOptimizer::load, nb::arg("path"));
}

}  // namespace hiaton::python
