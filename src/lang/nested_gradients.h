// Gradients of function values that are themselves among these values: `grad(l.f)(x)` where some function
// that `l.f` may be takes `grad(l.f)` too.
#pragma once

#include <unordered_map>

#include "hiaton/builder.h"
#include "lang/function_types.h"

namespace hiaton::lang {

/// The gradient of what calls a value is derived from all that it may call. Where one of these takes that
/// gradient, it would be derived from itself. Instead, each gradient is derived from copies of these
/// functions whose own gradients are derived from further copies; the last ones end the run, with an error at
/// the place where the gradient is asked for: `places`, by the function that is made for it.
void separate_nested_gradients(ModuleBuilder& builder, FunctionTypes& types,
                               const std::unordered_map<std::size_t, Span>& places);

}  // namespace hiaton::lang
