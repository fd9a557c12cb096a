// Training: parameters and gradients, the settings of the loop, and what it reports.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "hiaton/type.h"

#pragma GCC visibility push(default)
namespace hiaton {
class ThreadPool;
class Trace;
}  // namespace hiaton

namespace hiaton::train {

/// Numbers of f32 or of f64.
class Numbers {
 public:
  Numbers() = default;
  Numbers(std::initializer_list<float> floats) : all_(std::vector<float>(floats)) {}
  Numbers(std::vector<float> floats) : all_(std::move(floats)) {}     // NOLINT(google-explicit-constructor)
  Numbers(std::vector<double> doubles) : all_(std::move(doubles)) {}  // NOLINT(google-explicit-constructor)
  /// Zeros.
  Numbers(DType dtype, std::size_t count);

  DType dtype() const { return all_.index() == 0 ? DType::F32 : DType::F64; }
  std::size_t size() const;
  std::span<std::byte> bytes();
  std::span<const std::byte> bytes() const;
  /// Only where they are of f32.
  std::vector<float>& floats() { return std::get<0>(all_); }
  const std::vector<float>& floats() const { return std::get<0>(all_); }
  /// Only where they are of f64.
  std::vector<double>& doubles() { return std::get<1>(all_); }
  const std::vector<double>& doubles() const { return std::get<1>(all_); }

  friend bool operator==(const Numbers&, const Numbers&) = default;

 private:
  std::variant<std::vector<float>, std::vector<double>> all_;
};

/// A tensor that is learned. `values` is row-major and has as many elements as `shape` says; none where
/// another process of the training holds them.
struct ParameterValues {
  std::string name;
  std::vector<int64_t> shape;
  Numbers values;
  bool is_here = true;

  /// Elements of one row: of all dimensions but the first. A scalar is one row of one element.
  int64_t row_width() const;
  int64_t row_count() const;
};

enum class OptimizerKind : uint8_t { Sgd, Adagrad, Adam, RmsProp, AdamW };

/// The rules of the literature. Where a gradient is sparse, only its rows are updated, and only their state.
struct OptimizerSettings {
  OptimizerKind kind = OptimizerKind::Adam;
  double momentum = 0;         ///< sgd, rmsprop; 0: none
  double beta1 = 0.9;          ///< adam, adamw: decay of the mean
  double beta2 = 0.999;        ///< adam, adamw: decay of the mean square
  double rho = 0.9;            ///< rmsprop: decay of the mean square
  double epsilon = 1e-8;       ///< all but sgd: keeps the divisor from zero
  double weight_decay = 0.01;  ///< adamw: each step first makes the parameter smaller by this times the rate
  double l2 = 0;               ///< adds l2 times the parameter to its gradient, after clipping
  double clip = 0;  ///< largest norm of all gradients together; longer ones are scaled; 0: no limit

  friend bool operator==(const OptimizerSettings&, const OptimizerSettings&) = default;
};

enum class ScheduleKind : uint8_t { Constant, Linear, Cosine, Step, Exponential };

/// How the learning rate changes over the steps.
struct Schedule {
  ScheduleKind kind = ScheduleKind::Constant;
  double decay = 0.5;       ///< step, exponential: the factor
  int64_t decay_every = 1;  ///< step: epochs from one drop to the next; exponential: epochs for one factor
  int64_t warmup = 0;       ///< steps at the beginning, in which the learning rate grows along a line

  friend bool operator==(const Schedule&, const Schedule&) = default;
};

/// The learning rate of one step, from 0. Step k of a warm-up of n steps has (k + 1) / n of what it would
/// have without; linear and cosine fall from its end on, to 0 at the end of the last epoch.
double learning_rate_at(const Schedule& schedule, double initial, uint64_t step, uint64_t steps_per_epoch,
                        uint64_t epochs);

struct Settings {
  int64_t epochs = 10;
  int64_t batch = 25;  ///< examples a step
  OptimizerSettings optimizer{};
  double learning_rate = 1e-3;  ///< the gradient is that of the mean loss of the examples of a batch
  Schedule schedule{};
  uint64_t seed = 1;  ///< decides the order of the examples
  /// What makes an epoch the best one on dev. Of trees the higher accuracy, of `all` nodes or of each `root`;
  /// else the lower `loss`, or the higher mean of one of the program's `metrics`, by its name; with "min:"
  /// before the name the lower one. Empty: `all` or `loss`.
  std::string score{};
  int64_t patience = 0;                ///< stop after so many epochs without a better score on dev; 0: never
  int64_t checkpoint_every_steps = 0;  ///< besides the end of each epoch; 0: only there
  int64_t eval_batch = 100;            ///< examples evaluated at once
  std::filesystem::path out{};  ///< directory for what is written, made where missing; empty: nothing is
  bool resume = false;          ///< go on from `out`/last.safetensors
  bool read_only = false;       ///< write nothing to `out`: another process of the same training does

  friend bool operator==(const Settings&, const Settings&) = default;
};

/// Throws ProgramError that names each setting that makes no sense.
void check(const Settings& settings);
void check(const OptimizerSettings& settings);

/// The names that the command line and files use: "adam", "cosine".
std::string_view name_of(OptimizerKind kind);
std::string_view name_of(ScheduleKind kind);
/// The kinds of these names. Throw ProgramError where there is none.
OptimizerKind optimizer_kind_from(std::string_view name);
ScheduleKind schedule_kind_from(std::string_view name);

/// All settings but `out`, `resume` and `read_only`, as a JSON file.
void save_settings(const std::filesystem::path& path, const Settings& settings);
/// Throws ProgramError where the file is not one that save_settings wrote.
Settings load_settings(const std::filesystem::path& path);

/// What the function `metrics` of a program says of a set of examples: the mean of one of its numbers.
struct Metric {
  std::string name;
  double mean = 0;
  bool is_share = false;  ///< a mean of truth values: how many of the examples are true

  friend bool operator==(const Metric&, const Metric&) = default;
};

/// Quality on a set of examples. Of trees, only labelled nodes with a prediction count; NaN where there are
/// none.
struct Evaluation {
  double loss = 0;           ///< mean of `loss`; of trees that of the summed cross-entropy of their nodes
  double root_accuracy = 0;  ///< share of roots whose most probable class is their label
  double all_accuracy = 0;   ///< share of all nodes
  int64_t roots = 0;
  int64_t nodes = 0;
  bool is_of_trees = true;        ///< else there are metrics, and no accuracies
  std::vector<Metric> metrics{};  ///< metrics of the program, where it has any
};

/// What one epoch brought. `dev` is there where a dev set is.
struct EpochReport {
  int64_t epoch = 0;         ///< from 1
  uint64_t steps = 0;        ///< all steps so far
  double train_loss = 0;     ///< mean loss of an example, while learning
  double learning_rate = 0;  ///< the learning rate of the last step
  double seconds = 0;        ///< learning alone
  double examples_per_second = 0;
  std::optional<Evaluation> dev{};
  bool best = false;  ///< the best so far, and best.safetensors was written
};

/// What one step brought.
struct StepReport {
  int64_t epoch = 0;  ///< from 1
  int64_t epochs = 0;
  uint64_t step = 0;           ///< the number of the step, from 1, in all epochs
  uint64_t step_of_epoch = 0;  ///< from 1
  uint64_t steps_per_epoch = 0;
  double loss = 0;           ///< mean loss of an example of the batch
  double epoch_loss = 0;     ///< mean loss of an example in this epoch so far
  double gradient_norm = 0;  ///< the norm for the mean loss, before clipping
  double learning_rate = 0;
  double examples_per_second = 0;  ///< in this epoch, since training began or was resumed
  double seconds_left = 0;         ///< how long learning takes, at this speed, to the end of the last epoch
};

struct Callbacks {
  /// Before anything else is written to `Settings::out`, which is there, locked, and free of other
  /// checkpoints.
  std::function<void()> on_start{};
  std::function<void(const StepReport&)> on_step{};
  std::function<void(const EpochReport&)> on_epoch{};
  /// Once true, training lets go of the step it is in, or, where several processes share it, finishes it;
  /// then it writes a checkpoint and ends.
  const std::atomic<bool>* cancel = nullptr;
  /// Where steps, updates, evaluations and checkpoints are drawn; null: nowhere.
  Trace* trace = nullptr;
};

enum class Ending : uint8_t { AllEpochs, EarlyStopping, Cancelled };

struct TrainingResult {
  Ending ending = Ending::AllEpochs;
  std::vector<EpochReport> history;  ///< one report an epoch, also those before resuming
  int64_t best_epoch = 0;            ///< 0: none was finished
};

/// Writes the parameters alone, as a safetensors file, atomically.
void save_parameters(const std::filesystem::path& path, const std::vector<ParameterValues>& parameters);

}  // namespace hiaton::train
#pragma GCC visibility pop
