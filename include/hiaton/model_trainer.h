// A model that learns from examples of any kind. For trees of data files, learner.h and train.h do more.
//
//   train::ModelTrainer trainer(Model::from_file("model.hia"));
//   for (int i = 0; i < 100; ++i) trainer.step(examples, 1e-3);
//   Value answer = trainer.predict({question})[0];
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

#include "hiaton/model.h"
#include "hiaton/train.h"

#pragma GCC visibility push(default)
namespace hiaton::train {

/// A model, its parameters, and an optimizer. Of one thread at a time.
class ModelTrainer {
 public:
  /// `run` says how runs go (workers, budgets, batching); its parameters and gradients are not looked at.
  /// Throws ProgramError where a parameter is not of f32 or the settings make no sense.
  explicit ModelTrainer(Model model, const OptimizerSettings& optimizer = {}, uint64_t seed = 1,
                        RunOptions run = {});
  ModelTrainer(ModelTrainer&&) noexcept;
  ModelTrainer& operator=(ModelTrainer&&) noexcept;
  ~ModelTrainer();

  /// One step against the gradient of the mean loss of the examples, which are argument lists of `loss`:
  /// their mean loss before it. Throws ProgramError where there are none, and where the loss or the gradient
  /// is not finite: the parameters are unchanged then. Throws RunError as Model::loss does.
  double step(std::span<const std::vector<Value>> examples, double learning_rate = 1e-3);

  /// The results of `predict` for one example.
  std::vector<Value> predict(std::initializer_list<Value> example);
  /// The same for each of many, in batches.
  std::vector<std::vector<Value>> predict(std::span<const std::vector<Value>> examples);

  const Model& model() const;
  /// For save_parameters.
  const std::vector<ParameterValues>& parameters() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace hiaton::train
#pragma GCC visibility pop
