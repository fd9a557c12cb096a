// What a `match` tests, in which order: its patterns as a tree of decisions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lang/diagnostics.h"
#include "lang/symbols.h"
#include "lang/syntax.h"

namespace hiaton::lang {

/// A value that patterns look at: the matched one, or a field of one that is known to be of a variant.
struct Access {
  static constexpr std::size_t kMatched = 0;
  std::size_t parent = 0;  ///< without meaning for the matched value
  std::size_t variant = 0;
  std::size_t field = 0;
  Type type;
};

struct Decision {
  struct Binding {
    Symbol name;
    Span span;
    std::size_t access;
  };
  struct Choice {
    std::size_t variant;  ///< without meaning for the last one, which takes what is left
    std::size_t next;     ///< in Decisions::tree
  };
  std::vector<Choice> choices;  ///< empty: an arm is found
  std::size_t tested = 0;       ///< which access decides among the choices
  std::size_t arm = 0;
  std::vector<Binding> bindings;  ///< of the arm
};

struct Decisions {
  std::vector<Access> accesses;
  std::vector<Decision> tree;  ///< the first one is where it begins
};

/// Empty where patterns are wrong, leave something out or are never reached, which is reported; `place` is
/// that of the word `match`. `matched` is a data type.
std::optional<Decisions> decide(const Type& matched, std::span<const Arm> arms, const Syntax& syntax,
                                const Symbols& symbols, Span place, Diagnostics& diagnostics);

}  // namespace hiaton::lang
