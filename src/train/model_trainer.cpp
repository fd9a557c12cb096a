#include "hiaton/model_trainer.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <optional>

#include "base/not_moved.h"
#include "hiaton/error.h"
#include "hiaton/optimizer.h"
#include "train/checkpoint.h"
#include "train/data_trainee.h"
#include "train/gradient.h"
#include "train/quality.h"
#include "train/shared_batches.h"

namespace hiaton::train {
namespace {

std::vector<uint32_t> indices_of(const DataSet& examples) {
  std::vector<uint32_t> all(examples.size());
  std::iota(all.begin(), all.end(), 0U);
  return all;
}

}  // namespace

struct ModelTrainer::Parts {
  Parts(Model trained, const OptimizerSettings& settings, uint64_t its_seed, RunOptions options)
      : seed(its_seed),
        clip(settings.clip),
        processes(options.processes),
        runner(std::move(trained), seed, std::move(options)),
        optimizer(settings, runner.parameters()),
        gradients(runner.parameters().size()) {}

  const uint64_t seed;
  const double clip;
  net::Transport* const processes;
  std::optional<SharedBatches> own_sharing;  ///< where the options of runs name processes
  BatchRunner runner;
  Optimizer optimizer;
  std::vector<Gradient> gradients;

  std::vector<std::vector<Value>> predict(const Batch& examples) {
    std::vector<std::vector<Value>> predictions(examples.size());
    runner.together([&] {
      runner.run(runner.model().predict_program(), examples,
                 [&](std::size_t i, std::vector<Value> results) { predictions[i] = std::move(results); });
    });
    return predictions;
  }
};

ModelTrainer::ModelTrainer(Model model, const OptimizerSettings& optimizer, uint64_t seed, RunOptions run) {
  check({.optimizer = optimizer});
  parts_ = std::make_unique<Parts>(std::move(model), optimizer, seed, std::move(run));
  if (parts_->processes != nullptr) share(parts_->own_sharing.emplace(*parts_->processes, nullptr));
}

ModelTrainer::ModelTrainer(ModelTrainer&&) noexcept = default;
ModelTrainer& ModelTrainer::operator=(ModelTrainer&&) noexcept = default;
ModelTrainer::~ModelTrainer() = default;

ModelTrainer::Parts& ModelTrainer::parts() const {
  return not_moved(parts_, "a trainer", "a ModelTrainer");
}

double ModelTrainer::step(std::span<const std::vector<Value>> examples, double learning_rate) {
  if (examples.empty()) throw ProgramError("expected examples to learn from, found none");
  if (!(learning_rate >= 0) || !std::isfinite(learning_rate))
    throw ProgramError(fmt::format("learning rate: expected 0 or more, found {}", learning_rate));
  Parts& own = parts();
  const double scale = 1.0 / static_cast<double>(examples.size());
  double loss = 0;
  for (const double one : own.runner.loss_and_gradients(ArgumentBatch(examples), own.gradients))
    loss += scale * one;
  const auto check_squares = [&](std::span<const double> squares) {
    require_finite(loss, squares, own.runner.parameters());
  };
  check_squares({});
  own.runner.update(own.optimizer, own.gradients, {learning_rate, scale, own.clip}, check_squares);
  return loss;
}

TrainingResult ModelTrainer::train(const DataSet& train, const DataSet* dev, const Settings& settings,
                                   const Callbacks& callbacks) {
  DataTrainee trainee(parts().runner, parts().seed, train, dev, settings.score);
  return run_training(trainee, settings, callbacks);
}

Evaluation ModelTrainer::evaluate(const DataSet& examples, int64_t batch) {
  if (examples.size() == 0) throw ProgramError("expected examples to evaluate on, found none");
  examples.require_fit();
  return *evaluate_unless(nullptr, parts().runner, examples, batch);
}

std::vector<double> ModelTrainer::measure(const DataSet& examples) {
  examples.require_fit();
  const LossAndMetrics quality(model());
  std::vector<double> numbers(examples.size() * quality.width());
  parts().runner.together([&] { quality.measure(parts().runner, examples, indices_of(examples), numbers); });
  return numbers;
}

Evaluation ModelTrainer::evaluation_of(std::span<const double> measurements) const {
  const LossAndMetrics quality(model());
  std::vector<double> sums(quality.width());
  for (std::size_t i = 0; i < measurements.size(); ++i) sums[i % quality.width()] += measurements[i];
  return quality.evaluation_of(sums, measurements.size() / quality.width());
}

std::vector<Value> ModelTrainer::predict(std::initializer_list<Value> example) {
  const std::vector<Value> one(example);
  return std::move(predict({&one, 1})[0]);
}

std::vector<std::vector<Value>> ModelTrainer::predict(std::span<const std::vector<Value>> examples) {
  return parts().predict(ArgumentBatch(examples));
}

std::vector<std::vector<Value>> ModelTrainer::predict(const ExampleList& examples) {
  const std::vector<uint32_t> all = indices_of(examples);
  return parts().predict(ExampleBatch(examples, all, std::nullopt));
}

std::vector<Prediction> ModelTrainer::predict(const TreeData& trees) {
  std::vector<Prediction> predictions(trees.size());
  const std::vector<uint32_t> all = indices_of(trees);
  parts().runner.together([&] {
    parts().runner.run(model().predict_program(), ExampleBatch(trees, all, std::nullopt),
                       [&](std::size_t i, const std::vector<Value>& results) {
                         predictions[i] = trees.prediction_in(results[0], i);
                       });
  });
  return predictions;
}

void ModelTrainer::share(SharedBatches& sharing) {
  if (parts().optimizer.steps() > 0)
    throw ProgramError("expected to share batches before the first step, found that there was one");
  parts().runner.share(sharing, parts().clip > 0);
  parts().runner.keep_own(&parts().optimizer);
}

std::vector<ParameterValues> ModelTrainer::all_parameters() {
  parts().runner.bring_all(parts().optimizer);
  std::vector<ParameterValues> all = parameters();
  parts().runner.keep_own(&parts().optimizer);
  return all;
}

const Model& ModelTrainer::model() const {
  return parts().runner.model();
}

const std::vector<ParameterValues>& ModelTrainer::parameters() const {
  return std::as_const(parts().runner).parameters();
}

void load_parameters(const std::filesystem::path& path, ModelTrainer& trainer) {
  BatchRunner& runner = trainer.parts().runner;
  load_parameters(path, runner.parameters());
  runner.keep_own(nullptr);
}

}  // namespace hiaton::train
