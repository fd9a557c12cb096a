// A model that learns, with all of a run in reach: what ModelTrainer keeps to itself.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "hiaton/model.h"
#include "hiaton/optimizer.h"
#include "hiaton/train.h"
#include "hiaton/trees.h"

namespace hiaton::benchmarks {

using Trees = std::span<const train::Tree* const>;

/// A model, its parameters, and Adam.
class Trainee {
 public:
  using ExampleOf = std::function<std::vector<Value>(const train::Tree&)>;

  /// Trees become arguments of the model by `example_of`.
  Trainee(Model model, ExampleOf example_of);
  /// Trees become values of the data type that the model takes.
  explicit Trainee(const Model& model);
  virtual ~Trainee() = default;

  /// The sum of the losses of the trees; fills gradients().
  double loss_and_gradients(Trees trees);
  /// The same, and changes the parameters. The rate is that of the mean loss.
  double step(Trees trees, double learning_rate = 1e-3);
  /// What the model predicts for each tree.
  virtual std::vector<std::vector<Value>> predict(Trees trees);

  const std::vector<train::ParameterValues>& parameters() const { return parameters_; }
  const std::vector<train::Gradient>& gradients() const { return gradients_; }
  /// The options of all runs from now on; parameters and gradients are set for each.
  RunOptions& options() { return options_; }

 protected:
  virtual std::vector<std::vector<Value>> run_loss(Trees trees, const RunOptions& options);
  /// The options of a run with the parameters as they are.
  RunOptions with_parameters();

 private:
  std::vector<std::vector<Value>> examples(Trees trees) const;

  const Model model_;
  const ExampleOf example_of_;
  RunOptions options_;
  std::vector<train::ParameterValues> parameters_;
  std::vector<Value> values_;  ///< what parameters_ hold; made anew after each change
  train::Optimizer optimizer_;
  Gradients sums_;
  std::vector<train::Gradient> gradients_;
};

}  // namespace hiaton::benchmarks
