// BodyChecker: `map`, `fold` and `scan`, each a call of a recursive function that is made for it.
#include <fmt/format.h>

#include <algorithm>

#include "lang/body_checker.h"
#include "lang/type_inference.h"
#include "tensor/dimensions.h"

namespace hiaton::lang {

/// What is applied to the elements: a function of the program, or an operation.
class BodyChecker::Applied {
 public:
  Applied(const BodyChecker& checker, const Expr& expr)
      : checker_(checker), name_(checker.symbols_[expr.name]), head_(checker.functions_.find(expr.name)) {
    if (head_ == nullptr) operation_ = checker.operations_.find(expr.name);
  }
  /// What is not known yet.
  explicit Applied(const BodyChecker& checker) : checker_(checker) {}

  /// nullptr where it is no generic function.
  const FunctionHead* generic() const { return head_ != nullptr && head_->is_generic() ? head_ : nullptr; }
  /// From here on it is what the generic function is for certain types.
  void become(const FunctionHead& instance) { head_ = &instance; }
  void become(const FunctionValue& value) {
    head_ = value.function;
    operation_ = value.operation;
    name_ = value.text;
    if (head_ != nullptr) name_ = checker_.generated_[checker_.functions_.reference(*head_)].name;
  }
  bool known() const { return (head_ != nullptr && head_->readable) || operation_ != nullptr; }
  const std::string& name() const { return name_; }
  /// What literals take after as argument `index`.
  Wish param(std::size_t index) const {
    if (head_ == nullptr && index < types_.size()) return types_[index];
    return head_ != nullptr && index < head_->value_count() ? head_->value_type(index) : std::nullopt;
  }
  /// What is known of the types of its parameters before it is known itself.
  void expect(const std::vector<Pattern>& params) {
    for (const Pattern& param : params) types_.push_back(param.type);
  }

  /// The type of its result for such arguments. Throws ProgramError where it does not take them, or has
  /// several results.
  Type result(const std::vector<Type>& arguments) const {
    const bool takes = head_ != nullptr ? head_->value_count() == arguments.size()
                                        : operation_->def->takes(arguments.size());
    if (!takes) {
      throw ProgramError(fmt::format("expected a function of {}, found {}",
                                     count_of(arguments.size(), "argument"), signature()));
    }
    if (operation_ != nullptr) return result_of_operation(arguments);
    Dimensions dimensions;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const Type param = head_->value_type(i).value_or(arguments[i]);
      if (dimensions.bind(param, arguments[i])) continue;
      throw ProgramError(fmt::format("argument {} of '{}': expected {}, found {}", i + 1, name_,
                                     to_string(param), to_string(arguments[i])));
    }
    if (head_->results.size() == 1) return dimensions.substitute(head_->results[0].value_or(DType::I64));
    std::vector<Type> results;
    for (const std::optional<Type>& result : head_->results)
      results.push_back(without_symbols(dimensions.substitute(result.value_or(DType::I64))));
    return checker_.declarations_.tuple_of(results);
  }

  /// Where among such arguments the size of dimension `axis` of its result stands; none where only the call
  /// itself tells it.
  std::optional<Dimensions::ArgumentAxis> place_of(std::size_t axis,
                                                   const std::vector<Type>& arguments) const {
    const Dim dim = head_ != nullptr ? head_->results[0]->shape[axis] : result(arguments).shape[axis];
    if (dim == unknown_dim()) return std::nullopt;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const Shape shape = param(i).value_or(arguments[i]).shape;
      const auto found = std::find(shape.begin(), shape.end(), dim);
      if (found != shape.end())
        return Dimensions::ArgumentAxis{i, static_cast<std::size_t>(found - shape.begin())};
    }
    return std::nullopt;
  }

  Var operator()(FunctionBuilder& f, const std::vector<Var>& arguments) const {
    if (operation_ != nullptr) return f.op(*operation_->def, arguments);
    const Vars results = f.call(checker_.functions_.reference(*head_), arguments);
    if (results.size() == 1) return results[0];
    std::vector<Type> argument_types;
    for (const Var argument : arguments) argument_types.push_back(argument.type());
    return f.make(result(argument_types), 0, {results.begin(), results.end()});
  }

 private:
  std::string signature() const {
    return head_ != nullptr ? checker_.functions_.signature(*head_) : to_string(Signature(*operation_->def));
  }

  Type result_of_operation(const std::vector<Type>& arguments) const {
    const OpDef& op = *operation_->def;
    if (!op.attributes.empty()) {
      throw ProgramError(fmt::format("expected an operation without attributes, found '{}'", name_));
    }
    try {
      return op.result_type({.operands = arguments});
    } catch (const ProgramError& error) {
      throw ProgramError(fmt::format("[{}] {}", name_, error.what()));
    }
  }

  const BodyChecker& checker_;
  std::string name_;
  std::vector<Wish> types_;
  const FunctionHead* head_ = nullptr;
  const Operation* operation_ = nullptr;
};

/// The arguments of a `map`, `fold` or `scan`.
struct BodyChecker::OverList {
  std::string_view word;
  Var elements;  ///< a list or tensor
  Type element;
  std::vector<Var> initial;  ///< one, but for `map`
  std::vector<Var> extras;   ///< the same for every element

  /// The argument types of the function that is applied.
  std::vector<Type> argument_types() const {
    std::vector<Type> types;
    for (Var first : initial) types.push_back(first.type());
    types.push_back(element);
    for (Var extra : extras) types.push_back(extra.type());
    return types;
  }
};

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
  if (!read || !diagnostics_.empty()) return unknown();
  if (needs_types) {
    std::vector<Wish> types;
    for (const Type& type : read->argument_types()) types.push_back(type);
    value = function_value(arguments[0], types, std::nullopt);
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
  if (at == 1) read.initial.push_back(value(arguments[1], wish_of_initial(read, applied, wishes)));
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
