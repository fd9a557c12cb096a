// What the training loop asks of whatever is trained.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hiaton/optimizer.h"
#include "hiaton/train.h"
#include "train/gradient.h"

namespace hiaton::train {

/// A model together with the examples that it learns from, and perhaps others that it is evaluated on.
class Trainee {
 public:
  virtual ~Trainee() = default;

  /// Which they are and their shapes never change; the values are read and written by the loop between runs,
  /// through a reference that it asks for again after each run.
  virtual std::vector<ParameterValues>& parameters() = 0;
  /// Where several processes hold the parameters: brings the values and the state of those of other ones to
  /// process 0. All processes call it.
  virtual void bring_all(Optimizer& /*optimizer*/) {}
  /// Lets go of what other processes hold.
  virtual void keep_own(Optimizer& /*optimizer*/) {}
  /// Called before each loss_and_gradients with the number of the step, from 0: a model with dropout draws
  /// its random numbers from it and its own seed, and so draws the same ones when training is resumed.
  virtual void begin_step(uint64_t /*step*/) {}
  /// Once true, what it computes ends with Fault::Interrupted; null: never.
  virtual void cancel_by(const std::atomic<bool>* /*cancel*/) {}

  /// How many examples it learns from.
  virtual std::size_t size() const = 0;
  /// As DataSet::block.
  virtual std::size_t block() const { return 0; }
  /// Tells sets of examples apart, those of the evaluation included.
  virtual uint64_t fingerprint() const = 0;
  /// The sum of the losses of these examples; `gradients` get the gradient of that sum.
  virtual double loss_and_gradients(std::span<const uint32_t> examples, std::span<Gradient> gradients) = 0;
  /// The squares of these gradients, by parameter, which are the same in all processes that share them.
  virtual std::vector<double> squares(std::span<const Gradient> gradients) {
    return squares_of(gradients, parameters());
  }
  /// As Optimizer::step with the parameters. What `check` throws leaves them as they are. Returns the norm of
  /// the gradient of the mean loss, before clipping. All processes that share the gradients call it.
  virtual double update(Optimizer& optimizer, std::span<const Gradient> gradients, const StepSizes& sizes,
                        const CheckSquares& check) {
    const std::vector<double> found = squares(gradients);
    check(found);
    const double norm = norm_of_squares(found) * sizes.scale;
    optimizer.step(parameters(), gradients, sizes.learning_rate, sizes.scale * clip_factor(norm, sizes.clip));
    return norm;
  }
  /// In messages: "the tree in line 3 of the data".
  virtual std::string place_of(uint32_t example) const = 0;

  virtual bool has_dev() const = 0;
  /// Evaluates one example: throws what an evaluation would throw.
  virtual void try_evaluation() = 0;
  /// Nothing where `cancel` (may be null) became true.
  virtual std::optional<Evaluation> evaluate(const std::atomic<bool>* cancel, int64_t batch) = 0;
  /// The higher, the better.
  virtual double score_of(const Evaluation& evaluation) const = 0;
};

/// As ModelTrainer::train.
TrainingResult run_training(Trainee& trainee, const Settings& settings, const Callbacks& callbacks);

}  // namespace hiaton::train
