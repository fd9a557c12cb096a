#include "hiaton/learner.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "base/part_tree.h"
#include "hiaton/error.h"
#include "hiaton/model.h"
#include "hiaton/thread_pool.h"
#include "train/model_sizes.h"
#include "train/model_values.h"
#include "train/random.h"
#include "train/shared_batches.h"
#include "train/tree_place.h"
#include "train/tree_values.h"

namespace hiaton::train {
namespace {

using Order = std::vector<std::size_t>;  ///< indices of trees of a batch

Order all_of(std::span<const Tree* const> trees) {
  Order order(trees.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

/// The same trees in an order in which parts of equally many trees have about equally many nodes: the largest
/// first, each to the part with the fewest nodes so far.
Order balanced_order(std::span<const Tree* const> trees, Order by_size, std::size_t part_count) {
  const std::size_t count = std::min(part_count, by_size.size());
  if (count < 2) return by_size;
  std::stable_sort(by_size.begin(), by_size.end(), [&](std::size_t a, std::size_t b) {
    return trees[a]->nodes.size() > trees[b]->nodes.size();
  });
  struct Part {
    std::size_t capacity;
    std::size_t nodes = 0;
    std::vector<std::size_t> trees{};
  };
  std::vector<Part> parts;
  const std::vector<std::size_t> begins = cut_into_parts(by_size.size(), count);
  for (std::size_t i = 0; i < count; ++i) parts.push_back({begins[i + 1] - begins[i]});
  for (std::size_t tree : by_size) {
    Part* least = nullptr;
    for (Part& part : parts) {
      const bool has_room = part.trees.size() < part.capacity;
      if (has_room && (least == nullptr || part.nodes < least->nodes)) least = &part;
    }
    least->nodes += trees[tree]->nodes.size();
    least->trees.push_back(tree);
  }
  Order order;
  for (const Part& part : parts) order.insert(order.end(), part.trees.begin(), part.trees.end());
  return order;
}

/// Trees become arguments, and results what is wanted of them, by the workers of the run, several at a time.
class TreeExamples : public Examples {
 public:
  using Take = std::function<void(std::size_t tree, const Value& result)>;

  /// Of some trees of a batch. `take` is given the first result for each. Trees have seeds of their own,
  /// where one is given.
  TreeExamples(const TreeValues& values, std::span<const Tree* const> trees, Order order,
               std::optional<uint64_t> seed, Take take)
      : values_(values), trees_(trees), order_(std::move(order)), seed_(seed), take_(std::move(take)) {}

  std::size_t size() const override { return order_.size(); }
  std::vector<Value> arguments(std::size_t index) override {
    std::vector<Value> arguments;
    arguments.push_back(values_.value_of(*trees_[order_[index]]));
    if (seed_) arguments.push_back(static_cast<int64_t>(mix_bits(*seed_ + order_[index])));
    return arguments;
  }
  void take_results(std::size_t index, std::vector<Value> results) override {
    take_(order_[index], results[0]);
  }

 private:
  const TreeValues& values_;
  const std::span<const Tree* const> trees_;
  const Order order_;
  const std::optional<uint64_t> seed_;
  const Take take_;
};

class ProgramLearner : public Learner {
 public:
  ProgramLearner(const LearnerOptions& options, Model model)
      : options_(options),
        model_(std::move(model)),
        trees_(model_.loss_program(), options.model.string()),
        pool_(options.workers > 1 ? std::make_unique<ThreadPool>(options.workers) : nullptr),
        gradients_(model_.parameters()),
        parameters_(first_parameters(model_, options.seed)) {}

  std::vector<ParameterValues>& parameters() override {
    values_.clear();
    return parameters_;
  }

  void begin_step(uint64_t step) override {
    if (trees_.has_seed()) seed_ = Random(options_.seed, step).next();
  }

  double loss_and_gradients(std::span<const Tree* const> batch, std::span<Gradient> gradients) override {
    gradients_.clear(pool());
    const std::vector<double> losses = sharing_ == nullptr ? losses_alone(batch) : losses_shared(batch);
    for (std::size_t i = 0; i < gradients.size(); ++i) gradients[i] = gradient_in(gradients_, i);
    return std::accumulate(losses.begin(), losses.end(), 0.0);
  }

  std::vector<Prediction> predict(std::span<const Tree* const> batch) override {
    if (sharing_ == nullptr) return predict_alone(batch);
    const PartRange own = sharing_->own(batch.size());
    return sharing_->gather(batch, predict_alone(batch.subspan(own.begin, own.size())));
  }

  void share(SharedBatches& sharing) override {
    if (is_deterministic() && sharing.processes() > static_cast<std::size_t>(options_.parts)) {
      throw ProgramError(
          fmt::format("expected at most {} processes, as many as a batch has parts (--parts), found {}",
                      options_.parts, sharing.processes()));
    }
    sharing_ = &sharing;
    part_sums_.clear();
  }

  ThreadPool* pool() override { return pool_.get(); }

 private:
  std::vector<double> losses_alone(std::span<const Tree* const> batch) {
    std::vector<double> losses(batch.size());
    run_loss(batch, balanced_order(batch, all_of(batch), parts()), run_options(), gradients_, losses);
    return losses;
  }

  /// Computes the parts of this process. What it returns, and the gradients, are those of the whole batch.
  std::vector<double> losses_shared(std::span<const Tree* const> batch) {
    const std::size_t wanted = is_deterministic() ? parts() : sharing_->processes();
    const std::size_t count = std::min(wanted, batch.size());
    const Order order = balanced_order(batch, all_of(batch), count);
    const std::vector<std::size_t> begins = cut_into_parts(batch.size(), count);
    std::vector<double> losses(batch.size());
    std::vector<double> in_order;
    std::vector<SubtreeSum> sums;
    for (const PartRange subtree : whole_subtrees(count, sharing_->own(count))) {
      const auto begin = order.begin() + static_cast<std::ptrdiff_t>(begins[subtree.begin]);
      const auto end = order.begin() + static_cast<std::ptrdiff_t>(begins[subtree.end]);
      RunOptions run = run_options();
      if (is_deterministic()) run.parts = static_cast<int>(subtree.size());
      Order own(begin, end);
      if (!is_deterministic()) own = balanced_order(batch, std::move(own), parts());
      run_loss(batch, own, run, cleared_part_sum(sums.size()), losses);
      sums.push_back({subtree, part_sums_[sums.size()].get()});
      for (auto tree = begin; tree != end; ++tree) in_order.push_back(losses[*tree]);
    }
    sharing_->add_up(count, sums, in_order, gradients_);
    if (in_order.size() != order.size())
      throw ProgramError(fmt::format("expected {} losses, found {}", order.size(), in_order.size()));
    for (std::size_t i = 0; i < order.size(); ++i) losses[order[i]] = in_order[i];
    return losses;
  }

  Gradients& cleared_part_sum(std::size_t index) {
    if (index == part_sums_.size()) part_sums_.push_back(std::make_unique<Gradients>(model_.parameters()));
    part_sums_[index]->clear(pool());
    return *part_sums_[index];
  }

  /// Adds to `gradients`, and sets the losses of these trees.
  void run_loss(std::span<const Tree* const> batch, const Order& order, RunOptions run, Gradients& gradients,
                std::vector<double>& losses) {
    run.gradients = &gradients;
    run_naming_the_tree(batch, order, [&](Order trees) {
      TreeExamples examples(trees_, batch, std::move(trees), seed_,
                            [&](std::size_t tree, const Value& loss) { losses[tree] = number_in(loss); });
      model_.loss(examples, run);
    });
  }

  std::vector<Prediction> predict_alone(std::span<const Tree* const> batch) {
    std::vector<Prediction> predictions(batch.size());
    run_naming_the_tree(batch, balanced_order(batch, all_of(batch), parts()), [&](Order trees) {
      TreeExamples examples(
          trees_, batch, std::move(trees), std::nullopt, [&](std::size_t i, const Value& prediction) {
            predictions[i] = prediction_in(prediction, *batch[i], options_.classes, options_.model.string());
          });
      model_.predict(examples, run_options());
    });
    return predictions;
  }

  /// Where the run fails at what it computes, each tree runs alone, to find the one.
  static void run_naming_the_tree(std::span<const Tree* const> batch, const Order& order,
                                  const std::function<void(Order)>& run) {
    try {
      return run(order);
    } catch (const RunError& error) {
      if (!is_operation_fault(error.fault())) throw;
      Order in_order = order;
      std::ranges::sort(in_order);
      for (const std::size_t index : in_order) {
        try {
          run({index});
        } catch (const RunError& alone) {
          const Tree& tree = *batch[index];
          throw RunError(alone.fault(),
                         fmt::format("{}\n  for {}{}", alone.message(), place_of(tree), of_labels(tree)),
                         alone.chain(), alone.chain_length());
        }
      }
      throw;
    }
  }

  static std::string of_labels(const Tree& tree) {
    const bool lacks =
        std::ranges::any_of(tree.nodes, [](const Node& node) { return node.label == Node::kNone; });
    return lacks ? ", which has nodes without a label: theirs is -1" : "";
  }

  /// The parameters as the engine sees them, without a copy: new tensors after every change.
  const std::vector<Value>& parameter_values() {
    if (values_.empty()) values_ = values_of(parameters_);
    return values_;
  }

  RunOptions run_options() {
    RunOptions run;
    run.workers = options_.workers;
    run.pool = pool_.get();
    run.batching = options_.batching != "off";
    run.parts = is_deterministic() ? options_.parts : 0;  // else workers may give each other calls
    run.max_bytes = options_.max_bytes;
    run.parameters = parameter_values();
    run.trace = options_.trace;
    return run;
  }

  /// Into how many parts of equally many trees a minibatch is cut. In deterministic mode it is always cut
  /// like this, for any number of workers and processes.
  std::size_t parts() const {
    return static_cast<std::size_t>(is_deterministic() ? options_.parts : options_.workers);
  }
  bool is_deterministic() const { return options_.batching == "deterministic"; }

  const LearnerOptions options_;
  const Model model_;
  const TreeValues trees_;
  const std::unique_ptr<ThreadPool> pool_;  ///< null: one worker
  SharedBatches* sharing_ = nullptr;        ///< null: this process is alone
  Gradients gradients_;
  std::vector<std::unique_ptr<Gradients>> part_sums_;  ///< of the subtrees of parts that this process has
  std::vector<ParameterValues> parameters_;
  std::optional<uint64_t> seed_;  ///< of the step, where the model takes one
  std::vector<Value> values_;     ///< of parameters_ as they are; empty where they may have changed
};

}  // namespace

std::unique_ptr<Learner> make_learner(const LearnerOptions& options) {
  const std::shared_ptr<const Source> program = read_program(options.model);
  Model model =
      Model::from_text(program->name(), std::string(program->text()), {.sizes = sizes_for(options, program)});
  return std::make_unique<ProgramLearner>(options, std::move(model));
}

}  // namespace hiaton::train
