// hiaton predict CHECKPOINT [--data FILE]
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <memory>

#include "choices.h"
#include "commands.h"
#include "hiaton/error.h"
#include "output.h"
#include "prediction_work.h"
#include "process_options.h"
#include "report.h"
#include "show_prediction.h"
#include "value_work.h"

namespace hiaton::cli {
namespace {

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
train::ListOpsStream generate(const PredictCommand& command, const ModelInfo& info) {
  if (!info.data.is_generated()) {
    throw UsageError(
        "--generate: expected a model that was trained on generated trees, found one trained on a file");
  }
  train::ListOpsOptions options = info.data.listops.options;
  options.seed = command.seed;
  return train::ListOpsStream(options);
}

std::unique_ptr<TreeInput> read(const PredictCommand& command, const TrainedModel& model) {
  if (command.generate > 0) return draw_trees(generate(command, model.info), command.generate, model);
  return read_trees(command.file, model);
}

class PredictWork : public PredictionWork {
 public:
  explicit PredictWork(const PredictCommand& command)
      : PredictionWork(command.checkpoint, command.execution.execution()), command_(command) {}

 protected:
  std::unique_ptr<TreeInput> read(const TrainedModel& model) override { return cli::read(command_, model); }
  void take(std::size_t begin, std::span<const train::Tree> /*trees*/,
            std::span<const train::Prediction> predictions) override {
    std::string text;
    for (std::size_t i = 0; i < predictions.size(); ++i) show(begin + i, predictions[i], text);
    write_to_stdout(text);
  }
  void write_predictions(std::span<const train::Prediction> predictions,
                         net::ByteWriter& out) const override {
    if (command_.json) return PredictionWork::write_predictions(predictions, out);
    for (const train::Prediction& prediction : predictions) wire().write(best_classes(prediction), out);
  }
  void take_written(std::size_t begin, std::span<const train::Tree> trees, net::ByteReader& in) override {
    if (command_.json) return PredictionWork::take_written(begin, trees, in);
    std::string text;
    for (std::size_t i = 0; i < trees.size(); ++i)
      show(begin + i, wire().read_best_classes(trees[i], in), text);
    write_to_stdout(text);
  }

 private:
  void show(std::size_t index, const train::Prediction& prediction, std::string& text) const {
    if (!command_.json) return show(index, best_classes(prediction), text);
    input().show(index, [&](const train::Tree& tree, std::span<const std::string> words) {
      text += dump(to_json(tree, words, prediction));
    });
  }

  void show(std::size_t index, const BestClasses& prediction, std::string& text) const {
    fmt::format_to(std::back_inserter(text), "{}tree {}\n", index > 0 ? "\n" : "", index + 1);
    input().show(index, [&](const train::Tree& tree, std::span<const std::string> words) {
      show_prediction(tree, words, prediction, text);
    });
  }

  const PredictCommand& command_;
};

/// Predicts from examples of any kind.
class PredictValuesWork : public ValueWork {
 public:
  explicit PredictValuesWork(const PredictCommand& command)
      : ValueWork(command.checkpoint, command.execution.execution()), command_(command) {}

 protected:
  std::string file(const ModelInfo& /*info*/) override {
    if (command_.generate > 0)
      throw UsageError("--generate: expected a model that was trained on generated trees, found another one");
    return command_.file;
  }
  /// Lines of the training will do: what `predict` takes is then what they begin with.
  train::ExampleForm form() const override {
    const std::vector<EntryParameter>& wanted = program().parameters();
    std::vector<EntryParameter> all = train::example_parameters(trainer().model().loss_program());
    const bool is_begin = wanted.size() <= all.size() &&
                          std::equal(wanted.begin(), wanted.end(), all.begin(),
                                     [](const auto& a, const auto& b) { return a.type == b.type; });
    if (!is_begin) return {wanted, wanted.size()};
    return {std::move(all), wanted.size()};
  }
  std::function<void()> work_here(const net::Range& range) override {
    return [this, predictions = predict(examples_of(range))] { show(predictions); };
  }
  void compute(net::ByteReader& things, net::ByteWriter& results) override {
    const LineWire wire(program().results());
    for (const std::vector<Value>& values : predict(read_from(things))) wire.write(values, results);
  }
  void take_part() override { predict(no_examples()); }
  void take(const net::Range& range, net::ByteReader& results) override {
    const LineWire wire(program().results());
    std::vector<std::vector<Value>> predictions;
    for (std::size_t i = 0; i < range.count; ++i) predictions.push_back(wire.read(results));
    show(predictions);
  }

 private:
  const Program& program() const { return trainer().model().predict_program(); }

  std::vector<std::vector<Value>> predict(const train::ExampleList& examples) {
    return trainer().predict(examples);
  }

  /// A line each.
  void show(std::span<const std::vector<Value>> predictions) const {
    const std::vector<Type>& types = program().results();
    std::string text;
    for (const std::vector<Value>& values : predictions) {
      if (command_.json) {
        text += dump(to_json(values, types));
        continue;
      }
      for (std::size_t i = 0; i < values.size(); ++i)
        text += (i > 0 ? " | " : "") + to_string(values[i], types[i]);
      text += '\n';
    }
    write_to_stdout(text);
  }

  const PredictCommand& command_;
};

int predict(const PredictCommand& command) {
  require_processes(command.execution.execution(), command.processes);
  return work_on_checkpoint(
      command.processes, command.checkpoint, [&command] { return std::make_unique<PredictWork>(command); },
      [&command] { return std::make_unique<PredictValuesWork>(command); });
}

}  // namespace

Command add_predict_command(CLI::App& app) {
  auto command = std::make_shared<PredictCommand>();
  CLI::App* options = app.add_subcommand(
      "predict", "Predict with a trained model: what its function predict gives, or the classes of trees");
  options
      ->add_option("CHECKPOINT", command->checkpoint, "Directory of a training run, or a checkpoint in there")
      ->type_name("")
      ->required();
  const CLI::Option* data =
      options
          ->add_option("--data", command->file, "Examples, one a line, as in training; - is standard input")
          ->type_name("FILE")
          ->default_str("-");
  const CLI::Option* generate =
      options
          ->add_option("--generate", command->generate, "Predict N generated trees instead, as in training")
          ->check(any_number<uint64_t>())
          ->type_name("N");
  const CLI::Option* seed = options->add_option("--data-seed", command->seed, "Which ones")
                                ->check(any_number<uint64_t>())
                                ->type_name("N")
                                ->default_str("0");
  options->add_flag("--json", command->json,
                    "JSON, one line an example; of trees an object with all probabilities");
  command->execution.add_to(*options);
  add_process_options(*options, command->processes, true);
  return {options, [=](const std::vector<std::string>& after_dashes) {
            if (!after_dashes.empty()) throw UsageError("'hiaton predict' takes nothing after --");
            require_effect(*data, generate->count() == 0, "examples that are read, without --generate");
            require_effect(*seed, generate->count() > 0, "--generate");
            return predict(*command);
          }};
}

}  // namespace hiaton::cli
