// BodyChecker: expressions that give one value.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "lang/body_checker.h"
#include "lang/suggest.h"
#include "lang/token.h"

namespace hiaton::lang {
namespace {

/// The type that literals among the operands take when no operand has a type of its own.
Wish wish_for_literals(const Operation& operation, Flex flex, const Wish& wish) {
  if (operation.def == nullptr || operation.def->kernels.empty()) return wish;
  const auto accepts = [&](DType type) {
    return is_number(type) && operation.def->find_kernel(type) != nullptr &&
           (flex == Flex::Integer || is_float(type));
  };
  if (operation.keeps_type && wish && !wish->is_data() && accepts(wish->dtype)) return wish;
  const DType usual = type_of_literal(flex);
  return Type(accepts(usual) ? usual : DType::F64);
}

std::string_view cast_hint(const OpDef& op, std::span<const Var> operands) {
  const auto is_text = [](Var operand) { return is_string(operand.type()); };
  if (op.name.value == "sum" && Declarations::is_list(operands[0].type()))
    return "; fold(add, 0, xs) is the sum of a list";
  const bool wants_float = operands.size() == 1 && !operands[0].type().is_data() &&
                           is_integer(operands[0].type().dtype) && takes_floats_alone(op);
  if (wants_float) return "; f64(n) makes a float of an integer";
  const bool joins = op.symbol == "+" && operands.size() == 2;
  if (joins && is_text(operands[0]) != is_text(operands[1])) return "; str(x) is the text of a value";
  const auto lists =
      std::ranges::count_if(operands, [](Var operand) { return Declarations::is_list(operand.type()); });
  if (lists == 1 && op.fusion.value != Fusion::Tensor)
    return "; map(fn(x) -> ..., xs) gives what becomes of each element of a list";
  if (op.fusion.value == Fusion::Tensor) return "";
  const auto holds_numbers = [](Var operand) {
    return !operand.type().is_data() && is_number(operand.type().dtype);
  };
  const bool two_numbers = operands.size() == 2 && holds_numbers(operands[0]) && holds_numbers(operands[1]) &&
                           operands[0].type().dtype != operands[1].type().dtype;
  if (!two_numbers) return "";
  const bool are_floats =
      std::ranges::all_of(operands, [](Var operand) { return is_float(operand.type().dtype); });
  return are_floats ? "; a cast such as f64(a) converts, and let z: f32[2] = zeros(2) says of which type z is"
                    : "; a cast such as f64(a) converts, and a name that begins as 0.0 is a float";
}

/// Whether literals among the operands take after this one instead of one before it, of the type `before`:
/// that of a number, and in an operation that works on whole tensors not that of row numbers, which are i64.
bool tells_more(const Operation& operation, const Wish& before, Var operand) {
  if (!before || before->is_data()) return false;
  if (!is_number(before->dtype)) return true;
  const bool takes_rows = operation.def != nullptr && operation.def->fusion.value == Fusion::Tensor;
  return takes_rows && before->dtype == DType::I64 && known(operand) && !operand.type().is_data() &&
         is_number(operand.type().dtype);
}

}  // namespace

DType type_of_literal(Flex flex, const Wish& wish) {
  const bool fits =
      wish && !wish->is_data() && (flex == Flex::Float ? is_float(wish->dtype) : is_number(wish->dtype));
  if (fits) return wish->dtype;
  return flex == Flex::Float ? DType::F64 : DType::I64;
}

Var BodyChecker::value(ExprId id, const Wish& wish) {
  if (is_use_of_let(id)) return use_of_let(id, wish);
  const Expr& expr = (*syntax_)[id];
  switch (expr.kind) {
    case Expr::Kind::Broken:
      return Var();
    case Expr::Kind::Number:
      return number(expr, wish);
    case Expr::Kind::Bool:
      return boolean(expr);
    case Expr::Kind::String:
      return string(expr);
    case Expr::Kind::Name:
      if (!is_value(expr) && (!is_construction(expr) || function_type(wish) != nullptr))
        return function_as_value(id, wish);
      return name(expr, wish);
    case Expr::Kind::Parameter:
      return learned(expr);
    case Expr::Kind::List:
      return list_literal(expr, wish);
    case Expr::Kind::Index:
      return index(expr);
    case Expr::Kind::Field:
      return field(expr);
    case Expr::Kind::Update:
      return update(expr);
    case Expr::Kind::Negate:
      return apply(operations_.negation(), {&expr.a, 1}, wish, expr.sign);
    case Expr::Kind::Not:
      return apply(operations_.logical_not(), {&expr.a, 1}, std::nullopt, expr.sign);
    case Expr::Kind::Binary:
      return binary(id, wish);
    case Expr::Kind::Logic:
      return logic(id);
    case Expr::Kind::Lambda:
      return function_as_value(id, wish);
    case Expr::Kind::Gradient:
      if (expr.is_called) break;
      return function_as_value(id, wish);
    case Expr::Kind::Call:
      if (callee_named(expr.name) && !expr.of_catalog) break;
      if (is_construction(expr)) return construction(expr, wish);
      if (const Operation* operation = operation_of(expr)) return operation_call(expr, *operation, wish);
      if (is_filled(expr)) return filled(expr, wish);
      if (is_string_call(expr)) return string_call(expr);
      break;
    default:
      break;
  }
  return single(id, values(id, {&wish, 1}), wish);
}

Var BodyChecker::single(ExprId id, const Vars& found, const Wish& wish) {
  if (!known(found)) return Var();
  return found.size() == 1 ? found[0] : tuple_of(found, wish, place_of(id));
}

Var BodyChecker::number(const Expr& expr, const Wish& wish) {
  const DType type = expr.suffix ? *expr.suffix : type_of_literal(expr.flex, wish);
  f_->set_span(expr.span);
  try {
    return f_->constant(literal_value(source_.text(expr.sign), expr.negative, type));
  } catch (const ProgramError&) {
    report(expr.span, fmt::format("expected a value of type {}, found {}, which is out of its range",
                                  name_of(type), source_.text(expr.span)));
    return Var();
  }
}

Var BodyChecker::boolean(const Expr& expr) {
  f_->set_span(expr.span);
  return f_->constant(expr.op == Tok::True);
}

Var BodyChecker::name(const Expr& expr, const Wish& wish) {
  if (const Var* found = scope_.find(expr.name)) return *found;
  if (declarations_.parameter(expr.name) != nullptr) return learned(expr);
  if (const Size* size = declarations_.size(expr.name)) {
    f_->set_span(expr.span);
    return size->value ? f_->constant(*size->value) : Var();
  }
  if (is_construction(expr)) return construction(expr, wish);
  if (const FunctionHead* constant = functions_.find(expr.name);
      constant != nullptr && constant->is_constant) {
    return constant_value(*constant, expr.span);
  }
  report_unknown_name(expr);
  return Var();
}

Var BodyChecker::constant_value(const FunctionHead& constant, Span span) {
  if (!constant.readable || !constant.results[0]) return Var();
  if (!diagnostics_.is_clear()) return stand_in(*constant.results[0]);
  return emit_call(constant, {}, span);
}

Var BodyChecker::learned(const Expr& expr) {
  f_->set_span(expr.span);
  if (const std::size_t* number = declarations_.parameter(expr.name)) return f_->parameter(*number);
  if (!declarations_.is_broken(expr.name)) {
    report(expr.sign, fmt::format("unknown learned parameter '{}'", symbols_[expr.name]));
  }
  return Var();
}

void BodyChecker::report_unknown_name(const Expr& expr) {
  if (declarations_.is_broken(expr.name)) return;
  const std::string_view name = symbols_[expr.name];
  const bool is_function = functions_.find(expr.name) != nullptr || local_function(expr.name) != nullptr;
  if (is_function || operations_.find(expr.name) != nullptr) {
    report(expr.span, fmt::format("expected a value, found '{}', which is {}; a call is written {}(...)",
                                  name, is_function ? "a function" : "an operation", name));
    return;
  }
  Suggestion similar(name);
  if (diagnostics_.wants_suggestions()) {
    scope_.for_each_name([&](Symbol other) { similar.offer(symbols_[other]); });
    declarations_.for_each_value_name([&](std::string_view other) { similar.offer(other); });
    declarations_.for_each_variant_name([&](std::string_view other) { similar.offer(other); });
  }
  std::string hint = known_elsewhere(name);
  if (hint.empty()) hint = written_here(name);
  report(expr.span, fmt::format("unknown name '{}'{}", name, hint.empty() ? similar.text() : hint));
}

Var BodyChecker::emit(const Operation& operation, std::span<const Var> operands, Span span,
                      Attributes attributes) {
  if (!are_known(operands)) return Var();
  if (operation.def == nullptr) {
    report(span, fmt::format("unknown operation '{}'", operation.name));
    return Var();
  }
  if (const std::optional<Var> made = string_operation(operation, operands, span)) return *made;
  if (const std::optional<Var> made = compare_data(operation, operands, span)) return *made;
  f_->set_span(span);
  try {
    return f_->op(*operation.def, operands, std::move(attributes));
  } catch (const ProgramError& error) {
    report(span, fmt::format("{}{}", error.what(), cast_hint(*operation.def, operands)));
    return Var();
  }
}

/// What a generic function gives is not told by what stands beside its call, which may be a tensor where that
/// is a number, or the other way round.
Wish BodyChecker::wish_of_operand(ExprId operand, const Wish& wish) const {
  const Expr& expr = (*syntax_)[giver_of(operand)];
  if (!wish || expr.kind != Expr::Kind::Call) return wish;
  const FunctionHead* const function = functions_.find(expr.name);
  const bool is_generic = function != nullptr && function->is_generic();
  return is_generic && (function->takes_functions || wish->is_tensor()) ? std::nullopt : wish;
}

/// What a literal among the operands takes after: the type of the others. But an operation that works on
/// whole tensors takes integers for rows, classes and seeds, whatever it takes besides; one that takes any
/// number of operands takes them of one type, but for the numbers of a place. `number`: which operand it is.
Wish BodyChecker::wish_beside(const Operation& operation, const Wish& type, ExprId operand,
                              std::size_t number) const {
  const Role role = operation.def != nullptr ? operation.def->role : Role::Other;
  const bool has_place = role == Role::At || role == Role::SetAt;
  if (has_place && number + 1 >= operation.def->arity()) return Type(DType::I64);
  const bool counts = operation.def != nullptr && operation.def->fusion.value == Fusion::Tensor &&
                      !operation.def->is_variadic() && (*syntax_)[operand].flex == Flex::Integer;
  return counts ? std::nullopt : type;
}

/// Operands with a type of their own come first: literals take that of the first number among them. In
/// `None == x` the right side tells the type of the left one.
Var BodyChecker::apply(const Operation& operation, std::span<const ExprId> operands, const Wish& wish,
                       Span span, Attributes attributes) {
  std::array<Var, 4> few;
  std::vector<Var> many(operands.size() > few.size() ? operands.size() : 0);
  const std::span<Var> vars = many.empty() ? std::span(few).first(operands.size()) : std::span(many);
  Wish type = operation.keeps_type ? wish : std::nullopt;
  bool any_rigid = false;
  Flex flex = Flex::Integer;
  const bool is_equality =
      &operation == &operations_.infix(Tok::Equal) || &operation == &operations_.infix(Tok::NotEqual);
  if (is_equality && all_leave_types_open(operands)) {
    const auto make = [&] { std::ranges::for_each(operands, [this](ExprId operand) { value(operand); }); };
    const Wish together = told_together(make, span);
    for (std::size_t i = 0; together && i < operands.size(); ++i) vars[i] = value(operands[i], together);
    if (together) return emit(operation, vars, span, std::move(attributes));
  }
  const bool swaps = is_equality && tells(operands[0]) == Tells::Nothing;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Flex own = (*syntax_)[operands[i]].flex;
    flex = std::max(flex, own);
    if (own != Flex::Rigid || (swaps && i == 0)) continue;
    vars[i] = value(operands[i], wish_of_operand(operands[i], type));
    if (!any_rigid || tells_more(operation, type, vars[i]))
      type = known(vars[i]) ? Wish(vars[i].type()) : std::nullopt;
    any_rigid = true;
  }
  if (!any_rigid) type = wish_for_literals(operation, flex, wish);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if ((*syntax_)[operands[i]].flex == Flex::Rigid) continue;
    vars[i] = value(operands[i], wish_beside(operation, type, operands[i], i));
  }
  if (swaps && known(vars[1])) vars[0] = value(operands[0], vars[1].type());
  return emit(operation, vars, span, std::move(attributes));
}

/// The attributes stand as a string in front of the operands.
Var BodyChecker::operation_with_text(const Expr& expr, const Operation& operation, const Wish& wish) {
  const std::span<const ExprId> arguments = list(expr.list);
  const Expr& text = (*syntax_)[arguments[0]];
  if (expr.attributes.count > 0) {
    report(syntax_->attributes[expr.attributes.begin].span,
           fmt::format("expected no 'name=value' beside the string, which says what '{}' does",
                       operation.def->name.value));
    return Var();
  }
  try {
    const Attributes attributes = operation.def->attributes_from_text()(tokens_.strings[text.index]);
    return apply(operation, arguments.subspan(1), wish, expr.span, attributes);
  } catch (const ProgramError& error) {
    report(text.span, error.what());
    return Var();
  }
}

Var BodyChecker::operation_call(const Expr& expr, const Operation& operation, const Wish& wish) {
  const std::span<const ExprId> arguments = list(expr.list);
  const OpDef& op = *operation.def;
  if (op.attributes_from_text() != nullptr && !arguments.empty() &&
      (*syntax_)[arguments[0]].kind == Expr::Kind::String)
    return operation_with_text(expr, operation, wish);
  std::optional<std::vector<int64_t>> attributes = attributes_of(expr, op);
  if (op.takes(arguments.size())) {
    if (attributes) return apply(operation, arguments, wish, expr.span, *attributes);
  } else {
    const bool is_reduced = arguments.size() == 1 && (op.name.value == "max" || op.name.value == "min");
    report(expr.span,
           fmt::format("'{0}' takes {1}, found {2}: {3}{4}", op.name.value,
                       op.is_variadic() ? "more arguments" : count_of(op.arity(), "argument"),
                       arguments.size(), to_string(Signature(op)),
                       is_reduced ? fmt::format("; reduce_{}(x) is that of a tensor", op.name.value) : ""));
  }
  for (ExprId argument : arguments) value(argument);
  return Var();
}

Var BodyChecker::binary(ExprId id, const Wish& wish) {
  const Expr& expr = (*syntax_)[id];
  if (is_arithmetic(id) && is_arithmetic(expr.a)) return chain(id, wish);
  const std::array operands = {expr.a, expr.b};
  return apply(operations_.infix(expr.op), operands, wish, expr.sign);
}

bool BodyChecker::is_arithmetic(ExprId id) const {
  const Expr& expr = (*syntax_)[id];
  return expr.kind == Expr::Kind::Binary && (expr.op == Tok::At || operations_.infix(expr.op).keeps_type);
}

/// a + b - c * d ...: all operands have one type. Goes along the left sides without recursion, so that sums
/// may have any length.
Var BodyChecker::chain(ExprId last, const Wish& wish) {
  const Syntax& syntax = *syntax_;
  std::vector<ExprId> steps;
  ExprId first = last;
  for (; is_arithmetic(first); first = syntax[first].a) steps.push_back(first);
  std::reverse(steps.begin(), steps.end());
  const auto operand = [&](std::size_t i) { return i == 0 ? first : syntax[steps[i - 1]].b; };

  std::size_t leader = 0;  // the first operand with a type of its own
  while (leader <= steps.size() && syntax[operand(leader)].flex != Flex::Rigid) ++leader;
  const bool has_leader = leader <= steps.size();
  const Var lead = has_leader ? value(operand(leader), wish_of_operand(operand(leader), wish)) : Var();
  Wish type = wish;
  if (!has_leader) {
    type = wish_for_literals(operations_.infix(syntax[last].op), syntax[last].flex, wish);
  } else if (known(lead)) {
    type = lead.type();
  }
  const auto evaluate = [&](std::size_t i) {
    return i == leader ? lead : value(operand(i), wish_of_operand(operand(i), type));
  };
  Var total = evaluate(0);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Expr& step = syntax[steps[i]];
    const std::array operands = {total, evaluate(i + 1)};
    total = emit(operations_.infix(step.op), operands, step.sign);
  }
  return total;
}

/// `a and b` is `if a then b else false`, `a or b` is `if a then true else b`.
Var BodyChecker::logic(ExprId last) {
  std::vector<ExprId> steps;
  ExprId first = last;
  for (; (*syntax_)[first].kind == Expr::Kind::Logic; first = (*syntax_)[first].a) steps.push_back(first);
  std::reverse(steps.begin(), steps.end());
  Var result = logic_operand(first, (*syntax_)[steps[0]]);
  for (ExprId id : steps) result = logic_step(result, (*syntax_)[id]);
  return result;
}

Var BodyChecker::logic_operand(ExprId operand, const Expr& logic) {
  const Var found = value(operand);
  if (known(found) && found.type().is_tensor() && found.type().dtype == DType::Bool) {
    report(place_of(operand),
           fmt::format("operand of '{0}': expected bool, found {1}; of tensors, write {0}(a, b)",
                       spelling(logic.op), to_string(found.type())));
    return Var();
  }
  return require(operand, found, DType::Bool,
                 [&] { return fmt::format("operand of '{}'", spelling(logic.op)); });
}

Var BodyChecker::logic_step(Var left, const Expr& expr) {
  const ir::BlockId taken = f_->begin_block({});
  const Var right = logic_operand(expr.b, expr);
  close(taken, right);
  f_->set_span(expr.sign);
  const ir::BlockId skipped = f_->begin_block({});
  close(skipped, f_->constant(expr.op == Tok::Or));
  if (!known(left) || !known(right)) return Var();
  return expr.op == Tok::And ? f_->finish_if(left, taken, skipped) : f_->finish_if(left, skipped, taken);
}

}  // namespace hiaton::lang
