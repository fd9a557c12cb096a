// BodyChecker: `match`, as branches on the number of the variant.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "lang/body_checker.h"
#include "lang/decisions.h"

namespace hiaton::lang {

/// Makes the nodes of one `match`.
class BodyChecker::Matching {
 public:
  Matching(BodyChecker& checker, const Expr& expr, const Decisions& decisions, Var matched, Wishes wishes)
      : checker_(checker),
        expr_(expr),
        decisions_(decisions),
        vars_(decisions.accesses.size()),
        wanted_(wishes),
        wishes_(wishes.begin(), wishes.end()),
        has_wish_(
            std::any_of(wishes.begin(), wishes.end(), [](const Wish& wish) { return wish.has_value(); })),
        broken_(expr.list.count, false) {
    vars_[Access::kMatched] = matched;
    std::vector<bool> seen(broken_.size(), false);
    for (std::size_t i = 0; i < decisions_.tree.size(); ++i) {
      const Decision& decision = decisions_.tree[i];
      if (!decision.choices.empty()) continue;
      if (!seen[decision.arm]) arms_.push_back({decision.arm, i});
      copies_matches_ = copies_matches_ || (seen[decision.arm] && arm_of(decision).holds_match);
      seen[decision.arm] = true;
    }
  }

  /// Decisions that lead to the same arm have copies of it. Copies that hold copies would be a program that
  /// grows exponentially: where an arm holds a `match`, the decisions give the number of the arm instead, and
  /// each arm stands there once.
  Vars run() {
    const Decision& first = decisions_.tree[0];
    if (!copies_matches_) return take(first, [&](const Decision& decision) { return arm(decision); });
    const Var number = take(first, [&](const Decision& decision) -> Vars {
      f().set_span(expr_.sign);
      return f().constant(static_cast<int64_t>(decision.arm));
    });
    return branch(arms_, true, number, [&](const Decision& decision) { return arm(decision); });
  }

 private:
  using Choices = std::vector<Decision::Choice>;

  FunctionBuilder& f() { return *checker_.f_; }
  const Arm& arm_of(const Decision& decision) const {
    return checker_.syntax_->arms[expr_.list.begin + decision.arm];
  }

  /// `give` gives the values where an arm is found.
  template <class Give>
  Vars take(const Decision& decision, const Give& give) {
    if (decision.choices.empty()) return give(decision);
    if (decision.choices.size() == 1) return take(decisions_.tree[decision.choices[0].next], give);
    f().set_span(expr_.sign);
    const Var variant = f().variant(var_of(decision.tested));
    const Type& tested = decisions_.accesses[decision.tested].type;
    return branch(decision.choices, decision.choices.size() == tested.data->variants.size(), variant, give);
  }

  /// `is_complete`: no choice takes what several numbers leave.
  template <class Give>
  Vars branch(const Choices& choices, bool is_complete, Var number, const Give& give) {
    std::vector<Side> sides(choices.size());
    std::vector<Vars> results(choices.size(), unknown());
    for (std::size_t i : in_order_of_types(choices)) {
      const std::size_t made = made_.size();
      sides[i] = {static_cast<int64_t>(choices[i].variant), f().begin_block({})};
      results[i] = take(decisions_.tree[choices[i].next], give);
      checker_.close(sides[i].block, results[i]);
      forget_down_to(made);
    }
    const auto first = std::find_if(results.begin(), results.end(), [](const Vars& r) { return known(r); });
    if (first == results.end()) return unknown();
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (known(results[i]) && !require_alike(*first, results[i], choices[i])) return unknown();
    }
    if (!std::all_of(results.begin(), results.end(), all_known)) return checker_.in_place_of(*first);
    return is_complete ? test_halves(number, sides) : test_in_turn(number, sides);
  }

  /// Where nothing is wished, arms with a type of their own come first, so that literals take it.
  std::vector<std::size_t> in_order_of_types(const Choices& choices) const {
    std::vector<std::size_t> order(choices.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    if (has_wish_) return order;
    std::stable_partition(order.begin(), order.end(), [&](std::size_t i) {
      const Decision& next = decisions_.tree[choices[i].next];
      return next.choices.empty() && (*checker_.syntax_)[arm_of(next).body].flex == Flex::Rigid;
    });
    return order;
  }

  void follow(const Vars& results) {
    if (has_wish_ || !known(results)) return;
    wishes_ = types_of({results.begin(), results.end()});
    has_wish_ = true;
  }

  Vars arm(const Decision& decision) {
    if (broken_[decision.arm]) return unknown();  // reported the first time
    const std::size_t findings = checker_.diagnostics_.count();
    const std::size_t names = checker_.scope_.size();
    for (const Decision::Binding& binding : decision.bindings) {
      f().set_span(binding.span);
      checker_.bind({binding.name, std::nullopt, binding.span}, var_of(binding.access));
    }
    Vars results = checker_.values(arm_of(decision).body, wishes_);
    checker_.scope_.shrink(names);
    broken_[decision.arm] = checker_.diagnostics_.count() > findings;
    follow(results);
    return results;
  }

  /// Fields are taken where they are first needed; the block that is open then, and those inside it, see
  /// them.
  Var var_of(std::size_t access) {
    std::vector<std::size_t> way;
    for (; !known(vars_[access]); access = decisions_.accesses[access].parent) way.push_back(access);
    Var var = vars_[access];
    for (; !way.empty(); way.pop_back()) {
      const Access& field = decisions_.accesses[way.back()];
      var = f().field(var, field.variant, field.field);
      vars_[way.back()] = var;
      made_.push_back(way.back());
    }
    return var;
  }

  void forget_down_to(std::size_t count) {
    for (; made_.size() > count; made_.pop_back()) vars_[made_.back()] = Var();
  }

  bool require_alike(const Vars& first, const Vars& other, const Decision::Choice& choice) {
    if (alike(first, other, wanted_)) return true;
    const Decision& next = decisions_.tree[choice.next];
    const Span place = next.choices.empty() ? checker_.place_of(arm_of(next).body) : expr_.sign;
    checker_.report(
        place, fmt::format("the arms of 'match' differ: {} in one before, {} in this one{}", type_list(first),
                           type_list(other), hint_at_sizes(first, other, wanted_)));
    return false;
  }

  /// What is to be run for a number.
  struct Side {
    int64_t number = 0;
    ir::BlockId block{};
  };

  /// The last side needs no test.
  Vars test_in_turn(Var number, std::span<const Side> sides) {
    const Var is_it = compare(Tok::Equal, number, sides[0].number);
    ir::BlockId otherwise = sides[1].block;
    if (sides.size() > 2) {
      otherwise = f().begin_block({});
      f().end_block(otherwise, test_in_turn(number, sides.subspan(1)));
    }
    f().set_span(expr_.sign);
    return f().finish_if(is_it, sides[0].block, otherwise);
  }

  /// Many sides would be branches too deep inside each other.
  Vars test_halves(Var number, std::vector<Side> sides) {
    if (sides.size() <= kLongestInTurn) return test_in_turn(number, sides);
    std::sort(sides.begin(), sides.end(), [](const Side& a, const Side& b) { return a.number < b.number; });
    const auto middle = sides.begin() + static_cast<std::ptrdiff_t>(sides.size() / 2);
    const Var is_below = compare(Tok::Less, number, middle->number);
    const ir::BlockId below = f().begin_block({});
    f().end_block(below, test_halves(number, {sides.begin(), middle}));
    const ir::BlockId above = f().begin_block({});
    f().end_block(above, test_halves(number, {middle, sides.end()}));
    f().set_span(expr_.sign);
    return f().finish_if(is_below, below, above);
  }

  Var compare(Tok op, Var number, int64_t with) {
    f().set_span(expr_.sign);
    const std::array operands = {number, f().constant(with)};
    return checker_.emit(checker_.operations_.infix(op), operands, expr_.sign);
  }

  static constexpr std::size_t kLongestInTurn = 8;

  BodyChecker& checker_;
  const Expr& expr_;
  const Decisions& decisions_;
  std::vector<Var> vars_;          ///< by access; unknown where not taken yet
  std::vector<std::size_t> made_;  ///< the accesses that have been taken, in order
  Wishes wanted_;                  ///< around the `match`
  std::vector<Wish> wishes_;       ///< of the arms
  bool has_wish_;
  std::vector<bool> broken_;  ///< by arm: there are findings about it
  Choices arms_;              ///< by its number, a decision for each arm
  bool copies_matches_ = false;
};

Vars BodyChecker::match(const Expr& expr, Wishes wishes) {
  const Var matched = value(expr.a);
  const auto arms = std::span(syntax_->arms).subspan(expr.list.begin, expr.list.count);
  std::optional<Decisions> decisions;
  if (known(matched) && !matched.type().is_data()) {
    report(place_of(expr.a),
           fmt::format("'match': expected a value of a data type, found {}", to_string(matched.type())));
  } else if (known(matched) && !matched.type().data->variants.empty()) {  // else they could not be read
    decisions = decide(matched.type(), arms, *syntax_, symbols_, expr.sign, diagnostics_);
  }
  if (decisions) return Matching(*this, expr, *decisions, matched, wishes).run();
  for (const Arm& arm : arms) check_apart(arm, wishes);
  return unknown();
}

/// Looks for findings in an arm of a `match` of which no module comes.
void BodyChecker::check_apart(const Arm& arm, Wishes wishes) {
  const std::size_t names = scope_.size();
  std::vector<ArmPattern> waiting{arm.pattern};
  while (!waiting.empty()) {
    const ArmPattern pattern = waiting.back();
    waiting.pop_back();
    if (pattern.kind == ArmPattern::Kind::Name) scope_.bind(pattern.name, Var());
    const auto first = syntax_->arm_patterns.begin() + pattern.parts.begin;
    waiting.insert(waiting.end(), first, first + pattern.parts.count);
  }
  ir::BlockId nowhere = f_->begin_block({});
  values(arm.body, wishes);
  close(nowhere, unknown());
  scope_.shrink(names);
}

}  // namespace hiaton::lang
