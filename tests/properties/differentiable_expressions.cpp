#include "properties/differentiable_expressions.h"

#include <fmt/format.h>

namespace hiaton::properties {

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

Expressions::Expressions(uint64_t seed) : random_(seed), d_(random_.between(2, 3)) {}

std::pair<std::string, Function> Expressions::call_with(const Function& function, const std::string& first) {
  std::string arguments = first;
  for (std::size_t i = 1; i < function.params.size(); ++i) {
    arguments += ", " + expression(function.params[i].kind, 1);
  }
  return {fmt::format("{}({})", function.name, arguments), function};
}

std::string Expressions::bounded(Kind kind, const std::string& value) {
  const bool is_float = kind == Kind::Number || kind == Kind::Vector;
  return is_float ? fmt::format("{}({})", random_.percent(50) ? "sin" : "tanh", value) : value;
}

std::string Expressions::number() {
  return fmt::format("{:.2f}", 0.25 + 0.01 * random_.between(0, 125));
}

std::string Expressions::variable(Kind kind) {
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

std::string Expressions::expression(Kind kind, int depth) {
  if (depth == 0 || kind == Kind::Integer) return variable(kind);
  if (random_.percent(12)) return branch(kind, depth);
  if (random_.percent(8)) return loop(kind, depth);
  if (has_elements_ && random_.percent(10)) return with_functions(kind, depth);
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

std::string Expressions::number_of(std::size_t choice, const Make& number, const Make& vector, int depth) {
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

std::string Expressions::vector_of(std::size_t choice, const Make& number, const Make& vector, int depth) {
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
      return fmt::format("concat({}[1:], [{}], axis=0)", vector(), number());
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
      return rearranged(random_.below(has_elements_ ? 8 : 6), number, vector);
    case 15:
      return gathered(vector);
    case 16:
      return fmt::format("fold(vector_by_vector, {}, {})", vector(), expression(Kind::Vectors, depth - 1));
    case 17:
      return fmt::format("fold(vector_by_vector, {}, W)", vector());
    default:
      return fmt::format("vector_by_number({}, {})", vector(), number());
  }
}

std::string Expressions::rearranged(std::size_t choice, const Make& number, const Make& vector) {
  switch (choice) {
    case 0:
      return fmt::format("where({} > 0.1, {}, {})", vector(), vector(), vector());
    case 1:
      return fmt::format("mean([{}, {}], axes=0)", vector(), vector());
    case 2:
      return sliced(random_.below(4), vector);
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

/// Takes rows, some of them twice, from a learned table or from one that is computed.
std::string Expressions::gathered(const Make& vector) {
  std::string rows;
  for (int i = 0; i < d_; ++i)
    rows += fmt::format("{}abs({}) % d", i == 0 ? "" : ", ", variable(Kind::Integer));
  switch (random_.below(4)) {
    case 0:
      return fmt::format("gather({}, [{}])", random_.percent(50) ? "b" : vector(), rows);
    case 1:
      return fmt::format("sum(gather(outer({}, {}), [{}]), axes=0)", vector(), vector(), rows);
    case 2:
      return fmt::format("sum(gather(W, [[{0}], [{0}]]) * {1}, axes=[0, 1])", rows, vector());
    default:
      return fmt::format("({} @ gather(W, [{}]))", vector(), rows);
  }
}

/// Makes slices with bounds that are known, and with bounds that only the run knows.
std::string Expressions::sliced(std::size_t choice, const Make& vector) {
  const std::string at = fmt::format("abs({}) % d", variable(Kind::Integer));
  switch (choice) {
    case 0:
      return fmt::format("reshape(outer({}, {}), shape=[d * d])[d - 1:2 * d - 1]", vector(), vector());
    case 1:
      return fmt::format("outer({}, {})[:, {}]", vector(), vector(), at);
    case 2:
      return fmt::format("(let p = {0} let q: f64[d] = concat(p[{1}:], p[:{1}], axis=0) in q)", vector(), at);
    default:
      return fmt::format("(full(sum({}), d) * zeros(d) + sum(outer({}, {})[{}:, 0:d], axes=0))", vector(),
                         vector(), vector(), at);
  }
}

std::string Expressions::list_of(Kind kind, const Make& element, const char* by_element, int depth) {
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

std::string Expressions::tree_of(const Make& number, const Make& vector, int depth) {
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

std::string Expressions::branch(Kind kind, int depth) {
  const std::string condition = random_.percent(60)
                                    ? fmt::format("{} % 2 == 0", variable(Kind::Integer))
                                    : fmt::format("{} > {}", expression(Kind::Number, depth - 1), number());
  return fmt::format("(if {} then {} else {})", condition, expression(kind, depth - 1),
                     expression(kind, depth - 1));
}

std::string Expressions::loop(Kind kind, int depth) {
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

std::string Expressions::body_of(const std::string& name, Kind param, Kind result, int depth) {
  const std::vector<Variable> outer = scope_;
  scope_.push_back({name, param});
  scope_.push_back({name, param});
  const int calls = std::exchange(calls_left_, 0);
  std::string body = bounded(result, expression(result, depth));
  calls_left_ = calls;
  scope_ = outer;
  return body;
}

std::string Expressions::with_functions(Kind kind, int depth) {
  const std::string name = fmt::format("q{}", ++names_);
  const Kind other = random_.pick(std::vector{Kind::Number, Kind::Vector, Kind::Numbers, Kind::Tree});
  const std::string typed = fmt::format("{}: {}", name, type_of(other));
  const std::string argument = expression(other, depth - 1);
  switch (random_.below(kind == Kind::Number ? 6 : 5)) {
    case 0:
      return fmt::format("apply(fn({}) -> {}, {})", name, body_of(name, other, kind, depth - 1), argument);
    case 1:
      return fmt::format("(twice(fn({0}) -> {1}, {2}))", name, body_of(name, kind, kind, depth - 1),
                         expression(kind, depth - 1));
    case 2: {
      const std::string body = body_of(name, kind, kind, depth - 1);
      return fmt::format("(let ({0}, r{0}) = swap(({1}, {2})) in {3})", name, argument,
                         expression(kind, depth - 1), body);
    }
    case 3:
      return fmt::format("(Pair({}, {}).{})", expression(kind, depth - 1), argument, "first");
    case 4: {
      const std::string body = body_of(name, other, kind, depth - 1);
      return fmt::format("(let f{0} = fn({1}) -> {2} in apply(f{0}, {3}))", name,
                         random_.percent(50) ? typed : name, body, argument);
    }
    default:
      return fmt::format("sin(grad(fn({}) -> {})({}))", fmt::format("{}: f64", name),
                         body_of(name, Kind::Number, Kind::Number, 1), expression(Kind::Number, depth - 1));
  }
}

std::optional<std::string> Expressions::call(Kind kind, int depth) {
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

}  // namespace hiaton::properties
