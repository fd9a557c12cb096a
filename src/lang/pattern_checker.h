// Patterns of a `match` against the types of what they are to take apart.
#pragma once

#include <span>
#include <unordered_map>
#include <unordered_set>

#include "hiaton/source.h"
#include "hiaton/value.h"
#include "lang/diagnostics.h"
#include "lang/symbols.h"
#include "lang/syntax.h"

namespace hiaton::lang {

/// Reports what is wrong with patterns, and knows what those mean that are right.
class PatternChecker {
 public:
  PatternChecker(const Syntax& syntax, const Source& source, const TokenList& tokens, const Symbols& symbols,
                 Diagnostics& diagnostics)
      : syntax_(syntax), source_(source), tokens_(tokens), symbols_(symbols), diagnostics_(diagnostics) {}

  /// The pattern of an arm, for a value of each type.
  void check(const ArmPattern& pattern, std::span<const Type> matched);

  /// Which variant of its type a checked pattern waits for.
  std::size_t variant(const ArmPattern& pattern) const { return variants_.at(&pattern); }
  /// Which number, truth value or string.
  const Value& literal(const ArmPattern& pattern) const { return literals_.at(&pattern); }

 private:
  void check_one(const ArmPattern& pattern, const Type& type);
  void check_variant(const ArmPattern& pattern, const Type& type);
  void check_literal(const ArmPattern& pattern, const Type& type);
  void add_string(const ArmPattern& pattern);
  void bind(Symbol name, Span span);
  std::optional<std::size_t> variant_of(const ArmPattern& pattern, const Type& type) const;

  const Syntax& syntax_;
  const Source& source_;
  const TokenList& tokens_;
  const Symbols& symbols_;
  Diagnostics& diagnostics_;
  std::unordered_set<Symbol> names_;  ///< in the pattern that is being checked
  std::unordered_map<const ArmPattern*, std::size_t> variants_;
  std::unordered_map<const ArmPattern*, Value> literals_;
};

}  // namespace hiaton::lang
