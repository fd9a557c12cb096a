#include "train/quality.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "hiaton/error.h"
#include "hiaton/optimizer.h"
#include "train/evaluate.h"
#include "train/example_batch.h"
#include "train/shared_batches.h"

namespace hiaton::train {

LossAndMetrics::LossAndMetrics(const Model& model)
    : metrics_(model), has_seed_(takes_seed(model.loss_program())) {}

void LossAndMetrics::measure(BatchRunner& runner, const DataSet& examples, std::span<const uint32_t> chosen,
                             std::span<double> numbers) const {
  const auto seed = has_seed_ ? std::optional(ExampleBatch::Seed()) : std::nullopt;
  runner.run(runner.model().loss_program(), ExampleBatch(examples, chosen, seed),
             [&](std::size_t i, const std::vector<Value>& results) {
               numbers[i * width()] = number_in(results[0]);
             });
  if (metrics_.size() == 0) return;
  runner.run(runner.model().metrics_program(), ExampleBatch(examples, chosen, std::nullopt),
             [&](std::size_t i, const std::vector<Value>& results) {
               std::ranges::copy(metrics_.numbers_in(results),
                                 numbers.begin() + static_cast<std::ptrdiff_t>(i * width() + 1));
             });
}

Evaluation LossAndMetrics::evaluation_of(std::span<const double> sums, std::size_t examples) const {
  const auto count = static_cast<double>(examples);
  return Evaluation{
      .loss = sums[0] / count, .is_of_trees = false, .metrics = metrics_.means(sums.subspan(1), count)};
}

std::size_t NodeAccuracy::width() const {
  return NodeCounts::kNumbers;
}

void NodeAccuracy::measure(BatchRunner& runner, const DataSet& examples, std::span<const uint32_t> chosen,
                           std::span<double> numbers) const {
  const TreeData& trees = *examples.trees();
  runner.run(runner.model().predict_program(), ExampleBatch(examples, chosen, std::nullopt),
             [&](std::size_t i, const std::vector<Value>& results) {
               Tree space;
               NodeCounts counts;
               counts.add(trees.prediction_in(results[0], chosen[i]), trees.tree(chosen[i], space));
               std::ranges::copy(counts.numbers(),
                                 numbers.begin() + static_cast<std::ptrdiff_t>(i * width()));
             });
}

Evaluation NodeAccuracy::evaluation_of(std::span<const double> sums, std::size_t examples) const {
  return NodeCounts(sums).evaluation(examples);
}

std::unique_ptr<Quality> quality_for(const Model& model, const DataSet& examples) {
  if (examples.trees() != nullptr) return std::make_unique<NodeAccuracy>();
  return std::make_unique<LossAndMetrics>(model);
}

namespace {

double tree_score_of(const Evaluation& evaluation, std::string_view score) {
  const bool by_root = score == "root";
  if (!by_root && !score.empty() && score != "all") {
    throw ProgramError(
        fmt::format("score: expected all or root, the accuracies of trees, found '{}'", score));
  }
  if ((by_root ? evaluation.roots : evaluation.nodes) == 0) {
    throw ProgramError(fmt::format("expected labels in the dev set at {} that the model predicts, found none",
                                   by_root ? "roots" : "nodes"));
  }
  return by_root ? evaluation.root_accuracy : evaluation.all_accuracy;
}

double metric_named(const Evaluation& evaluation, std::string_view name) {
  const auto metric = std::ranges::find(evaluation.metrics, name, &Metric::name);
  if (metric != evaluation.metrics.end()) return metric->mean;
  std::string known = "loss";
  for (const Metric& one : evaluation.metrics) known += ", " + one.name;
  throw ProgramError(
      fmt::format("score: expected one of {}, perhaps with 'min:' before it, found '{}'", known, name));
}

}  // namespace

double score_of(const Evaluation& evaluation, std::string_view score) {
  constexpr std::string_view kMin = "min:";
  if (evaluation.is_of_trees) return tree_score_of(evaluation, score);
  const bool is_lower = score.starts_with(kMin);
  const std::string_view name = is_lower ? score.substr(kMin.size()) : score;
  const bool is_loss = name.empty() || name == "loss";
  const double mean = is_loss ? evaluation.loss : metric_named(evaluation, name);
  if (std::isnan(mean)) return std::numeric_limits<double>::lowest();
  return is_loss || is_lower ? -mean : mean;
}

std::optional<Evaluation> evaluate_unless(const std::atomic<bool>* cancel, BatchRunner& runner,
                                          const DataSet& examples, int64_t batch) {
  const std::unique_ptr<Quality> quality = quality_for(runner.model(), examples);
  const std::size_t width = quality->width();
  std::vector<double> sums(width);
  std::vector<uint32_t> chosen;
  for (std::size_t begin = 0; begin < examples.size(); begin += chosen.size()) {
    if (is_set(cancel)) return std::nullopt;
    chosen.resize(std::min(static_cast<std::size_t>(std::max<int64_t>(batch, 1)), examples.size() - begin));
    std::iota(chosen.begin(), chosen.end(), static_cast<uint32_t>(begin));
    const PartRange own = runner.own(chosen.size());
    std::vector<double> numbers(own.size() * width);
    quality->measure(runner, examples, std::span(chosen).subspan(own.begin, own.size()), numbers);
    if (runner.sharing() != nullptr) numbers = runner.sharing()->gather(numbers);
    if (numbers.size() != chosen.size() * width) {
      throw ProgramError(
          fmt::format("expected {} measurements, found {}", chosen.size() * width, numbers.size()));
    }
    for (std::size_t i = 0; i < numbers.size(); ++i) sums[i % width] += numbers[i];
  }
  return quality->evaluation_of(sums, examples.size());
}

}  // namespace hiaton::train
