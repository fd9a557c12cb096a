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
  /// A dimension of an argument, which gave a symbol its size.
  struct ArgumentAxis {
    std::size_t argument;
    std::size_t axis;
  };

  /// Takes in the next argument. False where its type does not go with the parameter's, or where a symbol
  /// would stand for two sizes.
  bool bind(const Type& param, const Type& argument);
  /// Where the symbol came first. Bound ones only.
  ArgumentAxis first_of(const std::string& symbol) const { return known_.find(symbol)->second.first; }
  /// The type of a result, with what is known of its symbols; symbols of the callee that are not known become
  /// dimensions that only the run knows.
  Type substitute(Type type) const;
  /// The type with the sizes that its symbols are known to stand for.
  Type with_known(Type type) const;

 private:
  struct Known {
    Dim dim;
    ArgumentAxis first;
  };
  std::map<std::string, Known, std::less<>> known_;
  std::size_t arguments_ = 0;
};

}  // namespace hiaton
