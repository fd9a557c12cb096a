#include "lang/checker.h"

#include <fmt/format.h>

#include <algorithm>

#include "hiaton/builder.h"
#include "lang/literal.h"
#include "lang/scope.h"
#include "lang/suggest.h"

namespace hiaton::lang {
namespace {

/// The type that the surroundings would like; only literals follow it.
using Wish = std::optional<DType>;
using Wishes = std::vector<Wish>;

/// A value that is unknown because of a finding: whatever depends on it is unknown too, silently.
bool known(Var var) {
  return var.id().valid();
}

/// Several values; none at all where even their number is unknown.
bool known(const Vars& vars) {
  return vars.size() > 0;
}

std::string count_of(std::size_t count, std::string_view thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

class Checker {
 public:
  Checker(std::shared_ptr<const Source> source, const Syntax& syntax, const TokenList& tokens,
          const Symbols& symbols, const Operations& operations, Diagnostics& diagnostics)
      : source_(*source),
        syntax_(syntax),
        tokens_(tokens),
        symbols_(symbols),
        operations_(operations),
        diagnostics_(diagnostics),
        builder_(std::move(source)),
        functions_(symbols.size(), nullptr),
        scope_(symbols.size()) {}

  ir::Module run() {
    declare_functions();
    for (const FunctionSyntax& function : syntax_.functions) {
      if (function.signature_read) define(function);
    }
    if (!diagnostics_.empty()) return {};
    return builder_.finish();
  }

 private:
  // Functions.

  void declare_functions() {
    references_.resize(syntax_.functions.size());
    for (std::size_t i = 0; i < syntax_.functions.size(); ++i) {
      const FunctionSyntax& function = syntax_.functions[i];
      if (!may_be_declared(function)) continue;
      functions_[function.name] = &function;
      references_[i] = builder_.declare(std::string(symbols_[function.name]), parameters_of(function),
                                        results_of(function));
      ir::Function& declared = builder_.module()[references_[i].id];
      declared.span = function.span;
      if (function.placement) declared.placement = tokens_.strings[*function.placement];
    }
  }

  bool may_be_declared(const FunctionSyntax& function) {
    const std::string_view name = symbols_[function.name];
    if (operations_.find(function.name) != nullptr) {
      report(function.name_span, fmt::format("expected a new name for a function, found '{}', which is {}",
                                             name, dtype_from_name(name) ? "a type" : "an operation"));
      return false;
    }
    if (const FunctionSyntax* first = functions_[function.name]) {
      report(function.name_span,
             fmt::format("function '{}' is defined twice; the first definition is in line {}", name,
                         source_.locate(first->name_span.begin).line));
      return false;
    }
    return true;
  }

  /// Where a type is unknown, any will do: no module comes of it.
  static DType known_or_any(std::optional<DType> type) { return type.value_or(DType::I64); }

  std::vector<ir::ValueInfo> parameters_of(const FunctionSyntax& function) const {
    std::vector<ir::ValueInfo> params;
    params.reserve(function.params.count);
    for (const Pattern& param : patterns(function.params)) {
      params.push_back({known_or_any(param.type), std::string(symbols_[*param.name])});
    }
    if (!all_distinct(function.params)) params.clear();
    return params;
  }

  bool all_distinct(Range range) const {
    std::vector<Symbol> names;
    for (const Pattern& pattern : patterns(range)) {
      if (pattern.name) names.push_back(*pattern.name);
    }
    std::sort(names.begin(), names.end());
    return std::adjacent_find(names.begin(), names.end()) == names.end();
  }

  static std::vector<Type> results_of(const FunctionSyntax& function) {
    std::vector<Type> results;
    for (std::optional<DType> type : function.results) results.emplace_back(known_or_any(type));
    if (results.empty()) results.emplace_back(DType::I64);
    return results;
  }

  struct Abandoned {};

  void define(const FunctionSyntax& function) {
    const std::size_t index = static_cast<std::size_t>(&function - syntax_.functions.data());
    const std::size_t findings = diagnostics_.count();
    FunctionRef reference = references_[index];
    if (!reference.id.valid()) reference = stand_in_for(function);
    const auto body = [&](FunctionBuilder& builder) {
      const Vars results = define_body(function, builder);
      if (diagnostics_.count() > findings || !known(results) || !diagnostics_.empty()) throw Abandoned();
      return results;
    };
    try {
      builder_.define(reference, body);
    } catch (const Abandoned&) {
    }
  }

  /// The body of a function whose name is refused is checked all the same, under no name.
  FunctionRef stand_in_for(const FunctionSyntax& function) {
    std::vector<ir::Function>& functions = builder_.module().functions;
    functions.emplace_back();
    functions.back().params = parameters_of(function);
    functions.back().results = results_of(function);
    return {ir::FunctionId(functions.size() - 1)};
  }

  Vars define_body(const FunctionSyntax& function, FunctionBuilder& builder) {
    f_ = &builder;
    scope_.shrink(0);
    bind_parameters(function);
    Wishes wishes(function.results.begin(), function.results.end());
    const Vars results = values(function.body, wishes);
    return require_all(function.body, results, wishes, [&](std::size_t i) {
      return wishes.size() == 1 ? fmt::format("the result of '{}'", symbols_[function.name])
                                : fmt::format("result {} of '{}'", i + 1, symbols_[function.name]);
    });
  }

  void bind_parameters(const FunctionSyntax& function) {
    const std::span<const Pattern> params = patterns(function.params);
    report_duplicates(function.params, "parameter");
    const bool declared = f_->function().params.size() == params.size();
    for (std::size_t i = 0; i < params.size(); ++i) {
      if (!params[i].name) continue;
      scope_.bind(*params[i].name, declared && params[i].type ? f_->param(i) : Var());
    }
  }

  void report_duplicates(Range range, std::string_view what) {
    if (all_distinct(range)) return;
    const std::span<const Pattern> all = patterns(range);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto same = [&](const Pattern& other) { return all[i].name && other.name == all[i].name; };
      if (std::any_of(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(i), same)) {
        report(all[i].span, fmt::format("{} '{}' is defined twice", what, symbols_[*all[i].name]));
      }
    }
  }

  // Findings and requirements.

  void report(Span span, std::string message) { diagnostics_.add(span, std::move(message)); }

  /// Where the last expression of a block stands, or whatever else gives the expression its value.
  Span place_of(ExprId id) const {
    while (syntax_[id].kind == Expr::Kind::Block || syntax_[id].kind == Expr::Kind::On) id = syntax_[id].a;
    return syntax_[id].span;
  }

  /// The value, where it has the type; else reports and gives an unknown one.
  template <class Describe>
  Var require(ExprId expr, Var value, Wish type, Describe describe) {
    if (!known(value) || !type || value.type() == Type(*type)) return value;
    report(place_of(expr),
           fmt::format("{}: expected {}, found {}", describe(), name_of(*type), to_string(value.type())));
    return Var();
  }

  template <class Describe>
  Vars require_all(ExprId expr, const Vars& found, const Wishes& types, Describe describe) {
    if (!known(found)) return found;
    if (found.size() != types.size()) {
      report(place_of(expr), fmt::format("expected {}, found {}", count_of(types.size(), "value"),
                                         count_of(found.size(), "value")));
      return Vars(std::vector<Var>());
    }
    std::vector<Var> checked;
    checked.reserve(found.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      checked.push_back(require(element(expr, i), found[i], types[i], [&] { return describe(i); }));
    }
    return Vars(std::move(checked));
  }

  /// The i-th element where the expression is a tuple; else the expression itself.
  ExprId element(ExprId id, std::size_t i) const {
    while (syntax_[id].kind == Expr::Kind::Block || syntax_[id].kind == Expr::Kind::On) id = syntax_[id].a;
    return syntax_[id].kind == Expr::Kind::Tuple ? list(syntax_[id].list)[i] : id;
  }

  static Wishes types_of(const Vars& vars) {
    Wishes types;
    for (Var var : vars) types.push_back(known(var) ? Wish(var.type().dtype) : std::nullopt);
    return types;
  }

  std::span<const Pattern> patterns(Range range) const {
    return std::span(syntax_.patterns).subspan(range.begin, range.count);
  }
  std::span<const ExprId> list(Range range) const {
    return std::span(syntax_.lists).subspan(range.begin, range.count);
  }

  // Expressions. `value` is for places that want one value, `values` for those that take several.

  Var value(ExprId id, Wish wish) {
    const Expr& expr = syntax_[id];
    switch (expr.kind) {
      case Expr::Kind::Broken:
        return Var();
      case Expr::Kind::Number:
        return number(expr, wish);
      case Expr::Kind::Bool:
        f_->set_span(expr.span);
        return f_->constant(expr.op == Tok::True);
      case Expr::Kind::Name:
        return name(expr);
      case Expr::Kind::Negate:
        return apply(operations_.negation(), {&expr.a, 1}, wish, expr.sign);
      case Expr::Kind::Not:
        return apply(operations_.logical_not(), {&expr.a, 1}, std::nullopt, expr.sign);
      case Expr::Kind::Binary:
        return binary(id, wish);
      case Expr::Kind::Logic:
        return logic(id);
      case Expr::Kind::Call:
        if (const Operation* operation = operations_.find(expr.name))
          return operation_call(expr, *operation, wish);
        break;
      default:
        break;
    }
    return single(id, values(id, {wish}));
  }

  Var single(ExprId id, const Vars& found) {
    if (!known(found)) return Var();
    if (found.size() == 1) return found[0];
    report(place_of(id), fmt::format("expected one value, found {}; '(a, b)' after 'let' takes them apart",
                                     count_of(found.size(), "value")));
    return Var();
  }

  Vars values(ExprId id, const Wishes& wishes) {
    const Expr& expr = syntax_[id];
    switch (expr.kind) {
      case Expr::Kind::Broken:
        return Vars(std::vector<Var>());
      case Expr::Kind::Call:
        if (operations_.find(expr.name) == nullptr) return call(expr);
        break;
      case Expr::Kind::Tuple:
        return tuple(expr, wishes);
      case Expr::Kind::If:
        return conditional(expr, wishes);
      case Expr::Kind::Block:
        return block(expr, wishes);
      case Expr::Kind::Loop:
        return loop(expr);
      case Expr::Kind::On:
        return placed(expr, wishes);
      default:
        break;
    }
    return value(id, wishes.size() == 1 ? wishes[0] : std::nullopt);
  }

  /// The type of literals for which nothing is wished.
  static DType default_type(Flex flex) { return flex == Flex::Float ? DType::F64 : DType::I64; }

  static DType type_of_literal(Flex flex, Wish wish) {
    const bool fits = wish && (flex == Flex::Float ? is_float(*wish) : is_number(*wish));
    return fits ? *wish : default_type(flex);
  }

  Var number(const Expr& expr, Wish wish) {
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

  Var name(const Expr& expr) {
    if (const Var* found = scope_.find(expr.name)) return *found;
    const std::string_view name = symbols_[expr.name];
    if (functions_[expr.name] != nullptr || operations_.find(expr.name) != nullptr) {
      report(expr.span, fmt::format("expected a value, found '{}', which is {}; a call is written {}(...)",
                                    name, functions_[expr.name] ? "a function" : "an operation", name));
      return Var();
    }
    Suggestion similar(name);
    if (diagnostics_.wants_suggestions()) {
      scope_.for_each_name([&](Symbol known_name) { similar.offer(symbols_[known_name]); });
    }
    report(expr.span, fmt::format("unknown name '{}'{}", name, similar.text()));
    return Var();
  }

  // Operations.

  Var emit(const Operation& operation, const std::vector<Var>& operands, Span span) {
    for (Var operand : operands) {
      if (!known(operand)) return Var();
    }
    f_->set_span(span);
    try {
      return f_->op(*operation.def, operands);
    } catch (const ProgramError& error) {
      report(span, error.what() + std::string(cast_hint(operands)));
      return Var();
    }
  }

  static std::string_view cast_hint(const std::vector<Var>& operands) {
    const bool two_numbers = operands.size() == 2 && is_number(operands[0].type().dtype) &&
                             is_number(operands[1].type().dtype) && operands[0].type() != operands[1].type();
    return two_numbers ? "; a cast such as f64(a) converts" : "";
  }

  /// The type that literals among the operands take when no operand has a type of its own.
  static Wish wish_for_literals(const Operation& operation, Flex flex, Wish wish) {
    const auto accepts = [&](DType type) {
      return is_number(type) && operation.def->find_kernel(type) != nullptr &&
             (flex == Flex::Integer || is_float(type));
    };
    if (operation.keeps_type && wish && accepts(*wish)) return wish;
    const DType usual = default_type(flex);
    return accepts(usual) ? usual : DType::F64;
  }

  /// Operands with a type of their own come first: literals take theirs.
  Var apply(const Operation& operation, std::span<const ExprId> operands, Wish wish, Span span) {
    const bool passes_wish = operation.keeps_type;
    std::vector<Var> vars(operands.size());
    Wish type = passes_wish ? wish : std::nullopt;
    bool any_rigid = false;
    Flex flex = Flex::Integer;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const Flex own = syntax_[operands[i]].flex;
      flex = std::max(flex, own);
      if (own != Flex::Rigid) continue;
      vars[i] = value(operands[i], type);
      if (!any_rigid) type = known(vars[i]) ? Wish(vars[i].type().dtype) : std::nullopt;
      any_rigid = true;
    }
    if (!any_rigid) type = wish_for_literals(operation, flex, wish);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (syntax_[operands[i]].flex != Flex::Rigid) vars[i] = value(operands[i], type);
    }
    return emit(operation, vars, span);
  }

  Var operation_call(const Expr& expr, const Operation& operation, Wish wish) {
    const std::span<const ExprId> arguments = list(expr.list);
    if (arguments.size() != operation.def->arity()) {
      report(expr.span,
             fmt::format("'{}' takes {}, found {}: {}({})", operation.def->name.value,
                         count_of(operation.def->arity(), "argument"), arguments.size(),
                         operation.def->name.value, fmt::join(operation.def->operands.value, ", ")));
      for (ExprId argument : arguments) value(argument, std::nullopt);
      return Var();
    }
    return apply(operation, arguments, wish, expr.span);
  }

  Var binary(ExprId id, Wish wish) {
    const Expr& expr = syntax_[id];
    const bool is_chain = operations_.infix(expr.op).keeps_type && syntax_[expr.a].kind == Expr::Kind::Binary;
    if (is_chain) return chain(id, wish);
    const ExprId operands[] = {expr.a, expr.b};
    return apply(operations_.infix(expr.op), operands, wish, expr.sign);
  }

  bool is_arithmetic(ExprId id) const {
    return syntax_[id].kind == Expr::Kind::Binary && operations_.infix(syntax_[id].op).keeps_type;
  }

  /// a + b - c * d ...: all operands have one type. Goes along the left sides without recursion, so that sums
  /// of any length are fine.
  Var chain(ExprId last, Wish wish) {
    std::vector<ExprId> steps;
    ExprId first = last;
    for (; is_arithmetic(first); first = syntax_[first].a) steps.push_back(first);
    std::reverse(steps.begin(), steps.end());
    const auto operand = [&](std::size_t i) { return i == 0 ? first : syntax_[steps[i - 1]].b; };

    std::size_t leader = 0;  // the first operand with a type of its own, or the first one
    while (leader <= steps.size() && syntax_[operand(leader)].flex != Flex::Rigid) ++leader;
    if (leader > steps.size()) {
      leader = 0;
      wish = wish_for_literals(operations_.infix(syntax_[last].op), syntax_[last].flex, wish);
    }
    const Var lead = value(operand(leader), wish);
    if (known(lead)) wish = lead.type().dtype;
    const auto evaluate = [&](std::size_t i) { return i == leader ? lead : value(operand(i), wish); };
    Var sum = evaluate(0);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const Expr& step = syntax_[steps[i]];
      sum = emit(operations_.infix(step.op), {sum, evaluate(i + 1)}, step.sign);
    }
    return sum;
  }

  /// `a and b` is `if a then b else false`, `a or b` is `if a then true else b`.
  Var logic(ExprId last) {
    std::vector<ExprId> steps;
    ExprId first = last;
    for (; syntax_[first].kind == Expr::Kind::Logic; first = syntax_[first].a) steps.push_back(first);
    std::reverse(steps.begin(), steps.end());
    Var result = logic_operand(first, syntax_[steps[0]]);
    for (ExprId id : steps) result = logic_step(result, syntax_[id]);
    return result;
  }

  Var logic_operand(ExprId operand, const Expr& logic) {
    return require(operand, value(operand, std::nullopt), DType::Bool,
                   [&] { return fmt::format("operand of '{}'", spelling(logic.op)); });
  }

  Var logic_step(Var left, const Expr& expr) {
    f_->set_span(expr.sign);
    const ir::BlockId taken = f_->begin_block({});
    const Var right = logic_operand(expr.b, expr);
    close(taken, right);
    f_->set_span(expr.sign);
    const ir::BlockId skipped = f_->begin_block({});
    close(skipped, f_->constant(expr.op == Tok::Or));
    if (!known(left) || !known(right)) return Var();
    return expr.op == Tok::And ? f_->finish_if(left, taken, skipped) : f_->finish_if(left, skipped, taken);
  }

  // Calls.

  Vars call(const Expr& expr) {
    const FunctionSyntax* callee = functions_[expr.name];
    const std::span<const ExprId> arguments = list(expr.list);
    if (callee == nullptr || !callee->signature_read) {
      if (callee == nullptr) report_unknown_function(expr);
      for (ExprId argument : arguments) value(argument, std::nullopt);
      return Vars(std::vector<Var>());
    }
    const std::span<const Pattern> params = patterns(callee->params);
    const bool right_count = arguments.size() == params.size();
    if (!right_count) {
      report(expr.span,
             fmt::format("'{}' takes {}, found {}: {}", symbols_[expr.name],
                         count_of(params.size(), "argument"), arguments.size(), signature(*callee)));
    }
    std::vector<Var> checked;
    bool all_known = right_count;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const Wish type = right_count ? params[i].type : std::nullopt;
      const Var argument = value(arguments[i], type);
      checked.push_back(require(arguments[i], argument, type, [&] {
        return fmt::format("argument {} of '{}'", i + 1, symbols_[expr.name]);
      }));
      all_known = all_known && known(checked.back());
    }
    const FunctionRef reference = references_[static_cast<std::size_t>(callee - syntax_.functions.data())];
    f_->set_span(expr.span);
    if (all_known && builder_.module()[reference.id].params.size() == params.size() &&
        all_types_known(*callee)) {
      return f_->call(reference, checked);
    }
    return results_in_place_of(*callee);
  }

  bool all_types_known(const FunctionSyntax& function) const {
    const std::span<const Pattern> params = patterns(function.params);
    return std::all_of(params.begin(), params.end(), [](const Pattern& p) { return p.type.has_value(); }) &&
           std::all_of(function.results.begin(), function.results.end(),
                       [](auto type) { return type.has_value(); });
  }

  /// After a finding, values of the right types stand for the results: what follows is still checked.
  Vars results_in_place_of(const FunctionSyntax& callee) {
    std::vector<Var> results;
    for (std::optional<DType> type : callee.results) {
      results.push_back(type ? f_->constant(zero_of(*type)) : Var());
    }
    return Vars(std::move(results));
  }

  void report_unknown_function(const Expr& expr) {
    const std::string_view name = symbols_[expr.name];
    if (scope_.find(expr.name) != nullptr) {
      report(expr.sign, fmt::format("expected a function, found '{}', which is a value", name));
      return;
    }
    Suggestion similar(name);
    if (diagnostics_.wants_suggestions()) {
      for (const FunctionSyntax& function : syntax_.functions) similar.offer(symbols_[function.name]);
      for (const OpDef* op : catalog().all()) similar.offer(op->name.value);
    }
    report(expr.sign, fmt::format("unknown function '{}'{}", name, similar.text()));
  }

  std::string signature(const FunctionSyntax& function) const {
    const auto type_name = [](std::optional<DType> type) { return type ? name_of(*type) : "?"; };
    std::string text = fmt::format("{}(", symbols_[function.name]);
    std::string_view separator;
    for (const Pattern& param : patterns(function.params)) {
      text += fmt::format("{}{}: {}", separator, symbols_[*param.name], type_name(param.type));
      separator = ", ";
    }
    return text + ")";
  }

  // Forms of several values.

  Vars tuple(const Expr& expr, const Wishes& wishes) {
    const std::span<const ExprId> elements = list(expr.list);
    const bool wished = wishes.size() == elements.size();
    std::vector<Var> vars;
    vars.reserve(elements.size());
    for (std::size_t i = 0; i < elements.size(); ++i) {
      vars.push_back(value(elements[i], wished ? wishes[i] : std::nullopt));
    }
    return Vars(std::move(vars));
  }

  /// Nodes go elsewhere again. The results count only where all are known.
  void close(ir::BlockId block, const Vars& results) {
    const bool all_known = std::all_of(results.begin(), results.end(), [](Var var) { return known(var); });
    f_->end_block(block, all_known ? results : Vars(std::vector<Var>()));
  }

  Vars branch(ExprId id, const Wishes& wishes, ir::BlockId& block) {
    const std::size_t names = scope_.size();
    block = f_->begin_block({});
    const Vars results = values(id, wishes);
    close(block, results);
    scope_.shrink(names);
    return results;
  }

  static bool any_wish(const Wishes& wishes) {
    return std::any_of(wishes.begin(), wishes.end(), [](Wish wish) { return wish.has_value(); });
  }

  Vars conditional(const Expr& expr, const Wishes& wishes) {
    const Var condition = require(expr.a, value(expr.a, std::nullopt), DType::Bool,
                                  [] { return std::string("the condition of 'if'"); });
    ir::BlockId then_block;
    ir::BlockId else_block;
    Vars then = Vars(std::vector<Var>());
    Vars otherwise = Vars(std::vector<Var>());
    const bool then_follows = syntax_[expr.b].flex != Flex::Rigid && syntax_[expr.c].flex == Flex::Rigid;
    if (any_wish(wishes)) {
      then = branch(expr.b, wishes, then_block);
      otherwise = branch(expr.c, wishes, else_block);
    } else if (then_follows) {
      otherwise = branch(expr.c, wishes, else_block);
      then = branch(expr.b, types_of(otherwise), then_block);
    } else {
      then = branch(expr.b, wishes, then_block);
      otherwise = branch(expr.c, types_of(then), else_block);
    }
    return join(expr, condition, then, then_block, otherwise, else_block);
  }

  Vars join(const Expr& expr, Var condition, const Vars& then, ir::BlockId then_block, const Vars& otherwise,
            ir::BlockId else_block) {
    if (!known(then) || !known(otherwise)) return in_place_of(known(then) ? then : otherwise);
    if (then.size() != otherwise.size()) {
      report(expr.sign, fmt::format("the branches of 'if' differ: {} after 'then', {} after 'else'",
                                    count_of(then.size(), "value"), count_of(otherwise.size(), "value")));
      return Vars(std::vector<Var>());
    }
    bool all_known = known(condition);
    for (std::size_t i = 0; i < then.size(); ++i) {
      if (!known(then[i]) || !known(otherwise[i])) {
        all_known = false;
      } else if (then[i].type() != otherwise[i].type()) {
        report(expr.sign, fmt::format("the branches of 'if' differ: {} after 'then', {} after 'else'",
                                      type_list(then), type_list(otherwise)));
        return Vars(std::vector<Var>());
      }
    }
    if (!all_known) return in_place_of(then);
    f_->set_span(expr.sign);
    return f_->finish_if(condition, then_block, else_block);
  }

  static std::string type_list(const Vars& vars) {
    std::string text;
    for (Var var : vars) {
      if (!text.empty()) text += ", ";
      text += known(var) ? to_string(var.type()) : "?";
    }
    return vars.size() == 1 ? text : "(" + text + ")";
  }

  /// Values of the same types, usable in the block that is open now.
  Vars in_place_of(const Vars& vars) {
    std::vector<Var> stand_ins;
    for (Var var : vars) {
      stand_ins.push_back(known(var) ? f_->constant(zero_of(var.type().dtype)) : Var());
    }
    return Vars(std::move(stand_ins));
  }

  Vars block(const Expr& expr, const Wishes& wishes) {
    const std::size_t names = scope_.size();
    for (uint32_t i = 0; i < expr.list.count; ++i) let(syntax_.lets[expr.list.begin + i]);
    Vars results = values(expr.a, wishes);
    scope_.shrink(names);
    return results;
  }

  void let(const Let& let) {
    const std::span<const Pattern> names = patterns(let.patterns);
    report_duplicates(let.patterns, "name");
    if (names.size() == 1) {
      const Var found = value(let.bound, names[0].type);
      bind(names[0], require_pattern(let.bound, found, names[0]));
      return;
    }
    Wishes wishes;
    for (const Pattern& name : names) wishes.push_back(name.type);
    Vars found = values(let.bound, wishes);
    if (known(found) && !names.empty() && found.size() != names.size()) {
      report(place_of(let.bound),
             fmt::format("expected {} for the names after 'let', found {}", count_of(names.size(), "value"),
                         count_of(found.size(), "value")));
      found = Vars(std::vector<Var>());
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      const Var one = known(found) ? found[i] : Var();
      bind(names[i], require_pattern(element(let.bound, i), one, names[i]));
    }
  }

  Var require_pattern(ExprId bound, Var found, const Pattern& pattern) {
    const Var checked = require(bound, found, pattern.type, [&] {
      return fmt::format("the value of '{}'", pattern.name ? symbols_[*pattern.name] : "_");
    });
    return known(checked) || !pattern.type ? checked : f_->constant(zero_of(*pattern.type));
  }

  void bind(const Pattern& pattern, Var value) {
    if (!pattern.name) return;
    if (known(value) && f_->function()[value.id()].name.empty()) {
      f_->named(value, std::string(symbols_[*pattern.name]));
    }
    scope_.bind(*pattern.name, value);
  }

  Vars placed(const Expr& expr, const Wishes& wishes) {
    const std::string around = f_->placement();
    f_->set_placement(tokens_.strings[expr.index]);
    Vars results = values(expr.a, wishes);
    f_->set_placement(around);
    return results;
  }

  // Loops.

  Vars loop(const Expr& expr) {
    const Loop& loop = syntax_.loops[expr.index];
    report_duplicate_states(loop);
    std::vector<Var> initial;
    for (const Loop::State& state : loop.states) {
      const Var first = value(state.initial, state.pattern.type);
      initial.push_back(require_pattern(state.initial, first, state.pattern));
    }
    return loop.counts ? counted(expr, loop, std::move(initial))
                       : conditioned(expr, loop, std::move(initial));
  }

  void report_duplicate_states(const Loop& loop) {
    for (std::size_t i = 0; i < loop.states.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const Pattern& name = loop.states[i].pattern;
        if (!name.name || loop.states[j].pattern.name != name.name) continue;
        report(name.span, fmt::format("loop variable '{}' is defined twice", symbols_[*name.name]));
        break;
      }
    }
  }

  /// An unknown variable takes part with some type: uses of it are not findings.
  static std::vector<Type> state_types(const std::vector<Var>& initial) {
    std::vector<Type> types;
    for (Var var : initial) types.push_back(known(var) ? var.type() : Type(DType::I64));
    return types;
  }

  void bind_states(const Loop& loop, const std::vector<Var>& initial, const Vars& params, std::size_t first) {
    for (std::size_t i = 0; i < loop.states.size(); ++i) {
      bind(loop.states[i].pattern, known(initial[i]) ? params[first + i] : Var());
    }
  }

  Vars next_states(const Loop& loop, const std::vector<Var>& initial) {
    const Wishes types = types_of(Vars(initial));
    const Vars next = values(loop.body, types);
    if (known(next) && next.size() != loop.states.size()) {
      report(place_of(loop.body),
             fmt::format("the next values of the loop: expected {}, as many as loop variables, found {}",
                         count_of(loop.states.size(), "value"), count_of(next.size(), "value")));
      return Vars(std::vector<Var>());
    }
    return require_all(loop.body, next, types, [&](std::size_t i) {
      const Pattern& pattern = loop.states[i].pattern;
      return fmt::format("the next value of '{}'", pattern.name ? symbols_[*pattern.name] : "_");
    });
  }

  static bool all_known(const Vars& vars) {
    return known(vars) && std::all_of(vars.begin(), vars.end(), [](Var var) { return known(var); });
  }

  Vars conditioned(const Expr& expr, const Loop& loop, std::vector<Var> initial) {
    const std::size_t names = scope_.size();
    const std::vector<Type> types = state_types(initial);
    const ir::BlockId test = f_->begin_block(types);
    bind_states(loop, initial, f_->block_params(test), 0);
    const Var condition = require(loop.condition, value(loop.condition, std::nullopt), DType::Bool,
                                  [] { return std::string("the condition of 'while'"); });
    close(test, condition);
    scope_.shrink(names);
    const ir::BlockId body = f_->begin_block(types);
    bind_states(loop, initial, f_->block_params(body), 0);
    const Vars next = next_states(loop, initial);
    close(body, next);
    scope_.shrink(names);
    if (!known(condition) || !all_known(next) || !all_known(Vars(initial))) return in_place_of(Vars(initial));
    f_->set_span(expr.sign);
    return f_->finish_while(Vars(std::move(initial)), test, body);
  }

  /// The counter is one more loop variable, in front, that the result leaves out.
  Vars counted(const Expr& expr, const Loop& loop, std::vector<Var> initial) {
    const auto [begin, end] = bounds(loop);
    std::vector<Var> states{begin};
    states.insert(states.end(), initial.begin(), initial.end());
    const std::vector<Type> types = state_types(states);
    f_->set_span(expr.sign);
    const ir::BlockId test = f_->begin_block(types);
    const Var inside = emit(operations_.infix(Tok::Less), {f_->block_params(test)[0], end}, expr.sign);
    close(test, inside);

    const std::size_t names = scope_.size();
    const ir::BlockId body = f_->begin_block(types);
    const Var counter = f_->block_params(body)[0];
    bind_states(loop, initial, f_->block_params(body), 1);
    bind(loop.counter, known(begin) ? counter : Var());
    std::vector<Var> all{known(begin) ? one_more(counter, expr.sign) : Var()};
    const Vars next = next_states(loop, initial);
    all.insert(all.end(), next.begin(), next.end());
    const Vars next_all(std::move(all));
    close(body, next_all);
    scope_.shrink(names);
    if (!known(inside) || !known(next) || !all_known(next_all) || !all_known(Vars(states))) {
      return in_place_of(Vars(initial));
    }
    f_->set_span(expr.sign);
    const Vars last = f_->finish_while(Vars(std::move(states)), test, body);
    return Vars(std::vector<Var>(last.begin() + 1, last.end()));
  }

  Var one_more(Var counter, Span span) {
    f_->set_span(span);
    const Var one = f_->constant(counter.type() == Type(DType::I32) ? Value(int32_t{1}) : Value(int64_t{1}));
    return emit(operations_.infix(Tok::Plus), {counter, one}, span);
  }

  /// Both unknown where either is no integer or they differ.
  std::pair<Var, Var> bounds(const Loop& loop) {
    const bool begin_follows =
        syntax_[loop.begin].flex != Flex::Rigid && syntax_[loop.end].flex == Flex::Rigid;
    const ExprId leader = begin_follows ? loop.end : loop.begin;
    const ExprId follower = begin_follows ? loop.begin : loop.end;
    const Var lead = integer_bound(leader, std::nullopt);
    const Wish type = known(lead) ? Wish(lead.type().dtype) : std::nullopt;
    const Var follow = require(follower, integer_bound(follower, type), type,
                               [] { return std::string("the bounds of 'for' differ"); });
    if (!known(lead) || !known(follow)) return {Var(), Var()};
    return begin_follows ? std::pair(follow, lead) : std::pair(lead, follow);
  }

  Var integer_bound(ExprId bound, Wish wish) {
    const Var found = value(bound, wish);
    if (!known(found) || is_integer(found.type().dtype)) return found;
    report(place_of(bound),
           fmt::format("a bound of 'for': expected an integer, found {}", to_string(found.type())));
    return Var();
  }

  const Source& source_;
  const Syntax& syntax_;
  const TokenList& tokens_;
  const Symbols& symbols_;
  const Operations& operations_;
  Diagnostics& diagnostics_;
  ModuleBuilder builder_;
  std::vector<const FunctionSyntax*> functions_;  ///< by symbol
  std::vector<FunctionRef> references_;           ///< by index in Syntax::functions
  Scope scope_;
  FunctionBuilder* f_ = nullptr;  ///< of the function that is being defined
};

}  // namespace

ir::Module check(std::shared_ptr<const Source> source, const Syntax& syntax, const TokenList& tokens,
                 const Symbols& symbols, const Operations& operations, Diagnostics& diagnostics) {
  return Checker(std::move(source), syntax, tokens, symbols, operations, diagnostics).run();
}

}  // namespace hiaton::lang
