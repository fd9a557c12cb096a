// FunctionBuilder: equality and order of values as a whole, as calls of functions that are made for their
// types.
#include <fmt/format.h>

#include <array>

#include "hiaton/builder.h"
#include "hiaton/error.h"
#include "ir/names.h"

namespace hiaton {
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

/// Tensors of one rank: sizes, and every element.
Var same_tensors(FunctionBuilder& f, Var a, Var b) {
  return both(f, same_sizes(f, a, b, 0),
              [&] { return f.op("sum", {f.cast(a != b, DType::I64)}, Attributes{}) == int64_t{0}; });
}

/// From the field `from` on, which is compared first: the last one may be a tail call.
Var same_fields(FunctionBuilder& f, Var a, Var b, std::size_t variant, std::size_t from) {
  const std::size_t fields = a.type().data->variants[variant].fields.size();
  if (fields == 0) return f.constant(true);
  const Var of_a = f.field(a, variant, from);
  const Var of_b = f.field(b, variant, from);
  const Var first = f.equal(of_a, of_b);
  if (from + 1 == fields) return first;
  return both(f, first, [&] { return same_fields(f, a, b, variant, from + 1); });
}

/// Values of one variant, which is `variant` or a later one.
Var same_from(FunctionBuilder& f, Var a, Var b, std::size_t variant) {
  if (variant + 1 == a.type().data->variants.size()) return same_fields(f, a, b, variant, 0);
  return f.if_else(
      f.variant(a) == static_cast<int64_t>(variant), [&] { return same_fields(f, a, b, variant, 0); },
      [&] { return same_from(f, a, b, variant + 1); });
}

Var same_data(FunctionBuilder& f, Var a, Var b) {
  if (a.type().data->variants.size() == 1) return same_fields(f, a, b, 0, 0);
  const Var of_a = f.variant(a);
  const Var of_b = f.variant(b);
  return both(f, of_a == of_b, [&] { return same_from(f, a, b, 0); });
}

/// By the first parts, where they differ, else by the next ones.
Var order_from(FunctionBuilder& f, Var a, Var b, std::size_t part) {
  const Var first = f.order(f.field(a, 0, part), f.field(b, 0, part));
  if (part + 1 == a.type().data->variants[0].fields.size()) return first;
  return f.if_else(
      first == int64_t{0}, [&]() -> Vars { return order_from(f, a, b, part + 1); },
      [&]() -> Vars { return first; });
}

Var order_of_numbers(FunctionBuilder& f, Var a, Var b) {
  return f.if_else(
      a < b, [&]() -> Vars { return f.constant(int64_t{-1}); },
      [&]() -> Vars {
        return f.if_else(
            b < a, [&]() -> Vars { return f.constant(int64_t{1}); },
            [&]() -> Vars { return f.constant(int64_t{0}); });
      });
}

}  // namespace

Var FunctionBuilder::equal(Var a, Var b) {
  require_own(std::array{a, b});
  const Type& type = a.type();
  const bool are_tensors = type.is_tensor() && without_sizes(type) == without_sizes(b.type());
  if (!are_tensors && !(type == b.type())) {
    throw ProgramError(fmt::format("[equal] expected two values of one type, found {} and {}",
                                   to_string(type), to_string(b.type())));
  }
  if (is_string(type)) return op("string_equal", {a, b});
  if (are_tensors) return same_tensors(*this, a, b);
  if (type.is_scalar()) return a == b;
  const FunctionRef made = owner_.helper(
      "equal_" + ir::as_name(type.data->name), {{type, "a"}, {type, "b"}}, {DType::Bool},
      [](FunctionBuilder& f, FunctionRef) -> Vars { return same_data(f, f.param(0), f.param(1)); });
  return call(made, {a, b});
}

Var FunctionBuilder::order(Var a, Var b) {
  require_own(std::array{a, b});
  const Type& type = a.type();
  if (!(type == b.type()) || !is_ordered(type)) {
    throw ProgramError(
        fmt::format("[order] expected two numbers, strings, or tuples of them, of one type, found {} and {}",
                    to_string(type), to_string(b.type())));
  }
  if (is_string(type)) return op("string_compare", {a, b});
  if (!type.is_data()) return order_of_numbers(*this, a, b);
  const FunctionRef made = owner_.helper(
      "order_" + ir::as_name(type.data->name), {{type, "a"}, {type, "b"}}, {DType::I64},
      [](FunctionBuilder& f, FunctionRef) -> Vars { return order_from(f, f.param(0), f.param(1), 0); });
  return call(made, {a, b});
}

}  // namespace hiaton
