// The operations of the catalogue, by the symbols of one parse.
#pragma once

#include <string_view>
#include <vector>

#include "hiaton/op.h"
#include "lang/symbols.h"

namespace hiaton::lang {

/// Whether it is a word for tensors of sizes that may be known to the run alone. They are called as
/// operations are, and are none.
constexpr bool makes_filled(std::string_view word) {
  return word == "range" || word == "zeros" || word == "ones" || word == "full";
}

struct Operation {
  const OpDef* def = nullptr;
  bool keeps_type = false;  ///< its result always has the type of its operands
  std::string_view name;
  bool is_shadowed = false;
};

class Operations {
 public:
  explicit Operations(Symbols& symbols);

  /// What `name(...)` calls; nullptr where that is no operation.
  const Operation* find(Symbol name) const {
    const Operation* found = find_shadowed(name);
    return found == nullptr || found->is_shadowed ? nullptr : found;
  }
  /// What `::name(...)` calls: also where a function of the program has the name.
  const Operation* find_shadowed(Symbol name) const {
    const bool known = name < by_symbol_.size() && by_symbol_[name].def != nullptr;
    return known ? &by_symbol_[name] : nullptr;
  }
  /// A function of the program has this name.
  void shadow(Symbol name) {
    if (name < by_symbol_.size()) by_symbol_[name].is_shadowed = true;
  }
  /// The operation of an infix operator.
  const Operation& infix(Tok op) const { return infix_[static_cast<std::size_t>(op)]; }
  const Operation& negation() const { return negation_; }
  const Operation& logical_not() const { return logical_not_; }
  /// `x[i]`
  const Operation& gather() const { return gather_; }
  /// `x[i, j]`
  const Operation& at() const { return at_; }
  const Operation& set_at() const { return set_at_; }
  /// `[a, b]`
  const Operation& stack() const { return stack_; }

 private:
  std::vector<Operation> by_symbol_;
  std::vector<Operation> infix_;
  Operation negation_;
  Operation logical_not_;
  Operation gather_;
  Operation at_;
  Operation set_at_;
  Operation stack_;
};

/// Whether it takes numbers, but no integers: by itself it is then a function on f64.
bool takes_floats_alone(const OpDef& op);

/// As written in programs: "+", "==".
std::string_view spelling(Tok op);

}  // namespace hiaton::lang
