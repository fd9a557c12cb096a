#include "exec/production.h"

#include "exec/reference.h"

namespace hiaton::exec {

// A stand-in: the reference executor, until the production executor takes this file's place.
RunResult run_production(const graph::Graph& graph, std::span<const Value> arguments,
                         const RunOptions& options) {
  return run_reference(graph, arguments, options);
}

}  // namespace hiaton::exec
