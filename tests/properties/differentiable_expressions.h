// Random expressions of differentiable programs.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "properties/random_choices.h"

namespace hiaton::properties {

enum class Kind : uint8_t { Integer, Number, Vector, Numbers, Vectors, Tree };

std::string type_of(Kind kind);

struct Variable {
  std::string name;
  Kind kind;
};

struct Function {
  std::string name;
  enum class Way : uint8_t { Element, Fuel, OverTree, OverList } way;
  std::vector<Variable> params;
  std::vector<Kind> results;
};

/// Makes expressions of each kind from the variables in scope, constants, and calls of known functions.
class Expressions {
 protected:
  explicit Expressions(uint64_t seed);

  /// A call of the function with this as its first argument.
  std::pair<std::string, Function> call_with(const Function& function, const std::string& first);
  /// Numbers stay of moderate size from call to call.
  std::string bounded(Kind kind, const std::string& value);
  std::string number();
  /// A variable of the kind, or else a constant.
  std::string variable(Kind kind);
  std::string expression(Kind kind, int depth);

  Random random_;
  const int d_;
  std::vector<Variable> scope_;
  std::vector<Function> known_;  ///< may be called by those that follow
  bool has_elements_ = false;
  int calls_left_ = 0;  ///< in this body, of known functions
  int names_ = 0;

 private:
  using Make = std::function<std::string()>;

  std::string number_of(std::size_t choice, const Make& number, const Make& vector, int depth);
  std::string vector_of(std::size_t choice, const Make& number, const Make& vector, int depth);
  /// Vectors by way of tensors of other shapes.
  std::string rearranged(std::size_t choice, const Make& number, const Make& vector);
  std::string gathered(const Make& vector);
  std::string sliced(std::size_t choice, const Make& vector);
  std::string list_of(Kind kind, const Make& element, const char* by_element, int depth);
  std::string tree_of(const Make& number, const Make& vector, int depth);
  std::string branch(Kind kind, int depth);
  /// Makes an expression of generic functions, lambdas, local functions and tuples.
  std::string with_functions(Kind kind, int depth);
  /// The body of a function of one parameter, `name`.
  std::string body_of(const std::string& name, Kind param, Kind result, int depth);
  /// The state has a type, as lists may grow from Nil.
  std::string loop(Kind kind, int depth);
  /// Makes a call of a function that was defined before, with little fuel.
  std::optional<std::string> call(Kind kind, int depth);
};

}  // namespace hiaton::properties
