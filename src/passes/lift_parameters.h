// Learned parameters as arguments: what a gradient by a learned parameter is made of.
//
// A function that reads a parameter of the module gets a copy that takes it as an argument, and so do all
// that call it: the gradient by the parameter is then one by an argument.
#pragma once

#include <vector>

#include "hiaton/builder.h"

namespace hiaton::passes {

/// A function that takes learned parameters behind the arguments of its first phase.
struct Lifted {
  FunctionRef function;
  std::vector<std::size_t> parameters;  ///< the parameters that it takes, by number, in order
};

/// The function with those of the parameters as arguments that it, or what it calls, reads; the function
/// itself where it reads none. Expects all these functions to have bodies.
Lifted lift_parameters(ModuleBuilder& builder, ir::FunctionId function,
                       const std::vector<std::size_t>& parameters);

}  // namespace hiaton::passes
