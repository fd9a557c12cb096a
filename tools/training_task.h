// What 'hiaton train' trains: a model and the examples that it learns from.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "hiaton/model_trainer.h"
#include "trained_model.h"

namespace hiaton::cli {

struct TrainingTask {
  train::ModelTrainer trainer;
  train::Vocabulary words;
  std::unique_ptr<train::DataSet> train;
  std::unique_ptr<train::DataSet> dev;  ///< perhaps of no examples
};

/// Loads the data, with the words where they are known: training is resumed then. Where it begins, fills in
/// of `info` what the data says: its kind and its classes. Throws ProgramError.
TrainingTask load_task(const std::filesystem::path& program, ModelInfo& info,
                       const train::Vocabulary* known_words, Trace* trace);

}  // namespace hiaton::cli
