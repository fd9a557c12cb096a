// Symbolic dimensions of function types.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "hiaton/type.h"

namespace hiaton {

/// What the symbols in the parameter types of a function stand for in one call: `n` of `x: f32[n]`.
class Dimensions {
 public:
  /// Takes in one argument. False where its type does not go with the parameter's, or where a symbol would
  /// stand for two sizes.
  bool bind(const Type& param, const Type& argument);
  /// The type of a result, with what is known of its symbols; symbols of the callee that are not known become
  /// dimensions that only the run knows.
  Type substitute(Type type) const;

 private:
  std::map<std::string, Dim, std::less<>> known_;
};

}  // namespace hiaton
