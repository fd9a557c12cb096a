// A function that is known before the run, where it is an argument or has a name by `let`.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "hiaton/builder.h"
#include "lang/operations.h"
#include "lang/syntax.h"

namespace hiaton::lang {

/// What is called, and the values that each call takes along.
struct FunctionValue {
  Symbol name = 0;  ///< the name that it has here, where it is a parameter
  const FunctionHead* function = nullptr;
  const Operation* operation = nullptr;
  std::string text;
  std::vector<Var> captured{};
  // A function of which the types of its parameters are not known before it is used.
  const Expr* open = nullptr;              ///< a Lambda, a Gradient, or the Name of a generic function
  std::vector<Symbol> names{};             ///< names of the values at the beginning of `captured`
  std::vector<FunctionValue> functions{};  ///< functions that it uses, of which the values come next
  std::vector<uint32_t> lambdas{};         ///< where those begin in the text that it is made of

  bool known() const { return function != nullptr || operation != nullptr || open != nullptr; }
  bool is_open() const { return open != nullptr; }
  /// A text that is equal for equal functions, whatever values they take along.
  std::string identity() const;
  /// A text that is equal where it takes values of the same types along, and uses the same functions.
  std::string text_of_used() const;
};

/// A function that was made for a lambda, and the uses of generic functions in it.
struct ClosedLambda {
  const FunctionHead* function = nullptr;
  std::vector<const FunctionHead*> asked;
};
/// By where the lambdas stand, and for which types they were made.
using ClosedLambdas = std::unordered_map<std::string, ClosedLambda>;

}  // namespace hiaton::lang
