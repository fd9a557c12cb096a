// BodyChecker: values of data types.
#include <fmt/format.h>

#include "lang/body_checker.h"

namespace hiaton::lang {
bool BodyChecker::is_construction(const Expr& expr) const {
  return declarations_.is_variant(expr.name);
}

/// The type in brackets decides; then that which is wished; then the program's own variant of this name.
std::optional<VariantPlace> BodyChecker::variant_of(const Expr& expr, const Wish& wish) {
  const std::string_view name = symbols_[expr.name];
  if (expr.types.count > 0) {
    const std::optional<Type>& type = syntax_->types[expr.types.begin];
    return type ? std::optional(VariantPlace{*type, *type->data->find(name)}) : std::nullopt;
  }
  if (wish && wish->is_data()) {
    if (const auto index = wish->data->find(name)) return VariantPlace{*wish, *index};
  }
  if (const VariantPlace* place = declarations_.variant(expr.name)) return *place;
  return std::nullopt;
}

Var BodyChecker::construction(const Expr& expr, const Wish& wish) {
  if (const std::optional<VariantPlace> place = variant_of(expr, wish)) return construct(expr, *place);
  if (expr.types.count > 0) return Var();  // its type is reported
  if (const GenericVariant* generic = declarations_.generic_variant(expr.name)) {
    return construct_generic(expr, *generic);
  }
  if (Declarations::list_variant(symbols_[expr.name]) == Declarations::kCons) return cons(expr);
  report(expr.span, "expected a list of a known type, found 'Nil' alone; Nil[i64] is the empty list of i64");
  return Var();
}

Var BodyChecker::construct(const Expr& expr, const VariantPlace& place) {
  const std::span<const ExprId> arguments = list(expr.list);
  const std::optional<std::vector<std::size_t>> targets = fields_of_arguments(expr, *place);
  if (!targets) {
    for (ExprId argument : arguments) value(argument);
    return stand_in(place.data);
  }
  std::vector<Var> fields(place->fields.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    fields[(*targets)[i]] = field_value(arguments[i], place, (*targets)[i]);
  }
  f_->set_span(expr.span);
  return are_known(fields) ? f_->make(place.data, place.index, fields) : stand_in(place.data);
}

/// A list whose type follows from its parts: from the head, or where that is a number, from the tail.
Var BodyChecker::cons(const Expr& expr) {
  const std::span<const ExprId> parts = list(expr.list);
  if (parts.size() != 2) return construct(expr, {declarations_.list_of(DType::I64), Declarations::kCons});
  const Expr& tail = (*syntax_)[parts[1]];
  const bool is_named_nil = tail.kind == Expr::Kind::Name && tail.types.count == 0 &&
                            Declarations::list_variant(symbols_[tail.name]) == Declarations::kNil;
  const bool tail_is_nil = is_named_nil || (tail.kind == Expr::Kind::List && tail.list.count == 0);
  const bool tail_decides = (*syntax_)[parts[0]].flex != Flex::Rigid && !tail_is_nil;
  const bool is_written_out = tail_decides && tail.kind == Expr::Kind::List;
  const Var first =
      is_written_out ? list_of_elements(tail, std::nullopt) : value(parts[tail_decides ? 1 : 0]);
  if (!known(first)) return Var();
  if (tail_decides && !Declarations::is_list(first.type())) {
    report(place_of(parts[1]),
           fmt::format("field 'tail' of 'Cons': expected a list, found {}", to_string(first.type())));
    return Var();
  }
  const Type type = tail_decides ? first.type() : declarations_.list_of(first.type());
  const Type wanted = tail_decides ? Declarations::element_of(type) : type;
  const ExprId other = parts[tail_decides ? 0 : 1];
  const Var second = require(other, value(other, wanted), wanted, [&] {
    return fmt::format("field '{}' of 'Cons'", tail_decides ? "head" : "tail");
  });
  if (!known(second)) return stand_in(type);
  f_->set_span(expr.span);
  return tail_decides ? f_->make(type, Declarations::kCons, {second, first})
                      : f_->make(type, Declarations::kCons, {first, second});
}

}  // namespace hiaton::lang
