#include "training_task.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "example_file.h"
#include "hiaton/error.h"
#include "train/checkpoint.h"
#include "train/random.h"

namespace hiaton::cli {
namespace {

TrainingTask load_trees_task(const std::filesystem::path& program,
                             const std::shared_ptr<const Source>& source, ModelInfo& info,
                             const train::Vocabulary* known_words, Trace* trace) {
  LoadedTrees trees = load_trees(info.data, source, info.classes);
  info.classes = trees.classes;
  const auto given = info.sizes.find("classes");
  if (given != info.sizes.end() && given->second < trees.train.class_count()) {
    throw ProgramError(
        fmt::format("--size: expected classes to be at least {}, since the data has labels up to {}, "
                    "found {}",
                    trees.train.class_count(), trees.train.class_count() - 1, given->second));
  }
  const train::Vocabulary words =
      known_words != nullptr ? *known_words : train::Vocabulary::of(trees.train, info.min_count);
  train::TrainerOptions options = trainer_options(program, info, words, info.execution);
  options.trace = trace;
  std::vector<train::Tree> train = encode(std::move(trees.train.trees), trees.train.words, words);
  std::vector<train::Tree> dev = encode(std::move(trees.dev.trees), trees.dev.words, words);
  train::ModelTrainer trainer = make_trainer(options);
  const auto examples = [&](std::vector<train::Tree> list) {
    return std::make_unique<train::TreeExamples>(trainer.model(), std::move(list), info.classes);
  };
  auto learned = examples(std::move(train));
  auto measured = examples(std::move(dev));
  return {std::move(trainer), words, std::move(learned), std::move(measured)};
}

/// Some examples of another data set.
class ChosenExamples : public train::DataSet {
 public:
  ChosenExamples(std::shared_ptr<const train::DataSet> all, std::vector<uint32_t> chosen)
      : all_(std::move(all)), chosen_(std::move(chosen)) {}

  std::size_t size() const override { return chosen_.size(); }
  std::vector<Value> arguments(std::size_t index) const override { return all_->arguments(chosen_[index]); }
  std::size_t weight(std::size_t index) const override { return all_->weight(chosen_[index]); }
  std::string place_of(std::size_t index) const override { return all_->place_of(chosen_[index]); }
  uint64_t fingerprint() const override { return train::mix_bits(all_->fingerprint() ^ chosen_.size()); }
  std::size_t block() const override { return all_->block(); }

 private:
  std::shared_ptr<const train::DataSet> all_;
  std::vector<uint32_t> chosen_;
};

/// To learn from, and to evaluate on.
using TwoSets = std::pair<std::unique_ptr<train::DataSet>, std::unique_ptr<train::DataSet>>;

TwoSets examples_of(const Model& model, const TrainingData& data, const ExampleFile& file,
                    const train::ExampleForm& form, const train::Vocabulary& words) {
  std::shared_ptr<const train::DataSet> all = file.examples(model, form, words);
  const std::optional<double> share = data.dev_share();
  std::vector<uint32_t> kept;
  std::vector<uint32_t> held;
  for (std::size_t i = 0; i < all->size(); ++i)
    (share && is_held_back(i, *share) ? held : kept).push_back(static_cast<uint32_t>(i));
  std::unique_ptr<train::DataSet> measured;
  if (share) {
    measured = std::make_unique<ChosenExamples>(all, std::move(held));
  } else if (!data.dev.empty()) {
    measured = ExampleFile(data.dev, data.is_streamed).examples(model, form, words);
  }
  return {std::make_unique<ChosenExamples>(std::move(all), std::move(kept)), std::move(measured)};
}

TrainingTask load_examples_task(const std::filesystem::path& program, const ExampleFile& file,
                                const ModelInfo& info, const train::Vocabulary* known_words, Trace* trace) {
  train::TrainerOptions options = trainer_options(program, info, train::Vocabulary(), info.execution);
  options.trace = trace;
  train::ModelTrainer trainer = make_trainer(options);
  std::vector<EntryParameter> parameters = train::example_parameters(trainer.model().loss_program());
  const std::size_t count = parameters.size();
  const train::ExampleForm form{std::move(parameters), count};
  const train::Vocabulary words =
      known_words != nullptr ? *known_words : file.vocabulary(form, info.min_count);
  if (words.size() > 1) {  // the words decide a size of the program
    options.vocabulary_size = words.size();
    trainer = make_trainer(options);
  }
  auto [learned, measured] = examples_of(trainer.model(), info.data, file, form, words);
  return {std::move(trainer), words, std::move(learned), std::move(measured)};
}

}  // namespace

TrainingTask load_task(const std::filesystem::path& program, ModelInfo& info,
                       const train::Vocabulary* known_words, Trace* trace) {
  if (info.data.is_generated()) return load_trees_task(program, nullptr, info, known_words, trace);
  const ExampleFile file(info.data.train, info.data.is_streamed);
  if (known_words == nullptr) {
    info.data.is_streamed = file.is_streamed();
    info.data.is_of_values = !file.holds_trees();
  }
  return info.data.is_of_values
             ? load_examples_task(program, file, info, known_words, trace)
             : load_trees_task(program, file.is_streamed() ? read_data(info.data.train) : file.text(), info,
                               known_words, trace);
}

}  // namespace hiaton::cli
