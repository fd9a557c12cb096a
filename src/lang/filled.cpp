// BodyChecker: tensors of sizes that only the run knows: `range`, `zeros`, `ones` and `full`.
#include <fmt/format.h>

#include <algorithm>

#include "lang/body_checker.h"

namespace hiaton::lang {
namespace {

/// Longer ranges are made when the program runs.
constexpr int64_t kMostInProgram = 1024;

/// Zeros of one byte each: twice as many with each call.
FunctionRef zero_bytes(Generated& generated) {
  const Type bytes(DType::U8, {unknown_dim()});
  return generated.function("zero_bytes", {{DType::I64, "count"}}, {bytes},
                            [](FunctionBuilder& f, FunctionRef self) -> Vars {
                              const Var n = f.param(0);
                              const auto one = [&] { return f.constant(Value(Tensor(DType::U8, {1}))); };
                              return f.if_else(
                                  n <= 1,
                                  [&] {
                                    return f.if_else(
                                        n == 1, [&] { return one(); },
                                        [&] {
                                          return f.op("slice", {one()}, {0, 0, 0});
                                        });
                                  },
                                  [&] {
                                    const Var half = f.call(self, {n / 2});
                                    const Var both = f.op("concat", {half, half}, {0});
                                    return f.if_else(
                                        n % 2 == 0, [&] { return both; },
                                        [&] {
                                          return f.op("concat", {both, one()}, {0});
                                        });
                                  });
                            });
}

}  // namespace

bool BodyChecker::is_filled(const Expr& expr) const {
  return makes_filled(symbols_[expr.name]) && (expr.of_catalog || functions_.find(expr.name) == nullptr);
}

Var BodyChecker::filled(const Expr& expr, const Wish& wish) {
  const std::string_view word = symbols_[expr.name];
  const std::span<const ExprId> arguments = list(expr.list);
  const bool is_full = word == "full";
  const std::size_t least = is_full ? 2 : 1;
  const std::size_t most = word == "range" ? 2 : kMaxRank + (is_full ? 1 : 0);
  if (expr.attributes.count > 0) report_attributes(expr);
  if (arguments.size() < least || arguments.size() > most) {
    const std::string wanted = word == "range" ? "'range(size)' or 'range(begin, end)'"
                                               : fmt::format("'{}({}size, ...)' with at most {} sizes", word,
                                                             is_full ? "value, " : "", kMaxRank);
    report(expr.span, fmt::format("expected {}, found {}", wanted, count_of(arguments.size(), "argument")));
    for (ExprId argument : arguments) value(argument);
    return Var();
  }
  if (word == "range") return range(expr);
  const bool has_wish = wish && !wish->is_data();
  Var element;
  if (is_full) {
    element = value(arguments[0], has_wish ? Wish(Type(wish->dtype)) : std::nullopt);
  } else {
    f_->set_span(expr.span);
    const bool wants_number = has_wish && is_number(wish->dtype);
    element = f_->cast(f_->constant(int64_t{word == "ones"}), wants_number ? wish->dtype : DType::F64);
  }
  if (known(element) && !element.type().is_scalar()) {
    report(place_of(arguments[0]),
           fmt::format("the value of 'full': expected a number or truth value, found {}",
                       to_string(element.type())));
    element = Var();
  }
  return stretched(element, arguments.subspan(is_full ? 1 : 0), expr.span);
}

/// A tensor of these sizes, all elements of which are the value.
Var BodyChecker::stretched(Var element, std::span<const ExprId> sizes, Span span) {
  Attributes shape;
  std::vector<Var> dims;
  for (const ExprId size : sizes) {
    const std::optional<int64_t> number = known_integer(size);
    if (number && *number < 0) {
      report(place_of(size), fmt::format("expected a size of 0 or more, found {}", *number));
      return Var();
    }
    if (number) shape.push_back(*number);
    dims.push_back(require(size, value(size, Type(DType::I64)), Type(DType::I64),
                           [] { return std::string("a size of a tensor, as in zeros(2, 3)"); }));
  }
  if (!known(element) || !are_known(dims)) return Var();
  f_->set_span(span);
  try {
    if (shape.size() == dims.size()) return f_->op("broadcast_to", {element}, shape);
    return f_->op("broadcast_like", {element, f_->cast(of_sizes(dims), element.type().dtype)});
  } catch (const ProgramError& error) {
    report(span, error.what());
    return Var();
  }
}

/// A tensor of these sizes whose elements are zero.
Var BodyChecker::of_sizes(const std::vector<Var>& sizes) {
  const FunctionRef zeros = zero_bytes(generated_);
  Var sum;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    Var along = f_->call(zeros, {f_->op("check_count", {sizes[i]})});
    Attributes shape{-1};
    for (std::size_t later = i + 1; later < sizes.size(); ++later) shape.push_back(1);
    if (shape.size() > 1) along = f_->op("reshape", {along}, shape);
    sum = i == 0 ? along : sum + along;
  }
  return sum;
}

Var BodyChecker::range(const Expr& expr) {
  const std::span<const ExprId> bounds = list(expr.list);
  const std::optional<int64_t> first = bounds.size() > 1 ? known_integer(bounds[0]) : 0;
  const std::optional<int64_t> last = known_integer(bounds.back());
  const int64_t from = first.value_or(0);
  const int64_t to = last.value_or(0);
  if (first && last && from >= 0 && to >= from && to - from <= kMostInProgram) {
    Tensor numbers(DType::I64, {to - from});
    for (int64_t i = 0; i < numbers.size(); ++i) numbers.mutable_data<int64_t>()[i] = from + i;
    f_->set_span(expr.span);
    return f_->constant(Value(std::move(numbers)));
  }
  const Var begin = bounds.size() > 1 ? bound(bounds[0]) : Var();
  const Var end = bound(bounds.back());
  if (!known(end) || (bounds.size() > 1 && !known(begin))) return Var();
  f_->set_span(expr.span);
  return known(begin) ? f_->range(end - begin) + begin : f_->range(end);
}

}  // namespace hiaton::lang
