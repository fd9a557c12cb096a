// In which order ready batches run.
#pragma once

#include "exec/flow/plan.h"

namespace hiaton::exec::flow {

/// Ranks the regions: a region of lower rank cannot become ready again because one of higher rank ran.
/// Regions that depend on each other through calls, such as those of one recursion, have one rank. Says also
/// which are recursive.
void rank_regions(Plan& plan);

}  // namespace hiaton::exec::flow
