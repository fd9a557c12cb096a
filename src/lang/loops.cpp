// BodyChecker: loops.
#include <fmt/format.h>

#include <array>

#include "lang/together.h"

namespace hiaton::lang {
namespace {

/// The type of a loop variable: as written, else that of its first value. An unknown variable takes part with
/// some type: its uses are no findings, as it is bound to nothing.
Type state_type(const Loop::State& state, Var initial) {
  if (!known(initial)) return state.pattern.type.value_or(DType::I64);
  if (!state.pattern.type) return initial.type();
  Type type = *state.pattern.type;
  for (std::size_t i = 0; i < type.shape.size(); ++i) {
    const bool proven = type.shape[i].size >= 0 || type.shape[i] == initial.type().shape[i];
    if (!proven) type.shape[i] = unknown_dim();
  }
  return type;
}

std::vector<Type> state_types(const Loop& loop, std::span<const Var> initial) {
  std::vector<Type> types;
  for (std::size_t i = 0; i < initial.size(); ++i) types.push_back(state_type(loop.states[i], initial[i]));
  return types;
}

}  // namespace

Vars BodyChecker::loop(const Expr& expr, Wishes wishes) {
  const Loop& loop = syntax_->loops[expr.index];
  std::vector<Wish> types;
  for (const Loop::State& state : loop.states) types.push_back(state.pattern.type);
  tell_states(loop, types);
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (!types[i] && is_of_numbers(*syntax_, giver_of(loop.states[i].initial)))
      return loop_from_numbers(expr, loop, types, wishes);
  }
  return loop_of(expr, loop, types);
}

/// Numbers with which variables begin are of the types that the place of the loop wants, else of those that
/// are usual, else of those that the next values have: the first of these with which the loop is right.
Vars BodyChecker::loop_from_numbers(const Expr& expr, const Loop& loop, const std::vector<Wish>& types,
                                    Wishes wishes) {
  std::vector<Wish> wished = types;
  bool is_wished = false;
  for (std::size_t i = 0; i < types.size() && wishes.size() == types.size(); ++i) {
    if (wished[i] || !wishes[i]) continue;
    wished[i] = without_symbols(*wishes[i]);
    is_wished = true;
  }
  if (attempts_ == kMostAttempts) return loop_of(expr, loop, types);
  Vars made = unknown();
  const auto is_right_of = [&](const std::vector<Wish>& tried) {
    return attempt([&] { made = loop_of(expr, loop, tried); }, true) && all_known(made);
  };
  if (is_wished && is_right_of(wished)) return made;
  if (is_right_of(types)) return made;
  std::vector<Wish> told = types;
  tell_states(loop, told, true);
  bool is_wanted = told != types;
  for (std::size_t i = 0; i < told.size() && wishes.size() == told.size(); ++i)
    is_wanted = is_wanted && (!told[i] || !wishes[i] || compatible(*told[i], *wishes[i]));
  if (is_wanted && is_right_of(told)) return made;
  if (attempts_ == 0) return loop_of(expr, loop, types);  // which reports what is wrong
  report(expr.sign, "expected loop variables of other types");
  return unknown();
}

Vars BodyChecker::loop_of(const Expr& expr, const Loop& loop, Wishes types) {
  std::vector<Pattern> patterns;
  std::vector<Var> initial;
  const std::size_t findings = diagnostics_.count();
  std::size_t open = 0;  // variables whose types nothing tells
  for (std::size_t i = 0; i < loop.states.size(); ++i) {
    const Loop::State& state = loop.states[i];
    patterns.push_back(state.pattern);
    const bool is_told = types[i] || require_type_of_state(state);
    open += is_told ? 0 : 1;
    const Var first = is_told ? value(state.initial, types[i]) : Var();
    initial.push_back(require_pattern(state.initial, first, state.pattern));
  }
  require_distinct(patterns, "loop variable", symbols_, diagnostics_);
  const std::size_t untold = diagnostics_.count();
  const Vars last = loop.counts ? loop_with_counter(expr, loop, std::move(initial))
                                : loop_on_condition(expr, loop, std::move(initial));
  const bool may_be_why = open > 0 && untold - findings == open && diagnostics_.count() > untold;
  if (may_be_why) diagnostics_.forget(findings, untold);
  return last;
}

/// Where neither its first value nor the next ones tell it.
bool BodyChecker::require_type_of_state(const Loop::State& state) {
  if (!is_value_of_open_type(giver_of(state.initial))) return true;
  const Expr& initial = (*syntax_)[giver_of(state.initial)];
  report(initial.span,
         fmt::format("expected the type of '{0}', which nothing here tells; it is "
                     "written {0}: {1}[...] = {2}",
                     spelled(state.pattern), type_name_of_open(initial), source_.text(initial.span)));
  return false;
}

/// Whether it is an empty list, or a variant without fields of a generic data type.
bool BodyChecker::is_value_of_open_type(ExprId id) const {
  const Expr& expr = (*syntax_)[id];
  const bool is_empty = expr.kind == Expr::Kind::List && expr.list.count == 0;
  return is_empty || (expr.kind == Expr::Kind::Name && is_open_variant(expr));
}

/// The name of the type of such a value, without what is open.
std::string_view BodyChecker::type_name_of_open(const Expr& value) const {
  const GenericVariant* const variant =
      value.kind == Expr::Kind::Name ? declarations_.generic_variant(value.name) : nullptr;
  return variant != nullptr ? symbols_[variant->type->name] : Declarations::kList;
}

void BodyChecker::bind_states(const Loop& loop, std::span<const Var> initial, std::span<const Var> params) {
  for (std::size_t i = 0; i < loop.states.size(); ++i) {
    bind(loop.states[i].pattern, known(initial[i]) ? params[i] : Var());
  }
}

Vars BodyChecker::next_states(const Loop& loop, std::span<const Var> initial, std::span<const Var> params) {
  std::vector<Wish> types;
  for (std::size_t i = 0; i < initial.size(); ++i) {
    types.push_back(known(initial[i]) ? Wish(state_type(loop.states[i], initial[i])) : std::nullopt);
  }
  const Vars next = values(loop.body, types);
  if (!known(next)) return next;
  if (next.size() != loop.states.size()) {
    report(place_of(loop.body),
           fmt::format("the next values of the loop: expected {}, one for each loop "
                       "variable, found {}",
                       count_of(loop.states.size(), "value"), count_of(next.size(), "value")));
    return unknown();
  }
  const Vars required = require_all(loop.body, next, types, [&](std::size_t i) {
    return fmt::format("the next value of '{}'", spelled(loop.states[i].pattern));
  });
  std::vector<Var> checked(required.begin(), required.end());
  for (std::size_t i = 0; i < checked.size(); ++i) {
    if (!known(checked[i]) || !known(initial[i])) continue;
    f_->set_span(place_of(element(loop.body, i)));
    checked[i] = f_->checked_like(checked[i], params[i]);
  }
  return Vars(std::move(checked));
}

Vars BodyChecker::loop_on_condition(const Expr& expr, const Loop& loop, std::vector<Var> initial) {
  const std::size_t names = scope_.size();
  const std::vector<Type> types = state_types(loop, initial);
  const ir::BlockId test = f_->begin_block(types);
  const Vars tested = f_->block_params(test);
  bind_states(loop, initial, {tested.begin(), tested.end()});
  const Var condition = require(loop.condition, value(loop.condition), DType::Bool,
                                [] { return std::string("the condition of 'while'"); });
  close(test, condition);
  scope_.shrink(names);

  const ir::BlockId body = f_->begin_block(types);
  const Vars now = f_->block_params(body);
  const std::span<const Var> states{now.begin(), now.end()};
  bind_states(loop, initial, states);
  const Vars next = next_states(loop, initial, states);
  close(body, next);
  scope_.shrink(names);
  const Vars first(std::move(initial));
  if (!known(condition) || !all_known(next) || !all_known(first)) return in_place_of(first);
  f_->set_span(expr.sign);
  return f_->finish_while(first, test, body);
}

/// The counter is one more loop variable, in front, that the result leaves out.
Vars BodyChecker::loop_with_counter(const Expr& expr, const Loop& loop, std::vector<Var> initial) {
  const auto [begin, end] = bounds(loop);
  std::vector<Var> states{begin};
  states.insert(states.end(), initial.begin(), initial.end());
  std::vector<Type> types = state_types(loop, initial);
  types.insert(types.begin(), known(begin) ? begin.type() : Type(DType::I64));
  const ir::BlockId test = f_->begin_block(types);
  const std::array sides = {f_->block_params(test)[0], end};
  const Var inside = emit(operations_.infix(Tok::Less), sides, expr.sign);
  close(test, inside);

  const std::size_t names = scope_.size();
  const ir::BlockId body = f_->begin_block(types);
  const Vars now = f_->block_params(body);
  std::vector<Var> next{known(begin) ? one_more(now[0], expr.sign) : Var()};
  bind_states(loop, initial, {now.begin() + 1, now.end()});
  bind(loop.counter, known(begin) ? now[0] : Var());
  const Vars next_of_states = next_states(loop, initial, {now.begin() + 1, now.end()});
  next.insert(next.end(), next_of_states.begin(), next_of_states.end());
  const Vars all_next(std::move(next));
  close(body, known(next_of_states) ? all_next : unknown());
  scope_.shrink(names);

  const Vars first(std::move(states));
  if (!known(inside) || !known(next_of_states) || !all_known(all_next) || !all_known(first)) {
    return in_place_of(Vars(std::move(initial)));
  }
  f_->set_span(expr.sign);
  const Vars last = f_->finish_while(first, test, body);
  return Vars(std::vector<Var>(last.begin() + 1, last.end()));
}

Var BodyChecker::one_more(Var counter, Span span) {
  f_->set_span(span);
  const Var one = constant_like(counter, int64_t{1});
  const std::array operands = {counter, one};
  return emit(operations_.infix(Tok::Plus), operands, span);
}

/// Both unknown where either is no integer or they differ.
std::pair<Var, Var> BodyChecker::bounds(const Loop& loop) {
  const bool begin_follows =
      (*syntax_)[loop.begin].flex != Flex::Rigid && (*syntax_)[loop.end].flex == Flex::Rigid;
  const ExprId leader = begin_follows ? loop.end : loop.begin;
  const ExprId follower = begin_follows ? loop.begin : loop.end;
  const Var lead = integer_bound(leader, std::nullopt);
  const Wish type = known(lead) ? Wish(lead.type()) : std::nullopt;
  const Var follow = require(follower, integer_bound(follower, type), type,
                             [] { return std::string("the bounds of 'for' differ in type"); });
  if (!known(lead) || !known(follow)) return {Var(), Var()};
  return begin_follows ? std::pair(follow, lead) : std::pair(lead, follow);
}

Var BodyChecker::integer_bound(ExprId bound, const Wish& wish) {
  const Var found = value(bound, wish);
  if (!known(found) || (found.type().is_scalar() && is_integer(found.type().dtype))) return found;
  report(place_of(bound),
         fmt::format("a bound of 'for': expected an integer, found {}", to_string(found.type())));
  return Var();
}

}  // namespace hiaton::lang
