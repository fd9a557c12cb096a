// How good a model is on examples: numbers of each example, and what their sums say of all.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "hiaton/examples.h"
#include "train/batch_runner.h"
#include "train/metrics.h"

namespace hiaton::train {

class Quality {
 public:
  virtual ~Quality() = default;

  /// How many numbers an example has.
  virtual std::size_t width() const = 0;
  /// Writes the numbers of the chosen examples, which are contiguous by example.
  virtual void measure(BatchRunner& runner, const DataSet& examples, std::span<const uint32_t> chosen,
                       std::span<double> numbers) const = 0;
  /// `sums` of the numbers of so many examples.
  virtual Evaluation evaluation_of(std::span<const double> sums, std::size_t examples) const = 0;
};

/// The loss, and what the function `metrics` gives.
class LossAndMetrics : public Quality {
 public:
  /// Throws ProgramError as MetricNumbers does.
  explicit LossAndMetrics(const Model& model);

  std::size_t width() const override { return 1 + metrics_.size(); }
  void measure(BatchRunner& runner, const DataSet& examples, std::span<const uint32_t> chosen,
               std::span<double> numbers) const override;
  Evaluation evaluation_of(std::span<const double> sums, std::size_t examples) const override;

 private:
  MetricNumbers metrics_;
  bool has_seed_;  ///< `loss` takes a seed
};

/// How many nodes of trees are predicted right.
class NodeAccuracy : public Quality {
 public:
  std::size_t width() const override;
  void measure(BatchRunner& runner, const DataSet& examples, std::span<const uint32_t> chosen,
               std::span<double> numbers) const override;
  Evaluation evaluation_of(std::span<const double> sums, std::size_t examples) const override;
};

/// The one that these examples are measured by.
std::unique_ptr<Quality> quality_for(const Model& model, const DataSet& examples);

/// The higher, the better; `score` is as in Settings. Throws ProgramError where the evaluation has none of
/// it.
double score_of(const Evaluation& evaluation, std::string_view score);

/// The evaluation over all processes where they share batches. Returns nothing where `cancel` (may be null)
/// became true.
std::optional<Evaluation> evaluate_unless(const std::atomic<bool>* cancel, BatchRunner& runner,
                                          const DataSet& examples, int64_t batch);

}  // namespace hiaton::train
