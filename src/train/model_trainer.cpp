#include "hiaton/model_trainer.h"

#include <fmt/format.h>

#include <cmath>

#include "hiaton/error.h"
#include "hiaton/thread_pool.h"
#include "train/gradient.h"
#include "train/model_values.h"
#include "train/optimizer.h"

namespace hiaton::train {

struct ModelTrainer::Parts {
  Parts(Model trained, const OptimizerSettings& settings, uint64_t seed, RunOptions options)
      : model(std::move(trained)),
        run(std::move(options)),
        own_pool(run.pool == nullptr && run.workers > 1 ? std::make_unique<ThreadPool>(run.workers)
                                                        : nullptr),
        pool(own_pool != nullptr ? own_pool.get() : run.pool),
        clip(settings.clip),
        parameters(first_parameters(model, seed)),
        optimizer(settings, parameters),
        sums(model.parameters()),
        gradients(parameters.size()),
        values(values_of(parameters)) {}

  RunOptions options() const {
    RunOptions all = run;
    all.pool = pool;
    all.parameters = values;
    all.gradients = nullptr;
    return all;
  }

  const Model model;
  const RunOptions run;
  const std::unique_ptr<ThreadPool> own_pool;  ///< null: one worker, or the pool of `run`
  ThreadPool* const pool;
  const double clip;
  std::vector<ParameterValues> parameters;
  Optimizer optimizer;
  Gradients sums;
  std::vector<Gradient> gradients;
  std::vector<Value> values;  ///< of parameters; made anew after each change
};

ModelTrainer::ModelTrainer(Model model, const OptimizerSettings& optimizer, uint64_t seed, RunOptions run) {
  check({.optimizer = optimizer});
  parts_ = std::make_unique<Parts>(std::move(model), optimizer, seed, std::move(run));
}

ModelTrainer::ModelTrainer(ModelTrainer&&) noexcept = default;
ModelTrainer& ModelTrainer::operator=(ModelTrainer&&) noexcept = default;
ModelTrainer::~ModelTrainer() = default;

double ModelTrainer::step(std::span<const std::vector<Value>> examples, double learning_rate) {
  if (examples.empty()) throw ProgramError("expected examples to learn from, found none");
  Parts& parts = *parts_;
  RunOptions options = parts.options();
  options.gradients = &parts.sums;
  parts.sums.clear(parts.pool);
  const double scale = 1.0 / static_cast<double>(examples.size());
  double loss = 0;
  for (const std::vector<Value>& results : parts.model.loss(examples, options))
    loss += scale * number_in(results[0]);
  for (std::size_t i = 0; i < parts.gradients.size(); ++i) parts.gradients[i] = gradient_in(parts.sums, i);
  const double norm = scale * norm_of(parts.gradients, parts.parameters);
  if (!std::isfinite(loss) || !std::isfinite(norm)) {
    throw ProgramError(
        fmt::format("training diverged: {} is not finite; try a lower learning rate or clipping",
                    name_not_finite(loss, parts.gradients, parts.parameters)));
  }
  parts.optimizer.step(parts.parameters, parts.gradients, learning_rate,
                       scale * clip_factor(norm, parts.clip), parts.pool);
  parts.values = values_of(parts.parameters);
  return loss;
}

std::vector<Value> ModelTrainer::predict(std::initializer_list<Value> example) {
  const std::vector<Value> one(example);
  return std::move(predict({&one, 1})[0]);
}

std::vector<std::vector<Value>> ModelTrainer::predict(std::span<const std::vector<Value>> examples) {
  return parts_->model.predict(examples, parts_->options());
}

const Model& ModelTrainer::model() const {
  return parts_->model;
}

const std::vector<ParameterValues>& ModelTrainer::parameters() const {
  return parts_->parameters;
}

}  // namespace hiaton::train
