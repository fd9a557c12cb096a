// A model and data sets, as the training loop sees them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "train/example_batch.h"
#include "train/trainee.h"

namespace hiaton::train {

class DataTrainee : public Trainee {
 public:
  /// `dev` may be null. All must outlive this.
  DataTrainee(BatchRunner& runner, uint64_t seed, const DataSet& train, const DataSet* dev,
              std::string score);

  std::vector<ParameterValues>& parameters() override { return runner_.parameters(); }
  std::vector<double> squares(std::span<const Gradient> gradients) override {
    return runner_.squares(gradients);
  }
  double update(Optimizer& optimizer, std::span<const Gradient> gradients, const StepSizes& sizes,
                const CheckSquares& check) override {
    return runner_.update(optimizer, gradients, sizes, check);
  }
  void bring_all(Optimizer& optimizer) override { runner_.bring_all(optimizer); }
  void keep_own(Optimizer& optimizer) override { runner_.keep_own(&optimizer); }
  void cancel_by(const std::atomic<bool>* cancel) override { runner_.cancel_by(cancel); }
  void begin_step(uint64_t step) override;

  std::size_t size() const override { return train_.size(); }
  std::size_t block() const override { return train_.block(); }
  uint64_t fingerprint() const override;
  double loss_and_gradients(std::span<const uint32_t> examples, std::span<Gradient> gradients) override;
  std::string place_of(uint32_t example) const override { return train_.place_of(example); }

  bool has_dev() const override { return dev_ != nullptr && dev_->size() > 0; }
  void try_evaluation() override;
  std::optional<Evaluation> evaluate(const std::atomic<bool>* cancel, int64_t batch) override;
  double score_of(const Evaluation& evaluation) const override;

 private:
  BatchRunner& runner_;
  const uint64_t seed_;
  const bool has_seed_;  ///< `loss` takes a seed
  const DataSet& train_;
  const DataSet* const dev_;
  const std::string score_;
  std::optional<ExampleBatch::Seed> step_seed_;  ///< where the model takes one
};

/// Tells what is learned from and evaluated on from other examples; `dev` may be null.
uint64_t fingerprint(const DataSet& train, const DataSet* dev);

}  // namespace hiaton::train
