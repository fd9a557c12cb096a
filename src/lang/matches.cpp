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
  Matching(BodyChecker& checker, const Expr& expr, const Decisions& decisions, const Vars& matched,
           Wishes wishes)
      : checker_(checker),
        expr_(expr),
        decisions_(decisions),
        vars_(decisions.accesses.size()),
        wanted_(wishes),
        wishes_(wishes.begin(), wishes.end()),
        has_wish_(
            std::any_of(wishes.begin(), wishes.end(), [](const Wish& wish) { return wish.has_value(); })),
        broken_(expr.list.count, false) {
    std::copy(matched.begin(), matched.end(), vars_.begin());
    std::vector<bool> seen(broken_.size(), false);
    for (std::size_t i = 0; i < decisions_.tree.size(); ++i) {
      const Decision& decision = decisions_.tree[i];
      if (!decision.choices.empty()) continue;
      if (!seen[decision.arm]) arms_.push_back({static_cast<int64_t>(decision.arm), i});
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
    guards_are_decided_ = true;
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
    if (decision.choices.empty()) {
      const bool is_decided = guards_are_decided_ || !arm_of(decision).guard.valid();
      return is_decided ? give(decision) : guarded(decision, give);
    }
    if (decision.choices.size() == 1) return take(decisions_.tree[decision.choices[0].next], give);
    f().set_span(expr_.sign);
    const Var tested = var_of(decision.tested);
    const Var key = has_variants(decisions_.accesses[decision.tested].type) ? f().variant(tested) : tested;
    return branch(decision.choices, decision.names_all_variants, key, give);
  }

  /// The arm where its guard holds, else what the next arms say.
  template <class Give>
  Vars guarded(const Decision& decision, const Give& give) {
    const ExprId guard = arm_of(decision).guard;
    const std::size_t names = checker_.scope_.size();
    const std::size_t narrowed = checker_.narrowed_.size();
    bind_names(decision);
    const Var condition = checker_.require(guard, checker_.value(guard), DType::Bool,
                                           [] { return std::string("the condition of an arm"); });
    checker_.scope_.shrink(names);
    checker_.narrowed_.resize(narrowed);
    const std::size_t made = made_.size();
    ir::BlockId held;
    ir::BlockId failed;
    Vars then = unknown();
    Vars otherwise = unknown();
    const bool follows = !has_wish_ && checker_.tells(arm_of(decision).body) == Tells::Nothing;
    for (const bool holds : {!follows, follows}) {
      ir::BlockId& block = holds ? held : failed;
      Vars& results = holds ? then : otherwise;
      block = f().begin_block({});
      results = holds ? give(decision) : take(decisions_.tree[decision.otherwise], give);
      checker_.close(block, results);
      forget_down_to(made);
    }
    if (!known(then) || !known(otherwise)) return checker_.in_place_of(known(then) ? then : otherwise);
    if (!require_alike(then, otherwise, checker_.place_of(arm_of(decision).body))) return unknown();
    if (!known(condition) || !all_known(then) || !all_known(otherwise)) return checker_.in_place_of(then);
    f().set_span(expr_.sign);
    return f().finish_if(condition, held, failed);
  }

  /// `names_all`: the keys are 0, 1, 2, ..., in any order.
  template <class Give>
  Vars branch(const Choices& choices, bool names_all, Var key, const Give& give) {
    std::vector<Side> sides(choices.size());
    std::vector<Vars> results(choices.size(), unknown());
    for (std::size_t i : in_order_of_types(choices)) {
      const std::size_t made = made_.size();
      sides[i] = {choices[i].key, f().begin_block({})};
      results[i] = take(decisions_.tree[choices[i].next], give);
      checker_.close(sides[i].block, results[i]);
      forget_down_to(made);
    }
    const auto first = std::find_if(results.begin(), results.end(), [](const Vars& r) { return known(r); });
    if (first == results.end()) return unknown();
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (!known(results[i])) continue;
      const Decision& next = decisions_.tree[choices[i].next];
      const Span place = next.choices.empty() ? checker_.place_of(arm_of(next).body) : expr_.sign;
      if (!require_alike(*first, results[i], place)) return unknown();
    }
    if (!std::all_of(results.begin(), results.end(), all_known)) return checker_.in_place_of(*first);
    if (is_string(key.type()) && sides.size() > kMostStringsInTurn) {
      key = number_of(key, sides);
      names_all = true;
    }
    return names_all ? checker_.test_halves(key, std::move(sides), expr_.sign)
                     : checker_.test_in_turn(key, sides, expr_.sign);
  }

  /// Which of the sides is that of the text, whose keys become their numbers; the last one is that of others.
  Var number_of(Var text, std::vector<Side>& sides) {
    std::vector<Value> strings;
    for (std::size_t i = 0; i < sides.size(); ++i) {
      if (i + 1 < sides.size()) strings.push_back(std::move(sides[i].key));
      sides[i].key = Value(static_cast<int64_t>(i));
    }
    return number_among(f(), text, strings, expr_.sign);
  }

  /// Where nothing is wished, arms with a type of their own come first, so that literals take it.
  std::vector<std::size_t> in_order_of_types(const Choices& choices) const {
    std::vector<std::size_t> order(choices.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    if (has_wish_) return order;
    const auto place = [&](std::size_t i) {
      const Decision& next = decisions_.tree[choices[i].next];
      if (!next.choices.empty()) return Tells::Elements;  // which of its arms comes first is not known yet
      const Tells told = checker_.tells(arm_of(next).body);
      return arm_of(next).guard.valid() ? std::min(told, Tells::Elements) : told;
    };
    std::vector<Tells> places(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) places[i] = place(i);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return places[a] < places[b]; });
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
    const std::size_t narrowed = checker_.narrowed_.size();
    bind_names(decision);
    Vars results = checker_.values(arm_of(decision).body, wishes_);
    checker_.scope_.shrink(names);
    checker_.narrowed_.resize(narrowed);
    broken_[decision.arm] = checker_.diagnostics_.count() > findings;
    follow(results);
    return results;
  }

  /// In the arm, what is matched is of the variant that the pattern names.
  void bind_names(const Decision& decision) {
    const ArmPattern& pattern = arm_of(decision).pattern;
    if (pattern.kind == ArmPattern::Kind::Variant && has_variants(vars_[0].type())) {
      const auto variant = vars_[0].type().data->find(checker_.symbols_[pattern.name]);
      if (variant) checker_.narrowed_.emplace_back(vars_[0], *variant);
    }
    for (const Decision::Binding& binding : decision.bindings) {
      f().set_span(binding.span);
      const Var var = var_of(binding.access);
      checker_.bind({binding.name, std::nullopt, binding.span}, var);
      if (binding.variant) checker_.narrowed_.emplace_back(var, *binding.variant);
    }
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

  bool require_alike(const Vars& first, const Vars& other, Span place) {
    if (alike(first, other, wanted_)) return true;
    checker_.report(
        place, fmt::format("the arms of 'match' differ: {} in one before, {} in this one{}", type_list(first),
                           type_list(other), hint_at_sizes(first, other, wanted_)));
    return false;
  }

  BodyChecker& checker_;
  const Expr& expr_;
  const Decisions& decisions_;
  std::vector<Var> vars_;          ///< by access; unknown where not taken yet
  std::vector<std::size_t> made_;  ///< the accesses that have been taken, in order
  Wishes wanted_;                  ///< around the `match`
  std::vector<Wish> wishes_;       ///< what the arms wish
  bool has_wish_;
  std::vector<bool> broken_;  ///< by arm: there are findings about it
  Choices arms_;              ///< by its number, a decision for each arm
  bool copies_matches_ = false;
  bool guards_are_decided_ = false;  ///< each arm is made for its number
};

Vars BodyChecker::test_in_turn(Var tested, std::span<const Side> sides, Span span) {
  if (tested.type() == Type(DType::Bool)) {
    const bool first_is_true = sides[0].key.as<bool>();
    f_->set_span(span);
    return f_->finish_if(tested, sides[first_is_true ? 0 : 1].block, sides[first_is_true ? 1 : 0].block);
  }
  const Var is_it = compare(Tok::Equal, tested, sides[0].key, span);
  ir::BlockId otherwise = sides[1].block;
  if (sides.size() > 2) {
    otherwise = f_->begin_block({});
    f_->end_block(otherwise, test_in_turn(tested, sides.subspan(1), span));
  }
  f_->set_span(span);
  return f_->finish_if(is_it, sides[0].block, otherwise);
}

Vars BodyChecker::test_halves(Var number, std::vector<Side> sides, Span span) {
  constexpr std::size_t kLongestInTurn = 8;
  if (sides.size() <= kLongestInTurn) return test_in_turn(number, sides, span);
  const auto key = [](const Side& side) { return side.key.as<int64_t>(); };
  std::sort(sides.begin(), sides.end(), [&](const Side& a, const Side& b) { return key(a) < key(b); });
  const auto middle = sides.begin() + static_cast<std::ptrdiff_t>(sides.size() / 2);
  const Var is_below = compare(Tok::Less, number, middle->key, span);
  const ir::BlockId below = f_->begin_block({});
  f_->end_block(below, test_halves(number, {sides.begin(), middle}, span));
  const ir::BlockId above = f_->begin_block({});
  f_->end_block(above, test_halves(number, {middle, sides.end()}, span));
  f_->set_span(span);
  return f_->finish_if(is_below, below, above);
}

Var BodyChecker::compare(Tok op, Var one, const Value& other, Span span) {
  f_->set_span(span);
  const std::array operands = {one, f_->constant(other, one.type())};
  return emit(operations_.infix(op), operands, span);
}

/// Types that could not be read have no variants.
Vars BodyChecker::match(const Expr& expr, Wishes wishes) {
  const bool wishes_nothing = std::ranges::none_of(wishes, [](const Wish& wish) { return wish.has_value(); });
  if (wishes_nothing && all_leave_types_open(bodies_of(expr))) {
    const Wish together = told_together([&] { match(expr, {}); }, expr.span);
    if (together) return match(expr, {&together, 1});
  }
  const auto arms = std::span(syntax_->arms).subspan(expr.list.begin, expr.list.count);
  const auto names_it = [](const Arm& arm) {
    return arm.pattern.whole.has_value() || arm.pattern.kind == ArmPattern::Kind::Name;
  };
  const bool has_name = std::any_of(arms.begin(), arms.end(), names_it);  // of what is matched, as one value
  const Vars matched = has_name ? Vars(value(expr.a)) : values(expr.a, {});
  std::vector<Type> types;
  for (const Var var : matched) {
    if (known(var) &&
        !(var.type().is_data() && var.type().data->variants.empty() && function_type(var.type()) == nullptr))
      types.push_back(var.type());
  }
  std::optional<Decisions> decisions;
  if (known(matched) && types.size() == matched.size()) {
    decisions = decide(types, arms, *syntax_, source_, tokens_, symbols_, expr.sign, expr.op != Tok::Let,
                       diagnostics_);
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
    if (pattern.whole) scope_.bind(*pattern.whole, Var());
    if (pattern.kind == ArmPattern::Kind::Name) scope_.bind(pattern.name, Var());
    const auto first = syntax_->arm_patterns.begin() + pattern.parts.begin;
    waiting.insert(waiting.end(), first, first + pattern.parts.count);
  }
  ir::BlockId nowhere = f_->begin_block({});
  if (arm.guard.valid()) value(arm.guard);
  values(arm.body, wishes);
  close(nowhere, unknown());
  scope_.shrink(names);
}

}  // namespace hiaton::lang
