// From a module to the graph that runs.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "hiaton/engine.h"
#include "hiaton/graph.h"
#include "hiaton/ir.h"

namespace hiaton {

enum class Purpose : uint8_t {
  Run,    ///< the results of the entry
  Train,  ///< also the gradients of the module's parameters for the entry's first result
};

/// The graph of the program that starts at the function `entry`.
graph::Graph compile(ir::Module module, std::string_view entry, Purpose purpose,
                     const CompileOptions& options);

/// The graph of the program that gives the results of the function `entry`, and then the gradients of the
/// parameters with the numbers `wrt`, for gradients of the results that come behind its arguments; it also
/// gathers the gradients of the module's parameters: hiaton/passes.h.
graph::Graph compile_vjp(ir::Module module, const std::vector<std::size_t>& wrt,
                         const CompileOptions& options);

/// The same for a module that has an entry and is simplified as far as it should be.
graph::Graph compile_simplified(ir::Module module, Purpose purpose, OverflowMode overflow);

}  // namespace hiaton
