// Finds dropout that a model does not switch off where it should.
#pragma once

#include <string>
#include <vector>

#include "hiaton/model.h"

namespace hiaton::train {

/// A sentence for each function that drops elements against what its model most likely means: `predict`,
/// `metrics` and, in an evaluation, `loss` with the seed 0 drop elements, where neither the rate nor a
/// condition around the dropout depends on the seed; or `loss` draws the same elements in each step, for no
/// seed of its own comes there. What depends on the seed in any way counts as right. `evaluates_loss`:
/// whether evaluations call `loss`.
std::vector<std::string> dropout_warnings(const Model& model, bool evaluates_loss);

}  // namespace hiaton::train
