// hiaton train MODEL [--data FILE --dev FILE ...]
#include <fmt/format.h>

#include <charconv>
#include <csignal>
#include <memory>

#include "choices.h"
#include "commands.h"
#include "hiaton/engine.h"
#include "hiaton/error.h"
#include "interrupt.h"
#include "output.h"
#include "trace_options.h"
#include "train/progress_bar.h"
#include "trained_model.h"
#include "training_options.h"
#include "tree_data.h"

namespace hiaton::cli {
namespace {

struct TrainCommand {
  std::string model;
  std::string out;
  std::vector<std::string> sizes;
  ModelInfo info;
  TrainingOptions training;
  ExecutionOptions execution;
  std::string trace_file;
  Trace* trace = nullptr;  ///< null: nothing is drawn
  Trace::Options trace_limits;
  bool resume = false;
  TreeDataOptions data_options;
  std::vector<CLI::Option*> fixed;  ///< what resumed training cannot change
};

std::map<std::string, int64_t> parse_sizes(const std::vector<std::string>& words) {
  std::map<std::string, int64_t> sizes;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const std::string number = equals == std::string::npos ? "" : word.substr(equals + 1);
    int64_t size = 0;
    const auto [end, code] = std::from_chars(number.data(), number.data() + number.size(), size);
    if (name.empty() || code != std::errc() || end != number.data() + number.size() || size < 1) {
      throw UsageError(
          fmt::format("--size: expected a name and a number above 0 such as d=128, found '{}'", word));
    }
    if (!sizes.emplace(name, size).second) throw UsageError(fmt::format("--size: '{}' is given twice", name));
  }
  return sizes;
}

/// All that a training run needs.
struct Prepared {
  train::Vocabulary words;
  std::vector<train::Tree> train;
  std::vector<train::Tree> dev;
  std::unique_ptr<train::Learner> learner;
};

/// With the words known, if they are.
Prepared prepare(const std::filesystem::path& program, ModelInfo& info, const train::Vocabulary* known_words,
                 Trace* trace) {
  LoadedTrees trees = load_trees(info.data, info.classes);
  info.classes = trees.classes;
  Prepared prepared;
  prepared.words = known_words != nullptr ? *known_words : train::Vocabulary::of(trees.train, info.min_count);
  prepared.train = encode(std::move(trees.train.trees), trees.train.words, prepared.words);
  prepared.dev = encode(std::move(trees.dev.trees), trees.dev.words, prepared.words);
  train::LearnerOptions options = learner_options(program, info, prepared.words, info.execution);
  options.trace = trace;
  prepared.learner = make_learner(options);
  return prepared;
}

std::string describe_best(const train::TrainingResult& result) {
  if (result.best_epoch == 0) return "";
  const train::EpochReport& best = result.history[static_cast<std::size_t>(result.best_epoch - 1)];
  if (!best.dev) return fmt::format("best epoch {}: loss {:.4f}\n", best.epoch, best.train_loss);
  const std::string root =
      best.dev->roots > 0 ? fmt::format("root {:.1f}%, ", 100 * best.dev->root_accuracy) : "";
  return fmt::format("best epoch {}: {}all nodes {:.1f}%\n", best.epoch, root, 100 * best.dev->all_accuracy);
}

int finish(const ModelDirectory& directory, const train::TrainingResult& result) {
  if (result.ending == train::Ending::Cancelled) {
    complain(fmt::format("interrupted; 'hiaton train --resume --out {}' goes on", directory.path().string()));
    return kInterrupted;
  }
  const std::string why =
      result.ending == train::Ending::EarlyStopping ? "stopped early: no better epoch for a while\n" : "";
  write_to_stdout(fmt::format("{}{}checkpoint and curve are in {}\n", why, describe_best(result),
                              directory.path().string()));
  return kSuccess;
}

int train_with_progress(const ModelDirectory& directory, Prepared& prepared, const train::Settings& settings,
                        std::function<void()> on_start, const TrainCommand& command) {
  std::signal(SIGPIPE, SIG_IGN);  // training is worth more than what it says
  train::ProgressBar bar(stderr);
  train::Callbacks callbacks;
  callbacks.on_start = std::move(on_start);
  callbacks.on_step = [&](const train::StepReport& report) { bar.show(report); };
  callbacks.on_epoch = [&](const train::EpochReport& report) { bar.show(report, settings.epochs); };
  callbacks.cancel = &cancel_on_interrupt();
  callbacks.trace = command.trace;
  const train::TrainingResult result =
      train::train(*prepared.learner, prepared.train, prepared.dev, settings, callbacks);
  bar.clear();
  if (command.trace != nullptr) write_trace(command.trace_file, *command.trace);
  return finish(directory, result);
}

int start(TrainCommand& command) {
  if (command.model.empty()) throw UsageError("expected a MODEL to train; see 'hiaton train --help'");
  const std::filesystem::path program(command.model);
  const ModelDirectory directory(command.out.empty() ? "checkpoints" / program.stem()
                                                     : std::filesystem::path(command.out));
  train::Settings settings = command.training.settings();
  check(settings);
  settings.out = directory.path();
  command.info.sizes = parse_sizes(command.sizes);
  command.info.seed = settings.seed;
  command.info.execution = command.execution.execution();
  Prepared prepared = prepare(program, command.info, nullptr, command.trace);
  return train_with_progress(
      directory, prepared, settings, [&] { directory.write(program, prepared.words, command.info); },
      command);
}

/// The same model as before, if one is named at all.
void require_same_model(const std::string& file, const ModelDirectory& directory) {
  if (file.empty() || read_program(file)->text() == read_program(directory.program())->text()) return;
  throw ProgramError(
      fmt::format("expected the model that training began with, found that '{}' differs from '{}'", file,
                  directory.program().string()));
}

int resume(TrainCommand& command) {
  for (const CLI::Option* option : command.fixed) {
    if (option->count() > 0)
      throw UsageError(fmt::format("{} cannot change with --resume", option->get_name()));
  }
  if (command.out.empty() && command.model.empty())
    throw UsageError("--resume: expected --out DIR or a MODEL");
  const ModelDirectory directory(command.out.empty()
                                     ? "checkpoints" / std::filesystem::path(command.model).stem()
                                     : std::filesystem::path(command.out));
  ModelInfo info = directory.read_info();
  require_same_model(command.model, directory);
  // Files may have moved; that they hold the same trees is checked against the checkpoint.
  if (command.data_options.files[0]->count() > 0) info.data.train = command.info.data.train;
  if (command.data_options.files[1]->count() > 0) info.data.dev = command.info.data.dev;
  info.execution = command.execution.over(info.execution);
  train::Settings settings = command.training.over(train::load_settings(directory.settings()));
  settings.out = directory.path();
  settings.resume = true;
  const train::Vocabulary words = train::Vocabulary::load(directory.vocabulary());
  Prepared prepared = prepare(directory.program(), info, &words, command.trace);
  return train_with_progress(directory, prepared, settings, {}, command);
}

int start_or_resume(TrainCommand& command) {
  const auto train = [&] { return command.resume ? resume(command) : start(command); };
  if (command.trace_file.empty()) return train();
  Trace trace(command.trace_limits);
  command.trace = &trace;
  return train();
}

void add_model_options(CLI::App& options, TrainCommand& command) {
  constexpr const char* kGroup = "Model";
  command.fixed.push_back(
      options.add_option("--size", command.sizes, "A size that the model leaves open; repeatable")
          ->type_name("NAME=N")
          ->group(kGroup));
  command.fixed.push_back(
      options.add_option("--classes", command.info.classes, "How many classes; else as the data has")
          ->check(in_range(1, 1'000'000))
          ->type_name("N")
          ->group(kGroup));
  command.fixed.push_back(
      options.add_option("--min-count", command.info.min_count, "Rarer words count as unknown")
          ->check(in_range(0, 1'000'000'000))
          ->type_name("N")
          ->capture_default_str()
          ->group(kGroup));
}

}  // namespace

Command add_train_command(CLI::App& app) {
  auto command = std::make_shared<TrainCommand>();
  CLI::App* options = app.add_subcommand("train", "Train a model on trees");
  options->add_option("MODEL", command->model, "A model of trees (.hia)")->type_name("");
  options->add_option("--out", command->out, "Directory for checkpoints, log and curve")
      ->type_name("DIR")
      ->default_str("checkpoints/NAME");
  options->add_flag("--resume", command->resume, "Go on from the last checkpoint there, to the same numbers");
  add_model_options(*options, *command);
  command->data_options = add_tree_data_options(*options, command->info.data);
  command->fixed.insert(command->fixed.end(), command->data_options.listops.begin(),
                        command->data_options.listops.end());
  command->training.add_to(*options);
  command->execution.add_to(*options);
  options->add_option("--trace", command->trace_file, "Write the timeline of the training here")
      ->type_name("FILE")
      ->group("Trace");
  add_trace_limits(*options, command->trace_limits);
  return {options, [command](const std::vector<std::string>& after_dashes) {
            if (!after_dashes.empty()) throw UsageError("'hiaton train' takes nothing after --");
            return start_or_resume(*command);
          }};
}

}  // namespace hiaton::cli
