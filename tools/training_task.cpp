#include "training_task.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "example_file.h"
#include "hiaton/error.h"
#include "hiaton/lang.h"
#include "output.h"
#include "train/checkpoint.h"
#include "train/random_stream.h"

namespace hiaton::cli {
namespace {

train::TrainerOptions options_for(const std::filesystem::path& program, const ModelInfo& info,
                                  const train::Vocabulary& words, Trace* trace) {
  train::TrainerOptions options = trainer_options(program, info, words, info.execution);
  options.trace = trace;
  return options;
}

/// The labels of the data, where the command line says a number of classes.
void require_classes(const ModelInfo& info, int32_t found) {
  const auto given = info.sizes.find("classes");
  if (given == info.sizes.end() || given->second >= found) return;
  throw ProgramError(
      fmt::format("--size: expected classes to be at least {}, since the data has labels up to {}, "
                  "found {}",
                  found, found - 1, given->second));
}

TrainingTask load_trees_task(const std::filesystem::path& program,
                             const std::shared_ptr<const Source>& source, ModelInfo& info,
                             const train::Vocabulary* known_words, Trace* trace) {
  LoadedTrees trees = load_trees(info.data, source, info.classes);
  info.classes = trees.classes;
  require_classes(info, trees.train.class_count());
  const train::Vocabulary words =
      known_words != nullptr ? *known_words : train::Vocabulary::of(trees.train, info.min_count);
  train::ModelTrainer trainer = make_trainer(options_for(program, info, words, trace));
  const auto examples = [&](train::Treebank bank) {
    try {
      return std::make_unique<train::TreeExamples>(
          trainer.model(), encode(std::move(bank.trees), bank.words, words), info.classes);
    } catch (const ProgramError& error) {
      if (source != nullptr) throw;
      throw ProgramError(
          fmt::format("{}; --data names a file of examples: without it trees are generated", error.what()));
    }
  };
  auto learned = examples(std::move(trees.train));
  auto measured = examples(std::move(trees.dev));
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

/// The numbers below `count`, without those that are held back and these alone.
std::pair<std::vector<uint32_t>, std::vector<uint32_t>> split(std::size_t count,
                                                              std::optional<double> share) {
  std::pair<std::vector<uint32_t>, std::vector<uint32_t>> parts;
  for (std::size_t i = 0; i < count; ++i)
    (share && is_held_back(i, *share) ? parts.second : parts.first).push_back(static_cast<uint32_t>(i));
  return parts;
}

/// As load_trees_task, but trees are read when they are used.
TrainingTask stream_trees_task(const std::filesystem::path& program, ModelInfo& info,
                               const train::Vocabulary* known_words, Trace* trace) {
  const std::optional<double> share = info.data.dev_share();
  const auto file = std::make_shared<const train::TreeFile>(
      info.data.train, train::ReadTreesOptions{info.classes},
      [share](std::size_t index) { return !share || !is_held_back(index, *share); });
  const int32_t found = file->class_count();
  if (info.classes == 0) info.classes = found;
  if (info.classes == 0) throw ProgramError(fmt::format("{}: expected labels, found none", info.data.train));
  require_classes(info, found);
  const train::Vocabulary words = known_words != nullptr ? *known_words : file->vocabulary(info.min_count);
  train::ModelTrainer trainer = make_trainer(options_for(program, info, words, trace));
  const auto examples = [&](std::shared_ptr<const train::TreeFile> from, std::vector<uint32_t> chosen) {
    return std::make_unique<train::StreamedTrees>(trainer.model(), std::move(from), std::move(chosen), words,
                                                  info.classes);
  };
  auto [kept, held] = split(file->size(), share);
  auto learned = examples(file, std::move(kept));
  std::unique_ptr<train::DataSet> measured;
  if (share) {
    measured = examples(file, std::move(held));
  } else if (!info.data.dev.empty()) {
    auto other =
        std::make_shared<const train::TreeFile>(info.data.dev, train::ReadTreesOptions{info.classes});
    std::vector<uint32_t> all = split(other->size(), std::nullopt).first;
    measured = examples(std::move(other), std::move(all));
  }
  return {std::move(trainer), words, std::move(learned), std::move(measured)};
}

TwoSets examples_of(const Model& model, const TrainingData& data, const ExampleFile& file,
                    const train::ExampleForm& form, const train::Vocabulary& words) {
  std::shared_ptr<const train::DataSet> all = file.examples(model, form, words);
  const std::optional<double> share = data.dev_share();
  auto [kept, held] = split(all->size(), share);
  std::unique_ptr<train::DataSet> measured;
  if (share) {
    measured = std::make_unique<ChosenExamples>(all, std::move(held));
  } else if (!data.dev.empty()) {
    measured = ExampleFile(data.dev, data.is_streamed).examples(model, form, words);
  }
  return {std::make_unique<ChosenExamples>(std::move(all), std::move(kept)), std::move(measured)};
}

/// Throws UsageError where --classes or --min-count changes nothing.
void require_effects(const std::filesystem::path& program, const ModelInfo& info, const ExampleFile& file,
                     const train::ExampleForm& form) {
  if (info.classes > 0 && !lang::declared_sizes(read_program(program)).contains("classes"))
    throw UsageError("--classes changes nothing here: it goes with a model that declares 'size classes'");
  if (info.min_count != ModelInfo().min_count && file.vocabulary(form, 1).size() <= 1)
    throw UsageError("--min-count changes nothing here: it goes with examples that have words");
}

TrainingTask load_examples_task(const std::filesystem::path& program, const ExampleFile& file,
                                const ModelInfo& info, const train::Vocabulary* known_words, Trace* trace) {
  train::TrainerOptions options = options_for(program, info, train::Vocabulary(), trace);
  train::ModelTrainer trainer = make_trainer(options);
  std::vector<EntryParameter> parameters = train::example_parameters(trainer.model().loss_program());
  const std::size_t count = parameters.size();
  const train::ExampleForm form{std::move(parameters), count};
  if (known_words == nullptr) require_effects(program, info, file, form);
  const train::Vocabulary words =
      known_words != nullptr ? *known_words : file.vocabulary(form, info.min_count);
  if (words.size() > 1) {  // the words decide a size of the program
    options.vocabulary_size = words.size();
    trainer = make_trainer(options);
  }
  auto [learned, measured] = examples_of(trainer.model(), info.data, file, form, words);
  return {std::move(trainer), words, std::move(learned), std::move(measured)};
}

TrainingTask load_any_task(const std::filesystem::path& program, ModelInfo& info,
                           const train::Vocabulary* known_words, Trace* trace) {
  if (info.data.is_generated()) return load_trees_task(program, nullptr, info, known_words, trace);
  const ExampleFile file(info.data.train, info.data.is_streamed);
  if (known_words == nullptr) {
    info.data.is_streamed = file.is_streamed();
    info.data.is_of_values = !file.holds_trees();
  }
  if (info.data.is_of_values) return load_examples_task(program, file, info, known_words, trace);
  return file.is_streamed() ? stream_trees_task(program, info, known_words, trace)
                            : load_trees_task(program, file.text(), info, known_words, trace);
}

}  // namespace

TrainingTask load_task(const std::filesystem::path& program, ModelInfo& info,
                       const train::Vocabulary* known_words, Trace* trace) {
  TrainingTask task = load_any_task(program, info, known_words, trace);
  if (task.trainer.model().parameters().empty()) {
    throw ProgramError(
        fmt::format("{}: expected something to learn, as 'param W: f32[2, 3]', found no learned "
                    "parameter",
                    program.string()));
  }
  return task;
}

}  // namespace hiaton::cli
