// What the options of a trainer say to the engine.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "hiaton/model.h"
#include "hiaton/model_trainer.h"
#include "hiaton/source.h"

namespace hiaton::train {

/// The sizes of the options, and `classes` and `vocab`, where the program declares them and the data decides.
std::map<std::string, int64_t> sizes_for(const TrainerOptions& options,
                                         const std::shared_ptr<const Source>& program);

Model model_of(const TrainerOptions& options);
RunOptions run_options_of(const TrainerOptions& options);

}  // namespace hiaton::train
