// BodyChecker: `==` and `!=` of data values, and the order of tuples.

#include <fmt/format.h>

#include "lang/body_checker.h"

namespace hiaton::lang {

std::optional<Var> BodyChecker::compare_data(const Operation& operation, std::span<const Var> operands,
                                             Span span) {
  const bool are_alike =
      operands.size() == 2 && operands[0].type().is_data() && operands[0].type() == operands[1].type();
  if (!are_alike) return std::nullopt;
  const Type& type = operands[0].type();
  const std::string_view symbol = operation.def->symbol;
  const bool is_equality = symbol == "==" || symbol == "!=";
  const bool is_order = symbol == "<" || symbol == "<=" || symbol == ">" || symbol == ">=";
  if (!is_equality && !(is_order && is_ordered(type))) return std::nullopt;
  if (is_equality && declarations_.function_types().is_inside(type)) {
    report(span,
           fmt::format("[{}] expected values that can be compared, found {}: functions are equal to nothing",
                       symbol, to_string(type)));
    return Var();
  }
  f_->set_span(span);
  const auto [a, b] = std::pair(operands[0], operands[1]);
  if (symbol == "==") return a == b;
  if (symbol == "!=") return a != b;
  if (symbol == "<") return a < b;
  if (symbol == "<=") return a <= b;
  return symbol == ">" ? a > b : a >= b;
}

}  // namespace hiaton::lang
