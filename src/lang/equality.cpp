// BodyChecker: `==` and `!=` of data values, and the order of tuples, as calls of functions that are made for
// their types.
#include <fmt/format.h>

#include <algorithm>

#include "lang/body_checker.h"

namespace hiaton::lang {
namespace {

Var both(FunctionBuilder& f, Var condition, const std::function<Var()>& then) {
  return f.if_else(
      condition, [&] { return then(); }, [&] { return f.constant(false); });
}

Var same_sizes(FunctionBuilder& f, Var a, Var b, std::size_t from) {
  const auto axis = static_cast<int64_t>(from);
  const Var size_of_a = f.op("size", {a}, {axis});
  const Var size_of_b = f.op("size", {b}, {axis});
  const Var same = size_of_a == size_of_b;
  return from + 1 == a.type().shape.size() ? same
                                           : both(f, same, [&] { return same_sizes(f, a, b, from + 1); });
}

/// Compares tensors of one rank: sizes, and every element.
Var same_tensors(FunctionBuilder& f, Var a, Var b) {
  return both(f, same_sizes(f, a, b, 0),
              [&] { return f.op("sum", {f.cast(a != b, DType::I64)}, Attributes{}) == int64_t{0}; });
}

}  // namespace

bool BodyChecker::compares_data(const Operation& operation, std::span<const Var> operands) const {
  const bool is_equality = operation.def->symbol == "==" || operation.def->symbol == "!=";
  return is_equality && operands.size() == 2 && operands[0].type().is_data() &&
         operands[0].type() == operands[1].type();
}

Var BodyChecker::compare_data(const Operation& operation, std::span<const Var> operands, Span span) {
  if (declarations_.function_types().is_inside(operands[0].type())) {
    report(span,
           fmt::format("[{}] expected values that can be compared, found {}: functions are equal to nothing",
                       operation.def->symbol, to_string(operands[0].type())));
    return Var();
  }
  f_->set_span(span);
  const Var equal = f_->call(equality_of(operands[0].type()), {operands[0], operands[1]});
  return operation.def->symbol == "==" ? equal : !equal;
}

/// Whether two values of one type are equal.
Var BodyChecker::same(FunctionBuilder& f, Var a, Var b) {
  if (is_string(a.type())) return f.op("string_equal", {a, b});
  if (a.type().is_data()) return f.call(equality_of(a.type()), {a, b});
  return a.type().is_tensor() ? same_tensors(f, a, b) : a == b;
}

/// From the field `from` on, which is compared first: the last one may be a tail call.
Var BodyChecker::same_fields(FunctionBuilder& f, Var a, Var b, std::size_t variant, std::size_t from) {
  const std::size_t fields = a.type().data->variants[variant].fields.size();
  if (fields == 0) return f.constant(true);
  const Var of_a = f.field(a, variant, from);
  const Var of_b = f.field(b, variant, from);
  const Var first = same(f, of_a, of_b);
  if (from + 1 == fields) return first;
  return both(f, first, [&] { return same_fields(f, a, b, variant, from + 1); });
}

/// Compares values of one variant, which is `variant` or a later one.
Var BodyChecker::same_from(FunctionBuilder& f, Var a, Var b, std::size_t variant) {
  if (variant + 1 == a.type().data->variants.size()) return same_fields(f, a, b, variant, 0);
  return f.if_else(
      f.variant(a) == static_cast<int64_t>(variant), [&] { return same_fields(f, a, b, variant, 0); },
      [&] { return same_from(f, a, b, variant + 1); });
}

/// Numbers, strings, and tuples of them.
bool BodyChecker::is_ordered(const Type& type) const {
  if (!type.is_data()) return type.is_scalar() && is_number(type.dtype);
  if (is_string(type)) return true;
  const std::vector<Field>* const fields = is_tuple(type) ? &type.data->variants[0].fields : nullptr;
  return fields != nullptr &&
         std::ranges::all_of(*fields, [&](const Field& field) { return is_ordered(field.type); });
}

bool BodyChecker::orders_tuples(const Operation& operation, std::span<const Var> operands) const {
  const std::string_view symbol = operation.def->symbol;
  return (symbol == "<" || symbol == "<=" || symbol == ">" || symbol == ">=") && operands.size() == 2 &&
         is_tuple(operands[0].type()) && operands[0].type() == operands[1].type() &&
         is_ordered(operands[0].type());
}

/// a > b is b < a.
Var BodyChecker::order_tuples(const Operation& operation, std::span<const Var> operands, Span span) {
  f_->set_span(span);
  const bool swaps = operation.def->symbol.starts_with('>');
  const Var made = order(*f_, operands[swaps ? 1 : 0], operands[swaps ? 0 : 1]);
  return operation.def->symbol.ends_with('=') ? made <= int64_t{0} : made < int64_t{0};
}

Var BodyChecker::order(FunctionBuilder& f, Var a, Var b) {
  if (is_string(a.type())) return f.op("string_compare", {a, b});
  if (a.type().is_data()) return f.call(order_of(a.type()), {a, b});
  return f.if_else(
      a < b, [&]() -> Vars { return f.constant(int64_t{-1}); },
      [&]() -> Vars {
        return f.if_else(
            b < a, [&]() -> Vars { return f.constant(int64_t{1}); },
            [&]() -> Vars { return f.constant(int64_t{0}); });
      });
}

/// By the first parts, where they differ, else by the next ones.
FunctionRef BodyChecker::order_of(const Type& type) {
  return generated_.function(
      "order_" + as_name(type.data->name), {{type, "a"}, {type, "b"}}, {DType::I64},
      [&](FunctionBuilder& f, FunctionRef) -> Vars {
        const std::size_t parts = type.data->variants[0].fields.size();
        const std::function<Var(std::size_t)> from = [&](std::size_t i) -> Var {
          const Var first = order(f, f.field(f.param(0), 0, i), f.field(f.param(1), 0, i));
          if (i + 1 == parts) return first;
          return f.if_else(
              first == int64_t{0}, [&]() -> Vars { return from(i + 1); }, [&]() -> Vars { return first; });
        };
        return from(0);
      });
}

FunctionRef BodyChecker::equality_of(const Type& type) {
  return generated_.function("equal_" + as_name(type.data->name), {{type, "a"}, {type, "b"}}, {DType::Bool},
                             [&](FunctionBuilder& f, FunctionRef) -> Vars {
                               const Var a = f.param(0);
                               const Var b = f.param(1);
                               if (type.data->variants.size() == 1) return same_fields(f, a, b, 0, 0);
                               const Var of_a = f.variant(a);
                               const Var of_b = f.variant(b);
                               return both(f, of_a == of_b, [&] { return same_from(f, a, b, 0); });
                             });
}

}  // namespace hiaton::lang
