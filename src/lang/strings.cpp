// BodyChecker: strings. What programs write with operators, brackets and casts are operations of their own on
// strings; the text of a value of a data type is put together by functions that are made for the type.
#include <fmt/format.h>

#include <algorithm>

#include "lang/body_checker.h"

namespace hiaton::lang {
namespace {

std::string_view cast_for(std::string_view name) {
  if (name == "i64") return "string_to_i64";
  return name == "f64" ? "string_to_f64" : "";
}

}  // namespace

Var BodyChecker::string(const Expr& expr) {
  f_->set_span(expr.span);
  try {
    return f_->constant(Value(tokens_.strings[expr.index]), string_type());
  } catch (const ProgramError& error) {
    report(expr.span, error.what());
    return Var();
  }
}

std::optional<Var> BodyChecker::string_operation(const Operation& operation, std::span<const Var> operands,
                                                 Span span) {
  if (!is_string(operands[0].type())) return std::nullopt;
  f_->set_span(span);
  const std::vector<Var> all(operands.begin(), operands.end());
  const bool takes_index = all.size() == 2 && all[1].type() == Type(DType::I64);
  if (&operation == &operations_.gather() && takes_index) return f_->op("string_code_point", all);
  if (operation.def->arity() == 1) {
    const std::string_view cast = cast_for(operation.name);
    return cast.empty() ? std::nullopt : std::optional(f_->op(cast, all));
  }
  const bool joins = operation.def->symbol == "+" && all.size() == 2 && is_string(all[1].type());
  return joins ? std::optional(f_->op("string_join", all)) : std::nullopt;
}

/// `s[i]` or `s[i:j]`, where either bound may be left out.
Var BodyChecker::part_of_string(Var text, const Expr& range) {
  Var begin = range.a.valid() ? bound(range.a) : Var();
  Var end = range.b.valid() ? bound(range.b) : Var();
  if ((range.a.valid() && !known(begin)) || (range.b.valid() && !known(end))) return Var();
  f_->set_span(range.span);
  if (!range.a.valid()) begin = f_->constant(int64_t{0});
  if (!range.b.valid()) end = f_->op("string_length", {text});
  return f_->op("string_slice", {text, begin, end});
}

bool BodyChecker::is_string_call(const Expr& expr) const {
  const std::string_view name = symbols_[expr.name];
  const bool is_word = name == "str" || name == "length" || name == "print";
  if (!is_word) return false;
  const FunctionHead* const function = functions_.find(expr.name);
  return function == nullptr || is_length_of_library(expr, *function);
}

/// Where "std/list" is imported, `length` counts the elements of a list too. A list in brackets takes its
/// type from the function.
bool BodyChecker::is_length_of_library(const Expr& expr, const FunctionHead& function) const {
  return function.on_demand && symbols_[expr.name] == "length" && expr.list.count == 1 &&
         expr.types.count == 0 && tells(list(expr.list)[0]) == Tells::Type;
}

Var BodyChecker::string_call(const Expr& expr) {
  const std::string_view name = symbols_[expr.name];
  const std::span<const ExprId> arguments = list(expr.list);
  if (expr.attributes.count > 0) report_attributes(expr);
  if (arguments.size() != 1) {
    report(expr.span, fmt::format("'{}' takes 1 argument, found {}", name, arguments.size()));
    for (const ExprId argument : arguments) value(argument);
    return Var();
  }
  const Var of = value(arguments[0]);
  if (!known(of)) return Var();
  f_->set_span(expr.span);
  if (name == "length") {
    if (is_string(of.type())) return f_->op("string_length", {of});
    const FunctionHead* const of_lists = functions_.find(expr.name);
    if (of_lists != nullptr && Declarations::is_list(of.type())) {
      const FunctionHead* const function = instance_for(*of_lists, {of.type()}, expr.span);
      if (function == nullptr) return Var();
      if (!diagnostics_.is_clear()) return stand_in(Type(DType::I64));
      const Vars found = emit_call(*function, {of}, expr.span);
      return known(found) ? found[0] : Var();
    }
    const char* const hint = Declarations::is_list(of.type()) ? "; import \"std/list\" brings one for lists"
                             : of.type().is_tensor() ? "; size(x, axis=0) is that of a tensor, and let xs: "
                                                       "List[i64] = [...] is a list"
                                                     : "";
    report(place_of(arguments[0]),
           fmt::format("argument 1 of 'length': expected str, found {}{}", to_string(of.type()), hint));
    return Var();
  }
  const Var text = text_of_value(of);
  return name == "str" ? text : f_->op("print_text", {of, text});
}

/// Whether it is an operation, or `str`, `length` or `print`, given as a function: which one is meant, only
/// types tell.
bool BodyChecker::may_take_data(ExprId function) const {
  const Expr& expr = (*syntax_)[giver_of(function)];
  if (expr.kind != Expr::Kind::Name || scope_.find(expr.name) != nullptr) return false;
  if (local_function(expr.name) != nullptr) return false;
  const FunctionHead* const of_program = functions_.find(expr.name);
  if (of_program != nullptr && !(of_program->on_demand && symbols_[expr.name] == "length")) return false;
  return of_program != nullptr || operations_.find(expr.name) != nullptr || is_string_call(expr);
}

/// An operation given as a function that takes strings or values of data types, and `str`, `length` and
/// `print`: no operation of the graph, so that each becomes a function. Empty where there is none for such
/// arguments.
std::optional<BodyChecker::FunctionValue> BodyChecker::built_in_on_data(const Expr& name,
                                                                        std::span<const Wish> params) {
  const bool are_known = std::all_of(params.begin(), params.end(), [](const Wish& param) { return param; });
  if (params.empty() || !are_known) return std::nullopt;
  const Operation* const operation = operations_.find(name.name);
  const FunctionHead* const of_program = functions_.find(name.name);
  const std::string_view word = symbols_[name.name];
  const bool takes_string = is_string(*params[0]);
  if (operation != nullptr) {
    const bool takes_data = takes_string || params[0]->is_data();
    const bool fits = operation->def->takes(params.size()) && operation->def->attributes.empty();
    if (of_program != nullptr || !takes_data || !fits) return std::nullopt;
  } else {
    const bool is_free = of_program == nullptr || (of_program->on_demand && word == "length" && takes_string);
    const bool is_word = (word == "length" && takes_string) || word == "str" || word == "print";
    if (!is_free || !is_word || params.size() != 1) return std::nullopt;
  }
  FunctionHead head{.name = name.name, .span = name.span};
  std::vector<ir::ValueInfo> infos;
  std::string made_name(word);
  for (const Wish& param : params) {
    head.params.push_back({.name = std::nullopt, .type = *param});
    infos.push_back({*param, fmt::format("x{}", infos.size() + 1)});
    made_name += "_" + ir::as_name(to_string(*param));
  }
  const auto results = [&](FunctionBuilder& builder) -> Vars {
    FunctionBuilder* const around = std::exchange(f_, &builder);
    std::vector<Var> operands;
    for (std::size_t i = 0; i < params.size(); ++i) operands.push_back(builder.param(i));
    f_->set_span(name.span);
    Var found;
    if (operation != nullptr) {
      found = emit(*operation, operands, name.span);
    } else if (word == "length") {
      found = f_->op("string_length", operands);
    } else {
      const Var text = text_of_value(operands[0]);
      found = word == "str" ? text : f_->op("print_text", {operands[0], text});
    }
    f_ = around;
    // What the operation does not take is reported; the function is not used then.
    return known(found) ? found : builder.constant(false);
  };
  const FunctionRef made = generated_.function_with_any_results(made_name, std::move(infos), results);
  for (const Type& type : generated_[made].results) head.results.emplace_back(type);
  return FunctionValue{.function = functions_.add_lambda(std::move(head), made), .text = std::string(word)};
}

/// A string is its own text.
Var BodyChecker::text_of_value(Var of) {
  if (is_string(of.type())) return of;
  if (!of.type().is_data()) return f_->op("string_of", {of});
  return append_text(*f_, f_->constant(Value(""), string_type()), of);
}

/// `before` with the text of the value behind it: strings inside of values stand in quotes.
Var BodyChecker::append_text(FunctionBuilder& f, Var before, Var of) {
  const Type& type = of.type();
  if (is_string(type)) return f.op("string_join", {before, f.op("string_quoted", {of})});
  if (!type.is_data()) return f.op("string_join", {before, f.op("string_of", {of})});
  return f.call(Declarations::is_list(type) ? text_of_list(type) : text_of_data(type), {before, of});
}

/// Joined piece by piece behind one string, which grows where it stands.
FunctionRef BodyChecker::text_of_data(const Type& type) {
  return generated_.function(
      "text_" + ir::as_name(type.data->name), {{string_type(), "before"}, {type, "x"}}, {string_type()},
      [&](FunctionBuilder& f, FunctionRef) -> Vars {
        const auto join = [&](Var before, const std::string& text) {
          return f.op("string_join", {before, f.constant(Value(text), string_type())});
        };
        std::vector<std::function<Vars(const Vars&)>> cases;
        for (std::size_t v = 0; v < type.data->variants.size(); ++v) {
          cases.emplace_back([&, v](const Vars& fields) -> Vars {
            Var text = join(f.param(0), type.data->variants[v].name + (fields.size() > 0 ? "(" : ""));
            for (std::size_t i = 0; i < fields.size(); ++i) {
              if (i > 0) text = join(text, ", ");
              text = append_text(f, text, fields[i]);
            }
            return fields.size() > 0 ? join(text, ")") : text;
          });
        }
        return f.match(f.param(1), cases);
      });
}

FunctionRef BodyChecker::text_of_list(const Type& type) {
  const auto join = [](FunctionBuilder& f, Var before, const char* text) {
    return f.op("string_join", {before, f.constant(Value(text), string_type())});
  };
  const std::string name = "text_" + ir::as_name(type.data->name);
  const std::vector<ir::ValueInfo> params{{string_type(), "before"}, {type, "xs"}};
  const FunctionRef rest = generated_.function(
      name + "_rest", params, {string_type()}, [&](FunctionBuilder& f, FunctionRef self) -> Vars {
        return f.match(f.param(1), {[&](const Vars&) -> Vars { return join(f, f.param(0), "]"); },
                                    [&](const Vars& fields) -> Vars {
                                      const Var text = append_text(f, join(f, f.param(0), ", "), fields[0]);
                                      return f.call(self, {text, fields[1]});
                                    }});
      });
  return generated_.function(name, params, {string_type()}, [&](FunctionBuilder& f, FunctionRef) -> Vars {
    return f.match(f.param(1), {[&](const Vars&) -> Vars { return join(f, f.param(0), "[]"); },
                                [&](const Vars& fields) -> Vars {
                                  const Var text = append_text(f, join(f, f.param(0), "["), fields[0]);
                                  return f.call(rest, {text, fields[1]});
                                }});
  });
}

}  // namespace hiaton::lang
