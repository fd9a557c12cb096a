#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "properties/differentiable.h"

namespace hiaton::properties {
namespace {

enum class Kind : uint8_t { Integer, Number, Vector, Numbers, Vectors, Tree };

std::string type_of(Kind kind) {
  switch (kind) {
    case Kind::Integer:
      return "i64";
    case Kind::Number:
      return "f64";
    case Kind::Vector:
      return "f64[d]";
    case Kind::Numbers:
      return "List[f64]";
    case Kind::Vectors:
      return "List[f64[d]]";
    case Kind::Tree:
      return "Tree";
  }
  return {};
}

struct Variable {
  std::string name;
  Kind kind;
};

struct Function {
  std::string name;
  enum class Way : uint8_t { Element, Fuel, OverTree, OverList } way;
  std::vector<Variable> params;
  std::vector<Kind> results;
};

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed), d_(random_.between(2, 3)) {}

  std::string text() {
    out_ = fmt::format(
        "size d = {}\n"
        "param W: f64[d, d] = normal(0.5)\n"
        "param b: f64[d] = uniform(1)\n"
        "data Tree = Leaf(x: f64, v: f64[d], id: i64) | Node(left: Tree, right: Tree, s: f64) | Tip(id: "
        "i64)\n",
        d_);
    out_ +=
        "fn add_number(sum: f64, x: f64) -> f64 = sum + sin(x)\n"
        "fn add_vector(sum: f64, x: f64[d]) -> f64 = sum + dot(x, x)\n"
        "fn total(t: Tree) -> f64 =\n"
        "  match t\n"
        "    Leaf(x, v, _) -> x * sum(sin(v))\n"
        "    Node(left, right, s) -> total(left) - s * total(right)\n"
        "    Tip(_) -> 0.5\n";
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

  /// A call of the function with this as its first argument.
  std::pair<std::string, Function> call_with(const Function& function, const std::string& first) {
    std::string arguments = first;
    for (std::size_t i = 1; i < function.params.size(); ++i) {
      arguments += ", " + expression(function.params[i].kind, 1);
    }
    return {fmt::format("{}({})", function.name, arguments), function};
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

  // Expressions ---------------------------------------------------------------------------------------------

  /// Numbers stay of moderate size from call to call.
  std::string bounded(Kind kind, const std::string& value) {
    const bool is_float = kind == Kind::Number || kind == Kind::Vector;
    return is_float ? fmt::format("{}({})", random_.percent(50) ? "sin" : "tanh", value) : value;
  }

  std::string number() { return fmt::format("{:.2f}", 0.25 + 0.01 * random_.between(0, 125)); }

  /// A variable of the kind, or else a constant.
  std::string variable(Kind kind) {
    std::vector<std::string> found;
    for (const Variable& variable : scope_) {
      if (variable.kind == kind) found.push_back(variable.name);
    }
    if (!found.empty() && random_.percent(90)) return random_.pick(found);
    switch (kind) {
      case Kind::Integer:
        return std::to_string(random_.below(3));
      case Kind::Number:
        return number();
      case Kind::Vector:
        return random_.percent(50) ? "b" : fmt::format("W[{}]", random_.below(static_cast<std::size_t>(d_)));
      case Kind::Numbers:
        return random_.percent(20) ? "Nil[f64]" : fmt::format("Cons[f64]({}, Nil[f64])", number());
      case Kind::Vectors:
        return random_.percent(20) ? "Nil[f64[d]]" : "Cons[f64[d]](b, Nil[f64[d]])";
      case Kind::Tree:
        return random_.percent(20) ? "Tip(1)" : fmt::format("Leaf({}, b, 2)", number());
    }
    return {};
  }

  std::string expression(Kind kind, int depth) {
    if (depth == 0 || kind == Kind::Integer) return variable(kind);
    if (random_.percent(12)) return branch(kind, depth);
    if (random_.percent(8)) return loop(kind, depth);
    if (random_.percent(25) && calls_left_ > 0 && !known_.empty()) {
      if (std::optional<std::string> found = call(kind, depth)) return *found;
    }
    const auto number = [&] { return expression(Kind::Number, depth - 1); };
    const auto vector = [&] { return expression(Kind::Vector, depth - 1); };
    switch (kind) {
      case Kind::Integer:
        break;
      case Kind::Number:
        return number_of(random_.below(has_elements_ ? 18 : 15), number, vector, depth);
      case Kind::Vector:
        return vector_of(random_.below(has_elements_ ? 19 : 16), number, vector, depth);
      case Kind::Numbers:
        return list_of(kind, number, "number_by_number", depth);
      case Kind::Vectors:
        return list_of(kind, vector, "vector_by_vector", depth);
      case Kind::Tree:
        return tree_of(number, vector, depth);
    }
    return {};
  }

  template <class MakeNumber, class MakeVector>
  std::string number_of(std::size_t choice, const MakeNumber& number, const MakeVector& vector, int depth) {
    switch (choice) {
      case 0:
        return fmt::format("({} + {})", number(), number());
      case 1:
        return fmt::format("({} - {})", number(), number());
      case 2:
      case 3:
        return fmt::format("({} * {})", number(), number());
      case 4:
        return fmt::format("({} / (1.5 + sin({})))", number(), number());
      case 5:
        return fmt::format("sin({})", number());
      case 6:
        return fmt::format("sigmoid({})", number());
      case 7:
        return fmt::format("sqrt(1.5 + tanh({}))", number());
      case 8:
        return fmt::format("max({}, {})", number(), number());
      case 9:
        return fmt::format("sum({})", vector());
      case 10:
        return fmt::format("dot({}, {})", vector(), vector());
      case 11:
        return fmt::format("logsumexp({})", vector());
      case 12:
        return fmt::format("cross_entropy({}, {})", vector(), random_.below(static_cast<std::size_t>(d_)));
      case 13:
        return fmt::format("{}[{}]", vector(), random_.below(static_cast<std::size_t>(d_)));
      case 14:
        return fmt::format("mean({})", vector());
      case 15:
        return fmt::format("fold(number_by_number, {}, {})", number(), expression(Kind::Numbers, depth - 1));
      case 16:
        return fmt::format("fold(number_by_vector, {}, {})", number(), expression(Kind::Vectors, depth - 1));
      default:
        return fmt::format("fold(number_by_vector, {}, W)", number());
    }
  }

  template <class MakeNumber, class MakeVector>
  std::string vector_of(std::size_t choice, const MakeNumber& number, const MakeVector& vector, int depth) {
    switch (choice) {
      case 0:
        return fmt::format("({} + {})", vector(), vector());
      case 1:
        return fmt::format("({} * {})", vector(), vector());
      case 2:
        return fmt::format("({} * {})", vector(), number());
      case 3:
      case 4:
        return fmt::format("({} @ W{})", vector(), random_.below(2) == 0 ? "" : " + b");
      case 5:
        return fmt::format("tanh({})", vector());
      case 6:
        return fmt::format("softmax({})", vector());
      case 7:
        return fmt::format("relu({})", vector());
      case 8: {
        std::string elements = number();
        for (int i = 1; i < d_; ++i) elements += ", " + this->number();
        return fmt::format("[{}]", elements);
      }
      case 9:
        return fmt::format("concat(slice({}, axis=0, start=1, length=d - 1), [{}], axis=0)", vector(),
                           number());
      case 10:
        return fmt::format("(let (p, q) = split({}, axis=0, lengths=[1, d - 1]) concat(q, p, axis=0))",
                           vector());
      case 11:
        return random_.below(2) == 0 ? fmt::format("(W @ {})", vector())
                                     : fmt::format("matmul_nt({}, W)", vector());
      case 12:
        return fmt::format("sum([{}, {}] @ W + b, axes=0)", vector(), vector());
      case 13:
        return fmt::format("(outer({}, softmax({})) @ W)[0]", vector(), vector());
      case 14:
      case 15:
        return rearranged(random_.below(has_elements_ ? 8 : 6), number, vector);
      case 16:
        return fmt::format("fold(vector_by_vector, {}, {})", vector(), expression(Kind::Vectors, depth - 1));
      case 17:
        return fmt::format("fold(vector_by_vector, {}, W)", vector());
      default:
        return fmt::format("vector_by_number({}, {})", vector(), number());
    }
  }

  /// Vectors by way of tensors of other shapes.
  template <class MakeNumber, class MakeVector>
  std::string rearranged(std::size_t choice, const MakeNumber& number, const MakeVector& vector) {
    switch (choice) {
      case 0:
        return fmt::format("where({} > 0.1, {}, {})", vector(), vector(), vector());
      case 1:
        return fmt::format("mean([{}, {}], axes=0)", vector(), vector());
      case 2:
        return fmt::format("slice(reshape(outer({}, {}), shape=[d * d]), axis=0, start=d - 1, length=d)",
                           vector(), vector());
      case 3:
        return fmt::format("sum(transpose(outer({}, {})), axes=1)", vector(), vector());
      case 4:
        return fmt::format("broadcast_to({}, shape=[d])", number());
      case 5:
        return fmt::format("tanh(log_softmax({}))", vector());
      case 6:
        return fmt::format("scan(vector_by_vector, {}, W)[d - 1]", vector());
      default:
        return fmt::format("sum(map(vector_by_number, W, {}), axes=0)", number());
    }
  }

  template <class MakeElement>
  std::string list_of(Kind kind, const MakeElement& element, const char* by_element, int depth) {
    const std::string list = expression(kind, depth - 1);
    switch (random_.below(has_elements_ ? 4 : 1)) {
      case 0:
        return fmt::format("Cons({}, {})", element(), list);
      case 1:
        return fmt::format("map({}, {}, {})", by_element, list, element());
      case 2:
        return fmt::format("scan({}, {}, {})", by_element, element(), list);
      default:
        return list;
    }
  }

  template <class MakeNumber, class MakeVector>
  std::string tree_of(const MakeNumber& number, const MakeVector& vector, int depth) {
    switch (random_.below(3)) {
      case 0:
        return fmt::format("Leaf({}, {}, {})", number(), vector(), variable(Kind::Integer));
      case 1:
        return fmt::format("Node({}, {}, {})", expression(Kind::Tree, depth - 1), variable(Kind::Tree),
                           number());
      default:
        return fmt::format(
            "(match {}\n      Node(l, r, z) -> Node(r, l, z * {})\n      Leaf(y, _, i) -> Leaf(y, {}, i)\n"
            "      Tip(i) -> Tip(i))",
            expression(Kind::Tree, depth - 1), number(), vector());
    }
  }

  std::string branch(Kind kind, int depth) {
    const std::string condition = random_.percent(60)
                                      ? fmt::format("{} % 2 == 0", variable(Kind::Integer))
                                      : fmt::format("{} > {}", expression(Kind::Number, depth - 1), number());
    return fmt::format("(if {} then {} else {})", condition, expression(kind, depth - 1),
                       expression(kind, depth - 1));
  }

  /// The state has a type, as lists may grow from Nil.
  std::string loop(Kind kind, int depth) {
    const std::string first = expression(kind, depth - 1);
    const std::vector<Variable> outer = scope_;
    const std::string state = fmt::format("v{}", ++names_);
    const std::string counter = fmt::format("i{}", names_);
    scope_.push_back({state, kind});
    scope_.push_back({state, kind});
    scope_.push_back({counter, Kind::Integer});
    const int calls = std::exchange(calls_left_, 0);
    const std::string next = bounded(kind, expression(kind, depth - 1));
    calls_left_ = calls;
    scope_ = outer;
    return fmt::format("(with {}: {} = {} for {} in 0..{} do {})", state, type_of(kind), first, counter,
                       random_.between(0, 3), next);
  }

  /// Of a function that was defined before; with little fuel.
  std::optional<std::string> call(Kind kind, int depth) {
    std::vector<Function> found;
    for (const Function& function : known_) {
      if (function.results == std::vector<Kind>{kind}) found.push_back(function);
    }
    if (found.empty()) return std::nullopt;
    --calls_left_;
    const Function& function = random_.pick(found);
    const Kind first = function.params[0].kind;
    return call_with(function, first == Kind::Integer ? "1" : expression(first, depth - 1)).first;
  }

  Random random_;
  const int d_;
  std::string out_;
  std::vector<Variable> scope_;
  std::vector<Function> known_;   ///< may be called by those that follow
  std::vector<Function> fueled_;  ///< may call each other, with less fuel
  bool has_elements_ = false;
  int calls_left_ = 0;  ///< in this body, of known functions
  int names_ = 0;
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
