// hiaton eval CHECKPOINT [FILE]
#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "commands.h"
#include "hiaton/error.h"
#include "output.h"
#include "prediction_work.h"
#include "process_options.h"
#include "report.h"
#include "train/evaluate.h"

namespace hiaton::cli {
namespace {

struct EvalCommand {
  std::string checkpoint;
  std::string file;
  bool json = false;
  ExecutionOptions execution;
  ProcessOptions processes;
};

/// The file, or what training was evaluated on.
train::Treebank read(const EvalCommand& command, const ModelInfo& info) {
  if (!command.file.empty()) {
    const std::filesystem::path file = command.file == "-" ? "/dev/stdin" : command.file;
    return train::read_trees(file, {info.classes});
  }
  if (info.data.is_generated()) return load_trees(info.data, info.classes).dev;
  if (info.data.dev.empty())
    throw UsageError("expected a FILE of trees: the model was trained without --dev");
  return train::read_trees(std::filesystem::path(info.data.dev), {info.classes});
}

std::string show(const train::Evaluation& evaluation, std::size_t trees) {
  const auto share = [](double value, int64_t count, const char* what) {
    return count == 0 ? fmt::format("none of {} labelled {}", count, what)
                      : fmt::format("{:.2f}% of {} {}", 100 * value, count, what);
  };
  const std::string loss = evaluation.nodes == 0 ? "none" : fmt::format("{:.4f}", evaluation.loss);
  return fmt::format("trees          {}\nloss a tree    {}\nroot accuracy  {}\nall accuracy   {}\n", trees,
                     loss, share(evaluation.root_accuracy, evaluation.roots, "roots"),
                     share(evaluation.all_accuracy, evaluation.nodes, "nodes"));
}

class EvalWork : public PredictionWork {
 public:
  explicit EvalWork(const EvalCommand& command)
      : PredictionWork(command.checkpoint, command.execution.execution()), command_(command) {}

 protected:
  std::vector<train::Tree> read(const TrainedModel& model) override {
    train::Treebank bank = cli::read(command_, model.info);
    std::vector<train::Tree> trees = encode(std::move(bank.trees), bank.words, model.words);
    trees_ = trees.size();
    return trees;
  }
  void take(std::size_t /*begin*/, std::span<const train::Tree> trees,
            std::span<const train::Prediction> predictions) override {
    for (std::size_t i = 0; i < trees.size(); ++i) counter_.add(predictions[i], trees[i]);
  }

  /// Writes what was measured.
  void finish() override {
    const train::Evaluation evaluation = counter_.finish();
    if (!command_.json) return write_to_stdout(show(evaluation, trees_));
    write_to_stdout(dump({{"trees", trees_},
                          {"loss", evaluation.loss},
                          {"root_accuracy", evaluation.root_accuracy},
                          {"all_accuracy", evaluation.all_accuracy},
                          {"roots", evaluation.roots},
                          {"nodes", evaluation.nodes}}));
  }

 private:
  const EvalCommand& command_;
  std::size_t trees_ = 0;
  train::EvaluationCounter counter_;
};

int evaluate_model(const EvalCommand& command) {
  if (!is_spread(command.processes)) {
    EvalWork(command).work_alone();
    return kSuccess;
  }
  return work_in_processes(command.processes, words_for_processes(),
                           [&command] { return std::make_unique<EvalWork>(command); });
}

}  // namespace

Command add_eval_command(CLI::App& app) {
  auto command = std::make_shared<EvalCommand>();
  CLI::App* options = app.add_subcommand("eval", "Measure a trained model on labelled trees");
  options
      ->add_option("CHECKPOINT", command->checkpoint, "Directory of a training run, or a checkpoint in there")
      ->type_name("")
      ->required();
  options
      ->add_option("FILE", command->file,
                   "Trees, one a line; - is standard input; else those of --dev in training")
      ->type_name("");
  options->add_flag("--json", command->json, "One JSON object");
  command->execution.add_to(*options);
  add_process_options(*options, command->processes, true);
  return {options, [command](const std::vector<std::string>& after_dashes) {
            if (!after_dashes.empty()) throw UsageError("'hiaton eval' takes nothing after --");
            return evaluate_model(*command);
          }};
}

}  // namespace hiaton::cli
