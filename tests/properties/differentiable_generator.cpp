#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "properties/differentiable.h"
#include "properties/differentiable_expressions.h"

namespace hiaton::properties {
namespace {

/// The functions of a program.
class Generator : Expressions {
 public:
  explicit Generator(uint64_t seed) : Expressions(seed) {}

  std::string text() {
    out_ = fmt::format(
        "size d = {}\n"
        "param W: f64[d, d] = normal(0.5)\n"
        "param b: f64[d] = uniform(1)\n"
        "data Tree = Leaf(x: f64, v: f64[d], id: i64) | Node(left: Tree, right: Tree, s: f64) | Tip(id: "
        "i64)\n",
        d_);
    out_ +=
        "data Pair[A, B] = Pair(first: A, second: B)\n"
        "fn apply[A, B](f: fn(A) -> B, x: A) -> B = f(x)\n"
        "fn twice[A](f: fn(A) -> A, x: A) -> A = f(f(x))\n"
        "fn swap[A, B](p: (A, B)) -> (B, A) = (let (a, b) = p in (b, a))\n"
        "fn add_number(sum: f64, x: f64) -> f64 = sum + sin(x)\n"
        "fn add_vector(sum: f64, x: f64[d]) -> f64 = sum + dot(x, x)\n"
        "fn total(t: Tree) -> f64 =\n"
        "  match t\n"
        "    Leaf(x, v, _) -> x * sum(sin(v))\n"
        "    Node(left, right, s) -> total(left) - s * total(right)\n"
        "    Tip(_) -> 0.5\n";
    add_loop();
    add_elements();
    const std::size_t count = 1 + random_.below(3);
    std::vector<Function> declared;
    for (std::size_t i = 0; i < count; ++i) declared.push_back(declare(i));
    for (const Function& function : declared) {
      if (function.way == Function::Way::Fuel) fueled_.push_back(function);
    }
    for (const Function& function : declared) {
      define(function);
      if (function.way != Function::Way::Fuel) known_.push_back(function);
    }
    for (const Function& function : fueled_) known_.push_back(function);
    add_loss();
    return out_;
  }

 private:
  // Functions -----------------------------------------------------------------------------------------------

  /// A function that passes on accumulators, and works on elements of a list in between.
  void add_loop() {
    const Kind kind = random_.percent(50) ? Kind::Number : Kind::Vector;
    Function loop{"loop",
                  Function::Way::OverList,
                  {{"ys", Kind::Vectors}, {"a", kind}, {"c", Kind::Vector}, {"k", Kind::Integer}},
                  {kind}};
    out_ +=
        "fn deep(x: f64[d], n: i64) -> f64[d] = if n <= 0 then x else tanh(deep(x, n - 1) @ W + b)\n"
        "fn ";
    out_ += fmt::format("loop(ys: List[f64[d]], a: {0}, c: f64[d], k: i64) -> {0} =\n", type_of(kind));
    scope_ = loop.params;
    out_ += fmt::format("  match ys\n    Nil -> {}\n    Cons(y, rest) ->\n      let w = deep(y{}, k % 3)\n",
                        random_.percent(70) ? "a" : expression(kind, 1), random_.percent(20) ? " * c" : "");
    scope_.push_back({"w", Kind::Vector});
    scope_.push_back({"w", Kind::Vector});
    const auto next = [&](const char* count) {
      const std::string sum = bounded(kind, expression(kind, 2));
      const char* used = kind == Kind::Number ? "sum(w * c)" : "w * c";
      return fmt::format("loop(rest, {} + {}, {}, {})", sum, used,
                         random_.percent(50) ? "c" : bounded(Kind::Vector, expression(Kind::Vector, 1)),
                         count);
    };
    if (random_.percent(50)) {
      out_ += "      " + next("k + 1") + "\n";
    } else {
      const std::string first = next("k + 1");
      const std::string condition = random_.percent(80) ? "sum(y) > 0" : "sum(c) > 0";
      out_ += fmt::format("      if {} then {}\n      else {}\n", condition, first, next("k + 2"));
    }
    known_.push_back(loop);
  }

  void add_elements() {
    const auto add = [&](const char* name, std::vector<Kind> params, Kind result) {
      Function element{name, Function::Way::Element, {}, {result}};
      for (std::size_t i = 0; i < params.size(); ++i)
        element.params.push_back({fmt::format("a{}", i), params[i]});
      scope_ = element.params;
      head(element);
      out_ += bounded(result, expression(result, 1 + static_cast<int>(random_.below(2)))) + "\n";
    };
    add("number_by_number", {Kind::Number, Kind::Number}, Kind::Number);
    add("vector_by_vector", {Kind::Vector, Kind::Vector}, Kind::Vector);
    add("number_by_vector", {Kind::Number, Kind::Vector}, Kind::Number);
    add("vector_by_number", {Kind::Vector, Kind::Number}, Kind::Vector);
    has_elements_ = true;
  }

  Function declare(std::size_t index) {
    Function function;
    function.name = fmt::format("f{}", index);
    function.way = random_.pick(std::vector{Function::Way::Fuel, Function::Way::Fuel, Function::Way::OverTree,
                                            Function::Way::OverTree, Function::Way::OverList});
    if (function.way == Function::Way::Fuel) function.params.push_back({"n", Kind::Integer});
    if (function.way == Function::Way::OverTree) function.params.push_back({"t", Kind::Tree});
    if (function.way == Function::Way::OverList) {
      function.params.push_back({"xs", random_.percent(50) ? Kind::Numbers : Kind::Vectors});
    }
    const std::size_t more = 1 + random_.below(2);
    for (std::size_t i = 0; i < more; ++i) function.params.push_back({fmt::format("p{}", i), any_kind()});
    function.results.push_back(any_kind());
    if (random_.percent(25)) function.results.push_back(any_kind());
    return function;
  }

  Kind any_kind() {
    return random_.pick(std::vector{Kind::Number, Kind::Number, Kind::Vector, Kind::Vector, Kind::Numbers,
                                    Kind::Vectors, Kind::Tree, Kind::Tree});
  }

  void head(const Function& function) {
    std::string params;
    for (const Variable& param : function.params) {
      params += fmt::format("{}{}: {}", params.empty() ? "" : ", ", param.name, type_of(param.kind));
    }
    std::string results;
    for (const Kind kind : function.results) results += (results.empty() ? "" : ", ") + type_of(kind);
    const bool marked = function.name != "loss" && random_.percent(60);
    out_ += fmt::format("fn {}({}) -> ({}){} =\n  ", function.name, params, results,
                        marked ? Differentiable::kMark : "");
  }

  void define(const Function& function) {
    head(function);
    scope_ = function.params;
    calls_left_ = 1;
    switch (function.way) {
      case Function::Way::Element:
        break;
      case Function::Way::Fuel:
        out_ += "if n <= 0 then " + body(function, 1, {}, 1) + "\n  else ";
        calls_left_ = 1;
        out_ += body(function, 2, fueled_calls(), 1 + random_.below(scope_.size()));
        break;
      case Function::Way::OverTree:
        out_ += "match t\n    Leaf(x, v, id) -> ";
        out_ += arm(function, {{"x", Kind::Number}, {"v", Kind::Vector}, {"id", Kind::Integer}}, {});
        out_ += "\n    Node(left, right, s) -> ";
        out_ +=
            arm(function, {{"s", Kind::Number}}, {call_with(function, "left"), call_with(function, "right")});
        out_ += "\n    Tip(_) -> " + arm(function, {}, {});
        break;
      case Function::Way::OverList: {
        const Kind element = function.params[0].kind == Kind::Numbers ? Kind::Number : Kind::Vector;
        out_ += "match xs\n    Nil -> " + arm(function, {}, {});
        out_ += "\n    Cons(x, rest) -> ";
        out_ += arm(function, {{"x", element}}, {call_with(function, "rest")});
        break;
      }
    }
    out_ += "\n";
  }

  std::string arm(const Function& function, const std::vector<Variable>& fields,
                  const std::vector<std::pair<std::string, Function>>& calls) {
    const std::vector<Variable> outer = scope_;
    scope_.insert(scope_.end(), fields.begin(), fields.end());
    std::string text = body(function, 2, calls, random_.below(outer.size() + 1));
    scope_ = outer;
    return text;
  }

  /// A number that depends on all of the variable.
  static std::string number_from(const Variable& from) {
    switch (from.kind) {
      case Kind::Integer:
        return fmt::format("f64({})", from.name);
      case Kind::Number:
        return from.name;
      case Kind::Vector:
        return fmt::format("sum({})", from.name);
      case Kind::Numbers:
        return fmt::format("fold(add_number, 0, {})", from.name);
      case Kind::Vectors:
        return fmt::format("fold(add_vector, 0, {})", from.name);
      case Kind::Tree:
        return fmt::format("total({})", from.name);
    }
    return {};
  }

  static std::string mixed(Kind kind, const std::string& value, const std::string& number) {
    switch (kind) {
      case Kind::Numbers:
        return fmt::format("Cons({}, {})", number, value);
      case Kind::Vectors:
        return fmt::format("Cons(b * ({}), {})", number, value);
      case Kind::Tree:
        return fmt::format("Node({}, Tip(3), {})", value, number);
      default:
        return fmt::format("({} + 0.5 * ({}))", value, number);
    }
  }

  /// Calls first, whose results the rest uses.
  std::string body(const Function& function, int depth,
                   const std::vector<std::pair<std::string, Function>>& calls, std::size_t first_used) {
    const std::vector<Variable> outer = scope_;
    std::string text = "(";
    for (const auto& [call, callee] : calls) text += let(call, callee.results);
    if (random_.percent(40)) {
      const Kind kind = any_kind();
      text += let(expression(kind, 2), {kind});
    }
    std::string results;
    std::string used;
    if (function.name != "loss")
      first_used = std::max(first_used, scope_.size() - std::min<std::size_t>(3, scope_.size()));
    for (std::size_t i = first_used; i < scope_.size(); ++i) {
      used += (used.empty() ? "sin(" : " + sin(") + number_from(scope_[i]) + ")";
    }
    for (const Kind kind : function.results) {
      const std::string result = expression(kind, depth);
      const bool mixes = !used.empty() && (results.empty() || random_.percent(50));
      results += (results.empty() ? "" : ", ") + bounded(kind, mixes ? mixed(kind, result, used) : result);
    }
    scope_ = outer;
    return text + "(" + results + "))";
  }

  std::string let(const std::string& value, const std::vector<Kind>& kinds) {
    std::string names;
    for (const Kind kind : kinds) {
      scope_.push_back({fmt::format("v{}", ++names_), kind});
      names += (names.empty() ? "" : ", ") + scope_.back().name;
    }
    return kinds.size() == 1 ? fmt::format("let {} = {} in ", names, value)
                             : fmt::format("let ({}) = {} in ", names, value);
  }

  std::vector<std::pair<std::string, Function>> fueled_calls() {
    std::vector<std::pair<std::string, Function>> calls;
    const std::size_t count = 1 + random_.below(2);
    for (std::size_t i = 0; i < count; ++i) calls.push_back(call_with(random_.pick(fueled_), "n - 1"));
    return calls;
  }

  void add_loss() {
    Function loss{"loss",
                  Function::Way::Element,
                  {{"x", Kind::Number},
                   {"n", Kind::Integer},
                   {"v", Kind::Vector},
                   {"xs", Kind::Numbers},
                   {"vs", Kind::Vectors},
                   {"t", Kind::Tree}},
                  {Kind::Number}};
    head(loss);
    scope_ = loss.params;
    calls_left_ = 2;
    std::vector<std::pair<std::string, Function>> calls;
    for (const Function& function : known_) {
      const Kind first = function.params[0].kind;
      calls.push_back(call_with(function, first == Kind::Integer ? "n" : variable(first)));
    }
    out_ += body(loss, 2, calls, random_.below(4)) + "\n";
  }

  std::string out_;
  std::vector<Function> fueled_;  ///< may call each other, with less fuel
};

}  // namespace

Differentiable generate_differentiable(uint64_t seed) {
  return {.seed = seed,
          .text = Generator(seed).text(),
          .params = "x: f64, n: i64, v: f64[d], xs: List[f64], vs: List[f64[d]], t: Tree",
          .names = "x, n, v, xs, vs, t",
          .gradients = "f64, f64[d], List[f64], List[f64[d]], Tree"};
}

}  // namespace hiaton::properties
