// A model that learns from examples of any kind: those at hand, step by step, or data sets, epoch by epoch.
//
//   train::ModelTrainer trainer(Model::from_file("model.hia"));
//   for (int i = 0; i < 100; ++i) trainer.step(examples, 1e-3);
//   Value answer = trainer.predict({question})[0];
#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hiaton/examples.h"
#include "hiaton/model.h"
#include "hiaton/run.h"
#include "hiaton/train.h"

#pragma GCC visibility push(default)
namespace hiaton::train {

class SharedBatches;

/// A model, its parameters, and an optimizer. Of one thread at a time. One that was moved from is refused by
/// a ProgramError. Deterministic: equal parameters, examples and steps give equal bits, or resumed training
/// would differ from uninterrupted training.
class ModelTrainer {
 public:
  /// `run` says how runs go (workers, budgets, batching); its parameters and gradients are not looked at.
  /// Where it has `processes`, these share batches, and what the program or `places` place is held there, in
  /// each of `replicas` groups: all of them ask for the same things in the same order. Losses and
  /// evaluations are the same in all; predictions and measurements are those of all examples in the first
  /// process of each group, and without values in the others.
  /// Where its `parts` are above 0, the bits are the same for any number of workers and processes. Throws
  /// ProgramError where a parameter is not of f32 or f64, or the settings make no sense.
  explicit ModelTrainer(Model model, const OptimizerSettings& optimizer = {}, uint64_t seed = 1,
                        RunOptions run = {});
  ModelTrainer(ModelTrainer&&) noexcept;
  ModelTrainer& operator=(ModelTrainer&&) noexcept;
  ~ModelTrainer();

  /// One step against the gradient of the mean loss of the examples, which are argument lists of `loss`:
  /// their mean loss before it. Throws ProgramError where there are none, and where the loss or the gradient
  /// is not finite: the parameters are unchanged then. Throws RunError as Model::loss does.
  double step(std::span<const std::vector<Value>> examples, double learning_rate = 1e-3);

  /// Trains with an optimizer of its own, as the settings say; the parameters are those of the last step
  /// afterwards. A `loss` with a seed gets another one for each example and each step. Better is what
  /// the settings say, on `dev`; where that is null or empty, a lower training loss. Writes into
  /// `settings.out`:
  ///   best.safetensors         the parameters of the best epoch
  ///   last.safetensors         parameters, optimizer and progress after the last checkpointed step
  ///   log.jsonl                one JSON object an epoch
  ///   curve.svg                loss and accuracy over the epochs
  ///   events.out.tfevents.*    the same, and the loss of each step, for TensorBoard
  /// Each file but the last kind is replaced atomically. Throws ProgramError for settings, data and
  /// checkpoints that do not fit; for a loss or gradient that is not finite (nothing is written then, what
  /// was written stays); and where `out` holds a checkpoint and `resume` is not set.
  TrainingResult train(const DataSet& train, const DataSet* dev, const Settings& settings,
                       const Callbacks& callbacks = {});
  /// The mean of `loss`, with 0 for a seed, and of what `metrics` gives; of trees how many of their nodes
  /// `predict` is right about. Throws ProgramError where there is no example.
  Evaluation evaluate(const DataSet& examples, int64_t batch = 100);
  /// The numbers whose means `evaluate` gives, for examples that are no trees: the loss of each example, then
  /// what `metrics` gives for it.
  std::vector<double> measure(const DataSet& examples);
  /// The means of such numbers.
  Evaluation evaluation_of(std::span<const double> measurements) const;

  /// The results of `predict` for one example.
  std::vector<Value> predict(std::initializer_list<Value> example);
  /// The same for each of many, in batches.
  std::vector<std::vector<Value>> predict(std::span<const std::vector<Value>> examples);
  /// The same for examples of a data set, which begin with what `predict` takes: errors name their places.
  std::vector<std::vector<Value>> predict(const ExampleList& examples);
  /// What `predict` says of each tree.
  std::vector<Prediction> predict(const TreeData& trees);

  /// From now on losses, gradients and evaluations are those of batches that several processes share. All of
  /// them ask for the same things in the same order, and get the same. Throws ProgramError where there are
  /// more processes than parts of a batch.
  void share(SharedBatches& sharing);

  const Model& model() const;
  /// For save_parameters. Those that another process holds have no values here.
  const std::vector<ParameterValues>& parameters() const;
  /// A copy for process 0 with those that other processes hold. All of them call it.
  std::vector<ParameterValues> all_parameters();

 private:
  friend void load_parameters(const std::filesystem::path& path, ModelTrainer& trainer);
  struct Parts;
  Parts& parts() const;
  std::unique_ptr<Parts> parts_;
};

/// Copies the parameters from a file that save_parameters or a training wrote (best or last). Throws
/// ProgramError where the file is damaged, belongs to another model, or holds values that are not finite; the
/// trainer is unchanged then.
void load_parameters(const std::filesystem::path& path, ModelTrainer& trainer);

/// What a trainer is made from and how it runs.
struct TrainerOptions {
  std::filesystem::path model{};           ///< a program (.hia) with parameters
  int32_t classes = 0;                     ///< labels are 0 to classes - 1; 0: as the program says
  int32_t vocabulary_size = 0;             ///< words are 0 to vocabulary_size - 1; 0 is the unknown one; 0:
                                           ///< as the program says
  std::map<std::string, int64_t> sizes{};  ///< symbolic dimensions that the program leaves open, as d = 128
  uint64_t seed = 1;                       ///< decides the first values of the parameters, and dropout
  int workers = 1;                         ///< threads that share a step
  std::string batching = "on";  ///< on, off, or deterministic: the same bits for any number of workers
  int parts = 2;                ///< deterministic: into how many a batch is cut; at least the processes
  uint64_t max_bytes = RunOptions().max_bytes;  ///< what a step may hold besides its examples
  Trace* trace = nullptr;                       ///< where runs are drawn; null: nowhere
  net::Transport* processes = nullptr;          ///< as in RunOptions, for these and the next three
  std::map<std::string, std::vector<int>> places{};
  bool place_parameters = false;
  int replicas = 0;
};

/// Throws ProgramError where an option makes no sense, and where the program has errors, no `loss`, or does
/// not fit the options.
ModelTrainer make_trainer(const TrainerOptions& options);

}  // namespace hiaton::train
#pragma GCC visibility pop
