// Gradients of function values that are themselves among these values: `grad(l.f)(x)` where some function
// that `l.f` may be takes `grad(l.f)` too.
#pragma once

#include "hiaton/builder.h"
#include "lang/function_types.h"

namespace hiaton::lang {

/// The gradient of what calls a value is derived from all that it may call. Where one of these takes that
/// gradient, it would be derived from itself. Instead, each gradient is derived from copies of these
/// functions whose own gradients are derived from further copies; the last ones end the run.
void separate_nested_gradients(ModuleBuilder& builder, FunctionTypes& types);

}  // namespace hiaton::lang
