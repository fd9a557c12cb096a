// BodyChecker: `map`, `fold` and `scan`, each a call of a recursive function that is made for it.
#include "lang/over_lists.h"

#include <fmt/format.h>

#include <algorithm>

#include "lang/together.h"
#include "lang/type_inference.h"

namespace hiaton::lang {

namespace {

bool has_symbols(const Type& type) {
  return std::any_of(type.shape.begin(), type.shape.end(), [](const Dim& dim) { return dim.size < 0; });
}

Type element_type(const Type& elements) {
  if (elements.is_data()) return Declarations::element_of(elements);
  return Type(elements.dtype, std::vector<Dim>(elements.shape.begin() + 1, elements.shape.end()));
}

std::vector<Var> joined(std::vector<Var> first, const std::vector<Var>& rest) {
  first.insert(first.end(), rest.begin(), rest.end());
  return first;
}

/// The parameters from `begin` on.
std::vector<Var> params_from(FunctionBuilder& f, std::size_t begin) {
  std::vector<Var> params;
  for (std::size_t i = begin; i < f.function().params.size(); ++i) params.push_back(f.param(i));
  return params;
}

std::vector<ir::ValueInfo> with_extras(std::vector<ir::ValueInfo> params, const std::vector<Var>& extras) {
  for (Var extra : extras) {
    params.push_back({extra.type(), fmt::format("extra{}", params.size())});
  }
  return params;
}

Var is_nil(FunctionBuilder& f, Var list) {
  return f.variant(list) == static_cast<int64_t>(Declarations::kNil);
}
Var head_of(FunctionBuilder& f, Var list) {
  return f.named(f.field(list, Declarations::kCons, 0), "head");
}
Var tail_of(FunctionBuilder& f, Var list) {
  return f.named(f.field(list, Declarations::kCons, 1), "tail");
}

Var rows_of(FunctionBuilder& f, Var tensor) {
  return f.op("size", {tensor}, {0});
}

Type any_number_of_rows(Type tensor) {
  tensor.shape[0] = unknown_dim();
  return tensor;
}
Var first_row(FunctionBuilder& f, Var tensor) {
  return f.op("gather", {tensor, f.constant(int64_t{0})});
}
Var half_of(FunctionBuilder& f, Var tensor, int64_t index) {
  return f.op("slice_half", {tensor}, {0, index});
}

/// `none` where there are no rows, and `all` where there are.
Var by_rows(Var elements, const std::function<Var()>& none, const std::function<Var()>& all) {
  FunctionBuilder& f = elements.builder();
  const int64_t rows = elements.type().shape[0].size;
  if (rows == 0) return none();
  return rows > 0 ? all() : Var(f.if_else(rows_of(f, elements) == 0, none, all));
}

/// What `map` gives, as a tensor of as many rows as it was given.
Var one_for_each(Var mapped, Var elements) {
  FunctionBuilder& f = mapped.builder();
  const Dim& rows = elements.type().shape[0];
  Type type = mapped.type();
  type.shape[0] = rows;
  if (rows.size >= 0) return f.checked(mapped, type);
  return rows == unknown_dim() ? mapped : f.op("check_size", {mapped, elements}, {0, 0});
}

}  // namespace

bool BodyChecker::is_over_list(const Expr& expr) const {
  if (functions_.find(expr.name) != nullptr) return false;
  const std::string_view name = symbols_[expr.name];
  return name == "map" || name == "fold" || name == "scan";
}

Vars BodyChecker::over_list(const Expr& expr, Wishes wishes) {
  const std::string_view word = symbols_[expr.name];
  const std::span<const ExprId> arguments = list(expr.list);
  const std::size_t needed = word == "map" ? 2 : 3;
  if (expr.attributes.count > 0) report_attributes(expr);
  const Expr* const first = arguments.empty() ? nullptr : &(*syntax_)[giver_of(arguments[0])];
  if (arguments.size() < needed) {
    report(expr.span, fmt::format("expected '{}(function, {}elements, ...)' with the name of a function or "
                                  "fn(x) -> ...",
                                  word, needed == 2 ? "" : "initial, "));
    return unknown();
  }
  const Expr& function = *first;
  FunctionValue value;
  const bool needs_types = follows_types(arguments[0]) || may_take_data(arguments[0]);
  const FunctionHead* const named = functions_.find(function.name);
  const bool is_constant = named != nullptr && named->is_constant;
  const bool is_name = (*syntax_)[arguments[0]].kind == Expr::Kind::Name && !is_constant &&
                       (!is_value(function) || named != nullptr || callee_named(function.name) ||
                        operations_.find(function.name) != nullptr);
  const bool is_local = is_name && callee_named(function.name).has_value();
  if (!needs_types && (!is_name || is_local)) {
    value = function_value(arguments[0], {}, std::nullopt);
    if (!value.known()) return unknown();
  }
  const bool is_derived = function.kind == Expr::Kind::Gradient && !callee_named(function.name);
  const bool has_head = is_derived || (is_name && !is_local && !needs_types);
  Applied applied = has_head ? Applied(*this, function) : Applied(*this);
  if (value.known()) applied.become(value);
  if (function.kind == Expr::Kind::Lambda) applied.expect(params_of(function));
  if (!needs_types && !applied.known()) {
    if (functions_.find(function.name) == nullptr) report_unknown_function(function.name, function.span);
    return unknown();
  }
  std::optional<OverList> read = read_over_list(expr, applied, wishes);
  if (!read) return unknown();
  if (needs_types) {
    const Wish step = follows_types(arguments[0]) ? read->step() : std::nullopt;
    value = function_value(arguments[0], read->argument_wishes(), step);
    if (!value.known()) return unknown();
    applied.become(value);
  }
  read->extras.insert(read->extras.end(), value.captured.begin(), value.captured.end());
  if (applied.generic() != nullptr) {
    const FunctionHead* instance = instance_for(*applied.generic(), read->argument_types(), expr.span);
    if (instance == nullptr) return unknown();
    applied.become(*instance);
  }
  f_->set_span(expr.span);
  try {
    const bool is_list = read->elements.type().is_data();
    if (word == "map") return is_list ? map_list(applied, *read) : map_tensor(applied, *read);
    if (is_list) return fold_list(applied, *read);
    return word == "scan" ? scan_tensor(applied, *read) : fold_tensor(applied, *read);
  } catch (const ProgramError& error) {
    report(expr.span, fmt::format("'{}': {}", word, error.what()));
    return unknown();
  }
}

/// The first value of a `fold` is of the type that its place wants, unless the function says which, as that
/// of a `scan` is of its elements.
Wish BodyChecker::wish_of_initial(const OverList& over, const Applied& applied, Wishes wishes) const {
  if (applied.param(0)) return applied.param(0);
  const Wish wish = wishes.size() == 1 ? wishes[0] : std::nullopt;
  if (!wish || over.word == "scan")
    return wish && Declarations::is_list(*wish) ? element_type(*wish) : over.element;
  return wish;
}

std::optional<BodyChecker::OverList> BodyChecker::read_over_list(const Expr& expr, const Applied& applied,
                                                                 Wishes wishes) {
  const std::span<const ExprId> arguments = list(expr.list);
  OverList read{.word = symbols_[expr.name], .elements = {}, .element = {}, .initial = {}, .extras = {}};
  const std::size_t at = read.word == "map" ? 0 : 1;  // which argument of the function the element is
  const ExprId elements = arguments[at + 1];
  const Wish wanted = applied.param(at);
  const bool wishes_list = wanted && !has_symbols(*wanted);
  const Expr& given = (*syntax_)[elements];
  read.elements = given.kind == Expr::Kind::List
                      ? list_of_elements(given, wishes_list ? wanted : std::nullopt)
                      : value(elements, wishes_list ? Wish(declarations_.list_of(*wanted)) : std::nullopt);
  if (!known(read.elements)) return std::nullopt;
  const Type& found = read.elements.type();
  if (!Declarations::is_list(found) && !found.is_tensor()) {
    report(place_of(elements),
           fmt::format("'{}': expected a list or a tensor, found {}", read.word, to_string(found)));
    return std::nullopt;
  }
  read.element = element_type(found);
  if (at == 1) {
    const bool is_told = applied.param(0) || (wishes.size() == 1 && wishes[0]);
    const bool is_open = !is_told && (*syntax_)[giver_of(arguments[1])].flex != Flex::Rigid;
    const bool waits = !is_told && tells(arguments[1]) == Tells::Nothing;
    const bool has_numbers = !is_told && has_parts_of_numbers(*syntax_, arguments[1]);
    const bool asks_step = waits || has_numbers || (is_open && !keeps_type_of_elements(expr, read));
    const Wish by_step = asks_step ? told_by_step(expr, read, applied) : std::nullopt;
    const std::size_t findings = diagnostics_.count();
    read.initial.push_back(value(arguments[1], by_step ? by_step : wish_of_initial(read, applied, wishes)));
    const std::size_t untold = diagnostics_.count();
    if (waits && !known(read.initial[0]) && report_in_step(expr, read)) diagnostics_.forget(findings, untold);
  }
  for (std::size_t i = at + 2; i < arguments.size(); ++i) {
    read.extras.push_back(value(arguments[i], applied.param(i - 1)));
  }
  return are_known(read.initial) && are_known(read.extras) ? std::optional(std::move(read)) : std::nullopt;
}

Vars BodyChecker::map_list(const Applied& applied, const OverList& over) {
  const Type result = declarations_.list_of(applied.result(over.argument_types()));
  const FunctionRef made = generated_.function(
      fmt::format("map_{}", applied.name()), with_extras({{over.elements.type(), "xs"}}, over.extras),
      {result}, [&](FunctionBuilder& f, FunctionRef self) {
        const Var xs = f.param(0);
        const std::vector<Var> extras = params_from(f, 1);
        return f.if_else(
            is_nil(f, xs), [&] { return f.make(result, Declarations::kNil, {}); },
            [&] {
              const Var first = applied(f, joined({head_of(f, xs)}, extras));
              const Var rest = f.call(self, joined({tail_of(f, xs)}, extras));
              return f.make(result, Declarations::kCons, {first, rest});
            });
      });
  return f_->call(made, joined({over.elements}, over.extras));
}

/// `fold`, and `scan`, which keeps every step.
Vars BodyChecker::fold_list(const Applied& applied, const OverList& over) {
  const Type step = step_type(applied, over);
  const bool keeps = over.word == "scan";
  const Type result = keeps ? declarations_.list_of(step) : step;
  const FunctionRef made = generated_.function(
      fmt::format("{}_{}", over.word, applied.name()),
      with_extras({{step, "acc"}, {over.elements.type(), "xs"}}, over.extras), {result},
      [&](FunctionBuilder& f, FunctionRef self) {
        const Var acc = f.param(0);
        const Var xs = f.param(1);
        const std::vector<Var> extras = params_from(f, 2);
        return f.if_else(
            is_nil(f, xs), [&] { return keeps ? f.make(result, Declarations::kNil, {}) : acc; },
            [&]() -> Vars {
              const Var next = applied(f, joined({acc, head_of(f, xs)}, extras));
              const Vars rest = f.call(self, joined({next, tail_of(f, xs)}, extras));
              return keeps ? Vars(f.make(result, Declarations::kCons, {next, rest})) : rest;
            });
      });
  return f_->call(made, joined({over.initial[0], over.elements}, over.extras));
}

/// What a step gives, which the next one takes.
Type BodyChecker::step_type(const Applied& applied, const OverList& over) const {
  std::vector<Type> arguments = over.argument_types();
  const Type step = applied.result(arguments);
  if (!compatible(step, arguments[0])) {
    throw ProgramError(fmt::format("'{}' gives {}, but it starts with {}", applied.name(), to_string(step),
                                   to_string(arguments[0])));
  }
  const Type both = hiaton::join(step, arguments[0]);
  arguments[0] = both;
  applied.result(arguments);
  return both;
}

/// Halves the rows until one is left: calls that do not wait for each other, and no deep recursion.
Vars BodyChecker::map_tensor(const Applied& applied, const OverList& over) {
  const Type result = rows_like(applied, applied.result(over.argument_types()));
  const FunctionRef made = generated_.function(
      fmt::format("map_{}", applied.name()),
      with_extras({{any_number_of_rows(over.elements.type()), "xs"}}, over.extras), {result},
      [&](FunctionBuilder& f, FunctionRef self) {
        const Var xs = f.param(0);
        const std::vector<Var> extras = params_from(f, 1);
        return f.if_else(
            rows_of(f, xs) <= 1,
            [&] { return f.op("stack", {applied(f, joined({first_row(f, xs)}, extras))}, {0}); },
            [&] {
              const Var first = f.call(self, joined({half_of(f, xs, 0)}, extras));
              const Var second = f.call(self, joined({half_of(f, xs, 1)}, extras));
              return f.op("concat", {first, second}, {0});
            });
      });
  const auto call = [&](Var rows) -> Var { return f_->call(made, joined({rows}, over.extras)); };
  const std::optional<std::vector<SizeOf>> row = sizes_of_row(applied, over);
  if (!row) return one_for_each(call(f_->op("check_rows", {over.elements})), over.elements);
  return one_for_each(by_rows(
                          over.elements, [&] { return no_rows(*f_, result.dtype, *row); },
                          [&] { return call(over.elements); }),
                      over.elements);
}

/// The sizes of what the function gives for an element; none where only a call of it tells them.
std::optional<std::vector<SizeOf>> BodyChecker::sizes_of_row(const Applied& applied, const OverList& over) {
  const std::vector<Type> types = over.argument_types();
  std::vector<SizeOf> sizes;
  const Shape shape = applied.result(types).shape;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i].size >= 0) {
      sizes.push_back({.number = shape[i].size});
      continue;
    }
    const auto place = applied.place_of(i, types);
    if (!place) return std::nullopt;
    const bool of_element = place->argument == 0;
    sizes.push_back({.like = of_element ? over.elements : over.extras[place->argument - 1],
                     .axis = of_element ? place->axis + 1 : place->axis});
  }
  return sizes;
}

/// The type of a tensor whose rows the function gives.
Type BodyChecker::rows_like(const Applied& applied, const Type& row) {
  if (row.is_data()) {
    throw ProgramError(
        fmt::format("expected a function that gives a scalar or a tensor, found '{}'", applied.name()));
  }
  Type rows = row;
  rows.shape.insert(rows.shape.begin(), unknown_dim());
  return rows;
}

/// `fold` and `scan`: the first half of the rows, and then the second.
Vars BodyChecker::fold_tensor(const Applied& applied, const OverList& over) {
  const Type step = step_type(applied, over);
  const FunctionRef made = generated_.function(
      fmt::format("fold_{}", applied.name()),
      with_extras({{step, "acc"}, {any_number_of_rows(over.elements.type()), "xs"}}, over.extras), {step},
      [&](FunctionBuilder& f, FunctionRef self) {
        const Var acc = f.param(0);
        const Var xs = f.param(1);
        const std::vector<Var> extras = params_from(f, 2);
        const Var rows = rows_of(f, xs);
        return f.if_else(
            rows <= 1,
            [&] {
              return f.if_else(
                  rows == 0, [&] { return acc; },
                  [&] {
                    return applied(f, joined({acc, first_row(f, xs)}, extras));
                  });
            },
            [&] {
              const Var middle = f.call(self, joined({acc, half_of(f, xs, 0)}, extras));
              return f.call(self, joined({middle, half_of(f, xs, 1)}, extras));
            });
      });
  return f_->call(made, joined({over.initial[0], over.elements}, over.extras));
}

Vars BodyChecker::scan_tensor(const Applied& applied, const OverList& over) {
  const Type step = step_type(applied, over);
  const Type result = rows_like(applied, step);
  const FunctionRef made = generated_.function(
      fmt::format("scan_{}", applied.name()),
      with_extras({{step, "acc"}, {any_number_of_rows(over.elements.type()), "xs"}}, over.extras),
      {result, step}, [&](FunctionBuilder& f, FunctionRef self) {
        const Var acc = f.param(0);
        const Var xs = f.param(1);
        const std::vector<Var> extras = params_from(f, 2);
        return f.if_else(
            rows_of(f, xs) <= 1,
            [&] {
              const Var next = applied(f, joined({acc, first_row(f, xs)}, extras));
              return Vars{f.op("stack", {next}, {0}), next};
            },
            [&] {
              const Vars first = f.call(self, joined({acc, half_of(f, xs, 0)}, extras));
              const Vars second = f.call(self, joined({first[1], half_of(f, xs, 1)}, extras));
              return Vars{f.op("concat", {first[0], second[0]}, {0}), second[1]};
            });
      });
  const Var scanned = by_rows(
      over.elements,
      [&] {
        return f_->op("slice", {f_->op("stack", {over.initial[0]}, {0})}, {0, 0, 0});
      },
      [&] {
        return f_->call(made, joined({over.initial[0], over.elements}, over.extras))[0];
      });
  return one_for_each(scanned, over.elements);
}

}  // namespace hiaton::lang
