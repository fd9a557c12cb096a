#include "hiaton/learner.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "hiaton/crew.h"
#include "hiaton/model.h"
#include "train/model_sizes.h"
#include "train/model_values.h"
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

  /// `take` is given the first result for each tree.
  TreeExamples(const TreeValues& values, std::span<const Tree* const> trees, int parts, Take take)
      : values_(values), trees_(trees), order_(balanced_order(trees, parts)), take_(std::move(take)) {}

  std::size_t size() const override { return trees_.size(); }
  std::vector<Value> arguments(std::size_t index) override {
    std::vector<Value> arguments;
    arguments.push_back(values_.value_of(*trees_[order_[index]]));
    return arguments;
  }
  void take_results(std::size_t index, std::vector<Value> results) override {
    take_(order_[index], results[0]);
  }

 private:
  const TreeValues& values_;
  const std::span<const Tree* const> trees_;
  const std::vector<std::size_t> order_;
  const Take take_;
};

class ProgramLearner : public Learner {
 public:
  ProgramLearner(const LearnerOptions& options, Model model)
      : options_(options),
        model_(std::move(model)),
        trees_(model_.loss_program(), options.model.string()),
        crew_(options.workers > 1 ? std::make_unique<Crew>(options.workers) : nullptr),
        gradients_(model_.parameters()),
        parameters_(first_parameters(model_, options.seed)) {}

  std::vector<Parameter>& parameters() override {
    values_.clear();
    return parameters_;
  }

  double loss_and_gradients(std::span<const Tree* const> batch, std::span<Gradient> gradients) override {
    RunOptions run = run_options();
    gradients_.clear(crew());
    run.gradients = &gradients_;
    std::vector<double> losses(batch.size());
    TreeExamples examples(trees_, batch, parts(),
                          [&](std::size_t tree, const Value& loss) { losses[tree] = number_in(loss); });
    model_.loss(examples, run);
    for (std::size_t i = 0; i < gradients.size(); ++i) gradients[i] = gradient_in(gradients_, i);
    return std::accumulate(losses.begin(), losses.end(), 0.0);
  }

  std::vector<Prediction> predict(std::span<const Tree* const> batch) override {
    std::vector<Prediction> predictions(batch.size());
    TreeExamples examples(trees_, batch, parts(), [&](std::size_t tree, const Value& prediction) {
      predictions[tree] = prediction_in(prediction, *batch[tree], options_.classes, options_.model.string());
    });
    model_.predict(examples, run_options());
    return predictions;
  }

  Crew* crew() override { return crew_.get(); }

 private:
  /// The parameters as the engine sees them, without a copy: new tensors after every change.
  const std::vector<Value>& parameter_values() {
    if (values_.empty()) values_ = values_of(parameters_);
    return values_;
  }

  RunOptions run_options() {
    RunOptions run;
    run.workers = options_.workers;
    run.crew = crew_.get();
    run.batching = options_.batching != "off";
    run.parts = parts();
    run.max_bytes = options_.max_bytes;
    run.parameters = parameter_values();
    run.trace = options_.trace;
    return run;
  }

  /// Into how many parts of equally many trees a minibatch is cut.
  int parts() const { return options_.batching == "deterministic" ? kDeterministicParts : options_.workers; }

  /// A minibatch is then always cut like this, for any number of workers.
  static constexpr int kDeterministicParts = 2;

  const LearnerOptions options_;
  const Model model_;
  const TreeValues trees_;
  const std::unique_ptr<Crew> crew_;  ///< null: one worker
  Gradients gradients_;
  std::vector<Parameter> parameters_;
  std::vector<Value> values_;  ///< of parameters_ as they are; empty where they may have changed
};

}  // namespace

std::unique_ptr<Learner> make_learner(const LearnerOptions& options) {
  Model model = Model::from_file(options.model, {.sizes = sizes_for(options)});
  return std::make_unique<ProgramLearner>(options, std::move(model));
}

}  // namespace hiaton::train
