// BodyChecker: gradients of functions, which a pass derives later.
#include <fmt/format.h>

#include "lang/body_checker.h"

namespace hiaton::lang {

Vars BodyChecker::gradient(const Expr& expr) {
  const GradientOf& gradient = syntax_->gradients[expr.index];
  const FunctionHead* callee = functions_.find(gradient.function);
  if (callee == nullptr || !callee->readable) {
    if (callee == nullptr) functions_.report_unknown(gradient);
    for (ExprId argument : list(expr.list)) value(argument);
    return unknown();
  }
  std::vector<Var> arguments;
  if (callee->is_generic()) {
    const std::optional<Resolved> resolved = resolve_generic(expr, *callee, {}, {});
    if (!resolved) return unknown();
    callee = resolved->callee;
    arguments = resolved->arguments;
  } else {
    arguments = call_arguments(expr, *callee);
  }
  if (!diagnostics_.empty()) return unknown();
  FunctionRef derived = functions_.reference(*callee);
  try {
    for (bool with_value : gradient.with_value) derived = generated_.gradient(derived, with_value);
  } catch (const ProgramError& error) {
    report(gradient.span, error.what());
    return unknown();
  }
  return emit_call(derived, arguments, expr.span);
}

}  // namespace hiaton::lang
