#include "hiaton/learner.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "hiaton/model.h"
#include "hiaton/thread_pool.h"
#include "train/model_sizes.h"
#include "train/model_values.h"
#include "train/random.h"
#include "train/tree_place.h"
#include "train/tree_values.h"

namespace hiaton::train {
namespace {

/// An order of the trees in which parts of equally many trees have about equally many nodes: the largest
/// first, each to the part with the fewest nodes so far.
std::vector<std::size_t> balanced_order(std::span<const Tree* const> trees, int part_count) {
  std::vector<std::size_t> by_size(trees.size());
  std::iota(by_size.begin(), by_size.end(), std::size_t{0});
  const auto count = std::min(static_cast<std::size_t>(part_count), trees.size());
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
  for (std::size_t i = 0; i < count; ++i) {
    parts.push_back({trees.size() * (i + 1) / count - trees.size() * i / count});
  }
  for (std::size_t tree : by_size) {
    Part* least = nullptr;
    for (Part& part : parts) {
      const bool has_room = part.trees.size() < part.capacity;
      if (has_room && (least == nullptr || part.nodes < least->nodes)) least = &part;
    }
    least->nodes += trees[tree]->nodes.size();
    least->trees.push_back(tree);
  }
  std::vector<std::size_t> order;
  for (const Part& part : parts) order.insert(order.end(), part.trees.begin(), part.trees.end());
  return order;
}

/// Trees become arguments, and results what is wanted of them, by the workers of the run, several at a time.
class TreeExamples : public Examples {
 public:
  using Take = std::function<void(std::size_t tree, const Value& result)>;

  /// `take` is given the first result for each tree. Trees have seeds of their own, where one is given.
  TreeExamples(const TreeValues& values, std::span<const Tree* const> trees, int parts,
               std::optional<uint64_t> seed, Take take)
      : values_(values),
        trees_(trees),
        order_(balanced_order(trees, parts)),
        seed_(seed),
        take_(std::move(take)) {}

  std::size_t size() const override { return trees_.size(); }
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
  const std::vector<std::size_t> order_;
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
    RunOptions run = run_options();
    gradients_.clear(pool());
    run.gradients = &gradients_;
    std::vector<double> losses(batch.size());
    run_naming_the_tree(batch, [&](std::span<const Tree* const> trees) {
      TreeExamples examples(trees_, trees, parts(), seed_,
                            [&](std::size_t tree, const Value& loss) { losses[tree] = number_in(loss); });
      model_.loss(examples, run);
    });
    for (std::size_t i = 0; i < gradients.size(); ++i) gradients[i] = gradient_in(gradients_, i);
    return std::accumulate(losses.begin(), losses.end(), 0.0);
  }

  std::vector<Prediction> predict(std::span<const Tree* const> batch) override {
    std::vector<Prediction> predictions(batch.size());
    run_naming_the_tree(batch, [&](std::span<const Tree* const> trees) {
      TreeExamples examples(
          trees_, trees, parts(), std::nullopt, [&](std::size_t i, const Value& prediction) {
            predictions[i] = prediction_in(prediction, *trees[i], options_.classes, options_.model.string());
          });
      model_.predict(examples, run_options());
    });
    return predictions;
  }

  ThreadPool* pool() override { return pool_.get(); }

 private:
  /// Where the run fails at what it computes, each tree runs alone, to find the one.
  static void run_naming_the_tree(std::span<const Tree* const> batch,
                                  const std::function<void(std::span<const Tree* const>)>& run) {
    try {
      return run(batch);
    } catch (const RunError& error) {
      if (!is_operation_fault(error.fault())) throw;
      for (const Tree* const& tree : batch) {
        try {
          run(std::span(&tree, 1));
        } catch (const RunError& alone) {
          throw RunError(alone.fault(),
                         fmt::format("{}\n  for {}{}", alone.message(), place_of(*tree), of_labels(*tree)),
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
    run.parts = is_deterministic() ? parts() : 0;  // else workers may give each other calls
    run.max_bytes = options_.max_bytes;
    run.parameters = parameter_values();
    run.trace = options_.trace;
    return run;
  }

  /// Into how many parts of equally many trees a minibatch is cut.
  int parts() const { return is_deterministic() ? kDeterministicParts : options_.workers; }
  bool is_deterministic() const { return options_.batching == "deterministic"; }

  /// A minibatch is then always cut like this, for any number of workers.
  static constexpr int kDeterministicParts = 2;

  const LearnerOptions options_;
  const Model model_;
  const TreeValues trees_;
  const std::unique_ptr<ThreadPool> pool_;  ///< null: one worker
  Gradients gradients_;
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
