// Functions that a program uses without writing them: gradients, and what `map`, `fold` and `scan` do.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "hiaton/builder.h"

namespace hiaton::lang {

/// Makes each of them once.
class Generated {
 public:
  explicit Generated(ModuleBuilder& builder) : builder_(builder) {}

  /// Throws ProgramError where the function can have no gradient.
  FunctionRef gradient(FunctionRef of, const ir::GradientForm& form);

  /// What builds the body; it gets the function itself, for calls.
  using Body = std::function<Vars(FunctionBuilder&, FunctionRef)>;
  /// See ModuleBuilder::helper.
  FunctionRef function(const std::string& wanted, std::vector<ir::ValueInfo> params,
                       std::vector<Type> results, const Body& body) {
    return builder_.helper(wanted, std::move(params), std::move(results), body);
  }

  /// A new function of which the body decides the results.
  FunctionRef function_with_any_results(const std::string& wanted, std::vector<ir::ValueInfo> params,
                                        const std::function<Vars(FunctionBuilder&)>& body);

  /// A new function that is named like `wanted`, which `define` gives its body.
  FunctionRef declare(const std::string& wanted, std::vector<ir::ValueInfo> params,
                      std::vector<Type> results) {
    return builder_.declare(builder_.name_for_helper(wanted), std::move(params), std::move(results));
  }
  void define(FunctionRef made, const std::function<Vars(FunctionBuilder&)>& body) {
    builder_.define(made, body);
  }

  std::size_t count() const { return builder_.module().functions.size(); }
  /// Functions from this number on whose bodies came to no end, as something in them is wrong: nothing calls
  /// them but themselves.
  void let_go_of_unfinished(std::size_t first);

  const ir::Function& operator[](FunctionRef ref) const { return builder_.module()[ref.id]; }

 private:
  ModuleBuilder& builder_;
  std::map<std::string, FunctionRef> made_;  ///< by what they were asked for as
};

}  // namespace hiaton::lang
