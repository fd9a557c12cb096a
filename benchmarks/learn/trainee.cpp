#include "trainee.h"

#include "hiaton/optimizer.h"
#include "train/tree_values.h"

namespace hiaton::benchmarks {
namespace {

constexpr uint64_t kSeed = 1;

Trainee::ExampleOf as_tree_values(const Model& model) {
  return [values = train::TreeValues(model.loss_program(), "the model")](const train::Tree& tree) {
    return std::vector<Value>{values.value_of(tree)};
  };
}

}  // namespace

Trainee::Trainee(Model model, ExampleOf example_of)
    : model_(std::move(model)),
      example_of_(std::move(example_of)),
      parameters_(train::first_parameters(model_, kSeed)),
      values_(train::values_of(parameters_)),
      optimizer_({}, parameters_),
      sums_(model_.parameters()),
      gradients_(parameters_.size()) {}

Trainee::Trainee(const Model& model) : Trainee(model, as_tree_values(model)) {}

double Trainee::loss_and_gradients(Trees trees) {
  RunOptions options = with_parameters();
  sums_.clear();
  options.gradients = &sums_;
  double loss = 0;
  for (const std::vector<Value>& results : run_loss(trees, options)) loss += results[0].as<float>();
  for (std::size_t i = 0; i < gradients_.size(); ++i) gradients_[i] = train::gradient_in(sums_, i);
  return loss;
}

double Trainee::step(Trees trees, double learning_rate) {
  const double loss = loss_and_gradients(trees);
  optimizer_.step(parameters_, gradients_, learning_rate, 1.0 / static_cast<double>(trees.size()));
  values_ = train::values_of(parameters_);
  return loss;
}

std::vector<std::vector<Value>> Trainee::predict(Trees trees) {
  return model_.predict(examples(trees), with_parameters());
}

std::vector<std::vector<Value>> Trainee::run_loss(Trees trees, const RunOptions& options) {
  return model_.loss(examples(trees), options);
}

RunOptions Trainee::with_parameters() {
  RunOptions options = options_;
  options.parameters = values_;
  return options;
}

std::vector<std::vector<Value>> Trainee::examples(Trees trees) const {
  std::vector<std::vector<Value>> lists;
  lists.reserve(trees.size());
  for (const train::Tree* tree : trees) lists.push_back(example_of_(*tree));
  return lists;
}

}  // namespace hiaton::benchmarks
