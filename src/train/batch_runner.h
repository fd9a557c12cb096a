// Batches of examples through a model: losses and gradients by the workers of a process, or of several
// processes, that share a batch.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/borrowed_pool.h"
#include "base/part_tree.h"
#include "hiaton/model.h"
#include "hiaton/optimizer.h"
#include "hiaton/train.h"
#include "partition/partition.h"
#include "train/division.h"
#include "train/gradient.h"

namespace hiaton::train {

class SharedBatches;

/// What runs together. Workers ask for different examples at the same time.
class Batch {
 public:
  virtual ~Batch() = default;
  virtual std::size_t size() const = 0;
  /// How much work an example is, compared with the others.
  virtual std::size_t weight(std::size_t index) const = 0;
  virtual std::vector<Value> arguments(std::size_t index) const = 0;
  /// In messages: "the tree in line 3 of the data".
  virtual std::string place_of(std::size_t index) const = 0;
  /// What to know about an example for which a run failed with this message: follows its place.
  virtual std::string hint(std::size_t /*index*/, std::string_view /*message*/) const { return ""; }
};

/// A model with its parameters. Of one thread at a time.
class BatchRunner {
 public:
  /// `run` says how runs go; where its `parts` are above 0, a batch is cut into so many, for any number of
  /// workers and processes. Throws ProgramError where a parameter is not of f32 or f64.
  BatchRunner(Model model, uint64_t seed, RunOptions run);
  BatchRunner(const BatchRunner&) = delete;
  BatchRunner& operator=(const BatchRunner&) = delete;

  const Model& model() const { return model_; }
  ThreadPool* pool() const { return pool_; }
  /// To be asked for again where they are changed behind a run.
  std::vector<ParameterValues>& parameters() {
    values_.clear();
    return parameters_;
  }
  const std::vector<ParameterValues>& parameters() const { return parameters_; }

  /// Once true, runs end with Fault::Interrupted, but for those of batches that processes share: the others
  /// wait for them. Null: as the options say.
  void cancel_by(const std::atomic<bool>* cancel) { cancel_ = cancel; }

  /// From now on the processes share batches; what the program or the options place is where they say. Where
  /// that is more than learned parameters and what reads rows of them, all processes run each batch together.
  /// Throws ProgramError where there are more replicas than parts. `clips`: gradients are clipped, so that
  /// new values of parameters take a round more than their squares.
  void share(SharedBatches& sharing, bool clips = false);
  /// Null: this process is alone.
  SharedBatches* sharing() const { return sharing_; }

  /// Runs something without gradients in the processes that compute, while the others hold the parameters
  /// that it needs. Returns whether this process computes.
  bool together(const std::function<void()>& run);

  /// As Trainee::bring_all and keep_own; the optimizer of keep_own may be null.
  void bring_all(Optimizer& optimizer);
  void keep_own(Optimizer* optimizer);

  /// The losses of the examples. The gradients of their sum go to `gradients`, one a parameter, as far as
  /// own_elements() says.
  std::vector<double> loss_and_gradients(const Batch& batch, std::span<Gradient> gradients);

  /// The squares of these gradients, by parameter. A process that has not all of them gets what it lacks from
  /// the others.
  std::vector<double> squares(std::span<const Gradient> gradients);
  /// As Trainee::update. Processes that share batches each update elements of large parameters, and give them
  /// to the others.
  double update(Optimizer& optimizer, std::span<const Gradient> gradients, const StepSizes& sizes,
                const CheckSquares& check);
  /// The elements of a dense gradient that this process has after loss_and_gradients(): all but where it
  /// updates some of them. Of one that is divided by rows it has its own rows.
  ElementRange own_elements(std::size_t parameter) const;

  using Take = std::function<void(std::size_t index, std::vector<Value> results)>;
  /// Runs a program of the model for the examples: in this process alone, or where the program places what it
  /// does, by all processes, which call this together. The first process of each group then runs its own
  /// examples, and the others take nothing. `take` is called by the workers.
  void run(const Program& program, const Batch& batch, const Take& take);
  /// The examples of a batch that this process is to run where several share it.
  PartRange own(std::size_t size) const;
  /// The same options, parameters with them, for other runs of the model.
  RunOptions run_options();

 private:
  using Order = std::vector<std::size_t>;  ///< indices of examples of a batch
  using Run = std::function<void(Examples&)>;

  void prepare_to_share(SharedBatches& sharing);
  partition::Places places_on(std::size_t processes) const;
  void prepare_to_run_placed(SharedBatches& sharing, std::size_t replicas);
  void hold_parameters(SharedBatches& sharing);
  void divide_parameters(const SharedBatches& sharing, bool are_near, bool clips);
  bool is_divided(std::size_t parameter) const;
  void update_by(Optimizer& optimizer, std::span<const Gradient> gradients, double learning_rate,
                 double gradient_scale);
  void bring_divided(Optimizer& optimizer, std::size_t parameter);
  void bring_placed(Optimizer& optimizer, std::size_t parameter);
  std::vector<Value> current_values();
  std::vector<double> losses_alone(const Batch& batch);
  std::vector<double> losses_shared(const Batch& batch);
  std::vector<double> losses_placed(const Batch& batch);
  bool runs_placed(const Program& program) const;
  void run_placed(const Batch& batch, const Order& order, const Take& take, RunOptions run,
                  const Program& program);
  Gradients& part_sum(std::size_t index);
  void run_loss(const Batch& batch, const Order& order, RunOptions run, Gradients& gradients,
                std::vector<double>& losses);
  static void run_naming_the_example(const Batch& batch, const Order& order, const Take& take,
                                     const Run& run);
  std::size_t parts() const;
  bool is_deterministic() const { return run_.parts > 0; }

  const Model model_;
  const RunOptions run_;
  const std::unique_ptr<BorrowedPool> own_pool_;  ///< null: one worker, or the pool of the options
  ThreadPool* const pool_;
  const std::atomic<bool>* cancel_ = nullptr;
  SharedBatches* sharing_ = nullptr;
  bool runs_placed_ = false;   ///< functions and expressions of the loss run where the program places them
  bool shares_calls_ = false;  ///< processes run calls of each other, although nothing is placed
  Gradients gradients_;
  std::vector<std::unique_ptr<Gradients>>
      part_sums_;  ///< sums of the subtrees of parts that this process has
  std::vector<ParameterValues> parameters_;
  std::vector<bool> is_read_by_rows_;  ///< by parameter
  std::vector<DividedBy> divided_;     ///< by parameter; empty: nothing is divided
  std::vector<Value> values_;  ///< values of parameters_ as they are; empty where they may have changed
};

}  // namespace hiaton::train
