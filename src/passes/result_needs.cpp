#include "passes/result_needs.h"

#include <algorithm>
#include <limits>

namespace hiaton::passes {
namespace {

bool can_be_known(const ir::Function& function) {
  const auto goes_on = [](const ir::Node& node) { return node.of.valid(); };
  return function.body.valid() && function.phases.empty() &&
         function.params.size() <= std::numeric_limits<NumberSet>::digits &&
         std::ranges::none_of(function.nodes, goes_on);
}

/// Whether more is needed than was known before.
bool follow(const ir::Function& function, const ResultNeeds& needs, std::vector<NumberSet>& own) {
  std::vector<NumberSet> params;
  for (std::size_t i = 0; i < function.params.size(); ++i) params.push_back(NumberSet{1} << i);
  const OfCall of_call = [&](const ir::Node& call, std::size_t i, const std::vector<NumberSet>& values) {
    return needed_by_result(needs, call, i, values);
  };
  const std::vector<NumberSet> values = dependences(function, params, of_call);
  bool more = false;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const NumberSet found = own[i] | values[function[function.body].results[i].index()];
    more = more || found != own[i];
    own[i] = found;
  }
  return more;
}

}  // namespace

ResultNeeds result_needs(const ir::Module& module, const CallGraph& calls) {
  ResultNeeds needs;
  for (const ir::Function& function : module.functions)
    needs.emplace_back(can_be_known(function) ? function.results.size() : 0);
  for (auto next = calls.bottom_up.begin(); next != calls.bottom_up.end();) {
    const auto begin = next;
    const uint32_t cycle = calls.cycle[begin->index()];
    const auto is_outside = [&](ir::FunctionId id) { return calls.cycle[id.index()] != cycle; };
    next = std::find_if(begin, calls.bottom_up.end(), is_outside);
    for (bool more = true; more;) {
      more = false;
      for (auto id = begin; id != next; ++id) {
        std::vector<NumberSet>& own = needs[id->index()];
        more = (!own.empty() && follow(module[*id], needs, own)) || more;
      }
      more = more && calls.recursive[begin->index()];
    }
  }
  return needs;
}

NumberSet needed_by_result(const ResultNeeds& needs, const ir::Node& call, std::size_t result,
                           const std::vector<NumberSet>& dependences) {
  const std::vector<NumberSet>& of_callee = needs[call.callee.index()];
  if (of_callee.empty()) return any_of(call.operands, dependences);
  NumberSet all = 0;
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    if ((of_callee[result] >> i & 1) != 0) all |= dependences[call.operands[i].index()];
  }
  return all;
}

}  // namespace hiaton::passes
