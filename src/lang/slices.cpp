// BodyChecker: ranges in the brackets behind a tensor, `x[i:j, k]`.
#include <fmt/format.h>

#include <algorithm>

#include "lang/body_checker.h"
#include "lang/token.h"

namespace hiaton::lang {

/// An integer of numbers, sizes and their sums, differences and products, which is known before the run.
std::optional<int64_t> BodyChecker::known_integer(ExprId id) const {
  const Expr& expr = (*syntax_)[id];
  if (expr.kind == Expr::Kind::Number) {
    const bool is_integer = expr.op == Tok::Integer && (!expr.suffix || *expr.suffix == DType::I64);
    if (!is_integer) return std::nullopt;
    try {
      return literal_value(source_.text(expr.sign), expr.negative, DType::I64).as<int64_t>();
    } catch (const ProgramError&) {
      return std::nullopt;  // reported where the value is made
    }
  }
  if (expr.kind == Expr::Kind::Name) {
    const Size* const size = scope_.find(expr.name) == nullptr ? declarations_.size(expr.name) : nullptr;
    return size != nullptr ? size->value : std::nullopt;
  }
  const bool is_combined = expr.op == Tok::Plus || expr.op == Tok::Minus || expr.op == Tok::Star;
  if (expr.kind != Expr::Kind::Binary || !is_combined) return std::nullopt;
  const std::optional<int64_t> a = known_integer(expr.a);
  const std::optional<int64_t> b = a ? known_integer(expr.b) : std::nullopt;
  return b ? combined(expr.op, *a, *b) : std::nullopt;
}

/// Reports an index that is negative, whatever the run is.
bool BodyChecker::may_be_place(ExprId position) {
  const std::optional<int64_t> place = known_integer(position);
  if (!place || *place >= 0) return true;
  report(
      place_of(position),
      fmt::format("expected an index of 0 or more, found {}; places count from the beginning: the last one "
                  "of n is n - 1",
                  *place));
  return false;
}

/// A range keeps its axis, and an index takes it away.
Var BodyChecker::slices(const Expr& expr) {
  Var found = value(expr.a);
  const std::span<const ExprId> positions = list(expr.list);
  if (known(found) && is_string(found.type()) && positions.size() == 1)
    return part_of_string(found, (*syntax_)[positions[0]]);
  if (known(found) && (!found.type().is_tensor() || found.type().shape.size() < positions.size())) {
    const Type& type = found.type();
    const char* const hint =
        Declarations::is_list(type) ? "; take and drop of \"std/list\" give parts of a list" : "";
    report(expr.sign, fmt::format("expected a tensor of at least {} before '[', found {}{}",
                                  count_of(positions.size(), "dimension"), to_string(type), hint));
    found = Var();
  }
  std::size_t axis = 0;
  for (const ExprId position : positions) {
    const Expr& at = (*syntax_)[position];
    const bool is_range = at.kind == Expr::Kind::Range;
    const auto number = static_cast<int64_t>(axis);
    try {
      found = is_range ? range_along(found, number, at) : element_along(found, number, position);
    } catch (const ProgramError& error) {
      report(at.span, error.what());
      found = Var();
    }
    if (is_range) ++axis;
  }
  return found;
}

Var BodyChecker::bound(ExprId id) {
  return require(id, value(id, Type(DType::I64)), Type(DType::I64),
                 [] { return std::string("a bound of a range"); });
}

/// Bounds that are known before the run give a slice of which the size is known, too.
Var BodyChecker::range_along(Var x, int64_t axis, const Expr& range) {
  if (!range.a.valid() && !range.b.valid()) return x;
  const std::optional<int64_t> first = range.a.valid() ? known_integer(range.a) : 0;
  const Dim dim = known(x) ? x.type().shape[static_cast<std::size_t>(axis)] : unknown_dim();
  const std::optional<int64_t> whole = dim.size >= 0 ? std::optional(dim.size) : std::nullopt;
  const std::optional<int64_t> last = range.b.valid() ? known_integer(range.b) : whole;
  const int64_t from = first.value_or(0);
  const int64_t to = last.value_or(0);
  if (first && last) {
    if (from < 0 || to < from) {
      const char* const hint =
          to < 0 ? "; places count from the beginning: x[i:n - 1] ends before the last one" : "";
      report(range.span, fmt::format("expected a range from a number of 0 or more to one that is not less, "
                                     "found {}:{}{}",
                                     from, to, hint));
      return Var();
    }
    f_->set_span(range.span);
    return known(x) ? f_->op("slice", {x}, {axis, from, to - from}) : Var();
  }
  Var begin;
  if (!first) begin = bound(range.a);
  if (from != 0) begin = f_->constant(from);
  const Var end = range.b.valid() ? bound(range.b) : Var();
  const bool are_bounds_known = (known(begin) || first) && (known(end) || !range.b.valid());
  if (!known(x) || !are_bounds_known) return Var();
  f_->set_span(range.span);
  return f_->slice(x, axis, begin, end);
}

Var BodyChecker::element_along(Var x, int64_t axis, ExprId position) {
  if (!may_be_place(position)) return Var();
  const std::optional<int64_t> place = known_integer(position);
  const Var index = require(position, value(position, Type(DType::I64)), Type(DType::I64),
                            [] { return std::string("an index beside a range"); });
  if (!known(x) || !known(index)) return Var();
  f_->set_span(place_of(position));
  const bool is_attribute = axis > 0 && place;
  return is_attribute ? f_->op("take", {x}, {axis, *place}) : f_->take(x, axis, index);
}

}  // namespace hiaton::lang
