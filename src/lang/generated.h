// Functions that a program uses without writing them: gradients, and what `map`, `fold` and `scan` do.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "hiaton/builder.h"

namespace hiaton::lang {

/// A type as a part of the name of a function: "List_i64".
std::string as_name(std::string_view type);

/// Makes each of them once.
class Generated {
 public:
  explicit Generated(ModuleBuilder& builder) : builder_(builder) {}

  /// Throws ProgramError where the function can have no gradient.
  FunctionRef gradient(FunctionRef of, const ir::GradientForm& form);

  /// What builds the body; it gets the function itself, for calls.
  using Body = std::function<Vars(FunctionBuilder&, FunctionRef)>;
  /// A function that is named like `wanted`; the same one for the same name and types.
  FunctionRef function(const std::string& wanted, std::vector<ir::ValueInfo> params,
                       std::vector<Type> results, const Body& body);

  /// A new function of which the body decides the results.
  FunctionRef function_with_any_results(const std::string& wanted, std::vector<ir::ValueInfo> params,
                                        const std::function<Vars(FunctionBuilder&)>& body);

  /// A new function that is named like `wanted`, which `define` gives its body.
  FunctionRef declare(const std::string& wanted, std::vector<ir::ValueInfo> params,
                      std::vector<Type> results) {
    return builder_.declare(free_name(wanted), std::move(params), std::move(results));
  }
  void define(FunctionRef made, const std::function<Vars(FunctionBuilder&)>& body) {
    builder_.define(made, body);
  }

  const ir::Function& operator[](FunctionRef ref) const { return builder_.module()[ref.id]; }

 private:
  std::string free_name(const std::string& wanted) const;

  ModuleBuilder& builder_;
  std::map<std::string, FunctionRef> made_;  ///< by what they were asked for as
};

}  // namespace hiaton::lang
