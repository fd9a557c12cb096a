// The functions of the program that is being read.
#pragma once

#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "hiaton/builder.h"
#include "lang/declarations.h"
#include "lang/diagnostics.h"
#include "lang/operations.h"
#include "lang/syntax.h"

namespace hiaton::lang {

/// Declares every function before any body is read, and finds them by name.
class Functions {
 public:
  Functions(const Source& source, const TokenList& tokens, const Symbols& symbols,
            const Operations& operations, const std::vector<FunctionHead>& heads, Declarations& declarations,
            ModuleBuilder& builder, Diagnostics& diagnostics);

  const std::vector<FunctionHead>& heads() const { return heads_; }
  /// nullptr where no function has this name. A function of the program hides one of the standard library,
  /// but from the library.
  const FunctionHead* find(Symbol name) const {
    if (in_library_ && hidden_.contains(name)) return hidden_.at(name);
    return by_symbol_[name];
  }
  /// From here on names are those of the body of this function.
  void enter(const FunctionHead& head);
  FunctionRef reference(const FunctionHead& head) const { return references_.at(&head); }
  /// The function that a generic one is for these types and functions; nullptr where its head is wrong, which
  /// is reported. `made_for` is the function with this use.
  const FunctionHead* instance(const FunctionHead& generic, const TypeArguments& arguments,
                               const FunctionHead& made_for, const std::vector<FunctionArgument>& given = {},
                               Span used_at = {});
  /// Whether something asked for an instance and has not taken that back.
  bool is_needed(const FunctionHead& instance) const { return times_needed_.at(&instance) > 0; }
  void need(const FunctionHead& instance) {
    ++times_needed_[&instance];
    asked_.push_back(&instance);
  }
  /// What stands in the body of the instance was made elsewhere: whoever asked for it last does not need it.
  void take_back(const FunctionHead& instance);
  /// How often instances were asked for, without what was taken back.
  std::size_t times_asked() const { return asked_.size(); }
  /// The instances that were asked for from this time on.
  std::vector<const FunctionHead*> asked_since(std::size_t time) const {
    return {asked_.begin() + static_cast<std::ptrdiff_t>(time), asked_.end()};
  }
  /// Takes back all that was asked for from this time on.
  void take_back_since(std::size_t time);
  /// A function that was made for a lambda.
  const FunctionHead* add_lambda(FunctionHead head, FunctionRef made);
  std::vector<ir::ValueInfo> params_of(const FunctionHead& head) const;
  /// The functions that were made, in order; more may be made while their bodies are read.
  const std::deque<FunctionHead>& instances() const { return instances_; }
  /// Asks for the gradient that the function is. Reports where it cannot be.
  void define_gradient(const FunctionHead& head);
  /// What is asked of the gradient of the function; empty where it has no such parameters, which is reported.
  std::optional<ir::GradientForm> form_of(const GradientOf::Step& step, const FunctionHead& of) const;
  /// Says why there is no such gradient where no function of the program has the name.
  void report_unknown(const GradientOf& gradient) const;
  /// "fact(n: i64)"
  std::string signature(const FunctionHead& head) const;

 private:
  std::optional<ir::GradientForm::By> derived_by(const GradientOf::Wrt& wrt, const FunctionHead& of) const;
  const FunctionHead* instance_like(const FunctionHead& generic, const FunctionHead& like);
  FunctionRef declare(const FunctionHead& head);
  FunctionRef declare_as(const std::string& name, const FunctionHead& head);
  void require_names_of_params(const FunctionHead& head);
  bool name_is_free(const FunctionHead& head);

  const Source& source_;
  const TokenList& tokens_;
  const Symbols& symbols_;
  const Operations& operations_;
  const std::vector<FunctionHead>& heads_;
  Declarations& declarations_;
  ModuleBuilder& builder_;
  Diagnostics& diagnostics_;
  std::vector<const FunctionHead*> by_symbol_;
  std::unordered_map<Symbol, const FunctionHead*>
      hidden_;  ///< functions of the library that the program hides
  bool in_library_ = false;
  std::unordered_map<const FunctionHead*, FunctionRef> references_;
  std::deque<FunctionHead> instances_;  ///< uses of generic functions
  std::unordered_map<std::string, const FunctionHead*> instances_by_types_;
  std::unordered_map<const FunctionHead*, std::size_t> times_needed_;  ///< instances
  std::vector<const FunctionHead*> asked_;  ///< instances, in the order in which they were asked for
  std::deque<FunctionHead> lambdas_;
};

/// The names of those with type parameters.
std::unordered_set<Symbol> generic_names(const std::vector<FunctionHead>& heads);

/// Where a symbol stands among the dimensions of the parameters of a function.
struct SymbolPlace {
  std::size_t param;
  std::size_t axis;
};
/// The first one of each. For as long as the head lives.
std::unordered_map<std::string_view, SymbolPlace> symbol_places(const FunctionHead& head);
/// By their names.
std::unordered_map<Symbol, std::size_t> param_numbers(const FunctionHead& head);

/// The types as the program has them, with what sizes are computed of.
std::vector<Type> written_params(const FunctionHead& head, const Source& source);

/// Whether no two patterns have the same name; reports those that do. `what` is what they name.
bool require_distinct(std::span<const Pattern> patterns, std::string_view what, const Symbols& symbols,
                      Diagnostics& diagnostics);

}  // namespace hiaton::lang
