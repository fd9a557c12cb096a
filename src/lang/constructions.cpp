// BodyChecker: values of data types.
#include <fmt/format.h>

#include "lang/body_checker.h"

namespace hiaton::lang {
namespace {

std::string fields_of(const Variant& variant) {
  std::string text;
  for (const Field& field : variant.fields) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", field.name, to_string(field.type));
  }
  return text.empty() ? variant.name : fmt::format("{}({})", variant.name, text);
}

}  // namespace

bool BodyChecker::is_construction(const Expr& expr) const {
  return declarations_.is_variant(expr.name);
}

/// The type in brackets decides; then that which is wished; then the program's own variant of this name.
std::optional<VariantPlace> BodyChecker::variant_of(const Expr& expr, const Wish& wish) {
  const std::optional<std::size_t> in_list = Declarations::list_variant(symbols_[expr.name]);
  if (expr.index > 0) {
    const std::optional<Type>& element = syntax_->types[expr.index - 1];
    if (!element) return std::nullopt;
    return VariantPlace{declarations_.list_of(*element), *in_list};
  }
  if (wish && wish->is_data()) {
    if (const auto index = wish->data->find(symbols_[expr.name])) return VariantPlace{*wish, *index};
  }
  if (const VariantPlace* place = declarations_.variant(expr.name)) return *place;
  return std::nullopt;
}

Var BodyChecker::construction(const Expr& expr, const Wish& wish) {
  if (const std::optional<VariantPlace> place = variant_of(expr, wish)) return construct(expr, *place);
  if (expr.index > 0) return Var();  // its type is reported
  if (Declarations::list_variant(symbols_[expr.name]) == Declarations::kCons) return cons(expr);
  report(expr.span, "expected a list of a known type, found 'Nil' alone; Nil[i64] is the empty list of i64");
  return Var();
}

Var BodyChecker::construct(const Expr& expr, const VariantPlace& place) {
  const std::span<const ExprId> arguments = list(expr.list);
  const std::size_t expected = place->fields.size();
  if (expr.attributes.count > 0) {
    report_attributes(expr);
    return stand_in(place.data);
  }
  if (arguments.size() != expected) {
    report(expr.span, fmt::format("'{}' has {}, found {}: {}", place->name, count_of(expected, "field"),
                                  arguments.size(), fields_of(*place)));
    for (ExprId argument : arguments) value(argument);
    return stand_in(place.data);
  }
  std::vector<Var> fields;
  for (std::size_t i = 0; i < expected; ++i) {
    const Type type = field_type(place.data, place.index, i);
    fields.push_back(require(arguments[i], value(arguments[i], type), type, [&] {
      return fmt::format("field '{}' of '{}'", place->fields[i].name, place->name);
    }));
  }
  f_->set_span(expr.span);
  return are_known(fields) ? f_->make(place.data, place.index, fields) : stand_in(place.data);
}

/// A list whose type follows from its parts: from the head, or where that is a number, from the tail.
Var BodyChecker::cons(const Expr& expr) {
  const std::span<const ExprId> parts = list(expr.list);
  if (parts.size() != 2) return construct(expr, {declarations_.list_of(DType::I64), Declarations::kCons});
  const Expr& tail = (*syntax_)[parts[1]];
  const bool tail_is_nil = tail.kind == Expr::Kind::Name && tail.index == 0 &&
                           Declarations::list_variant(symbols_[tail.name]) == Declarations::kNil;
  const bool tail_decides = (*syntax_)[parts[0]].flex != Flex::Rigid && !tail_is_nil;
  const Var first = value(parts[tail_decides ? 1 : 0]);
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
