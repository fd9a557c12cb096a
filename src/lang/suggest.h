// "Did you mean ...": the known name that is most like an unknown one.
#pragma once

#include <string>
#include <string_view>

#include "lang/token.h"

namespace hiaton::lang {

class Suggestion {
 public:
  explicit Suggestion(std::string_view unknown);

  void offer(std::string_view known);
  /// "; did you mean 'fact'?", or nothing where no offered name is near.
  std::string text() const;

 private:
  std::string_view unknown_;
  std::string_view best_;
  std::size_t best_distance_;
};

/// Where there is a function, data type or variant of this name, or what stands here for a function that
/// other languages have: "; ...". Empty where nothing is known of the name.
std::string known_elsewhere(std::string_view name);

/// What stands here for a word of other languages, in a program: "; ...". Empty where nothing is known of it.
std::string written_here(std::string_view word);

/// What stands here for a method or an attribute of other languages, which values here do not have, likewise.
std::string without_dot(std::string_view name);

/// What stands here for a word that begins a declaration in other languages, likewise.
std::string declared_elsewhere(std::string_view word);

/// What to write instead of what begins with the token `next`, where `what` is expected: "a list with a new
/// first element is [x, ..xs]". Empty where no such notation is known. `first` is the first token of the
/// program.
std::string_view written_instead_of_notation(std::string_view what, const Token* first, const Token* next);

}  // namespace hiaton::lang
