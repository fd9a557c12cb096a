// Settings and reports of epochs as JSON, for the directory of a run and for checkpoints.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "graph/json_place.h"
#include "hiaton/train.h"

namespace hiaton::train {

/// The settings but for `out` and `resume`, which belong to one run.
nlohmann::ordered_json to_json(const Settings& settings);
/// Throws ProgramError that names the place that is wrong.
Settings settings_from(const graph::JsonPlace& place);

/// The settings that resumed training needs as they were, and that differ: "batch: 25, now 50". Others, such
/// as the number of epochs where the learning rate does not depend on it, may change.
std::vector<std::string> changes_that_matter(const Settings& before, const Settings& now);

/// The report; numbers that are not finite become null.
nlohmann::ordered_json to_json(const EpochReport& report);
/// Throws ProgramError that names the place that is wrong.
EpochReport epoch_report_from(const graph::JsonPlace& place);

}  // namespace hiaton::train
