// What a `match` tests, in which order: its patterns as a tree of decisions.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hiaton/builder.h"
#include "hiaton/value.h"
#include "lang/diagnostics.h"
#include "lang/symbols.h"
#include "lang/syntax.h"

namespace hiaton::lang {

/// A value that patterns look at: a matched one, or a field of one that is known to be of a variant.
struct Access {
  std::size_t parent = 0;  ///< without meaning for the matched values, which come first
  std::size_t variant = 0;
  std::size_t field = 0;
  Type type;
};

/// Whether patterns tell values of the type apart by their variants, and not as a whole.
inline bool has_variants(const Type& type) {
  return type.is_data() && !is_string(type);
}

struct Decision {
  struct Binding {
    Symbol name;
    Span span;
    std::size_t access;
    std::optional<std::size_t> variant{};  ///< which it is in the arm, where the pattern says so
  };
  struct Choice {
    Value key;         ///< a literal or the number of a variant; the last choice may take what others leave
    std::size_t next;  ///< in Decisions::tree
  };
  std::vector<Choice> choices;      ///< empty: an arm is found
  bool names_all_variants = false;  ///< the choices are the variants of a data type, each once
  std::size_t tested = 0;           ///< the access that decides among the choices
  std::size_t arm = 0;
  std::vector<Binding> bindings{};  ///< what the arm binds
  std::size_t otherwise = 0;        ///< in Decisions::tree: where the guard of the arm does not hold
};

struct Decisions {
  std::vector<Access> accesses;
  std::vector<Decision> tree;  ///< the first one is where it begins
};

/// Empty where patterns are wrong, leave something out or are never reached, which is reported; `place` is
/// that of the word `match`, or of the one pattern where a `let` or parameter is taken apart.
std::optional<Decisions> decide(std::span<const Type> matched, std::span<const Arm> arms,
                                const Syntax& syntax, const Source& source, const TokenList& tokens,
                                const Symbols& symbols, Span place, bool is_match, Diagnostics& diagnostics);

/// So many strings are compared as fast one after the other.
constexpr std::size_t kMostStringsInTurn = 4;

/// The place of the one among distinct strings that is equal to the text, found by few tests; as many as
/// there are where none is.
Var number_among(FunctionBuilder& f, Var text, std::span<const Value> strings, Span span);

}  // namespace hiaton::lang
