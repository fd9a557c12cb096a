// hiaton predict CHECKPOINT [FILE]
#include <fmt/format.h>

#include <memory>

#include "commands.h"
#include "hiaton/error.h"
#include "output.h"
#include "report.h"
#include "show_prediction.h"
#include "trained_model.h"

namespace hiaton::cli {
namespace {

constexpr std::size_t kBatch = 100;
constexpr const char* kStandardInput = "/dev/stdin";

struct PredictCommand {
  std::string checkpoint;
  std::string file = "-";
  uint64_t generate = 0;
  uint64_t seed = 0;
  bool json = false;
  ExecutionOptions execution;
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

std::string show(const PredictCommand& command, std::size_t number, const train::Tree& tree,
                 std::span<const std::string> words, const train::Prediction& prediction) {
  if (command.json) return dump(to_json(tree, words, prediction));
  return fmt::format("{}tree {}\n{}", number > 1 ? "\n" : "", number,
                     show_prediction(tree, words, prediction));
}

int predict(const PredictCommand& command) {
  TrainedModel model = load_model(command.checkpoint, command.execution.execution());
  const train::Treebank trees = read(command, model.info);
  const std::vector<train::Tree> encoded = encode(trees.trees, trees.words, model.words);
  for (std::size_t begin = 0; begin < encoded.size(); begin += kBatch) {
    std::vector<const train::Tree*> batch;
    for (std::size_t i = begin; i < std::min(encoded.size(), begin + kBatch); ++i)
      batch.push_back(&encoded[i]);
    const std::vector<train::Prediction> predictions = model.learner->predict(batch);
    std::string text;
    for (std::size_t i = 0; i < predictions.size(); ++i) {
      text += show(command, begin + i + 1, trees.trees[begin + i], trees.words, predictions[i]);
    }
    write_to_stdout(text);
  }
  return kSuccess;
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
  return {options, [command](const std::vector<std::string>& after_dashes) {
            if (!after_dashes.empty()) throw UsageError("'hiaton predict' takes nothing after --");
            return predict(*command);
          }};
}

}  // namespace hiaton::cli
