// hiaton predict CHECKPOINT [FILE]
#include <fmt/format.h>

#include <memory>

#include "commands.h"
#include "hiaton/error.h"
#include "net/deal.h"
#include "output.h"
#include "process_options.h"
#include "report.h"
#include "show_prediction.h"
#include "trained_model.h"
#include "tree_wire.h"

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

/// The model and, where they are to be predicted, the trees.
class Predictions {
 public:
  explicit Predictions(const PredictCommand& command)
      : command_(command), model_(load_model(command.checkpoint, command.execution.execution())) {}

  void read_trees() {
    trees_ = read(command_, model_.info);
    encoded_ = encode(trees_.trees, trees_.words, model_.words);
  }
  const TrainedModel& model() const { return model_; }
  std::span<const train::Tree> trees() const { return encoded_; }

  std::vector<train::Prediction> predict(std::span<const train::Tree> trees) {
    std::vector<const train::Tree*> batch;
    for (const train::Tree& tree : trees) batch.push_back(&tree);
    return model_.learner->predict(batch);
  }

  /// Of the trees from `begin` on.
  void show(std::size_t begin, std::span<const train::Prediction> predictions) const {
    std::string text;
    for (std::size_t i = 0; i < predictions.size(); ++i) text += show_one(begin + i, predictions[i]);
    write_to_stdout(text);
  }

 private:
  std::string show_one(std::size_t index, const train::Prediction& prediction) const {
    const train::Tree& tree = trees_.trees[index];
    if (command_.json) return dump(to_json(tree, trees_.words, prediction));
    return fmt::format("{}tree {}\n{}", index > 0 ? "\n" : "", index + 1,
                       show_prediction(tree, trees_.words, prediction));
  }

  const PredictCommand& command_;
  TrainedModel model_;
  train::Treebank trees_;
  std::vector<train::Tree> encoded_;
};

int predict_alone(const PredictCommand& command) {
  Predictions predictions(command);
  predictions.read_trees();
  const std::span<const train::Tree> trees = predictions.trees();
  for (std::size_t begin = 0; begin < trees.size(); begin += kBatch) {
    const std::size_t count = std::min(kBatch, trees.size() - begin);
    predictions.show(begin, predictions.predict(trees.subspan(begin, count)));
  }
  return kSuccess;
}

/// One of several processes: process 0 has the trees, all have the model.
class PredictWork : public net::Work, private net::Dealt {
 public:
  explicit PredictWork(const PredictCommand& command) : command_(command) {}

  std::string prepare(int self) override {
    predictions_ = std::make_unique<Predictions>(command_);
    wire_ =
        std::make_unique<TreeWire>(predictions_->model().words.size(), predictions_->model().info.classes);
    if (self == 0) predictions_->read_trees();
    return "the model " + hash_of_model(command_.checkpoint);
  }
  void work(net::Transport& transport) override { net::deal(transport, *this, kBatch); }

 private:
  std::size_t size() const override { return predictions_->trees().size(); }
  void write(const net::Range& range, net::ByteWriter& things) override {
    wire_->write(trees_of(range), things);
  }
  void work(net::ByteReader& things, net::ByteWriter& results) override {
    const std::vector<train::Tree> trees = wire_->read_trees(things);
    wire_->write(predictions_->predict(trees), results);
  }
  void take(const net::Range& range, net::ByteReader& results) override {
    predictions_->show(range.begin, wire_->read_predictions(trees_of(range), results));
  }
  std::span<const train::Tree> trees_of(const net::Range& range) const {
    return predictions_->trees().subspan(range.begin, range.count);
  }

  const PredictCommand& command_;
  std::unique_ptr<Predictions> predictions_;
  std::unique_ptr<TreeWire> wire_;
};

int predict(const PredictCommand& command) {
  if (!is_spread(command.processes)) return predict_alone(command);
  return work_in_processes(command.processes, words_without_hosts(),
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
