// A program that learns from trees, with its gradients in reach.
#pragma once

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include "hiaton/model_trainer.h"
#include "train/data_trainee.h"
#include "train/division.h"
#include "train/model_sizes.h"

namespace hiaton::train {

/// What a process has of a batch.
struct StepResult {
  double loss = 0;
  std::vector<double> squares{};
  std::vector<bool> sparse{};
  std::vector<std::vector<int64_t>> rows{};  ///< of sparse gradients: those that it has
  std::vector<std::size_t> begins{};         ///< by parameter: which element of its gradient stands first
  std::vector<std::vector<float>> gradients{};
  std::vector<int64_t> widths{};  ///< of rows

  friend bool operator==(const StepResult&, const StepResult&) = default;
  /// Whether it has the bits of a result that has all, and of a sparse gradient all rows or those of process
  /// `self`.
  bool is_part_of(const StepResult& whole, std::size_t self, std::size_t processes) const {
    if (loss != whole.loss || squares != whole.squares || sparse != whole.sparse) return false;
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      std::vector<float> all(
          whole.gradients[i].begin() + static_cast<std::ptrdiff_t>(begins[i]),
          whole.gradients[i].begin() + static_cast<std::ptrdiff_t>(begins[i] + gradients[i].size()));
      if (rows[i] != whole.rows[i]) {
        std::vector<int64_t> own;
        for (const int64_t row : whole.rows[i]) {
          if (process_of_row(static_cast<std::size_t>(row), processes) == self) {
            own.push_back(row);
          } else {
            std::fill_n(all.begin() + row * widths[i], widths[i], 0.0F);
          }
        }
        if (rows[i] != own) return false;
      }
      if (gradients[i] != all) return false;
    }
    return true;
  }
};

class TreeModel {
 public:
  explicit TreeModel(const TrainerOptions& options)
      : options_(options), runner_(model_of(options), options.seed, run_options_of(options)) {
    examples({});
  }

  void share(SharedBatches& sharing) { runner_.share(sharing); }
  const std::vector<ParameterValues>& parameters() { return runner_.parameters(); }

  /// The sum of the losses of the trees, and its gradient, in the step of this number.
  StepResult step(std::span<const Tree> trees, uint64_t number) {
    const TreeExamples batch = examples(trees);
    DataTrainee trainee(runner_, options_.seed, batch, nullptr, "");
    std::vector<uint32_t> all(trees.size());
    std::iota(all.begin(), all.end(), 0U);
    std::vector<Gradient> gradients(runner_.parameters().size());
    trainee.begin_step(number);
    StepResult done{trainee.loss_and_gradients(all, gradients)};
    done.squares = trainee.squares(gradients);
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      const std::vector<float> elements = elements_of(gradients[i], runner_.parameters()[i]);
      const ElementRange own = runner_.own_elements(i);
      done.sparse.push_back(gradients[i].sparse);
      done.rows.push_back(gradients[i].rows);
      done.widths.push_back(runner_.parameters()[i].row_width());
      done.begins.push_back(own.begin);
      done.gradients.emplace_back(
          elements.begin() + static_cast<std::ptrdiff_t>(own.begin),
          elements.begin() + static_cast<std::ptrdiff_t>(std::min(own.end, elements.size())));
    }
    return done;
  }

  TrainingResult train(std::span<const Tree> trees, std::span<const Tree> dev, const Settings& settings,
                       const Callbacks& callbacks = {}) {
    const TreeExamples learned = examples(trees);
    const TreeExamples measured = examples(dev);
    DataTrainee trainee(runner_, options_.seed, learned, &measured, settings.score);
    return run_training(trainee, settings, callbacks);
  }

 private:
  /// Zero where a sparse gradient has no row: what stands there does not count.
  static std::vector<float> elements_of(const Gradient& gradient, const ParameterValues& parameter) {
    const std::span<float> all = gradient.floats();
    if (!gradient.sparse) return {all.begin(), all.end()};
    std::vector<float> elements(all.size());
    const int64_t width = parameter.row_width();
    for (const int64_t row : gradient.rows)
      std::copy_n(all.begin() + row * width, width, elements.begin() + row * width);
    return elements;
  }

  TreeExamples examples(std::span<const Tree> trees) const {
    return {runner_.model(), {trees.begin(), trees.end()}, options_.classes};
  }

  const TrainerOptions options_;
  BatchRunner runner_;
};

}  // namespace hiaton::train
