// Which parameters of a function each of its results needs.
#pragma once

#include <vector>

#include "passes/call_graph.h"
#include "passes/phase_analysis.h"

namespace hiaton::passes {

/// By function and result: the numbers of the parameters without which it does not come. No results: not
/// known, for functions of many parameters or phases, and for gradients that are still to be derived.
using ResultNeeds = std::vector<std::vector<NumberSet>>;

ResultNeeds result_needs(const ir::Module& module, const CallGraph& calls);

/// What a result of a call depends on, by what its arguments do.
NumberSet needed_by_result(const ResultNeeds& needs, const ir::Node& call, std::size_t result,
                           const std::vector<NumberSet>& dependences);

}  // namespace hiaton::passes
