// Training: what a model has to offer, the settings, the loop, and checkpoints.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hiaton/trees.h"

#pragma GCC visibility push(default)
namespace hiaton {
class ThreadPool;
class Trace;
}  // namespace hiaton

namespace hiaton::train {

/// A tensor that is learned. `values` is row-major and has as many elements as `shape` says.
struct ParameterValues {
  std::string name;
  std::vector<int64_t> shape;
  std::vector<float> values;

  /// Elements of one row: of all dimensions but the first. A scalar is one row of one element.
  int64_t row_width() const;
  int64_t row_count() const;
};

/// The gradient of one parameter, or of some of its rows where that of all others is zero.
struct Gradient {
  bool sparse = false;
  /// As many as the parameter has, row by row, in memory of the learner: until it is asked again.
  std::span<float> values;
  std::vector<int64_t> rows;  ///< sparse only: those that count, in increasing order
};

/// What a model says about one tree.
struct Prediction {
  std::vector<int32_t> nodes;  ///< those with a prediction, in increasing order
  int32_t classes = 0;
  std::vector<float> probabilities;  ///< nodes.size() times classes

  /// The class of the largest probability; the first of equal ones.
  int32_t best_class(std::size_t index) const;
  float probability(std::size_t index, int32_t label) const;
};

class SharedBatches;

/// A model with its parameters, as the training loop sees it. Deterministic: equal parameters, trees and step
/// give equal bits, or resumed training differs from uninterrupted training.
class Learner {
 public:
  virtual ~Learner() = default;

  /// Which they are and their shapes never change; the values are read and written by the trainer between
  /// runs, through a reference that it asks for again after each run.
  virtual std::vector<ParameterValues>& parameters() = 0;

  /// The sum of the losses of the trees; no regularization. Fills `gradients`, one a parameter, with the
  /// gradient of that sum.
  virtual double loss_and_gradients(std::span<const Tree* const> batch, std::span<Gradient> gradients) = 0;

  /// One prediction a tree.
  virtual std::vector<Prediction> predict(std::span<const Tree* const> batch) = 0;

  /// Threads that may also do what is to be done between two steps; null: none.
  virtual ThreadPool* pool() { return nullptr; }

  /// Called before each loss_and_gradients with the number of the step, from 0: a model with dropout draws
  /// its random numbers from it and its own seed, and so draws the same ones when training is resumed.
  virtual void begin_step(uint64_t /*step*/) {}

  /// From now on losses, gradients and predictions are those of batches that several processes share. All of
  /// them ask for the same things in the same order, and get the same. Throws ProgramError where the learner
  /// cannot do that.
  virtual void share(SharedBatches& sharing);
};

enum class OptimizerKind : uint8_t { Sgd, Adagrad, Adam };

/// The rules of the literature. Where a gradient is sparse, only its rows are updated, and only their state.
struct OptimizerSettings {
  OptimizerKind kind = OptimizerKind::Adam;
  double momentum = 0;    ///< sgd; 0: none
  double beta1 = 0.9;     ///< adam: decay of the mean
  double beta2 = 0.999;   ///< adam: decay of the mean square
  double epsilon = 1e-8;  ///< adam, adagrad: keeps the divisor from zero
  double l2 = 0;          ///< adds l2 times the parameter to its gradient, after clipping
  double clip = 0;        ///< largest norm of all gradients together; longer ones are scaled; 0: no limit

  friend bool operator==(const OptimizerSettings&, const OptimizerSettings&) = default;
};

enum class ScheduleKind : uint8_t { Constant, Linear, Cosine, Step, Exponential };

/// How the learning rate changes over the steps.
struct Schedule {
  ScheduleKind kind = ScheduleKind::Constant;
  double decay = 0.5;       ///< step, exponential: the factor
  int64_t decay_every = 1;  ///< step: epochs from one drop to the next; exponential: epochs for one factor

  friend bool operator==(const Schedule&, const Schedule&) = default;
};

/// The learning rate of one step. Linear and cosine fall to 0 at the end of the last epoch.
double learning_rate_at(const Schedule& schedule, double initial, uint64_t step, uint64_t steps_per_epoch,
                        uint64_t epochs);

/// Which accuracy on dev makes an epoch the best one.
enum class ScoreKind : uint8_t { AllNodes, Root };

struct Settings {
  int64_t epochs = 10;
  int64_t batch = 25;  ///< trees a step
  OptimizerSettings optimizer{};
  double learning_rate = 1e-3;  ///< the gradient is that of the mean loss of the trees of a batch
  Schedule schedule{};
  uint64_t seed = 1;                      ///< of the order of the trees
  ScoreKind score = ScoreKind::AllNodes;  ///< of the best epoch
  int64_t patience = 0;                ///< stop after so many epochs without a better score on dev; 0: never
  int64_t checkpoint_every_steps = 0;  ///< besides the end of each epoch; 0: only there
  int64_t eval_batch = 100;            ///< trees predicted at once
  std::filesystem::path out{};  ///< directory for what is written, made where missing; empty: nothing is
  bool resume = false;          ///< go on from `out`/last.safetensors
  bool read_only = false;       ///< write nothing to `out`: another process of the same training does

  friend bool operator==(const Settings&, const Settings&) = default;
};

/// Throws ProgramError that names each setting that makes no sense.
void check(const Settings& settings);

/// As the command line and files call them: "adam", "cosine".
std::string_view name_of(OptimizerKind kind);
std::string_view name_of(ScheduleKind kind);
std::string_view name_of(ScoreKind kind);

/// All settings but `out`, `resume` and `read_only`, as a JSON file.
void save_settings(const std::filesystem::path& path, const Settings& settings);
/// Throws ProgramError where the file is not one that save_settings wrote.
Settings load_settings(const std::filesystem::path& path);

/// Quality on a set of trees. Only labelled nodes with a prediction count; NaN where there are none.
struct Evaluation {
  double loss = 0;           ///< mean over trees of the summed cross-entropy of their nodes
  double root_accuracy = 0;  ///< share of roots whose most probable class is their label
  double all_accuracy = 0;   ///< share of all nodes
  int64_t roots = 0;
  int64_t nodes = 0;
};

Evaluation evaluate(Learner& learner, std::span<const Tree> trees, int64_t batch = 100);

/// What one epoch brought. `dev` is there where a dev set is.
struct EpochReport {
  int64_t epoch = 0;         ///< from 1
  uint64_t steps = 0;        ///< all steps so far
  double train_loss = 0;     ///< mean loss of a tree, while learning
  double learning_rate = 0;  ///< of the last step
  double seconds = 0;        ///< learning alone
  double trees_per_second = 0;
  std::optional<Evaluation> dev{};
  bool best = false;  ///< the best so far, and best.safetensors was written
};

/// What one step brought.
struct StepReport {
  int64_t epoch = 0;  ///< from 1
  int64_t epochs = 0;
  uint64_t step = 0;           ///< of all, from 1
  uint64_t step_of_epoch = 0;  ///< from 1
  uint64_t steps_per_epoch = 0;
  double loss = 0;           ///< mean loss of a tree of the batch
  double epoch_loss = 0;     ///< mean loss of a tree in this epoch so far
  double gradient_norm = 0;  ///< of the mean loss, before clipping
  double learning_rate = 0;
  double trees_per_second = 0;  ///< in this epoch, since training began or was resumed
  double seconds_left = 0;      ///< of learning, at this speed, to the end of the last epoch
};

struct Callbacks {
  /// Before anything else is written to `Settings::out`, which is there, locked, and free of other
  /// checkpoints.
  std::function<void()> on_start{};
  std::function<void(const StepReport&)> on_step{};
  std::function<void(const EpochReport&)> on_epoch{};
  /// Once true, training finishes the step it is in, writes a checkpoint and ends.
  const std::atomic<bool>* cancel = nullptr;
  /// Where steps, updates, evaluations and checkpoints are drawn; null: nowhere.
  Trace* trace = nullptr;
};

enum class Ending : uint8_t { AllEpochs, EarlyStopping, Cancelled };

struct TrainingResult {
  Ending ending = Ending::AllEpochs;
  std::vector<EpochReport> history;  ///< of all epochs, also those before resuming
  int64_t best_epoch = 0;            ///< 0: none was finished
};

/// Trains. The parameters of the learner are those of the last step afterwards. Better means a higher
/// accuracy on `dev`, of the kind that the settings say, or, where `dev` is empty, a lower training loss.
/// Writes into `settings.out`:
///   best.safetensors         the parameters of the best epoch
///   last.safetensors         parameters, optimizer and progress after the last checkpointed step
///   log.jsonl                one JSON object an epoch
///   curve.svg                loss and accuracy over the epochs
///   events.out.tfevents.*    the same, and the loss of each step, for TensorBoard
/// Each file but the last kind is replaced atomically. Throws ProgramError for settings, data and checkpoints
/// that do not fit; for a loss or gradient that is not finite (nothing is written then, what was written
/// stays); and where `out` holds a checkpoint and `resume` is not set.
TrainingResult train(Learner& learner, std::span<const Tree> train, std::span<const Tree> dev,
                     const Settings& settings, const Callbacks& callbacks = {});

/// Copies the parameters from a file that train wrote (best or last) to the learner. Throws ProgramError
/// where the file is damaged, belongs to another model, or holds values that are not finite; the learner is
/// unchanged then.
void load_parameters(const std::filesystem::path& path, Learner& learner);
/// Writes the parameters alone, as a safetensors file, atomically.
void save_parameters(const std::filesystem::path& path, const std::vector<ParameterValues>& parameters);

}  // namespace hiaton::train
#pragma GCC visibility pop
