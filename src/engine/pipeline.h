// From a module to the graph that runs.
#pragma once

#include <string_view>

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

/// The same for a module that has an entry and is simplified as far as it should be.
graph::Graph compile_simplified(ir::Module module, Purpose purpose);

}  // namespace hiaton
