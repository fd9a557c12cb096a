// BodyChecker: calls that give a function which is known before the run, as those of
// fn slope(f: fn(f64) -> f64) -> fn(f64) -> f64 = grad(f). What stands in the body of the callee is made
// where the call stands, so that no data value has to say which function it is.
#include <algorithm>

#include "lang/body_checker.h"

namespace hiaton::lang {

/// A function whose whole body is a lambda or a gradient.
const FunctionHead* BodyChecker::giver_of_function(const Expr& call) const {
  const bool has_name = call.kind == Expr::Kind::Call && !call.of_catalog &&
                        scope_.find(call.name) == nullptr && local_function(call.name) == nullptr;
  const FunctionHead* const callee = has_name ? functions_.find(call.name) : nullptr;
  if (callee == nullptr || !callee->readable || callee->is_constant || callee->gradient || callee->placement)
    return nullptr;
  const bool has_sizes = !callee->sizes.empty() || !callee->computed_sizes.empty() || callee->recompute;
  if (has_sizes || callee->on_demand) return nullptr;
  const Tok first = tokens_.tokens[callee->body].kind;
  const bool is_gradient = gradient_kind(first).has_value();
  const bool is_lambda = first == Tok::Fn && tokens_.tokens[callee->body + 1].kind == Tok::LeftParen;
  return is_gradient || is_lambda ? callee : nullptr;
}

/// What is wrong is reported where the call is checked as one that gives a data value.
std::optional<BodyChecker::FunctionValue> BodyChecker::known_result(const Expr& call, const Wish& wish) {
  const FunctionHead* const written = giver_of_function(call);
  if (written == nullptr || !diagnostics_.is_clear()) return std::nullopt;
  std::optional<FunctionValue> found;
  if (written->is_generic()) {
    const auto given = std::span(syntax_->types).subspan(call.types.begin, call.types.count);
    const std::optional<Resolved> made = resolve_generic(call, *written, given, {&wish, 1});
    if (made) found = known_result(*made);
    if (found && diagnostics_.is_clear()) functions_.take_back(*made->callee);
  } else {
    found = known_result(Resolved{written, call_arguments(call, *written)});
  }
  if (diagnostics_.is_clear()) return found;
  diagnostics_.forget_part();
  return std::nullopt;
}

std::optional<BodyChecker::FunctionValue> BodyChecker::known_result(const Resolved& call) {
  const FunctionHead& callee = *call.callee;
  const bool is_ready = diagnostics_.is_clear() && are_known(call.arguments) &&
                        call.arguments.size() == callee.value_count() && callee.results.size() == 1;
  if (!is_ready || std::ranges::find(inside_, &callee) != inside_.end()) return std::nullopt;
  const FunctionType* const type = function_type(callee.results[0]);
  if (type == nullptr) return std::nullopt;
  const ReadBody& body = read_body_(callee);
  const Expr& giver = body.syntax[body.body];
  const bool is_function = giver.kind == Expr::Kind::Lambda || giver.kind == Expr::Kind::Gradient;
  if ((!is_function && giver.kind != Expr::Kind::Block) || giver.is_called) return std::nullopt;
  FunctionValue found = inside_of(callee, body, call.arguments, *type);
  return found.known() && !found.is_open() ? std::optional(std::move(found)) : std::nullopt;
}

/// Whether the value of the `let` is such a call: its name is bound to the function, which is no data value.
bool BodyChecker::let_known_result(ExprId bound, Symbol name) {
  const Expr& expr = (*syntax_)[bound];
  std::optional<FunctionValue> found = known_result(expr, std::nullopt);
  if (!found || declarations_.is_variant(name)) return false;
  found->name = name;
  local_functions_.push_back(*std::move(found));
  scope_.hide(name);
  return true;
}

/// The function that the body gives, with the arguments of one call for its parameters.
BodyChecker::FunctionValue BodyChecker::inside_of(const FunctionHead& callee, const ReadBody& body,
                                                  std::span<const Var> arguments, const FunctionType& type) {
  const Syntax* const syntax = std::exchange(syntax_, &body.syntax);
  LetUses* const uses = std::exchange(uses_, nullptr);
  const FunctionHead* const head = std::exchange(head_, &callee);
  Scope scope = std::exchange(scope_, Scope(symbols_.size()));
  std::vector<FunctionValue> functions = std::exchange(local_functions_, {});
  closed_.swap(closed_inside_[&callee]);
  inside_.push_back(&callee);
  functions_.enter(callee);
  for (std::size_t i = 0; i < callee.params.size(); ++i) scope_.bind(*callee.params[i].name, arguments[i]);
  bind_functions(callee, arguments.subspan(callee.params.size()));
  const std::vector<Wish> params(type.params.begin(), type.params.end());
  FunctionValue found = function_value(body.body, params, type.result);
  inside_.pop_back();
  closed_.swap(closed_inside_[&callee]);
  local_functions_ = std::move(functions);
  scope_ = std::move(scope);
  head_ = head;
  uses_ = uses;
  syntax_ = syntax;
  functions_.enter(*head);
  return found;
}

}  // namespace hiaton::lang
