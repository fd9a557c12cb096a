// BodyChecker: types that several expressions tell together.
#include "lang/together.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "lang/over_lists.h"
#include "lang/type_inference.h"

namespace hiaton::lang {
namespace {

bool binds(const Syntax& in, const ArmPattern& pattern, Symbol name) {
  if (pattern.whole == name || (pattern.kind == ArmPattern::Kind::Name && pattern.name == name)) return true;
  const auto parts = std::span(in.arm_patterns).subspan(pattern.parts.begin, pattern.parts.count);
  return std::ranges::any_of(parts, [&](const ArmPattern& part) { return binds(in, part, name); });
}

bool binds(const Syntax& in, Range patterns, Symbol name) {
  const auto all = std::span(in.patterns).subspan(patterns.begin, patterns.count);
  return std::ranges::any_of(all, [&](const Pattern& pattern) { return pattern.name == name; });
}

/// The expressions from one to another in which the name stands for something that is bound there: parameters
/// of lambdas, names of arms, loops and blocks. An expression stands behind those that it is made of.
std::vector<bool> where_hidden(const Syntax& in, std::size_t first, std::size_t last, Symbol name) {
  std::vector<bool> hidden(last + 1 - std::min(first, last + 1));
  const auto hide = [&](std::size_t begin, ExprId end) {
    for (std::size_t i = std::max(begin, first); i <= std::min(end.index(), last); ++i)
      hidden[i - first] = true;
  };
  for (std::size_t i = first; i <= last; ++i) {
    const Expr& expr = in.exprs[i];
    if (expr.kind == Expr::Kind::Lambda && binds(in, expr.list, name)) hide(expr.index, expr.a);
    if (expr.kind == Expr::Kind::Match) {
      std::size_t begin = expr.a.index() + 1;
      for (const Arm& arm : std::span(in.arms).subspan(expr.list.begin, expr.list.count)) {
        if (binds(in, arm.pattern, name)) hide(begin, arm.body);
        begin = arm.body.index() + 1;
      }
    }
    if (expr.kind == Expr::Kind::Block) {
      for (const Let& let : std::span(in.lets).subspan(expr.list.begin, expr.list.count)) {
        if (let.function) {
          const LocalFunction& function = in.functions[*let.function];
          if (function.name.name == name) hide(function.first, expr.a);
        } else if (binds(in, let.patterns, name)) {
          hide(let.bound.index() + 1, expr.a);
        }
      }
    }
    if (expr.kind == Expr::Kind::Loop) {
      const Loop& loop = in.loops[expr.index];
      const auto is_bound = [&](const Loop::State& state) { return state.pattern.name == name; };
      const ExprId before = loop.counts ? loop.end : loop.states.back().initial;
      if (std::ranges::any_of(loop.states, is_bound) || (loop.counts && loop.counter.name == name))
        hide(before.index() + 1, loop.body);
    }
  }
  for (const LocalFunction& function : in.functions) {
    const bool is_inside = function.first >= first && function.body.valid() && function.body.index() <= last;
    if (is_inside && binds(in, function.params, name)) hide(function.first, function.body);
  }
  return hidden;
}

}  // namespace

bool has_parts_of_numbers(const Syntax& in, ExprId value) {
  const Expr& tuple = in[value];
  if (tuple.kind != Expr::Kind::Tuple) return false;
  const auto parts = std::span(in.lists).subspan(tuple.list.begin, tuple.list.count);
  return std::ranges::any_of(parts, [&](ExprId part) { return is_of_numbers(in, part); });
}

bool is_of_numbers(const Syntax& in, ExprId value) {
  return in[value].flex != Flex::Rigid || has_parts_of_numbers(in, value);
}

bool BodyChecker::all_leave_types_open(std::span<const ExprId> ids) const {
  return std::ranges::all_of(ids, [this](ExprId id) {
    const Expr& expr = (*syntax_)[giver_of(id)];
    if (expr.kind == Expr::Kind::If) return all_leave_types_open(std::array{expr.b, expr.c});
    if (expr.kind == Expr::Kind::Match) return all_leave_types_open(bodies_of(expr));
    const bool is_value = expr.kind == Expr::Kind::Name || expr.kind == Expr::Kind::Call;
    return is_value && is_open_variant(expr) && leaves_types_open(expr, tells_each(list(expr.list)));
  });
}

std::vector<ExprId> BodyChecker::bodies_of(const Expr& match) const {
  std::vector<ExprId> bodies;
  for (const Arm& arm : std::span(syntax_->arms).subspan(match.list.begin, match.list.count))
    bodies.push_back(arm.body);
  return bodies;
}

bool BodyChecker::attempt(const std::function<void()>& make, bool stays_if_right) {
  if (attempts_ == kMostAttempts) return false;
  ++attempts_;
  const std::size_t findings = diagnostics_.count();
  const Diagnostics::Part part(diagnostics_);
  const std::size_t names = scope_.size();
  const std::size_t functions = local_functions_.size();
  const std::size_t generated = generated_.count();
  const std::size_t narrowed = narrowed_.size();
  const std::size_t asked = functions_.times_asked();
  bool is_right = false;
  try {
    f_->attempt([&] {
      make();
      is_right = diagnostics_.count() == findings;
      return is_right && stays_if_right;
    });
  } catch (const ProgramError&) {  // then it is not right
  }
  --attempts_;
  scope_.shrink(names);
  local_functions_.resize(functions);
  narrowed_.resize(narrowed);
  if (!is_right) generated_.let_go_of_unfinished(generated);
  if (!is_right || !stays_if_right) functions_.take_back_since(asked);
  diagnostics_.forget_after(findings);
  return is_right;
}

Wish BodyChecker::told_together(const std::function<void()>& make, Span span) {
  if (collected_ != nullptr) return std::nullopt;  // which is asked already
  Collected collected;
  collected_ = &collected;
  const bool is_right = attempt(make);
  collected_ = nullptr;
  return is_right ? type_of(collected, span) : std::nullopt;
}

/// Nothing where it does not tell all types.
Wish BodyChecker::type_of(const Collected& collected, Span span) {
  if (collected.generic == nullptr) return std::nullopt;
  std::vector<std::optional<Type>> told;
  for (const TypeArgument& argument : collected.arguments) told.push_back(argument.type);
  TypeInference types(collected.generic->params, source_, tokens_, declarations_, diagnostics_);
  types.set(told);
  return types.missing().empty() ? types.instance_of(*collected.generic, span) : std::nullopt;
}

/// What one value of a generic data type tells of its types, where that is not all of them.
BodyChecker::Collected BodyChecker::collected_of(ExprId id) {
  Collected collected;
  if (collected_ != nullptr || !all_leave_types_open({&id, 1})) return collected;
  collected_ = &collected;
  const bool is_right = attempt([&] { value(id); });
  collected_ = nullptr;
  return is_right ? collected : Collected();
}

/// Such arguments tell the types of what they are for, each a part of them.
void BodyChecker::infer_together(TypeInference& types, std::span<const ExprId> arguments,
                                 std::span<const std::size_t> places, std::span<const Tells> told) {
  std::vector<std::pair<std::string, Collected>> by_place;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const bool is_open = told[i] == Tells::Nothing && !types.function_at(places[i]);
    if (!is_open || types.type_at(places[i])) continue;
    const Collected collected = collected_of(arguments[i]);
    if (collected.generic == nullptr) continue;
    types.match(places[i], *collected.generic, collected.arguments);
    const std::string text = types.text_at(places[i]);
    const auto same = std::ranges::find(by_place, text, [](const auto& known) { return known.first; });
    if (same == by_place.end()) {
      by_place.emplace_back(text, collected);
      continue;
    }
    Collected& all = same->second;
    all.add(*collected.generic, collected.arguments);
    const Wish type = type_of(all, (*syntax_)[arguments[i]].span);
    if (type) types.match(places[i], *type);
  }
}

Wish BodyChecker::told_by_step(const Expr& expr, const OverList& over, const Applied& applied) {
  const Expr* function = &(*syntax_)[giver_of(list(expr.list)[0])];
  if (function->kind == Expr::Kind::Name) {
    const FunctionValue* const local = local_function(function->name);
    if (local != nullptr && local->is_open()) function = local->open;
  }
  if (function->kind == Expr::Kind::Lambda) return told_by_step_of_lambda(expr, *function, over);
  const FunctionHead* const generic = applied.generic();
  if (generic == nullptr || generic->param_types.size() < 2) return std::nullopt;
  TypeInference types(generic->type_params, source_, tokens_, declarations_, diagnostics_);
  types.match(generic->param_types[1], over.element);
  return types.type_at(generic->param_types[0]);
}

/// What a step depends on: where it stands, the type of the elements, and the types of what stands in it.
/// Empty where it depends on more.
std::optional<std::string> BodyChecker::key_of_step(const Expr& expr, const Expr& lambda,
                                                    const OverList& over) const {
  const std::span<const ExprId> arguments = list(expr.list);
  if (arguments.size() > 3 || collected_ != nullptr || uses_ != nullptr) return std::nullopt;
  std::vector<ExprId> waiting{arguments[1]};
  while (!waiting.empty()) {
    const Expr& part = (*syntax_)[waiting.back()];
    waiting.pop_back();
    if (part.kind == Expr::Kind::Tuple) {
      const std::span<const ExprId> parts = list(part.list);
      waiting.insert(waiting.end(), parts.begin(), parts.end());
    } else if (part.kind != Expr::Kind::Number) {
      return std::nullopt;
    }
  }
  return fmt::format("{} {}{}", expr.span.begin, to_string(over.element),
                     open_function(lambda).text_of_used());
}

/// Where folds stand inside each other, the inner ones are asked in each attempt for the outer ones.
Wish BodyChecker::told_by_step_of_lambda(const Expr& expr, const Expr& lambda, const OverList& over) {
  const std::optional<std::string> key = key_of_step(expr, lambda, over);
  const auto known = key ? told_.find(*key) : told_.end();
  if (known != told_.end()) return known->second;
  const Wish told = find_told_by_step(expr, lambda, over);
  if (key && told) told_.emplace(*key, told);
  return told;
}

/// In the body, the name of the first parameter stands for the first value as it is written, or else for all
/// of it but numbers, which then have the type that is usual.
Wish BodyChecker::find_told_by_step(const Expr& expr, const Expr& lambda, const OverList& over) {
  const std::span<const ExprId> arguments = list(expr.list);
  const std::span<const Pattern> params = patterns(lambda.list);
  if (params.size() + 1 != arguments.size() || !params[0].name) return std::nullopt;
  const bool has_numbers = has_parts_of_numbers(*syntax_, arguments[1]);
  const bool has_more = !has_numbers || tells(arguments[1]) == Tells::Nothing;
  for (int with_numbers = has_numbers ? 1 : 0; with_numbers >= (has_more ? 0 : 1); --with_numbers) {
    Syntax unfolded = *syntax_;
    unfold(unfolded, lambda.index, lambda.a.index(), *params[0].name, arguments[1], with_numbers == 1);
    Wish step;
    const bool is_right = attempt_in(unfolded, [&] {
      const ir::BlockId block = f_->begin_block({over.element});
      bind(params[1], f_->block_params(block)[0]);
      for (std::size_t i = 2; i < params.size(); ++i) bind(params[i], value(arguments[i + 1]));
      const Vars results = values(lambda.a, {});
      if (all_known(results)) step = single(lambda.a, results, std::nullopt).type();
    });
    if (is_right && step) return step;
  }
  return std::nullopt;
}

/// Whether a step can begin with a first value of the type of the elements and gives such a value. A number
/// as first value takes that type then; functions with names say themselves which type they take.
bool BodyChecker::keeps_type_of_elements(const Expr& expr, const OverList& over) {
  const std::span<const ExprId> arguments = list(expr.list);
  const Expr& lambda = (*syntax_)[giver_of(arguments[0])];
  if (lambda.kind != Expr::Kind::Lambda) return true;
  const std::span<const Pattern> params = patterns(lambda.list);
  if (params.size() + 1 != arguments.size()) return true;
  bool keeps = false;
  const bool is_right = attempt([&] {
    const Var first = value(arguments[1], over.element);
    if (!known(first)) return;
    const ir::BlockId block = f_->begin_block({first.type(), over.element});
    for (std::size_t i = 0; i < params.size(); ++i) {
      bind(params[i], i < 2 ? f_->block_params(block)[i] : value(arguments[i + 1]));
    }
    const Vars results = values(lambda.a, {});
    keeps = all_known(results) && compatible(single(lambda.a, results, std::nullopt).type(), first.type());
  });
  return is_right && keeps;
}

/// Whether something is wrong in a step whose first value has no type: that may be why.
bool BodyChecker::report_in_step(const Expr& expr, const OverList& over) {
  const std::span<const ExprId> arguments = list(expr.list);
  const Expr& lambda = (*syntax_)[giver_of(arguments[0])];
  if (lambda.kind != Expr::Kind::Lambda || lambda.list.count + 1 != arguments.size()) return false;
  const std::span<const Pattern> params = patterns(lambda.list);
  const std::size_t findings = diagnostics_.count();
  const std::size_t names = scope_.size();
  const ir::BlockId block = f_->begin_block({over.element});
  for (std::size_t i = 2; i < params.size(); ++i) bind(params[i], value(arguments[i + 1]));
  bind(params[0], Var());
  bind(params[1], f_->block_params(block)[0]);
  values(lambda.a, {});
  close(block, unknown());
  scope_.shrink(names);
  return diagnostics_.count() > findings;
}

/// In the body, the name of a loop variable whose first value has no type by itself stands for that value as
/// it is written. A type that is found so may tell others.
void BodyChecker::tell_states(const Loop& loop, std::vector<Wish>& types, bool with_numbers) {
  const std::size_t count = loop.states.size();
  const ExprId before = loop.counts ? loop.end : loop.states.back().initial;
  bool tells_more = true;
  while (tells_more) {
    Syntax unfolded = *syntax_;
    std::vector<bool> is_open;
    for (std::size_t i = 0; i < count; ++i) {
      const Loop::State& state = loop.states[i];
      const bool may_be_told = tells(state.initial) == Tells::Nothing ||
                               (with_numbers && is_of_numbers(*syntax_, giver_of(state.initial)));
      is_open.push_back(!types[i] && state.pattern.name && may_be_told);
      if (!is_open[i]) continue;
      unfold(unfolded, before.index() + 1, loop.body.index(), *state.pattern.name, state.initial,
             with_numbers);
    }
    tells_more = false;
    if (std::ranges::find(is_open, true) == is_open.end()) return;
    attempt_in(unfolded, [&] {
      for (std::size_t i = 0; i < count; ++i) {
        const Loop::State& state = loop.states[i];
        if (is_open[i] || !state.pattern.name) continue;
        const Var first = types[i] ? stand_in(*types[i]) : value(state.initial);
        scope_.bind(*state.pattern.name, first);
      }
      if (loop.counts && loop.counter.name) scope_.bind(*loop.counter.name, value(loop.begin));
      Vars next = values(loop.body, {});
      if (count == 1 && next.size() > 1 && all_known(next)) next = single(loop.body, next, std::nullopt);
      for (std::size_t i = 0; next.size() == count && i < count; ++i) {
        if (!is_open[i] || !known(next[i])) continue;
        types[i] = without_symbols(next[i].type());
        tells_more = true;
      }
    });
  }
}

/// Puts the value in the place of the name, in the expressions from one to another. Where a pattern takes the
/// name apart, its own names stand for parts of the value.
std::vector<std::size_t> BodyChecker::unfold(Syntax& in, std::size_t first, std::size_t last, Symbol name,
                                             ExprId value, bool with_numbers) const {
  const std::vector<bool> hidden = where_hidden(in, first, last, name);
  for (std::size_t i = first; i <= last; ++i) {
    const Expr& match = in.exprs[i];
    if (match.kind != Expr::Kind::Match || match.op != Tok::Let) continue;
    const Expr& matched = in[match.a];
    if (matched.kind != Expr::Kind::Name || matched.name != name || hidden[match.a.index() - first]) continue;
    const ExprId told =
        without_open_parts(in, first, last, in.arms[match.list.begin].pattern, value, with_numbers);
    in.exprs[i].a = told;
  }
  std::vector<std::size_t> replaced;
  for (std::size_t i = first; i <= last; ++i) {
    Expr& named = in.exprs[i];
    if (named.kind != Expr::Kind::Name || named.name != name || hidden[i - first]) continue;
    const Span span = named.span;
    named = Expr(in[value]);
    named.span = span;
    replaced.push_back(i);
  }
  return replaced;
}

/// The value with a truth value, which nothing looks at, for each part that has no type by itself, and
/// `with_numbers` for each that consists of numbers.
ExprId BodyChecker::without_open_parts(Syntax& in, std::size_t first, std::size_t last, ArmPattern& pattern,
                                       ExprId value, bool with_numbers) const {
  const auto add = [&](const Expr& expr) {
    in.exprs.push_back(expr);
    return ExprId(in.exprs.size() - 1);
  };
  Expr tuple = (*syntax_)[giver_of(value)];
  const bool is_name = pattern.kind == ArmPattern::Kind::Name || pattern.kind == ArmPattern::Kind::Any;
  const bool is_open = tells(value) == Tells::Nothing || (with_numbers && tuple.flex != Flex::Rigid);
  if (is_name && is_open) {
    const bool has_name = pattern.kind == ArmPattern::Kind::Name;
    pattern.kind = ArmPattern::Kind::Any;
    if (has_name) unfold(in, first, last, pattern.name, value);
    return add({.kind = Expr::Kind::Bool, .op = Tok::True, .span = tuple.span});
  }
  const bool has_same_parts = pattern.kind == ArmPattern::Kind::Tuple && tuple.kind == Expr::Kind::Tuple &&
                              pattern.parts.count == tuple.list.count;
  if (!has_same_parts) return value;
  std::vector<ExprId> parts;
  for (std::size_t i = 0; i < tuple.list.count; ++i) {
    ArmPattern& of_part = in.arm_patterns[pattern.parts.begin + i];
    parts.push_back(
        without_open_parts(in, first, last, of_part, in.lists[tuple.list.begin + i], with_numbers));
  }
  tuple.list.begin = static_cast<uint32_t>(in.lists.size());
  in.lists.insert(in.lists.end(), parts.begin(), parts.end());
  return add(tuple);
}

/// Attempts what stands in a body that is not the one as it is written.
bool BodyChecker::attempt_in(const Syntax& body, const std::function<void()>& make) {
  const Syntax* const around = std::exchange(syntax_, &body);
  const bool is_right = attempt(make);
  syntax_ = around;
  return is_right;
}

}  // namespace hiaton::lang
