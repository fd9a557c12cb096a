// hiaton eval CHECKPOINT [--data FILE]
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>

#include "commands.h"
#include "hiaton/error.h"
#include "output.h"
#include "prediction_work.h"
#include "process_options.h"
#include "report.h"
#include "train/evaluate.h"
#include "train/progress_bar.h"
#include "value_work.h"

namespace hiaton::cli {
namespace {

struct EvalCommand {
  std::string checkpoint;
  std::string file;
  bool json = false;
  ExecutionOptions execution;
  ProcessOptions processes;
};

/// The file, or the one that training was evaluated on.
std::string file_of(const EvalCommand& command, const ModelInfo& info) {
  if (!command.file.empty()) return command.file;
  if (info.data.dev.empty()) throw UsageError("expected --data FILE: the model was trained without --dev");
  return info.data.dev_share() ? info.data.train : info.data.dev;
}

std::unique_ptr<TreeInput> read(const EvalCommand& command, const TrainedModel& model) {
  const ModelInfo& info = model.info;
  if (command.file.empty() && info.data.is_generated())
    return keep_trees(load_trees(info.data, nullptr, info.classes).dev, model);
  const std::optional<double> share = command.file.empty() ? info.data.dev_share() : std::nullopt;
  if (!share) return read_trees(file_of(command, info), model);
  return read_trees(info.data.train, model,
                    [share](std::size_t index) { return is_held_back(index, *share); });
}

std::string show(const train::Evaluation& evaluation, std::size_t trees) {
  const auto share = [](double value, int64_t count, const char* what) {
    return count == 0 ? fmt::format("none of {} labelled {}", count, what)
                      : fmt::format("{:.2f}% of {} {}", 100 * value, count, what);
  };
  const std::string loss = evaluation.nodes == 0 ? "none" : train::show_number(evaluation.loss, 4);
  return fmt::format("trees          {}\nloss a tree    {}\nroot accuracy  {}\nall accuracy   {}\n", trees,
                     loss, share(evaluation.root_accuracy, evaluation.roots, "roots"),
                     share(evaluation.all_accuracy, evaluation.nodes, "nodes"));
}

class EvalWork : public PredictionWork {
 public:
  explicit EvalWork(const EvalCommand& command)
      : PredictionWork(command.checkpoint, command.execution.execution()), command_(command) {}

 protected:
  std::unique_ptr<TreeInput> read(const TrainedModel& model) override { return cli::read(command_, model); }
  void take(std::size_t /*begin*/, std::span<const train::Tree> trees,
            std::span<const train::Prediction> predictions) override {
    for (std::size_t i = 0; i < trees.size(); ++i) counts_.add(predictions[i], trees[i]);
  }

  /// Writes what was measured.
  void finish() override {
    note_dropout(trainer(), false);
    const train::Evaluation evaluation = counts_.evaluation(input().size());
    if (!command_.json) return write_to_stdout(show(evaluation, input().size()));
    write_to_stdout(dump({{"trees", input().size()},
                          {"loss", evaluation.loss},
                          {"root_accuracy", evaluation.root_accuracy},
                          {"all_accuracy", evaluation.all_accuracy},
                          {"roots", evaluation.roots},
                          {"nodes", evaluation.nodes}}));
  }

 private:
  const EvalCommand& command_;
  train::NodeCounts counts_;
};

/// Measures examples of any kind.
class MeasureWork : public ValueWork {
 public:
  explicit MeasureWork(const EvalCommand& command)
      : ValueWork(command.checkpoint, command.execution.execution()), command_(command) {}

 protected:
  std::string file(const ModelInfo& info) override { return file_of(command_, info); }
  /// Where training held examples back, they are measured.
  bool is_chosen(std::size_t index, const ModelInfo& info) override {
    const std::optional<double> share = info.data.dev_share();
    return !command_.file.empty() || !share || is_held_back(index, *share);
  }
  train::ExampleForm form() const override {
    std::vector<EntryParameter> parameters = train::example_parameters(trainer().model().loss_program());
    const std::size_t count = parameters.size();
    return {std::move(parameters), count};
  }
  std::function<void()> work_here(const net::Range& range) override {
    return [this, numbers = measure(examples_of(range))] { add(numbers); };
  }
  void compute(net::ByteReader& things, net::ByteWriter& results) override {
    for (const double number : measure(read_from(things))) results.number(number);
  }
  void take_part() override { measure(no_examples()); }
  void take(const net::Range& /*range*/, net::ByteReader& results) override {
    while (results.left() > 0) numbers_.push_back(results.number<double>());
  }
  void finish() override {
    note_dropout(trainer(), true);
    const train::Evaluation evaluation = trainer().evaluation_of(numbers_);
    if (command_.json) {
      nlohmann::ordered_json json{{"examples", size()}, {"loss", evaluation.loss}};
      for (const train::Metric& metric : evaluation.metrics) json["metrics"][metric.name] = metric.mean;
      return write_to_stdout(dump(json));
    }
    std::string text = fmt::format("{:<14} {}\n{:<14} {}\n", "examples", size(), "loss",
                                   train::show_number(evaluation.loss, 4));
    for (const train::Metric& metric : evaluation.metrics)
      text += fmt::format("{:<14} {}\n", metric.name, show_mean(metric));
    write_to_stdout(text);
  }

 private:
  static std::string show_mean(const train::Metric& metric) {
    return metric.is_share ? fmt::format("{:.2f}%", 100 * metric.mean) : train::show_number(metric.mean, 4);
  }
  std::vector<double> measure(const train::ExampleList& examples) { return trainer().measure(examples); }
  void add(const std::vector<double>& numbers) {
    numbers_.insert(numbers_.end(), numbers.begin(), numbers.end());
  }

  const EvalCommand& command_;
  std::vector<double> numbers_;
};

int evaluate_model(const EvalCommand& command) {
  require_processes(command.execution.execution(), command.processes);
  return work_on_checkpoint(
      command.processes, command.checkpoint, [&command] { return std::make_unique<EvalWork>(command); },
      [&command] { return std::make_unique<MeasureWork>(command); });
}

}  // namespace

Command add_eval_command(CLI::App& app) {
  auto command = std::make_shared<EvalCommand>();
  CLI::App* options = app.add_subcommand("eval", "Measure a trained model on examples");
  options
      ->add_option("CHECKPOINT", command->checkpoint, "Directory of a training run, or a checkpoint in there")
      ->type_name("")
      ->required();
  options
      ->add_option(
          "--data", command->file,
          "Examples, one a line, as in training; - is standard input; else those of --dev in training")
      ->type_name("FILE");
  options->add_flag("--json", command->json, "One JSON object");
  command->execution.add_to(*options);
  add_process_options(*options, command->processes, true);
  return {options, [command](const std::vector<std::string>& after_dashes) {
            if (!after_dashes.empty()) throw UsageError("'hiaton eval' takes nothing after --");
            return evaluate_model(*command);
          }};
}

}  // namespace hiaton::cli
