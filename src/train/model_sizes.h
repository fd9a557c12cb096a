// The sizes of a model of trees.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "hiaton/learner.h"

namespace hiaton::train {

/// Those of the options, with `classes` and `vocab`, which the data decides.
std::map<std::string, int64_t> sizes_for(const LearnerOptions& options);

}  // namespace hiaton::train
