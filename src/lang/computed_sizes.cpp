// BodyChecker: sizes of parameters and results that follow from symbols, as `n + 1` in `f64[n + 1]`.
#include <fmt/format.h>

#include "hiaton/error.h"
#include "ir/errors.h"
#include "lang/body_checker.h"

namespace hiaton::lang {
namespace {

/// A size that does not fit i64 is an error under either overflow mode.
std::string_view size_operation(Tok op) {
  switch (op) {
    case Tok::Plus:
      return "checked_add";
    case Tok::Minus:
      return "checked_sub";
    case Tok::Star:
      return "checked_mul";
    case Tok::Slash:
      return "div";
    default:
      return "rem";
  }
}

}  // namespace

std::unordered_map<std::string_view, SymbolPlace> symbol_places(const FunctionHead& head) {
  std::unordered_map<std::string_view, SymbolPlace> places;
  for (std::size_t i = 0; i < head.params.size(); ++i) {
    if (!head.params[i].type) continue;
    const Shape& shape = head.params[i].type->shape;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      const bool is_symbol = shape[axis].size < 0 && shape[axis] != unknown_dim();
      if (is_symbol) places.try_emplace(shape[axis].symbol, SymbolPlace{i, axis});
    }
  }
  return places;
}

std::unordered_map<Symbol, std::size_t> param_numbers(const FunctionHead& head) {
  std::unordered_map<Symbol, std::size_t> numbers;
  for (std::size_t i = 0; i < head.params.size(); ++i) {
    if (head.params[i].name) numbers.try_emplace(*head.params[i].name, i);
  }
  return numbers;
}

std::vector<Type> written_params(const FunctionHead& head, const Source& source) {
  std::vector<Type> types;
  for (const Pattern& param : head.params) types.push_back(param.type.value_or(DType::I64));
  if (head.computed_sizes.empty()) return types;
  const std::unordered_map<Symbol, std::size_t> numbers = param_numbers(head);
  for (const ComputedSize& size : head.computed_sizes) {
    if (!size.param || numbers.count(*size.param) == 0) continue;
    const std::size_t number = numbers.at(*size.param);
    if (head.params[number].type) types[number].shape[size.axis].symbol = source.text(size.span);
  }
  return types;
}

Var BodyChecker::value_of(const SizeFormula& formula) {
  using Kind = SizeFormula::Step::Kind;
  std::vector<Var> stack;
  for (const SizeFormula::Step& step : formula.steps()) {
    if (step.kind == Kind::Number) {
      stack.push_back(f_->constant(step.number));
    } else if (step.kind == Kind::Symbol) {
      const SymbolPlace place = places_.at(symbols_[step.symbol]);
      stack.push_back(f_->op("size", {f_->param(place.param)}, {static_cast<int64_t>(place.axis)}));
    } else {
      const Var b = stack.back();
      stack.pop_back();
      stack.back() = f_->op(size_operation(step.op), {stack.back(), b});
    }
  }
  return stack.back();
}

void BodyChecker::check_computed_params(const FunctionHead& head) {
  places_.clear();
  if (head.computed_sizes.empty()) return;
  places_ = symbol_places(head);
  for (const ComputedSize& size : head.computed_sizes) {
    if (!size.param) continue;
    const Var* const param = scope_.find(*size.param);
    if (param == nullptr || !known(*param)) continue;
    const Var found = *param;
    f_->set_span(size.span);
    scope_.bind(*size.param, f_->op("check_dimension", {found, value_of(size.formula)},
                                    {static_cast<int64_t>(size.axis)}));
  }
}

Vars BodyChecker::with_computed_sizes(ExprId body, const Vars& results) {
  std::vector<Var> checked(results.begin(), results.end());
  for (const ComputedSize& size : head_->computed_sizes) {
    if (size.param) continue;
    Var& result = checked[size.result];
    f_->set_span(place_of(element(body, size.result)));
    result = f_->op("check_dimension", {result, value_of(size.formula)}, {static_cast<int64_t>(size.axis)});
  }
  return Vars(std::move(checked));
}

Vars BodyChecker::with_known_sizes(const FunctionHead& callee, const std::vector<Var>& arguments,
                                   const Vars& results) {
  if (callee.computed_sizes.empty()) return results;
  std::unordered_map<std::string_view, int64_t> sizes;
  for (std::size_t i = 0; i < callee.params.size(); ++i) {
    const Shape& shape = callee.params[i].type->shape;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      const int64_t found = arguments[i].type().shape[axis].size;
      if (shape[axis].size < 0 && found >= 0) sizes.try_emplace(shape[axis].symbol, found);
    }
  }
  const auto size_of = [&](Symbol symbol) -> std::optional<int64_t> {
    const auto known = sizes.find(symbols_[symbol]);
    return known == sizes.end() ? std::nullopt : std::optional(known->second);
  };
  const std::unordered_map<Symbol, std::size_t> numbers = param_numbers(callee);
  std::vector<Var> known_better(results.begin(), results.end());
  for (const ComputedSize& size : callee.computed_sizes) {
    const std::optional<int64_t> wanted = size.formula.value(size_of);
    if (!wanted) continue;
    const std::string_view name = symbols_[callee.name];
    if (size.param) {
      const Dim& found = arguments[numbers.at(*size.param)].type().shape[size.axis];
      if (found.size < 0 || found.size == *wanted) continue;
      std::vector<Type> given;
      for (std::size_t i = 0; i < callee.params.size(); ++i) given.push_back(arguments[i].type());
      throw ProgramError(fmt::format("arguments of '{}': expected {}, found {}", name,
                                     list_types(written_params(callee, source_)), list_types(given)));
    }
    if (*wanted < 0) {
      throw ProgramError(fmt::format("results of '{}': expected a dimension of 0 or more, found {} ({})",
                                     name, *wanted, source_.text(size.span)));
    }
    Var& result = known_better[size.result];
    Type type = result.type();
    type.shape[size.axis] = {.size = *wanted, .symbol = ""};
    result = f_->checked(result, type);
  }
  return Vars(std::move(known_better));
}

}  // namespace hiaton::lang
