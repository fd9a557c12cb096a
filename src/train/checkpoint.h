// What is kept of a training run on disk, and taken back from there.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "hiaton/graph.h"
#include "hiaton/optimizer.h"
#include "hiaton/train.h"
#include "hiaton/trees.h"
#include "hiaton/value.h"

namespace hiaton::train {

/// How far training has come. With the parameters and the state of the optimizer it is all that the rest
/// depends on: random numbers follow from the seed, the epoch and the step.
struct Progress {
  uint64_t step = 0;      ///< steps done, of all epochs
  double epoch_loss = 0;  ///< sum over the examples of the unfinished epoch
  double epoch_seconds = 0;
  double best_score = 0;  ///< without meaning where best_epoch is 0
  int64_t best_epoch = 0;
  std::vector<EpochReport> history;
};

/// The values that a file of train has for the parameters of a program, by name; it may have others besides.
/// Throws ProgramError where the file is damaged, lacks a parameter or has it of another type, or holds
/// values that are not finite.
std::vector<Value> load_values(const std::filesystem::path& path,
                               std::span<const graph::Parameter> parameters);

/// Tells sets of trees apart: shapes, labels and words, in order.
uint64_t fingerprint(std::span<const Tree> trees);

void save_checkpoint(const std::filesystem::path& path, const std::vector<ParameterValues>& parameters,
                     const Optimizer& optimizer, const Progress& progress, const Settings& settings,
                     uint64_t data_fingerprint);

/// Fills parameters, optimizer and progress. Throws ProgramError where the file is damaged, is not from
/// save_checkpoint, or was made with another model, other settings that matter, or other data; nothing is
/// changed then.
void load_checkpoint(const std::filesystem::path& path, std::vector<ParameterValues>& parameters,
                     Optimizer& optimizer, Progress& progress, const Settings& settings,
                     uint64_t data_fingerprint);

}  // namespace hiaton::train
