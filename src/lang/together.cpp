// BodyChecker: types that several expressions tell together.
#include "lang/together.h"

#include <algorithm>
#include <array>
#include <utility>

#include "lang/over_lists.h"
#include "lang/type_inference.h"

namespace hiaton::lang {
namespace {

/// Inside each other: each makes what is inside of it twice.
constexpr int kMostAttempts = 6;

}  // namespace

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

bool BodyChecker::attempt(const std::function<void()>& make) {
  if (attempts_ == kMostAttempts) return false;
  ++attempts_;
  const std::size_t findings = diagnostics_.count();
  const std::size_t names = scope_.size();
  const std::size_t functions = local_functions_.size();
  bool is_right = true;
  try {
    f_->attempt(make);
  } catch (const ProgramError&) {
    is_right = false;
  }
  --attempts_;
  scope_.shrink(names);
  local_functions_.resize(functions);
  is_right = is_right && diagnostics_.count() == findings;
  diagnostics_.forget_after(findings);
  return is_right;
}

Wish BodyChecker::told_together(const std::function<void()>& make, Span span) {
  if (collected_ != nullptr) return std::nullopt;  // which is asked already
  Collected collected;
  collected_ = &collected;
  const bool is_right = attempt(make);
  collected_ = nullptr;
  if (!is_right || collected.generic == nullptr) return std::nullopt;
  std::vector<std::optional<Type>> told;
  for (const TypeArgument& argument : collected.arguments) told.push_back(argument.type);
  TypeInference types(collected.generic->params, source_, tokens_, declarations_, diagnostics_);
  types.set(told);
  return types.missing().empty() ? types.instance_of(*collected.generic, span) : std::nullopt;
}

Wish BodyChecker::told_by_step(const Expr& expr, const OverList& over, const Applied& applied) {
  const Expr& function = (*syntax_)[giver_of(list(expr.list)[0])];
  if (function.kind == Expr::Kind::Lambda) return told_by_step_of_lambda(expr, over);
  const FunctionHead* const generic = applied.generic();
  if (generic == nullptr || generic->param_types.size() < 2) return std::nullopt;
  TypeInference types(generic->type_params, source_, tokens_, declarations_, diagnostics_);
  types.match(generic->param_types[1], over.element);
  return types.type_at(generic->param_types[0]);
}

/// In the body, the name of the first parameter stands for the first value as it is written.
Wish BodyChecker::told_by_step_of_lambda(const Expr& expr, const OverList& over) {
  const std::span<const ExprId> arguments = list(expr.list);
  const Expr& lambda = (*syntax_)[giver_of(arguments[0])];
  const std::span<const Pattern> params = patterns(lambda.list);
  if (params.size() + 1 != arguments.size() || !params[0].name) return std::nullopt;
  Syntax unfolded = *syntax_;
  const Expr& first = (*syntax_)[arguments[1]];
  for (std::size_t i = lambda.index; i <= lambda.a.index(); ++i) {
    Expr& named = unfolded.exprs[i];
    if (named.kind != Expr::Kind::Name || named.name != *params[0].name) continue;
    const Span span = named.span;
    named = first;
    named.span = span;
  }
  const Syntax* const around = std::exchange(syntax_, &unfolded);
  Wish step;
  const bool is_right = attempt([&] {
    const ir::BlockId block = f_->begin_block({over.element});
    bind(params[1], f_->block_params(block)[0]);
    for (std::size_t i = 2; i < params.size(); ++i) bind(params[i], value(arguments[i + 1]));
    const Vars results = values(lambda.a, {});
    if (all_known(results)) step = single(lambda.a, results, std::nullopt).type();
  });
  syntax_ = around;
  return is_right ? step : std::nullopt;
}

}  // namespace hiaton::lang
