// What the options of a trainer say to the engine, and what it warns of in a model.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hiaton/model.h"
#include "hiaton/model_trainer.h"
#include "hiaton/source.h"

namespace hiaton::train {

/// The sizes of the options, and `classes` and `vocab`, where the program declares them and the data decides.
std::map<std::string, int64_t> sizes_for(const TrainerOptions& options,
                                         const std::shared_ptr<const Source>& program);

Model model_of(const TrainerOptions& options);
RunOptions run_options_of(const TrainerOptions& options);

/// A sentence for each function that drops elements against what its model most likely means: `predict`,
/// `metrics` and, in an evaluation, `loss` with the seed 0 drop elements, where neither the rate nor a
/// condition around the dropout depends on the seed; or `loss` draws the same elements in each step, for no
/// seed of its own comes there. What depends on the seed in any way counts as right. `evaluates_loss`:
/// whether evaluations call `loss`.
std::vector<std::string> dropout_warnings(const Model& model, bool evaluates_loss);

}  // namespace hiaton::train
