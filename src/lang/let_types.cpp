#include "lang/let_types.h"

#include <fmt/format.h>

#include <algorithm>

#include "lang/type_inference.h"

namespace hiaton::lang {

BodyChecker::LetUses* BodyChecker::uses_with(ExprId id) const {
  LetUses* uses = uses_;
  while (uses != nullptr && !uses->uses.contains(id.index())) uses = uses->around;
  return uses == nullptr || uses->inside == id ? nullptr : uses;
}

/// Unknown, without a finding, where the place does not tell the type either.
Var BodyChecker::use_of_let(ExprId id, const Wish& wish) {
  LetUses& uses = *uses_with(id);
  const ExprId around = std::exchange(uses.inside, id);
  const std::size_t findings = diagnostics_.count();
  const bool is_told = wish || collected_ != nullptr || tells(id) != Tells::Nothing;
  const Var found = is_told ? value(id, wish) : value_by_itself(id);
  uses.inside = around;
  Wish& type = uses.types[uses.uses.at(id.index())];
  if (!type && known(found) && diagnostics_.count() == findings) type = without_symbols(found.type());
  return found;
}

/// What its text alone does not tell, as of a `fold`, its parts may. Unknown, without a finding, where they
/// do not.
Var BodyChecker::value_by_itself(ExprId id) {
  if (is_value_of_open_type(giver_of(id))) return Var();
  const std::size_t findings = diagnostics_.count();
  const Var found = value(id);
  if (diagnostics_.count() == findings) return found;
  diagnostics_.forget_after(findings);
  return Var();
}

std::span<const Let> BodyChecker::LetTypes::lets() const {
  return std::span(checker_.syntax_->lets).subspan(block_.list.begin, block_.list.count);
}

const BodyChecker::LetTypes::Name* BodyChecker::LetTypes::find(std::size_t let, std::size_t pattern) const {
  const auto found = std::ranges::find_if(
      names_, [&](const Name& name) { return name.let == let && name.pattern == pattern; });
  return found == names_.end() ? nullptr : &*found;
}

/// Invalid where no expression of its own gives the value.
ExprId BodyChecker::LetTypes::value_of(const Let& let, std::size_t pattern) const {
  if (let.patterns.count == 1) return let.bound;
  const Expr& giver = (*checker_.syntax_)[checker_.giver_of(let.bound)];
  const bool has_parts = giver.kind == Expr::Kind::Tuple && giver.list.count == let.patterns.count;
  return has_parts ? checker_.element(let.bound, pattern) : ExprId();
}

/// Whether the value leaves the type of a name open.
bool BodyChecker::LetTypes::is_open(std::size_t index, std::size_t pattern) const {
  const Let& let = lets()[index];
  const Pattern& name = checker_.patterns(let.patterns)[pattern];
  if (!name.name || name.type) return false;
  const ExprId value = value_of(let, pattern);
  return value.valid() && checker_.tells(value) == Tells::Nothing && !checker_.is_function(value);
}

bool BodyChecker::LetTypes::has_open(std::size_t let) const {
  for (std::size_t i = 0; i < lets()[let].patterns.count; ++i) {
    if (is_open(let, i)) return true;
  }
  return false;
}

std::vector<Wish> BodyChecker::LetTypes::of(std::size_t let) {
  if (!has_open(let)) return {};
  std::vector<Wish> types;
  bool is_asked = true;
  const std::span<const Pattern> names = checker_.patterns(lets()[let].patterns);
  for (std::size_t i = 0; i < names.size(); ++i)
    is_asked = is_asked && (!is_open(let, i) || find(let, i) != nullptr);
  if (!is_asked) tell(let);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Name* const name = find(let, i);
    types.push_back(name != nullptr ? name->type : names[i].type);
  }
  return types;
}

/// A type that is found so may tell others.
void BodyChecker::LetTypes::tell(std::size_t first) {
  bool tells_more = true;
  while (tells_more) {
    Syntax unfolded = *checker_.syntax_;
    LetUses uses{.around = checker_.uses_, .uses = {}, .types = {}};
    const std::vector<std::size_t> asked = unfold_from(first, unfolded, uses);
    if (asked.empty()) return;
    is_clear_ = checker_.diagnostics_.is_clear();
    is_clear_ = attempt_from(first, unfolded, uses) && is_clear_;
    tells_more = false;
    for (const std::size_t name : asked) {
      names_[name].type = uses.types[name];
      tells_more = tells_more || uses.types[name].has_value();
    }
  }
}

/// Values without a type stand in the place of their names, which may be told by each other's uses. Which of
/// `names_` these are.
std::vector<std::size_t> BodyChecker::LetTypes::unfold_from(std::size_t first, Syntax& in, LetUses& uses) {
  const Syntax* const syntax = std::exchange(checker_.syntax_, &in);
  std::vector<std::size_t> asked;
  for (std::size_t i = first; i < lets().size(); ++i) {
    const Let let = lets()[i];
    if (let.function) continue;
    for (std::size_t k = 0; k < let.patterns.count; ++k) {
      const Name* const name = find(i, k);
      if ((name != nullptr && name->type) || !is_open(i, k)) continue;
      const Symbol symbol = *checker_.patterns(let.patterns)[k].name;
      const auto replaced =
          checker_.unfold(in, let.bound.index() + 1, last_use(i, symbol), symbol, value_of(let, k));
      asked.push_back(name == nullptr ? names_.size() : static_cast<std::size_t>(name - names_.data()));
      if (name == nullptr)
        names_.push_back({.let = i, .pattern = k, .is_used = !replaced.empty(), .type = {}});
      for (const std::size_t use : replaced) uses.uses[use] = asked.back();
    }
  }
  uses.types.resize(names_.size());
  checker_.syntax_ = syntax;
  return asked;
}

/// The last expression in which the name may stand for what the `let` binds.
std::size_t BodyChecker::LetTypes::last_use(std::size_t let, Symbol name) const {
  for (std::size_t i = let + 1; i < lets().size(); ++i) {
    const Let& later = lets()[i];
    if (later.function) {
      const LocalFunction& function = checker_.syntax_->functions[*later.function];
      if (function.name.name == name) return function.first - 1;
      continue;
    }
    const std::span<const Pattern> names = checker_.patterns(later.patterns);
    if (std::ranges::any_of(names, [&](const Pattern& other) { return other.name == name; }))
      return later.bound.index();
  }
  return block_.a.index();
}

/// Whether nothing is wrong in what the names are for.
bool BodyChecker::LetTypes::attempt_from(std::size_t first, const Syntax& unfolded, LetUses& uses) {
  LetUses* const around = std::exchange(checker_.uses_, &uses);
  const bool is_right = checker_.attempt_in(unfolded, [&] {
    for (std::size_t i = first; i < lets().size();) {
      std::size_t end = i;
      while (end < lets().size() && lets()[end].function) ++end;
      if (end > i) {
        checker_.let_functions(lets().subspan(i, end - i));
        i = end;
        continue;
      }
      let_in_attempt(i, uses);
      ++i;
    }
    rest_();
  });
  checker_.uses_ = around;
  return is_right;
}

/// Binds the names but those that the uses have in their place what they stand for.
void BodyChecker::LetTypes::let_in_attempt(std::size_t index, LetUses& uses) {
  const Let& let = lets()[index];
  const std::span<const Pattern> names = checker_.patterns(let.patterns);
  const auto is_unfolded = [&](const Name& name) { return name.let == index && !name.type; };
  if (std::ranges::none_of(names_, is_unfolded)) return checker_.let(let, of(index));
  for (std::size_t k = 0; k < names.size(); ++k) {
    const Name* const name = find(index, k);
    if (name != nullptr && !name->type) {
      const Var found = checker_.value_by_itself(value_of(let, k));
      if (known(found))
        uses.types[static_cast<std::size_t>(name - names_.data())] = without_symbols(found.type());
      continue;
    }
    checker_.bind(names[k],
                  checker_.value(value_of(let, k), name != nullptr ? name->type : Wish(names[k].type)));
  }
}

bool BodyChecker::LetTypes::is_untold(std::size_t index, Wishes types) {
  if (types.size() != 1 || types[0]) return false;
  const ExprId value = checker_.giver_of(lets()[index].bound);
  if (!checker_.is_value_of_open_type(value)) return false;
  const Name* const name = find(index, 0);
  if (is_clear_ || (name != nullptr && !name->is_used)) {
    report(index);
  } else {
    untold_.push_back(index);
  }
  return true;
}

void BodyChecker::LetTypes::report_untold() {
  if (!checker_.diagnostics_.is_clear()) return;
  for (const std::size_t index : untold_) report(index);
}

void BodyChecker::LetTypes::report(std::size_t index) {
  const Let& let = lets()[index];
  const Expr& value = (*checker_.syntax_)[checker_.giver_of(let.bound)];
  const std::string_view name = checker_.spelled(checker_.patterns(let.patterns)[0]);
  checker_.report(value.span,
                  fmt::format("expected the type of '{0}', which neither its value nor a use of it "
                              "tells; it is written let {0}: {1}[...] = {2}",
                              name, checker_.type_name_of_open(value), checker_.source_.text(value.span)));
}

}  // namespace hiaton::lang
