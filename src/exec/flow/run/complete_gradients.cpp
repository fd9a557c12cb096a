#include "exec/flow/run/complete_gradients.h"

#include <algorithm>
#include <numeric>

namespace hiaton::exec::flow {

CompleteGradients::CompleteGradients(const graph::Graph& graph, const Plan& plan) {
  const std::size_t count = graph.parameters().size();
  std::vector<uint32_t> last(count);
  std::vector<std::size_t> in_graph(count);
  std::vector<std::size_t> in_batches(count);
  for (const graph::Node& node : graph.nodes()) {
    if (node.kind == graph::NodeKind::Accumulate) ++in_graph[static_cast<std::size_t>(node.parameter)];
  }
  for (const Region& region : plan.regions) {
    for (const Step& step : region.steps) {
      if (step.code != Step::Code::Accumulate || !region.batched) continue;
      const auto parameter = static_cast<std::size_t>(graph[step.node].parameter);
      ++in_batches[parameter];
      last[parameter] = std::max(last[parameter], region.priority);
    }
  }
  std::vector<std::size_t> all(count);
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::ranges::stable_sort(all, {}, [&last](std::size_t parameter) { return last[parameter]; });
  for (const std::size_t parameter : all) {
    if (in_graph[parameter] == 0 || in_batches[parameter] != in_graph[parameter]) continue;
    parameters_.push_back(parameter);
    lasts_.push_back(last[parameter]);
  }
}

}  // namespace hiaton::exec::flow
