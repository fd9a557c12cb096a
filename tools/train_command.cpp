// hiaton train MODEL [--data FILE --dev FILE ...]
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <csignal>
#include <memory>
#include <optional>

#include "base/file_bytes.h"
#include "choices.h"
#include "commands.h"
#include "hiaton/engine.h"
#include "hiaton/error.h"
#include "launch.h"
#include "output.h"
#include "process.h"
#include "process_options.h"
#include "trace_options.h"
#include "train/data_trainee.h"
#include "train/json_records.h"
#include "train/progress_bar.h"
#include "train/shared_batches.h"
#include "trained_model.h"
#include "training_options.h"
#include "training_task.h"
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
  Trace::Options trace_limits;
  bool resume = false;
  ProcessOptions processes;
  int restarts = 0;
  DataOptions data_options;
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
struct Training {
  ModelDirectory directory;
  std::filesystem::path program;
  ModelInfo info;
  train::Settings settings;
  std::optional<TrainingTask> task{};
};

/// Loads the training data, with the words where they are known.
void load(Training& training, const train::Vocabulary* known_words, Trace* trace) {
  training.task.emplace(load_task(training.program, training.info, known_words, trace));
}

std::string describe_best(const train::TrainingResult& result) {
  if (result.best_epoch == 0) return "";
  const train::EpochReport& best = result.history[static_cast<std::size_t>(result.best_epoch - 1)];
  if (!best.dev)
    return fmt::format("best epoch {}: loss {}\n", best.epoch, train::show_loss(best.train_loss));
  if (!best.dev->is_of_trees) {
    std::string text =
        fmt::format("best epoch {}: dev loss {}", best.epoch, train::show_loss(best.dev->loss));
    for (const train::Metric& metric : best.dev->metrics) text += ", " + train::show_metric(metric);
    return text + "\n";
  }
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

train::TrainingResult train_task(Training& training, const train::Callbacks& callbacks) {
  TrainingTask& task = *training.task;
  return task.trainer.train(*task.train, task.dev.get(), training.settings, callbacks);
}

/// Shows progress, and keeps signals from ending the training in the middle of a step.
train::TrainingResult train_with_progress(Training& training, train::Callbacks callbacks) {
  std::signal(SIGPIPE, SIG_IGN);  // training is worth more than what it says
  const train::DataSet* const dev = training.task->dev.get();
  const bool evaluates_loss = dev != nullptr && dev->trees() == nullptr;
  note_dropout(training.task->trainer, evaluates_loss);
  train::ProgressBar bar(stderr);
  const train::Settings& settings = training.settings;
  if (!settings.resume) {
    callbacks.on_start = [&] {
      training.directory.write(training.program, training.task->words, training.info);
    };
  }
  callbacks.on_step = [&](const train::StepReport& report) { bar.show(report); };
  callbacks.on_epoch = [&](const train::EpochReport& report) { bar.show(report, settings.epochs); };
  train::TrainingResult result = train_task(training, callbacks);
  bar.clear();
  return result;
}

/// The directory that the command writes to.
ModelDirectory directory_of(const TrainCommand& command) {
  return ModelDirectory(command.out.empty() ? "checkpoints" / std::filesystem::path(command.model).stem()
                                            : std::filesystem::path(command.out));
}

/// Settings that make no sense are options that make none.
void require_settings(const train::Settings& settings) {
  try {
    check(settings);
  } catch (const ProgramError& error) {
    throw UsageError(error.what());
  }
}

/// Throws UsageError where an option of the data says something of data that are not used.
void require_effects(const DataOptions& options, const TrainingData& data) {
  for (const CLI::Option* option : options.listops)
    require_effect(*option, data.is_generated(), "generated trees, without --data");
  require_effect(*options.stream, !data.is_generated(), "--data=FILE");
}

Training start(const TrainCommand& command, Trace* trace) {
  if (command.model.empty()) throw UsageError("expected a MODEL to train; see 'hiaton train --help'");
  require_effects(command.data_options, command.info.data);
  Training training{directory_of(command), command.model, command.info, command.training.settings()};
  require_settings(training.settings);
  training.settings.out = training.directory.path();
  training.info.sizes = parse_sizes(command.sizes);
  training.info.seed = training.settings.seed;
  training.info.execution = command.execution.over(Execution());
  load(training, nullptr, trace);
  return training;
}

/// The same model as before, if one is named at all.
void require_same_model(const std::string& file, const ModelDirectory& directory) {
  if (file.empty() || read_program(file)->text() == read_program(directory.program())->text()) return;
  throw ProgramError(
      fmt::format("expected the model that training began with, found that '{}' differs from '{}'", file,
                  directory.program().string()));
}

Training resume(const TrainCommand& command, Trace* trace) {
  for (const CLI::Option* option : command.fixed) {
    if (option->count() > 0)
      throw UsageError(fmt::format("{} cannot change with --resume, which keeps it as it was; leave it out",
                                   option->get_name()));
  }
  if (command.out.empty() && command.model.empty())
    throw UsageError("--resume: expected --out DIR or a MODEL");
  const ModelDirectory directory = directory_of(command);
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
  Training training{directory, directory.program(), std::move(info), std::move(settings)};
  load(training, &words, trace);
  return training;
}

Training begin_or_resume(const TrainCommand& command, Trace* trace) {
  return command.resume ? resume(command, trace) : start(command, trace);
}

std::unique_ptr<Trace> make_trace(const TrainCommand& command, int process) {
  if (command.trace_file.empty()) return nullptr;
  Trace::Options options = command.trace_limits;
  options.process = process;
  return std::make_unique<Trace>(options);
}

int train_alone(const TrainCommand& command) {
  const std::unique_ptr<Trace> trace = make_trace(command, 0);
  Training training = begin_or_resume(command, trace.get());
  const train::TrainingResult result =
      train_with_progress(training, {.cancel = &cancel_on_interrupt(), .trace = trace.get()});
  if (trace != nullptr) write_trace(command.trace_file, *trace);
  return finish(training.directory, result);
}

/// What decides the numbers: processes that differ in it would not train the same model.
std::string hash_of(const Training& training) {
  std::string all = read_program(training.program)->text().data();
  all += to_json(training.info).dump() + train::to_json(training.settings).dump();
  all += fmt::format("{}", train::fingerprint(*training.task->train, training.task->dev.get()));
  const Execution& execution = training.info.execution;
  all += fmt::format("{} {}", fmt::join(to_words(execution.places), ","), execution.replicas);
  if (training.settings.resume) all += read_file(training.directory.last().string());
  return net::hash_of(std::as_bytes(std::span(all)));
}

/// One of several processes. Each trains the same model, computes its share of each batch, and changes the
/// parameters by the gradients of all; process 0 writes, and shows progress.
class TrainWork : public net::Work {
 public:
  /// `status` is set by process 0.
  TrainWork(const TrainCommand& command, int& status) : command_(command), status_(status) {}

  std::string prepare(int self) override {
    trace_ = make_trace(command_, self);
    training_.emplace(begin_or_resume(command_, trace_.get()));
    training_->settings.read_only = self != 0;
    return "the training " + hash_of(*training_);
  }

  void work(net::Transport& transport) override {
    const std::atomic<bool>& interrupted = cancel_on_interrupt();
    const bool is_first = transport.self() == 0;
    train::SharedBatches sharing(transport, is_first ? &interrupted : nullptr);
    training_->task->trainer.share(sharing);
    const train::Callbacks callbacks{.cancel = &sharing.cancelled(), .trace = trace_.get()};
    if (is_first) {
      const train::TrainingResult result = train_with_progress(*training_, callbacks);
      if (trace_ != nullptr) write_trace(command_.trace_file, *trace_, transport);
      status_ = finish(training_->directory, result);
    } else {
      train_task(*training_, callbacks);
      if (trace_ != nullptr) write_trace(command_.trace_file, *trace_, transport);
    }
  }

 private:
  const TrainCommand& command_;
  int& status_;
  std::unique_ptr<Trace> trace_;
  std::optional<Training> training_;
};

/// The words of a command that goes on where training was when a process was lost.
std::vector<std::string> words_to_go_on(const TrainCommand& command, const std::vector<std::string>& words) {
  const ModelDirectory directory = directory_of(command);
  if (command.resume || !std::filesystem::exists(directory.last())) return words;
  // All else is in the directory.
  const auto silence =
      std::chrono::duration_cast<std::chrono::microseconds>(command.processes.transport.longest_silence);
  const Execution execution = command.execution.execution();
  const uint64_t max_bytes = execution.max_bytes;
  std::vector<std::string> go_on{"train", "--resume", "--out", directory.path().string(),
                                 fmt::format("--heartbeat={}us", silence.count())};
  if (max_bytes != RunOptions().max_bytes) go_on.push_back(fmt::format("--max-bytes={}", max_bytes));
  for (const std::string& place : to_words(execution.places)) go_on.push_back("--place=" + place);
  if (execution.replicas > 0) go_on.push_back(fmt::format("--replicas={}", execution.replicas));
  return go_on;
}

/// Starts the processes again without those that were lost, as often as the command allows.
int train_on_hosts(const TrainCommand& command) {
  std::vector<net::Host> hosts = net::parse_hosts(command.processes.hosts);
  std::vector<std::string> words = words_for_processes();
  for (int restarts = 0;; ++restarts) {
    const LaunchEnd end = launch(hosts, words);
    if (!end.lost || restarts == command.restarts) return report(end);
    hosts = without_process_on(end.lost->host, std::move(hosts));
    if (hosts.empty()) return report(end);
    note(fmt::format("{}; training goes on with the processes that are left", end.lost->message));
    words = words_to_go_on(command, words);
  }
}

int train(const TrainCommand& command) {
  if (command.restarts > 0 && command.processes.hosts.empty())
    throw UsageError("--restart: expected --hosts, whose processes can be started again");
  require_processes(command.execution.execution(), command.processes);
  if (!is_spread(command.processes)) return train_alone(command);
  if (!command.processes.hosts.empty()) return train_on_hosts(command);
  int status = kSuccess;
  const int failed = work_in_processes(
      command.processes, {}, [&command, &status] { return std::make_unique<TrainWork>(command, status); });
  return failed != kSuccess ? failed : status;
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
  CLI::App* options = app.add_subcommand("train", "Train a model on examples");
  options->add_option("MODEL", command->model, "A program with a function loss (.hia)")->type_name("");
  options->add_option("--out", command->out, "Directory for checkpoints, log and curve")
      ->type_name("DIR")
      ->default_str("checkpoints/NAME");
  options->add_flag("--resume", command->resume, "Go on from the last checkpoint there, to the same numbers");
  add_model_options(*options, *command);
  command->data_options = add_data_options(*options, command->info.data);
  command->fixed.insert(command->fixed.end(), command->data_options.listops.begin(),
                        command->data_options.listops.end());
  command->fixed.push_back(command->data_options.stream);
  command->training.add_to(*options);
  command->execution.add_to(*options, true);
  add_process_options(*options, command->processes, true);
  options->add_option("--restart", command->restarts, "Go on without processes that are lost, N times")
      ->check(in_range(0, 1'000'000))
      ->type_name("N")
      ->default_str("0")
      ->group("Processes");
  add_trace_file(*options, command->trace_file, command->trace_limits);
  return {options, [command](const std::vector<std::string>& after_dashes) {
            if (!after_dashes.empty()) throw UsageError("'hiaton train' takes nothing after --");
            return train(*command);
          }};
}

}  // namespace hiaton::cli
