// A learner from a program: the bridge between training and the engine.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "hiaton/run.h"
#include "hiaton/train.h"

#pragma GCC visibility push(default)
namespace hiaton::train {

/// What a model is made from and how it runs.
struct LearnerOptions {
  std::filesystem::path model{};           ///< a program (.hia) with parameters
  int32_t classes = 0;                     ///< labels are 0 to classes - 1
  int32_t vocabulary_size = 0;             ///< words are 0 to vocabulary_size - 1; 0 is the unknown one
  std::map<std::string, int64_t> sizes{};  ///< symbolic dimensions that the program leaves open, as d = 128
  uint64_t seed = 1;                       ///< of the first values of the parameters, and of dropout
  int workers = 1;                         ///< threads that share a step
  std::string batching = "on";  ///< on, off, or deterministic: the same bits for any number of workers
  int parts = 2;                ///< deterministic: into how many a batch is cut; at least the processes
  uint64_t max_bytes = RunOptions().max_bytes;  ///< that a step may hold besides its trees
  Trace* trace = nullptr;                       ///< where runs are drawn; null: nowhere
};

/// Throws ProgramError where the program has errors, is no model for trees, or does not fit the options.
std::unique_ptr<Learner> make_learner(const LearnerOptions& options);

}  // namespace hiaton::train
#pragma GCC visibility pop
