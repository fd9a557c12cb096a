// BodyChecker: attributes of operations, indices, and values in brackets.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <unordered_set>

#include "lang/body_checker.h"
#include "lang/suggest.h"
#include "lang/token.h"

namespace hiaton::lang {
namespace {

std::string attribute_text(const AttributeDef& attribute) {
  if (attribute.is_list) return fmt::format("{}=[...]", attribute.name);
  if (attribute.otherwise) return fmt::format("{}={}", attribute.name, *attribute.otherwise);
  return fmt::format("{}=...", attribute.name);
}

bool has_range(const Syntax& syntax, std::span<const ExprId> positions) {
  return std::ranges::any_of(positions, [&](ExprId id) { return syntax[id].kind == Expr::Kind::Range; });
}

}  // namespace

std::string to_string(const Signature& signature) {
  std::vector<std::string> parts;
  for (std::string_view operand : signature.operands) parts.emplace_back(operand);
  for (const AttributeDef& attribute : signature.attributes) parts.push_back(attribute_text(attribute));
  return fmt::format("{}({})", signature.name, fmt::join(parts, ", "));
}

// Attributes.

std::optional<std::vector<int64_t>> BodyChecker::attributes_of(const Expr& expr, const Signature& of) {
  const auto given = std::span(syntax_->attributes).subspan(expr.attributes.begin, expr.attributes.count);
  const std::span<const AttributeDef> all = of.attributes;
  bool right = true;
  std::unordered_set<Symbol> seen;
  for (const Attribute& attribute : given) {
    const std::string_view name = symbols_[attribute.name];
    if (!seen.insert(attribute.name).second) {
      report(attribute.span, fmt::format("attribute '{}' is given twice", name));
      right = false;
    }
    if (std::any_of(all.begin(), all.end(), [&](const AttributeDef& def) { return def.name == name; }))
      continue;
    Suggestion similar(name);
    for (const AttributeDef& def : all) similar.offer(def.name);
    report(attribute.span,
           fmt::format("'{}' has no attribute '{}'{}: {}", of.name, name, similar.text(), to_string(of)));
    right = false;
  }
  std::vector<int64_t> values;
  for (const AttributeDef& wanted : all) {
    const auto found = std::find_if(given.begin(), given.end(), [&](const Attribute& attribute) {
      return symbols_[attribute.name] == wanted.name;
    });
    if (found != given.end()) {
      right = put_attribute(*found, wanted, of, values) && right;
    } else if (wanted.otherwise) {
      if (!wanted.is_list) values.insert(values.end(), wanted.count, *wanted.otherwise);
    } else {
      report(expr.span,
             fmt::format("'{}' needs the attribute '{}': {}", of.name, wanted.name, to_string(of)));
      right = false;
    }
  }
  return right ? std::optional(std::move(values)) : std::nullopt;
}

bool BodyChecker::put_attribute(const Attribute& given, const AttributeDef& wanted, const Signature& of,
                                std::vector<int64_t>& values) {
  if (!given.values) return false;
  if (given.is_list && !wanted.is_list && wanted.count == 1) {
    report(given.span,
           fmt::format("attribute '{}' of '{}': expected one integer, found a list", wanted.name, of.name));
    return false;
  }
  if (given.is_list && !wanted.is_list && given.values->size() != wanted.count) {
    report(given.span,
           fmt::format("attribute '{}' of '{}': expected one integer or a list of {}, found a list of {}",
                       wanted.name, of.name, wanted.count, given.values->size()));
    return false;
  }
  if (given.is_list) {
    values.insert(values.end(), given.values->begin(), given.values->end());
  } else {
    values.insert(values.end(), wanted.is_list ? 1 : wanted.count, given.values->front());
  }
  return true;
}

// Pieces.

bool BodyChecker::is_split(const Expr& expr) const {
  return symbols_[expr.name] == "split" && functions_.find(expr.name) == nullptr;
}

Vars BodyChecker::split(const Expr& expr) {
  static constexpr std::array<std::string_view, 1> kOperands = {"x"};
  static constexpr std::array<AttributeDef, 2> kAttributes = {
      {{.name = "axis"}, {.name = "lengths", .is_list = true}}};
  const Signature signature("split", kOperands, kAttributes);
  const std::span<const ExprId> arguments = list(expr.list);
  const std::optional<std::vector<int64_t>> attributes = attributes_of(expr, signature);
  if (arguments.size() != 1) {
    report(expr.span,
           fmt::format("'split' takes 1 argument, found {}: {}", arguments.size(), to_string(signature)));
  }
  std::vector<Var> found;
  for (ExprId argument : arguments) found.push_back(value(argument));
  if (found.size() != 1 || !known(found[0]) || !attributes) return unknown();
  f_->set_span(expr.span);
  try {
    return f_->split(found[0], attributes->front(), std::span(*attributes).subspan(1));
  } catch (const ProgramError& error) {
    report(expr.span, error.what());
    return unknown();
  }
}

// Indices.

bool BodyChecker::is_learned(const Expr& expr) const {
  const bool is_free = expr.kind == Expr::Kind::Name && scope_.find(expr.name) == nullptr;
  return expr.kind == Expr::Kind::Parameter || (is_free && declarations_.parameter(expr.name) != nullptr);
}

/// `x[i, j]`, which is x[i][j]: one operation where all positions are numbers. Rows of learned parameters are
/// read as such, for they may stand elsewhere, and have sparse gradients.
Var BodyChecker::index(const Expr& expr) {
  if (has_range(*syntax_, list(expr.list))) return slices(expr);
  std::vector<const Expr*> reads{&expr};  // the last one first
  while (true) {
    const Expr& inner = (*syntax_)[reads.back()->a];
    if (inner.kind != Expr::Kind::Index || has_range(*syntax_, list(inner.list))) break;
    reads.push_back(&inner);
  }
  const Expr& first = *reads.back();
  const Symbol name = (*syntax_)[first.a].name;
  const bool is_type = (*syntax_)[first.a].kind == Expr::Kind::Name && dtype_from_name(symbols_[name]) &&
                       scope_.find(name) == nullptr && local_function(name) == nullptr;
  if (is_type) {
    report(first.span,
           fmt::format("expected a value, found the type {}; a tensor is made as zeros(2, 3) or [0.5, 1.5]",
                       source_.text(first.span)));
    return Var();
  }
  Var indexed = value(first.a);
  const bool is_text = known(indexed) && is_string(indexed.type());
  if (known(indexed) && !indexed.type().is_tensor() && !is_text) {
    const Type& type = indexed.type();
    report(first.sign,
           fmt::format(
               "expected a tensor before '[', found {}{}", to_string(type),
               Declarations::is_list(type) ? "; get(xs, i) of \"std/list\" gives an element of a list" : ""));
    indexed = Var();
  }
  struct Position {
    ExprId id;
    Span sign;
  };
  std::vector<Position> positions;
  for (std::size_t i = reads.size(); i-- > 0;) {
    for (const ExprId id : list(reads[i]->list)) positions.push_back({id, reads[i]->sign});
  }
  const bool may_be_one = known(indexed) && !is_learned((*syntax_)[first.a]) && positions.size() > 1 &&
                          positions.size() <= indexed.type().shape.size();
  std::vector<Var> operands{indexed};
  bool are_numbers = true;
  for (const Position& position : positions) {
    if (!may_be_place(position.id)) return Var();
    operands.push_back(value(position.id, Type(DType::I64)));
    are_numbers = are_numbers && known(operands.back()) && operands.back().type() == Type(DType::I64);
    if (!may_be_one)
      indexed = emit(operations_.gather(), std::array{indexed, operands.back()}, position.sign);
  }
  if (!may_be_one) return indexed;
  if (are_numbers) return emit(operations_.at(), operands, expr.sign, {0});
  for (std::size_t i = 0; i < positions.size(); ++i)
    indexed = emit(operations_.gather(), std::array{indexed, operands[i + 1]}, positions[i].sign);
  return indexed;
}

/// `x with [i, j] = value`.
Var BodyChecker::update_at_place(const Expr& expr) {
  Var into = value(expr.a);
  if (known(into) && !into.type().is_tensor()) {
    report(expr.sign, fmt::format("expected a tensor before 'with [', found {}", to_string(into.type())));
    into = Var();
  }
  const std::span<const ExprId> place = list(expr.list).first(expr.list.count - 1);
  Wish wish;
  if (known(into) && into.type().shape.size() >= place.size()) {
    const std::span<const Dim> rest = std::span(into.type().shape).subspan(place.size());
    wish = Type(into.type().dtype, std::vector<Dim>(rest.begin(), rest.end()));
  }
  std::vector<Var> operands{into, value(list(expr.list).back(), wish)};
  for (const ExprId number : place) {
    if (!may_be_place(number)) return Var();
    operands.push_back(value(number, Type(DType::I64)));
  }
  return emit(operations_.set_at(), operands, expr.sign, {0});
}

// Values in brackets.

Var BodyChecker::list_literal(const Expr& expr, const Wish& wish) {
  if (wish && Declarations::is_list(*wish)) return list_of_elements(expr, Declarations::element_of(*wish));
  return gives_data(expr) ? list_of_elements(expr, std::nullopt) : tensor_literal(expr, wish);
}

/// Whether an expression that nothing else says the type of gives a data value, as a list, a string or a
/// function is one too, as far as its text tells.
bool BodyChecker::gives_data(const Expr& expr) const {
  switch (expr.kind) {
    case Expr::Kind::String:
    case Expr::Kind::Lambda:
    case Expr::Kind::Tuple:
      return true;
    case Expr::Kind::List:
      return std::ranges::any_of(list(expr.list),
                                 [&](ExprId element) { return gives_data((*syntax_)[giver_of(element)]); });
    case Expr::Kind::Gradient:
      return !expr.is_called;
    case Expr::Kind::Name: {
      const Var* const var = scope_.find(expr.name);
      if (var != nullptr) return known(*var) && var->type().is_data();
      return is_construction(expr) || is_function(expr) || results_in_data(expr);
    }
    case Expr::Kind::Call:
      if (expr.of_catalog) return false;
      return is_construction(expr) || (local_function(expr.name) == nullptr && results_in_data(expr));
    default:
      return false;
  }
}

/// Whether the name is that of a function or an operation, which stands for itself.
bool BodyChecker::is_function(const Expr& name) const {
  const FunctionHead* const function = functions_.find(name.name);
  const bool is_global =
      function != nullptr ? !function->is_constant : operations_.find(name.name) != nullptr;
  return !is_value(name) && (is_global || local_function(name.name) != nullptr);
}

/// Whether the function of this name, or the constant, is declared to give one data value.
bool BodyChecker::results_in_data(const Expr& call) const {
  const FunctionHead* const function = functions_.find(call.name);
  return function != nullptr && function->results.size() == 1 && function->results[0] &&
         function->results[0]->is_data();
}

/// Which of some expressions of one type tells most of it.
std::size_t BodyChecker::first_to_look_at(std::span<const ExprId> ids) const {
  std::size_t first = 0;
  Tells most = Tells::Nothing;
  for (std::size_t i = 0; i < ids.size() && most != Tells::Type; ++i) {
    const Tells told = tells(ids[i]);
    if (told < most) first = i;
    most = std::min(most, told);
  }
  return first;
}

/// Where no type is wished, that of the first element with a type of its own, else what numbers usually are.
Var BodyChecker::list_of_elements(const Expr& expr, Wish element) {
  const std::span<const ExprId> ids = list(expr.list);
  std::vector<Var> elements(ids.size());
  std::size_t made = ids.size();  // which element was needed for its type
  if (!element && !ids.empty() && all_leave_types_open(ids))
    element = told_together(
        [&] {
          for (const ExprId id : ids) value(id);
        },
        expr.span);
  if (!element && !ids.empty()) {
    made = first_to_look_at(ids);
    elements[made] = value(ids[made], expr.flex == Flex::Float ? Wish(Type(DType::F64)) : std::nullopt);
    if (!known(elements[made])) return Var();
    element = elements[made].type();
  }
  if (!element) {
    report_empty_brackets(expr);
    return Var();
  }
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (i == made) continue;
    elements[i] =
        require(ids[i], value(ids[i], element), element, [] { return std::string("an element of a list"); });
  }
  if (!are_known(elements)) return Var();
  f_->set_span(expr.span);
  const Type type = declarations_.list_of(*element);
  Var result = f_->make(type, Declarations::kNil, {});
  for (std::size_t i = elements.size(); i-- > 0;) {
    result = f_->make(type, Declarations::kCons, {elements[i], result});
  }
  return result;
}

void BodyChecker::report_empty_brackets(const Expr& expr) {
  report(expr.span,
         "expected elements between '[' and ']', found none; an empty list needs a type: Nil[i64]; an empty "
         "tensor "
         "is zeros(0)");
}

/// A constant where all elements are numbers; else the elements are stacked.
Var BodyChecker::tensor_literal(const Expr& expr, const Wish& wish) {
  const std::span<const ExprId> elements = list(expr.list);
  if (elements.empty()) {
    report_empty_brackets(expr);
    return Var();
  }
  f_->set_span(expr.span);
  if (std::optional<Tensor> constant = constant_tensor(expr, type_of_literal(expr.flex, wish))) {
    return f_->constant(Value(std::move(*constant)));
  }
  const auto dtype = wish && !wish->is_data() ? Wish(Type(wish->dtype)) : std::nullopt;
  return apply(operations_.stack(), elements, dtype, expr.span, {0});
}

namespace {

void put(Tensor& tensor, std::size_t index, const Value& value) {
  const std::size_t size = size_of(tensor.dtype());
  std::memcpy(tensor.mutable_data<std::byte>() + index * size, &value.slot(), size);
}

}  // namespace

/// Empty where some element is no number or truth value, or where the numbers do not fit each other.
std::optional<Tensor> BodyChecker::constant_tensor(const Expr& expr, DType dtype) {
  std::vector<int64_t> dims;
  std::vector<const Expr*> row{&expr};
  while (!row.empty() && row[0]->kind == Expr::Kind::List) {
    if (dims.size() == kMaxRank) return std::nullopt;
    const uint32_t width = row[0]->list.count;
    std::vector<const Expr*> inner;
    for (const Expr* outer : row) {
      if (outer->kind != Expr::Kind::List || outer->list.count != width || width == 0) return std::nullopt;
      for (ExprId id : list(outer->list)) inner.push_back(&(*syntax_)[id]);
    }
    dims.push_back(width);
    row = std::move(inner);
  }
  const auto own_type = [&](const Expr& element) {
    if (element.kind == Expr::Kind::Bool) return DType::Bool;
    return element.suffix ? *element.suffix : dtype;
  };
  const DType type = own_type(*row[0]);
  Tensor tensor(type, dims);
  for (std::size_t i = 0; i < row.size(); ++i) {
    const Expr& element = *row[i];
    const bool literal = element.kind == Expr::Kind::Number || element.kind == Expr::Kind::Bool;
    if (!literal || own_type(element) != type) return std::nullopt;
    if (element.kind == Expr::Kind::Bool) {
      put(tensor, i, Value(element.op == Tok::True));
      continue;
    }
    try {
      put(tensor, i, literal_value(source_.text(element.sign), element.negative, type));
    } catch (const ProgramError&) {
      return std::nullopt;  // reported by who makes the elements one by one
    }
  }
  return tensor;
}

}  // namespace hiaton::lang
