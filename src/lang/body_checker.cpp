#include "lang/body_checker.h"

#include <fmt/format.h>

#include <algorithm>

namespace hiaton::lang {

std::string count_of(std::size_t count, std::string_view thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

bool are_known(std::span<const Var> vars) {
  return std::all_of(vars.begin(), vars.end(), [](Var var) { return known(var); });
}

bool all_known(const Vars& vars) {
  return known(vars) && are_known({vars.begin(), vars.end()});
}

std::vector<Wish> types_of(std::span<const Var> vars) {
  std::vector<Wish> types;
  types.reserve(vars.size());
  for (Var var : vars) types.push_back(known(var) ? Wish(var.type()) : std::nullopt);
  return types;
}

BodyChecker::BodyChecker(const Source& source, const TokenList& tokens, const Symbols& symbols,
                         const Operations& operations, Functions& functions, Declarations& declarations,
                         Generated& generated, Diagnostics& diagnostics)
    : source_(source),
      tokens_(tokens),
      symbols_(symbols),
      operations_(operations),
      functions_(functions),
      declarations_(declarations),
      generated_(generated),
      diagnostics_(diagnostics),
      scope_(symbols.size()) {}

Vars BodyChecker::check(const FunctionHead& head, const Syntax& syntax, ExprId body,
                        FunctionBuilder& builder) {
  f_ = &builder;
  head_ = &head;
  syntax_ = &syntax;
  builder.reserve(syntax.nodes);
  scope_.shrink(0);
  bind_sizes(head);
  for (std::size_t i = 0; i < head.params.size(); ++i) {
    scope_.bind(*head.params[i].name, head.params[i].type ? f_->param(i) : Var());
  }
  check_computed_params(head);
  local_functions_.clear();
  closed_.clear();
  told_.clear();
  std::vector<Var> captured;
  for (std::size_t i = head.params.size(); i < head.value_count(); ++i) captured.push_back(f_->param(i));
  bind_functions(head, captured);
  const Vars results = values(body, head.results);
  if (!known(results)) return results;
  f_->set_span(place_of(body));  // of checks of their sizes
  const Vars checked = require_all(body, results, head.results, [&](std::size_t i) {
    const std::string_view name = symbols_[head.name];
    return head.results.size() == 1 ? fmt::format("the result of '{}'", name)
                                    : fmt::format("result {} of '{}'", i + 1, name);
  });
  return all_known(checked) ? with_computed_sizes(body, checked) : checked;
}

void BodyChecker::bind_sizes(const FunctionHead& head) {
  if (head.sizes.empty()) return;
  std::unordered_set<Symbol> used;
  for (const Expr& expr : syntax_->exprs) {
    if (expr.kind == Expr::Kind::Name && head.sizes.count(expr.name) != 0) used.insert(expr.name);
  }
  for (const Pattern& param : head.params) used.erase(*param.name);
  for (std::size_t i = 0; i < head.params.size(); ++i) {
    if (!head.params[i].type) continue;
    const Shape& shape = head.params[i].type->shape;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      const auto names = [&](Symbol name) { return symbols_[name] == shape[axis].symbol; };
      const auto found = std::find_if(used.begin(), used.end(), names);
      if (found == used.end()) continue;
      f_->set_span(head.params[i].span);
      scope_.bind(*found, f_->op("size", {f_->param(i)}, {static_cast<int64_t>(axis)}));
      used.erase(found);
    }
  }
}

ExprId BodyChecker::giver_of(ExprId id) const {
  const Syntax& syntax = *syntax_;
  while (syntax[id].kind == Expr::Kind::Block || syntax[id].kind == Expr::Kind::On) id = syntax[id].a;
  return id;
}

ExprId BodyChecker::element(ExprId id, std::size_t i) const {
  const ExprId giver = giver_of(id);
  const Expr& expr = (*syntax_)[giver];
  return expr.kind == Expr::Kind::Tuple ? list(expr.list)[i] : giver;
}

std::string hint_at_type(std::string_view expected, const Type& found) {
  if (expected == "str" && found == Type(DType::I64))
    return "; s[i:i + 1] is a part of a string, from_code_point(n) the string of one code point, str(n) the "
           "text of a number";
  if (expected.starts_with("List[") && found.is_tensor())
    return "; numbers in brackets are a tensor where no list is wanted: let xs: List[i64] = [...] is a list";
  if (expected == "bool" && found.is_tensor() && found.dtype == DType::Bool)
    return "; any(x) and all(x) are one truth value, where(x, a, b) chooses for each element";
  return "";
}

void BodyChecker::report_type(ExprId expr, Var value, const Type& expected, const std::string& what) {
  report(place_of(expr),
         fmt::format("{}: expected {}, found {}{}", what, to_string(expected), to_string(value.type()),
                     hint_at_type(to_string(expected), value.type())));
}

Vars BodyChecker::report_count(ExprId expr, std::size_t found, std::size_t expected) {
  const bool is_loop = found > 1 && (*syntax_)[giver_of(expr)].kind == Expr::Kind::Loop;
  report(place_of(expr),
         fmt::format(
             "expected {}, found {}{}", count_of(expected, "value"), count_of(found, "value"),
             is_loop ? "; a loop gives the last values of all of its variables: let (a, _) = with ..." : ""));
  return unknown();
}

std::string_view BodyChecker::spelled(const Pattern& pattern) const {
  return pattern.name ? symbols_[*pattern.name] : "_";
}

std::span<const Pattern> BodyChecker::patterns(Range range) const {
  return std::span(syntax_->patterns).subspan(range.begin, range.count);
}

std::span<const ExprId> BodyChecker::list(Range range) const {
  return std::span(syntax_->lists).subspan(range.begin, range.count);
}

}  // namespace hiaton::lang
