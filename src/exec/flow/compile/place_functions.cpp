// Which calls leave their process.
#include "base/check.h"
#include "exec/flow/compile/flow_passes.h"

namespace hiaton::exec::flow {
namespace {

/// The arguments of a call of one are those of a call of the other.
bool take_the_same_arguments(const Function& a, const Function& b) {
  return a.params == b.params && a.param_items == b.param_items;
}

}  // namespace

void place_functions(const HomedGraph& homed, Plan& plan) {
  plan.homes = homed.homes;
  plan.copies.resize(plan.functions.size());
  for (std::size_t f = 0; f < homed.copies.size(); ++f) {
    for (const graph::FunctionId copy : homed.copies[f]) {
      HIATON_CHECK(take_the_same_arguments(plan.functions[f], plan.functions[copy.index()]));
      plan.copies[f].push_back(static_cast<uint32_t>(copy.index()));
    }
  }
  for (Function& function : plan.functions) {
    const int home = plan.homes[function.id.index()];
    for (Call& call : function.calls) {
      call.is_sent = plan.homes[call.callee] != home || !plan.copies[call.callee].empty();
      HIATON_CHECK(!call.is_sent || !call.is_direct);
    }
  }
}

}  // namespace hiaton::exec::flow
