// The body of an extended function: that of the function, and the backward path.
#pragma once

#include "hiaton/builder.h"
#include "passes/extensions.h"

namespace hiaton::passes {

/// The results of the extension `to` of the function `from`, whose number is `id`.
Vars build_extension(Extensions& extensions, ir::FunctionId id, const ir::Function& from,
                     FunctionBuilder& to);

}  // namespace hiaton::passes
