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
        wishes_(wishes.begin(), wishes.end()),
        has_wish_(
            std::any_of(wishes.begin(), wishes.end(), [](const Wish& wish) { return wish.has_value(); })),
        broken_(expr.list.count, false) {
    vars_[Access::kMatched] = matched;
  }

  Vars run() { return take(decisions_.tree[0]); }

 private:
  FunctionBuilder& f() { return *checker_.f_; }
  const Arm& arm_of(const Decision& decision) const {
    return checker_.syntax_->arms[expr_.list.begin + decision.arm];
  }

  Vars take(const Decision& decision) {
    if (decision.choices.empty()) return arm(decision);
    if (decision.choices.size() == 1) return take(decisions_.tree[decision.choices[0].next]);
    f().set_span(expr_.sign);
    const Var variant = f().variant(var_of(decision.tested));
    std::vector<ir::BlockId> blocks(decision.choices.size());
    std::vector<Vars> results(decision.choices.size(), unknown());
    for (std::size_t i : in_order_of_types(decision)) {
      const std::size_t made = made_.size();
      blocks[i] = f().begin_block({});
      results[i] = take(decisions_.tree[decision.choices[i].next]);
      checker_.close(blocks[i], results[i]);
      forget_down_to(made);
      follow(results[i]);
    }
    return branch(decision, variant, blocks, results);
  }

  /// Where nothing is wished, arms with a type of their own come first, so that literals take it.
  std::vector<std::size_t> in_order_of_types(const Decision& decision) const {
    std::vector<std::size_t> order(decision.choices.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    if (has_wish_) return order;
    std::stable_partition(order.begin(), order.end(), [&](std::size_t i) {
      const Decision& next = decisions_.tree[decision.choices[i].next];
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

  Vars branch(const Decision& decision, Var variant, const std::vector<ir::BlockId>& blocks,
              const std::vector<Vars>& results) {
    const auto first = std::find_if(results.begin(), results.end(), [](const Vars& r) { return known(r); });
    if (first == results.end()) return unknown();
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (known(results[i]) && !alike(decision, *first, results[i], i)) return unknown();
    }
    if (!std::all_of(results.begin(), results.end(), all_known)) return checker_.in_place_of(*first);
    return test(decision, variant, blocks, 0);
  }

  bool alike(const Decision& decision, const Vars& first, const Vars& other, std::size_t index) {
    bool same = first.size() == other.size();
    for (std::size_t i = 0; same && i < first.size(); ++i) {
      same = !known(first[i]) || !known(other[i]) || compatible(first[i].type(), other[i].type());
    }
    if (same) return true;
    const Decision& next = decisions_.tree[decision.choices[index].next];
    const Span place = next.choices.empty() ? checker_.place_of(arm_of(next).body) : expr_.sign;
    checker_.report(place, fmt::format("the arms of 'match' differ: {} in one before, {} in this one",
                                       type_list(first), type_list(other)));
    return false;
  }

  /// The last choice needs no test.
  Vars test(const Decision& decision, Var variant, const std::vector<ir::BlockId>& blocks,
            std::size_t choice) {
    f().set_span(expr_.sign);
    const auto number = static_cast<int64_t>(decision.choices[choice].variant);
    const std::array operands = {variant, f().constant(number)};
    const Var is_it = checker_.emit(checker_.operations_.infix(Tok::Equal), operands, expr_.sign);
    ir::BlockId otherwise = blocks.back();
    if (choice + 2 < blocks.size()) {
      otherwise = f().begin_block({});
      const Vars rest = test(decision, variant, blocks, choice + 1);
      f().end_block(otherwise, rest);
    }
    f().set_span(expr_.sign);
    return f().finish_if(is_it, blocks[choice], otherwise);
  }

  BodyChecker& checker_;
  const Expr& expr_;
  const Decisions& decisions_;
  std::vector<Var> vars_;          ///< by access; unknown where not taken yet
  std::vector<std::size_t> made_;  ///< the accesses that have been taken, in order
  std::vector<Wish> wishes_;
  bool has_wish_;
  std::vector<bool> broken_;  ///< by arm: there are findings about it
};

Vars BodyChecker::match(const Expr& expr, Wishes wishes) {
  const Var matched = value(expr.a);
  const auto arms = std::span(syntax_->arms).subspan(expr.list.begin, expr.list.count);
  std::optional<Decisions> decisions;
  if (known(matched) && !matched.type().is_data()) {
    report(place_of(expr.a),
           fmt::format("'match': expected a value of a data type, found {}", to_string(matched.type())));
  } else if (known(matched)) {
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
