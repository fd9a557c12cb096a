// Random recursions over trees that hand vectors, numbers and lists from call to call, beside what they
// compute of the tree alone: what of them is split into phases gives the same bits, gradients too.
//
// HIATON_PROGRAMS=10000 HIATON_SEED=7 test_properties --gtest_filter=*ThreadedValues.*
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "engine/all_ways.h"
#include "exec/run_graph.h"
#include "hiaton/lang.h"
#include "hiaton/passes.h"
#include "properties/random_choices.h"
#include "sized.h"

namespace hiaton::properties {
namespace {

constexpr uint64_t kThreadedPrograms = sized_programs(150, 20);

/// Writes one program: `walk` takes a tree and values of some types, and gives values of some types.
class ThreadedWriter {
 public:
  explicit ThreadedWriter(uint64_t seed) : random_(seed) {}

  std::string text() {
    for (int i = random_.between(1, 3); i > 0; --i) params_.push_back(random_type());
    for (int i = random_.between(1, 4); i > 0; --i) results_.push_back(random_type());
    std::vector<std::string> params{"t: Tree"};
    std::vector<std::string> results;
    for (std::size_t i = 0; i < params_.size(); ++i)
      params.push_back(fmt::format("p{}: {}", i, type(params_[i])));
    for (const char kind : results_) results.push_back(type(kind));
    const std::string given =
        results.size() == 1 ? results[0] : fmt::format("({})", fmt::join(results, ", "));
    const std::string walk = fmt::format("fn walk({}) -> {} =\n  match t\n", fmt::join(params, ", "), given);
    params[0] = "all: List[Tree]";
    const std::string over =
        fmt::format("fn over({}) -> {} =\n  match all\n", fmt::join(params, ", "), given);
    std::string made = "param W: f64[2, 2] = normal(0.7)\n";
    if (random_.percent(50)) {
      is_binary_ = true;
      made += "data Tree = Leaf(word: i64) | Node(left: Tree, right: Tree)\n" + walk + "    Leaf(word) ->\n" +
              leaf() + "    Node(left, right) ->\n" + two_calls("walk", "left", "walk", "right");
    } else {
      made += "data Tree = Leaf(word: i64) | Many(children: List[Tree])\n" + walk + "    Leaf(word) ->\n" +
              leaf() + fmt::format("    Many(children) ->\n{}", one_call("over", "children")) + over +
              "    Nil ->\n" + given_by(params_in_scope()) + "    Cons(first, rest) ->\n" +
              two_calls("walk", "first", "over", "rest");
    }
    return made + fmt::format(
                      "fn loss(x: f64) -> f64 =\n  let {} = walk({}{})\n  {}\n"
                      "fn main(x: f64) -> (f64, f64) = (loss(x), grad(loss)(x))\n",
                      tuple("r"), tree(4), first_arguments(), total());
  }

 private:
  enum Kind : char { Vector, Number, List };
  using Names = std::vector<std::string>;

  char random_type() { return random_.pick<char>({Vector, Vector, Number, List, List}); }
  static const char* type(char kind) {
    return kind == Vector ? "f64[2]" : kind == Number ? "f64" : "List[f64[2]]";
  }
  /// The results of a call, by names: `(a0, a1)`.
  std::string tuple(const char* prefix) const {
    Names made;
    for (std::size_t i = 0; i < results_.size(); ++i) made.push_back(fmt::format("{}{}", prefix, i));
    return made.size() == 1 ? made[0] : fmt::format("({})", fmt::join(made, ", "));
  }

  /// What is in scope, by kind.
  struct Scope {
    std::vector<Names> by_kind{3};
    void add(char kind, std::string name) {
      by_kind[static_cast<std::size_t>(kind)].push_back(std::move(name));
    }
  };
  Scope params_in_scope() const {
    Scope scope;
    for (std::size_t i = 0; i < params_.size(); ++i) scope.add(params_[i], fmt::format("p{}", i));
    return scope;
  }

  std::string expression(const Scope& scope, char kind, int depth) {
    const Names& known = scope.by_kind[static_cast<std::size_t>(kind)];
    if (depth == 0 || random_.percent(35)) {
      if (!known.empty() && random_.percent(85)) return random_.pick(known);
      return kind == Vector ? "ones(2)" : kind == Number ? "0.25" : "Nil[f64[2]]";
    }
    const auto vector = [&] { return expression(scope, Vector, depth - 1); };
    if (kind == List) return fmt::format("Cons({}, {})", vector(), expression(scope, List, depth - 1));
    if (kind == Number) {
      return random_.percent(50)
                 ? fmt::format("sum({})", vector())
                 : fmt::format("({} / 2 - {})", expression(scope, Number, depth - 1), vector() + "[0]");
    }
    switch (random_.below(4)) {
      case 0:
        return fmt::format("({} + {} / 2)", vector(), vector());
      case 1:
        return fmt::format("({} * {})", vector(), expression(scope, Number, depth - 1));
      default:
        return fmt::format("tanh({} @ W)", vector());
    }
  }

  std::string given_by(const Scope& scope) {
    Names made;
    for (const char kind : results_) made.push_back(expression(scope, kind, 2));
    return fmt::format("      {}\n", made.size() == 1 ? made[0] : fmt::format("({})", fmt::join(made, ", ")));
  }
  std::string leaf() {
    Scope scope = params_in_scope();
    scope.add(Number, "f64(word)");
    return given_by(scope);
  }

  /// Two calls one after the other, the second of which may get what the first gives.
  std::string two_calls(const char* first, const char* first_of, const char* second, const char* second_of) {
    Scope scope = params_in_scope();
    std::string made = call(scope, "a", first, first_of);
    made += call(scope, "b", second, second_of);
    return made + given_by(scope);
  }
  std::string one_call(const char* callee, const char* of) {
    Scope scope = params_in_scope();
    std::string made = call(scope, "a", callee, of);
    return made + given_by(scope);
  }
  std::string call(Scope& scope, const char* prefix, const char* callee, const char* of) {
    std::string made = fmt::format("      let {} = {}({}", tuple(prefix), callee, of);
    for (std::size_t i = 0; i < params_.size(); ++i) {
      // Mostly what was given for the parameter, or a result in its place: values that go through all calls.
      const bool goes_through = random_.percent(70);
      made += ", " + (goes_through ? through(scope, i) : expression(scope, params_[i], 1));
    }
    for (std::size_t i = 0; i < results_.size(); ++i) scope.add(results_[i], fmt::format("{}{}", prefix, i));
    return made + ")\n";
  }
  std::string through(const Scope& scope, std::size_t param) {
    const Names& known = scope.by_kind[static_cast<std::size_t>(params_[param])];
    return random_.percent(60) ? known.back() : fmt::format("p{}", param);
  }

  std::string tree(int depth) {
    if (depth == 0 || random_.percent(20)) return fmt::format("Leaf({})", random_.below(4));
    if (is_binary_) return fmt::format("Node({}, {})", tree(depth - 1), tree(depth - 1));
    Names children;
    for (int i = random_.between(0, 3); i > 0; --i) children.push_back(tree(depth - 1));
    return fmt::format("Many([{}])", fmt::join(children, ", "));
  }
  std::string first_arguments() const {
    std::string made;
    for (const char kind : params_)
      made += kind == Vector ? ", ones(2) * x" : kind == Number ? ", x" : ", [ones(2) * x]";
    return made;
  }
  std::string total() const {
    Names made;
    for (std::size_t i = 0; i < results_.size(); ++i) {
      const char* form = results_[i] == Vector   ? "sum(r{})"
                         : results_[i] == Number ? "r{}"
                                                 : "fold(fn(s, v) -> s / 2 + sum(v), 0.0, r{})";
      made.push_back(fmt::format(fmt::runtime(form), i));
    }
    return fmt::format("{}", fmt::join(made, " + "));
  }

  Random random_;
  std::vector<char> params_;
  std::vector<char> results_;
  bool is_binary_ = false;
};

TEST(ThreadedValues, AreTheSameInPhases) {
  const uint64_t first = from_environment("HIATON_SEED", 1);
  const uint64_t count = from_environment("HIATON_PROGRAMS", kThreadedPrograms);
  uint64_t split = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const std::string text = ThreadedWriter(seed).text();
    SCOPED_TRACE("HIATON_SEED=" + std::to_string(seed) + " HIATON_PROGRAMS=1\n" + text);
    ir::Module module = passes::simplify(lang::parse(std::make_shared<const Source>("random.hia", text)));
    split += ir::equal(passes::split_loops(module), module) ? 0u : 1u;
    const graph::Graph whole = passes::lower(passes::add_gradients(std::move(module)));
    const hiaton::Program program = hiaton::Program::from_text("random.hia", text);
    const std::vector<Value> learned = initial_parameters(whole.parameters(), 1);
    const std::vector<Value> expected = exec::run(whole, std::vector<Value>{Value(0.375)},
                                                  {.executor = Executor::Reference, .parameters = learned})
                                            .values;
    for (RunOptions way : all_ways()) {
      RunStats stats;
      way.stats = &stats;
      way.checks_counts = true;
      way.parameters = learned;
      const std::vector<Value> found = program.run({Value(0.375)}, way).values;
      ASSERT_EQ(found[0], expected[0]) << way.workers << " workers";
      // Gradients of shared values are added in the order in which they come.
      const double gradient = expected[1].as<double>();
      const double difference = std::abs(found[1].as<double>() - gradient);
      ASSERT_TRUE(difference <= 1e-9 * (1 + std::abs(gradient)) || std::isnan(gradient))
          << found[1].as<double>() << " " << gradient;
      EXPECT_EQ(stats.values_live_at_end, 0u);
      EXPECT_EQ(stats.frames_live_at_end, 0u);
    }
    if (::testing::Test::HasFailure()) return;
  }
  if (count >= 100) {
    EXPECT_GT(split, count / 5);
  }
}

}  // namespace
}  // namespace hiaton::properties
