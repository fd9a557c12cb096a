// What training leaves beside the checkpoints, so that they can be used again: the program, its sizes, the
// words.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "hiaton/model_trainer.h"
#include "hiaton/train.h"
#include "place_option.h"
#include "process_options.h"
#include "tree_data.h"

namespace hiaton::cli {

/// How a model runs.
struct Execution {
  int workers = 1;
  std::string batching = "on";
  int parts = 2;  ///< parts of a batch, where it is deterministic
  uint64_t max_bytes =
      RunOptions().max_bytes;  ///< the budget of a step; never saved: another machine has other memory
  PlaceOptions places{};       ///< never saved: that depends on the processes
  int replicas = 0;            ///< likewise; 0: as RunOptions::replicas
};

/// The contents of model.json.
struct ModelInfo {
  int32_t classes = 0;  ///< 0: as the program says
  std::map<std::string, int64_t> sizes;
  uint64_t seed = 1;
  int64_t min_count = 1;
  TrainingData data;
  Execution execution;  ///< how training executes
};

nlohmann::ordered_json to_json(const ModelInfo& model);

/// Options and what they fill; must outlive the parsing.
class ExecutionOptions {
 public:
  /// `with_parts`: of a command that trains.
  void add_to(CLI::App& command, bool with_parts = false);

  const Execution& execution() const { return given_; }
  /// `base`, with what was given. Throws UsageError where that changes nothing.
  Execution over(Execution base) const;

 private:
  Execution given_;
  CLI::Option* workers_ = nullptr;
  CLI::Option* batching_ = nullptr;
  CLI::Option* parts_ = nullptr;  ///< null: the command has none
};

/// Throws UsageError where --place or --replicas is given to one process alone, or --place=auto without what
/// a process can hold.
void require_processes(const Execution& execution, const ProcessOptions& processes);

/// A directory that training writes to.
class ModelDirectory {
 public:
  explicit ModelDirectory(std::filesystem::path path) : path_(std::move(path)) {}

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path program() const { return path_ / "model.hia"; }
  std::filesystem::path vocabulary() const { return path_ / "vocabulary.txt"; }
  std::filesystem::path info() const { return path_ / "model.json"; }
  std::filesystem::path settings() const { return path_ / "settings.json"; }
  std::filesystem::path last() const { return path_ / "last.safetensors"; }
  std::filesystem::path best() const { return path_ / "best.safetensors"; }

  /// Writes program, vocabulary and info. Throws ProgramError.
  void write(const std::filesystem::path& program_file, const train::Vocabulary& words,
             const ModelInfo& model) const;
  /// Throws ProgramError where the file is missing or damaged.
  ModelInfo read_info() const;

 private:
  std::filesystem::path path_;
};

train::TrainerOptions trainer_options(const std::filesystem::path& program, const ModelInfo& model,
                                      const train::Vocabulary& words, const Execution& execution);

/// A file of parameters, and the directory that it belongs to.
struct Checkpoint {
  ModelDirectory directory;
  std::filesystem::path parameters;
};

/// `path` is the directory of a training run, for its best parameters, or one of the checkpoints in there.
/// Throws ProgramError.
Checkpoint find_checkpoint(const std::filesystem::path& path);
/// Whether it is a safetensors file outside of such a directory: parameters alone.
bool is_bare_parameters(const std::filesystem::path& path);

/// The values that the sizes of the program had in training. Throws ProgramError.
std::map<std::string, int64_t> trained_sizes(const ModelDirectory& directory);

/// A model with the parameters of a checkpoint, ready to predict.
struct TrainedModel {
  ModelInfo info;
  train::Vocabulary words;
  train::ModelTrainer trainer;
};

/// A hash of all that decides what a model predicts. `path` is as for find_checkpoint. Throws ProgramError.
std::string hash_of_model(const std::filesystem::path& path);

/// `path` is as for find_checkpoint. Throws ProgramError.
TrainedModel load_model(const std::filesystem::path& path, const Execution& execution);

/// Tells the user where the model drops elements that it should most likely not drop:
/// train::dropout_warnings.
void note_dropout(const train::ModelTrainer& trainer, bool evaluates_loss);

}  // namespace hiaton::cli
