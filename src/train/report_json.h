// Reports of epochs as JSON, for the log and for checkpoints.
#pragma once

#include <nlohmann/json.hpp>

#include "graph/json_place.h"
#include "hiaton/train.h"

namespace hiaton::train {

/// Numbers that are not finite become null.
nlohmann::ordered_json to_json(const EpochReport& report);
/// Throws ProgramError that names the place that is wrong.
EpochReport epoch_report_from(const graph::JsonPlace& place);

}  // namespace hiaton::train
