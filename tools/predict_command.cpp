// hiaton predict CHECKPOINT [FILE]
#include <fmt/format.h>

#include <memory>

#include "commands.h"
#include "hiaton/error.h"
#include "output.h"
#include "prediction_work.h"
#include "process_options.h"
#include "report.h"
#include "show_prediction.h"

namespace hiaton::cli {
namespace {

constexpr const char* kStandardInput = "/dev/stdin";

struct PredictCommand {
  std::string checkpoint;
  std::string file = "-";
  uint64_t generate = 0;
  uint64_t seed = 0;
  bool json = false;
  ExecutionOptions execution;
  ProcessOptions processes;
};

/// Expressions of the kind that the model was trained on, of a seed of their own.
train::Treebank generate(const PredictCommand& command, const ModelInfo& info) {
  if (!info.data.is_generated()) {
    throw UsageError(
        "--generate: expected a model that was trained on generated trees, found one trained on a file");
  }
  train::ListOpsOptions options = info.data.listops.options;
  options.seed = command.seed;
  return train::generate_listops(options, command.generate, 0).train;
}

train::Treebank read(const PredictCommand& command, const ModelInfo& info) {
  if (command.generate > 0) return generate(command, info);
  const std::filesystem::path file = command.file == "-" ? kStandardInput : command.file;
  return train::read_trees(file, {info.classes});
}

class PredictWork : public PredictionWork {
 public:
  explicit PredictWork(const PredictCommand& command)
      : PredictionWork(command.checkpoint, command.execution.execution()), command_(command) {}

 protected:
  std::vector<train::Tree> read(const TrainedModel& model) override {
    bank_ = cli::read(command_, model.info);
    return encode(bank_.trees, bank_.words, model.words);
  }
  void take(std::size_t begin, std::span<const train::Tree> /*trees*/,
            std::span<const train::Prediction> predictions) override {
    std::string text;
    for (std::size_t i = 0; i < predictions.size(); ++i) text += show_one(begin + i, predictions[i]);
    write_to_stdout(text);
  }

 private:
  std::string show_one(std::size_t index, const train::Prediction& prediction) const {
    const train::Tree& tree = bank_.trees[index];
    if (command_.json) return dump(to_json(tree, bank_.words, prediction));
    return fmt::format("{}tree {}\n{}", index > 0 ? "\n" : "", index + 1,
                       show_prediction(tree, bank_.words, prediction));
  }

  const PredictCommand& command_;
  train::Treebank bank_;
};

int predict(const PredictCommand& command) {
  if (!is_spread(command.processes)) {
    PredictWork(command).work_alone();
    return kSuccess;
  }
  return work_in_processes(command.processes, words_for_processes(),
                           [&command] { return std::make_unique<PredictWork>(command); });
}

}  // namespace

Command add_predict_command(CLI::App& app) {
  auto command = std::make_shared<PredictCommand>();
  CLI::App* options = app.add_subcommand("predict", "Predict the classes of trees with a trained model");
  options
      ->add_option("CHECKPOINT", command->checkpoint, "Directory of a training run, or a checkpoint in there")
      ->type_name("")
      ->required();
  options->add_option("FILE", command->file, "Trees, one a line; - is standard input")
      ->type_name("")
      ->default_str("-");
  options->add_option("--generate", command->generate, "Predict N generated trees instead, as in training")
      ->type_name("N");
  options->add_option("--data-seed", command->seed, "Which ones")->type_name("N")->default_str("0");
  options->add_flag("--json", command->json, "One JSON object a tree, with all probabilities");
  command->execution.add_to(*options);
  add_process_options(*options, command->processes, true);
  return {options, [command](const std::vector<std::string>& after_dashes) {
            if (!after_dashes.empty()) throw UsageError("'hiaton predict' takes nothing after --");
            return predict(*command);
          }};
}

}  // namespace hiaton::cli
