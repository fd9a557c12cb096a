// BodyChecker: expressions that may give several values.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ir/errors.h"
#include "lang/let_types.h"
#include "lang/suggest.h"
#include "lang/type_inference.h"

namespace hiaton::lang {
namespace {

bool any_wish(Wishes wishes) {
  return std::any_of(wishes.begin(), wishes.end(), [](const Wish& wish) { return wish.has_value(); });
}

std::span<const Var> as_span(const Vars& vars) {
  return {vars.begin(), vars.end()};
}

}  // namespace

std::string type_list(const Vars& vars) {
  std::string text;
  for (Var var : vars) {
    if (!text.empty()) text += ", ";
    text += known(var) ? to_string(var.type()) : "?";
  }
  return vars.size() == 1 ? text : fmt::format("({})", text);
}

bool alike(const Vars& one, const Vars& other, Wishes wishes) {
  if (one.size() != other.size()) return false;
  for (std::size_t i = 0; i < one.size(); ++i) {
    if (!known(one[i]) || !known(other[i]) || compatible(one[i].type(), other[i].type())) continue;
    const Wish wish = wishes.size() == one.size() ? wishes[i] : std::nullopt;
    if (!wish || !compatible(one[i].type(), *wish) || !compatible(other[i].type(), *wish)) return false;
  }
  return true;
}

std::string hint_at_sizes(const Vars& one, const Vars& other, Wishes wishes) {
  if (one.size() != other.size() || !all_known(one) || !all_known(other)) return "";
  std::vector<Type> types;
  for (std::size_t i = 0; i < one.size(); ++i) {
    if (!compatible(without_sizes(one[i].type()), other[i].type())) return "";
    types.push_back(hiaton::join(one[i].type(), other[i].type()));
    const Wish wish = wishes.size() == one.size() ? wishes[i] : std::nullopt;
    if (wish && compatible(types[i], *wish)) return "";
  }
  return fmt::format("; a 'let' or result of type {} takes both",
                     types.size() == 1 ? to_string(types[0]) : list_types(types));
}

Vars BodyChecker::values(ExprId id, Wishes wishes) {
  const Vars found = as_many_values(id, wishes);
  if (!known(found) || found.size() == wishes.size()) return found;
  const bool wants_tuple = wishes.size() == 1 && wishes[0] && is_tuple(*wishes[0]);
  if (wants_tuple) return tuple_of(found, wishes[0], place_of(id));
  const bool is_one = found.size() == 1 && wishes.size() > 1 && known(found[0]);
  return is_one && is_tuple(found[0].type()) ? parts_of(found[0], place_of(id)) : found;
}

Var BodyChecker::tuple_of(const Vars& parts, const Wish& wish, Span span) {
  const std::vector<Var> vars(parts.begin(), parts.end());
  if (!are_known(vars)) return Var();
  std::vector<Type> types;
  for (std::size_t i = 0; i < vars.size(); ++i) types.push_back(without_symbols(vars[i].type()));
  try {
    Type type = declarations_.tuple_of(types);
    if (wish && is_tuple(*wish)) {
      const std::vector<Field>& fields = wish->data->variants[0].fields;
      const auto fits = [](const Field& field, const Type& found) { return compatible(found, field.type); };
      if (std::equal(fields.begin(), fields.end(), types.begin(), types.end(), fits)) type = *wish;
    }
    f_->set_span(span);
    return f_->make(type, 0, vars);
  } catch (const ProgramError& error) {  // the type is too large
    report(span, error.what());
    return Var();
  }
}

Vars BodyChecker::parts_of(Var tuple, Span span) {
  f_->set_span(span);
  std::vector<Var> parts;
  for (std::size_t i = 0; i < tuple.type().data->variants[0].fields.size(); ++i) {
    parts.push_back(f_->field(tuple, 0, i));
  }
  return Vars(std::move(parts));
}

/// As many as the expression gives, whatever is wished.
Vars BodyChecker::as_many_values(ExprId id, Wishes wishes) {
  if (is_use_of_let(id)) return use_of_let(id, wishes.size() == 1 ? wishes[0] : std::nullopt);
  const Expr& expr = (*syntax_)[id];
  switch (expr.kind) {
    case Expr::Kind::Broken:
      return unknown();
    case Expr::Kind::Call:
      if (const auto local = callee_named(expr.name); local && !expr.of_catalog)
        return call_local(expr, *local, wishes.size() == 1 ? wishes[0] : std::nullopt);
      if (is_construction(expr) || operation_of(expr) != nullptr || is_filled(expr) || is_string_call(expr))
        break;
      if (is_split(expr)) return split(expr);
      return is_over_list(expr) ? over_list(expr, wishes) : call(expr, wishes);
    case Expr::Kind::Apply:
      return call_of_value(expr, wishes.size() == 1 ? wishes[0] : std::nullopt);
    case Expr::Kind::Gradient:
      if (!expr.is_called) break;
      return gradient(expr);
    case Expr::Kind::Tuple:
      return tuple(expr, wishes);
    case Expr::Kind::If:
      return conditional(expr, wishes);
    case Expr::Kind::Match:
      return match(expr, wishes);
    case Expr::Kind::Block:
      return block(expr, wishes);
    case Expr::Kind::Loop:
      return loop(expr, wishes);
    case Expr::Kind::On:
      return placed(expr, wishes);
    default:
      break;
  }
  return value(id, wishes.size() == 1 ? wishes[0] : std::nullopt);
}

Vars BodyChecker::call(const Expr& expr, Wishes wishes) {
  const FunctionHead* callee = functions_.find(expr.name);
  if (callee == nullptr || !callee->readable) {
    if (callee == nullptr) report_unknown_function(expr.name, expr.sign);
    for (ExprId argument : list(expr.list)) {
      if ((*syntax_)[argument].flex != Flex::Rigid || !waits_for_type(argument)) value(argument);
    }
    return unknown();
  }
  if (expr.attributes.count > 0) {
    report_attributes(expr);
    return stand_ins(callee->results);
  }
  if (callee->is_constant) {
    report(expr.sign,
           fmt::format("expected a function, found '{}', which is a constant", symbols_[expr.name]));
    for (ExprId argument : list(expr.list)) value(argument);
    return stand_ins(callee->results);
  }
  Resolved resolved{callee, {}};
  if (callee->is_generic()) {
    const auto given = std::span(syntax_->types).subspan(expr.types.begin, expr.types.count);
    const std::optional<Resolved> made = resolve_generic(expr, *callee, given, wishes);
    if (!made) return unknown();
    resolved = *made;
  } else {
    resolved.arguments = call_arguments(expr, *callee);
  }
  const FunctionHead& called = *resolved.callee;
  if (diagnostics_.is_clear()) return emit_call(called, resolved.arguments, expr.span);
  f_->set_span(expr.span);
  return stand_ins(called.results);
}

std::vector<Var> BodyChecker::call_arguments(const Expr& expr, const FunctionHead& callee) {
  const std::span<const ExprId> arguments = list(expr.list);
  const std::string_view name = symbols_[callee.name];
  const bool right_count = arguments.size() == callee.params.size();
  if (!right_count) report_wrong_count(expr, callee);
  std::vector<Var> checked;
  checked.reserve(arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Wish type = right_count ? callee.params[i].type : std::nullopt;
    const auto describe = [&] { return fmt::format("argument {} of '{}'", i + 1, name); };
    checked.push_back(require(arguments[i], value(arguments[i], type), type, describe));
  }
  return right_count ? checked : std::vector<Var>();
}

Vars BodyChecker::stand_ins(const std::vector<std::optional<Type>>& types) {
  std::vector<Var> results;
  for (const std::optional<Type>& type : types) results.push_back(type ? stand_in(*type) : Var());
  return Vars(std::move(results));
}

/// One symbol of the callee may stand for two sizes.
Vars BodyChecker::emit_call(const FunctionHead& callee, const std::vector<Var>& arguments, Span span) {
  f_->set_span(span);
  if (!are_known(arguments)) return stand_ins(callee.results);
  try {
    return with_known_sizes(callee, arguments, f_->call(functions_.reference(callee), arguments));
  } catch (const ProgramError& error) {
    report(span, error.what());
    return unknown();
  }
}

void BodyChecker::report_wrong_count(const Expr& expr, const FunctionHead& callee) {
  report(expr.span, fmt::format("'{}' takes {}, found {}: {}{}", symbols_[callee.name],
                                count_of(callee.params.size(), "argument"), list(expr.list).size(),
                                functions_.signature(callee), hint_at_operation(callee.name)));
}

void BodyChecker::report_attributes(const Expr& expr) {
  const Attribute& first = syntax_->attributes[expr.attributes.begin];
  report(first.span,
         fmt::format("expected no 'name=value': only operations have attributes, and '{}' is none{}",
                     symbols_[expr.name], hint_at_operation(expr.name)));
}

/// Where a function hides an operation, which may be what was meant.
std::string BodyChecker::hint_at_operation(Symbol function) const {
  const std::string_view name = symbols_[function];
  if (functions_.find(function) == nullptr) return "";
  if (operations_.find_shadowed(function) == nullptr && !makes_filled(name)) return "";
  return fmt::format("; ::{}(...) calls the operation of this name", name);
}

void BodyChecker::report_unknown_function(Symbol unknown, Span span) {
  const std::string_view name = symbols_[unknown];
  const bool is_variant = declarations_.is_variant(unknown);
  const Var* value = scope_.find(unknown);
  const bool is_learned = value == nullptr && declarations_.parameter(unknown) != nullptr;
  if (value != nullptr && !known(*value)) return;  // which is reported
  if (is_variant || is_learned || value != nullptr) {
    const bool has_rows = is_learned || (value != nullptr && known(*value) && value->type().is_tensor());
    report(span, fmt::format("expected a function, found '{}', which is a {}{}", name,
                             is_variant   ? "variant"
                             : is_learned ? "learned parameter"
                                          : "value",
                             has_rows ? fmt::format("; a row of it is written {}[i]", name) : ""));
    return;
  }
  if (declarations_.is_broken(unknown)) return;
  Suggestion similar(name);
  if (diagnostics_.wants_suggestions()) {
    for (const FunctionHead& head : functions_.heads()) similar.offer(symbols_[head.name]);
    for (const OpDef* op : catalog().all()) similar.offer(op->name.value);
    for (std::string_view built_in :
         {"fold", "full", "length", "map", "ones", "print", "range", "scan", "split", "str", "zeros"})
      similar.offer(built_in);
    declarations_.for_each_variant_name([&](std::string_view known) { similar.offer(known); });
  }
  const auto is_inside = [&](const Let& let) {
    const bool has_name = let.patterns.count == 1 && patterns(let.patterns)[0].name == unknown;
    const Span bound = let.bound.valid() ? (*syntax_)[let.bound].span : Span();
    return has_name && bound.begin <= span.begin && span.end <= bound.end;
  };
  if (std::ranges::any_of(syntax_->lets, is_inside)) {
    report(span,
           fmt::format("unknown function '{0}'; a function that calls itself is written let fn {0}(x: i64) "
                       "-> i64 = ...",
                       name));
    return;
  }
  const std::string elsewhere = known_elsewhere(name);
  report(span, fmt::format("unknown function '{}'{}", name, elsewhere.empty() ? similar.text() : elsewhere));
}

Vars BodyChecker::tuple(const Expr& expr, Wishes wishes) {
  const std::span<const ExprId> elements = list(expr.list);
  std::vector<Wish> of_parts;
  if (wishes.size() == 1 && wishes[0] && is_tuple(*wishes[0])) {
    const std::size_t parts = wishes[0]->data->variants[0].fields.size();
    for (std::size_t i = 0; i < parts; ++i) of_parts.push_back(field_type(*wishes[0], 0, i));
    wishes = of_parts;
  }
  const bool wished = wishes.size() == elements.size();
  std::vector<Var> vars;
  vars.reserve(elements.size());
  for (std::size_t i = 0; i < elements.size(); ++i) {
    vars.push_back(value(elements[i], wished ? wishes[i] : std::nullopt));
  }
  return Vars(std::move(vars));
}

void BodyChecker::close(ir::BlockId block, const Vars& results) {
  f_->end_block(block, all_known(results) ? results : unknown());
}

/// After a finding: values of the same types, usable in the block that is open now.
Vars BodyChecker::in_place_of(const Vars& vars) {
  std::vector<Var> stand_ins;
  for (Var var : vars) {
    stand_ins.push_back(known(var) ? stand_in(var.type()) : Var());
  }
  return Vars(std::move(stand_ins));
}

/// The parameter of a block that nothing runs.
Var BodyChecker::stand_in(const Type& type) {
  if (type.is_scalar()) return f_->constant(zero_of(type.dtype));
  const ir::BlockId nowhere = f_->begin_block({type});
  Var value = f_->block_params(nowhere)[0];
  f_->end_block(nowhere, unknown());
  return value;
}

// Branches.

Vars BodyChecker::branch(ExprId id, Wishes wishes, ir::BlockId& block) {
  const std::size_t names = scope_.size();
  block = f_->begin_block({});
  Vars results = values(id, wishes);
  close(block, results);
  scope_.shrink(names);
  return results;
}

/// Where nothing is wished, the branch that tells more of its type comes first, so that the other takes it.
Vars BodyChecker::conditional(const Expr& expr, Wishes wishes) {
  if (!any_wish(wishes) && all_leave_types_open(std::array{expr.b, expr.c})) {
    const Wish together = told_together([&] { conditional(expr, {}); }, expr.span);
    if (together) return conditional(expr, {&together, 1});
  }
  const Var condition =
      require(expr.a, value(expr.a), DType::Bool, [] { return std::string("the condition of 'if'"); });
  ir::BlockId then_block;
  ir::BlockId else_block;
  if (any_wish(wishes)) {
    const Vars then = branch(expr.b, wishes, then_block);
    const Vars otherwise = branch(expr.c, wishes, else_block);
    return join(expr, wishes, condition, then, then_block, otherwise, else_block);
  }
  const bool then_follows = tells(expr.c) < tells(expr.b);
  const Vars leader = then_follows ? branch(expr.c, {}, else_block) : branch(expr.b, {}, then_block);
  const std::vector<Wish> types = types_of(as_span(leader));
  const Vars follower = then_follows ? branch(expr.b, types, then_block) : branch(expr.c, types, else_block);
  return join(expr, {}, condition, then_follows ? follower : leader, then_block,
              then_follows ? leader : follower, else_block);
}

Vars BodyChecker::join(const Expr& expr, Wishes wishes, Var condition, const Vars& then,
                       ir::BlockId then_block, const Vars& otherwise, ir::BlockId else_block) {
  if (!known(then) || !known(otherwise)) return in_place_of(known(then) ? then : otherwise);
  if (then.size() != otherwise.size()) {
    report(expr.sign, fmt::format("the branches of 'if' differ: {} after 'then', {} after 'else'",
                                  count_of(then.size(), "value"), count_of(otherwise.size(), "value")));
    return unknown();
  }
  if (!alike(then, otherwise, wishes)) {
    report(expr.sign,
           fmt::format("the branches of 'if' differ: {} after 'then', {} after 'else'{}", type_list(then),
                       type_list(otherwise), hint_at_sizes(then, otherwise, wishes)));
    return unknown();
  }
  if (!known(condition) || !all_known(then) || !all_known(otherwise)) return in_place_of(then);
  f_->set_span(expr.sign);
  return f_->finish_if(condition, then_block, else_block);
}

// Names.

Vars BodyChecker::block(const Expr& expr, Wishes wishes) {
  Vars results = unknown();
  const auto rest = [&] { results = values(expr.a, wishes); };
  lets(expr, std::ref(rest));
  return results;
}

/// `rest` is what the names are for. Functions behind each other may call each other.
void BodyChecker::lets(const Expr& block, const std::function<void()>& rest) {
  const std::size_t names = scope_.size();
  const std::size_t functions = local_functions_.size();
  const auto all = std::span(syntax_->lets).subspan(block.list.begin, block.list.count);
  LetTypes types(*this, block, rest);
  for (std::size_t i = 0; i < all.size();) {
    std::size_t end = i;
    while (end < all.size() && all[end].function) ++end;
    if (end > i) {
      let_functions(all.subspan(i, end - i));
      i = end;
    } else {
      const std::vector<Wish> told = types.of(i);
      if (types.is_untold(i, told)) {
        bind(patterns(all[i].patterns)[0], Var());
      } else {
        let(all[i], told);
      }
      ++i;
    }
  }
  rest();
  types.report_untold();
  scope_.shrink(names);
  local_functions_.resize(functions);
}

/// `told` are types of names whose values do not tell them; empty where all do.
void BodyChecker::let(const Let& let, Wishes told) {
  const std::span<const Pattern> names = patterns(let.patterns);
  require_distinct(names, "name", symbols_, diagnostics_);
  const bool is_one = names.size() == 1 && !names[0].type;
  if (is_one && is_function(let.bound)) {
    let_function(let.bound, names[0]);
  } else if (is_one && names[0].name && let_known_result(let.bound, *names[0].name)) {
    return;
  } else if (names.size() == 1) {
    let_one(let.bound, names[0], told);
  } else {
    let_several(let.bound, names, told);
  }
}

void BodyChecker::let_one(ExprId bound, const Pattern& pattern, Wishes told) {
  const Var found = value(bound, told.empty() ? Wish(pattern.type) : told[0]);
  bind(pattern, require_pattern(bound, found, pattern));
}

void BodyChecker::let_several(ExprId bound, std::span<const Pattern> patterns, Wishes told) {
  std::vector<Wish> wishes;
  for (std::size_t i = 0; i < patterns.size(); ++i)
    wishes.push_back(i < told.size() && told[i] ? told[i] : Wish(patterns[i].type));
  Vars found = values(bound, wishes);
  if (known(found) && found.size() != patterns.size()) {
    report(place_of(bound), fmt::format("expected {} for the names after 'let', found {}",
                                        count_of(patterns.size(), "value"), count_of(found.size(), "value")));
    found = unknown();
  }
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    const Var one = known(found) ? found[i] : Var();
    bind(patterns[i], require_pattern(known(found) ? element(bound, i) : bound, one, patterns[i]));
  }
}

Var BodyChecker::require_pattern(ExprId bound, Var found, const Pattern& pattern) {
  const Var checked =
      require(bound, found, pattern.type, [&] { return fmt::format("the value of '{}'", spelled(pattern)); });
  if (!pattern.type) return checked;
  if (!known(checked)) return stand_in(*pattern.type);
  f_->set_span(place_of(bound));
  try {
    return f_->claimed(checked, *pattern.type);
  } catch (const ProgramError& error) {
    report(place_of(bound), fmt::format("the value of '{}': {}", spelled(pattern), error.what()));
    return stand_in(*pattern.type);
  }
}

void BodyChecker::bind(const Pattern& pattern, Var value) {
  if (!pattern.name) return;
  if (declarations_.is_variant(*pattern.name)) {
    report(pattern.span, fmt::format("expected a name, found '{}', which is a variant", spelled(pattern)));
    return;
  }
  const bool has_name = !symbols_.is_place(*pattern.name) && !symbols_.is_hidden(*pattern.name);
  if (known(value) && has_name && f_->function()[value.id()].name.empty()) {
    f_->named(value, std::string(symbols_[*pattern.name]));
  }
  scope_.bind(*pattern.name, value);
}

Vars BodyChecker::placed(const Expr& expr, Wishes wishes) {
  const std::string around = f_->placement();
  f_->set_placement(tokens_.strings[expr.index]);
  Vars results = values(expr.a, wishes);
  f_->set_placement(around);
  return results;
}

}  // namespace hiaton::lang
