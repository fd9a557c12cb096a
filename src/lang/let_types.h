// Types of names whose values do not tell them, as that of `m` in `let m = MapTip`: what is done with the
// name tells them.
#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "lang/body_checker.h"

namespace hiaton::lang {

/// Where values without a type by themselves stand in the place of names, in an attempt.
struct BodyChecker::LetUses {
  LetUses* around = nullptr;                          ///< those of the attempt around this one
  std::unordered_map<std::size_t, std::size_t> uses;  ///< by expression, the number of the name
  std::vector<Wish> types;                            ///< what uses have told, by the number of the name
  ExprId inside{};                                    ///< the use that is being checked
};

/// The types of the names of one block.
class BodyChecker::LetTypes {
 public:
  /// `rest` checks what the names are for.
  LetTypes(BodyChecker& checker, const Expr& block, const std::function<void()>& rest)
      : checker_(checker), block_(block), rest_(rest) {}

  /// By the patterns of the `let`, the types that uses tell; none where its value tells all there is to tell.
  std::vector<Wish> of(std::size_t let);
  /// Whether nothing tells the type of the one name of the `let`, which is reported, now or at the end.
  bool is_untold(std::size_t let, Wishes types);
  /// Where nothing is wrong that may be why, names whose types nothing tells.
  void report_untold();

 private:
  struct Name {
    std::size_t let = 0;
    std::size_t pattern = 0;
    bool is_used = false;
    Wish type;
  };
  std::span<const Let> lets() const;
  const Name* find(std::size_t let, std::size_t pattern) const;
  ExprId value_of(const Let& let, std::size_t pattern) const;
  bool is_open(std::size_t let, std::size_t pattern) const;
  bool has_open(std::size_t let) const;
  void tell(std::size_t first);
  std::vector<std::size_t> unfold_from(std::size_t first, Syntax& in, LetUses& uses);
  std::size_t last_use(std::size_t let, Symbol name) const;
  bool attempt_from(std::size_t first, const Syntax& unfolded, LetUses& uses);
  void let_in_attempt(std::size_t let, LetUses& uses);
  void report(std::size_t let);

  BodyChecker& checker_;
  const Expr& block_;
  const std::function<void()>& rest_;
  std::vector<Name> names_;  ///< those whose uses were asked for the type
  std::vector<std::size_t> untold_;
  bool is_clear_ = false;  ///< nothing was wrong when uses were asked for types
};

}  // namespace hiaton::lang
