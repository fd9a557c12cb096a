// The sizes of a model of trees.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "hiaton/learner.h"
#include "hiaton/source.h"

namespace hiaton::train {

/// The sizes of the options, and `classes` and `vocab`, which the data decides, where the program declares
/// them.
std::map<std::string, int64_t> sizes_for(const LearnerOptions& options,
                                         const std::shared_ptr<const Source>& program);

}  // namespace hiaton::train
