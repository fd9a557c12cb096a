// Random recursions over trees that hand vectors, numbers and lists from call to call, beside what they
// compute of the tree alone: what of them is split into phases gives the same bits, gradients too.
//
// HIATON_PROGRAMS=10000 HIATON_SEED=7 test_properties --gtest_filter=*ThreadedValues.*
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
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

/// Writes one program of functions that take a tree or a list of trees and values of some types, and give
/// values of some types: `walk` for a tree, `over` for its children, `each` for a list of trees; and `along`,
/// of a list of vectors.
class ThreadedWriter {
 public:
  explicit ThreadedWriter(uint64_t seed) : random_(seed) {}

  std::string text() {
    is_binary_ = random_.percent(60);
    has_children_ = !is_binary_ || random_.percent(30);
    if (random_.percent(40)) along_ = random_function("along");
    const Function walk = random_function("walk");
    const Function over = random_.percent(60) ? named("over", walk) : random_function("over");
    std::string data = "param W: f64[2, 2] = normal(0.7)\ndata Tree = Leaf(word: i64)";
    std::string made = along_ ? text_of_along() : "";
    made += head(walk, "t: Tree", "t") + "    Leaf(word) ->\n" + leaf(walk);
    if (is_binary_) {
      data += " | Node(left: Tree, right: Tree)";
      made += "    Node(left, right) ->\n" + calls(walk, {{&walk, "left"}, {&walk, "right"}});
    }
    if (has_children_) {
      data += " | Many(children: List[Tree])";
      made += "    Many(children) ->\n" + calls(walk, {{&over, "children"}}) + for_all(over, walk);
    }
    const bool has_each = random_.percent(50);
    const Function each = has_each ? random_function("each") : walk;
    if (has_each) made += for_all(each, walk);
    const std::string of = has_each ? list_of_trees(random_.between(0, 3)) : tree(4);
    return data + "\n" + made +
           fmt::format(
               "fn loss(x: f64) -> f64 =\n  let {} = {}({}{})\n  {}\n"
               "fn main(x: f64) -> (f64, f64) = (loss(x), grad(loss)(x))\n",
               tuple(each, "r"), each.name, of, first_arguments(each), total(each));
  }

 private:
  enum Kind : char { Vector, Number, List, Count };
  using Names = std::vector<std::string>;

  /// Beside the tree.
  struct Function {
    std::string name;
    std::vector<char> params;
    std::vector<char> results;
  };
  struct Call {
    const Function* callee;
    const char* of;
  };

  char random_type() { return random_.pick<char>({Vector, Vector, Number, List, List, Count}); }
  Function random_function(const char* name) {
    Function made{name, {}, {}};
    for (int i = random_.between(1, 3); i > 0; --i) made.params.push_back(random_type());
    for (int i = random_.between(1, 4); i > 0; --i) made.results.push_back(random_type());
    return made;
  }
  static Function named(const char* name, Function like) {
    like.name = name;
    return like;
  }
  static const char* type(char kind) {
    constexpr std::array kTypes = {"f64[2]", "f64", "List[f64[2]]", "i64"};
    return kTypes.at(static_cast<std::size_t>(kind));
  }
  static std::string one_or_tuple(const Names& names) {
    return names.size() == 1 ? names[0] : fmt::format("({})", fmt::join(names, ", "));
  }
  /// The results of a call, by names: `(a0, a1)`.
  static std::string tuple(const Function& of, std::string_view prefix) {
    Names made;
    for (std::size_t i = 0; i < of.results.size(); ++i) made.push_back(fmt::format("{}{}", prefix, i));
    return one_or_tuple(made);
  }
  static std::string head(const Function& of, const char* first, const char* matched) {
    std::string params = first;
    for (std::size_t i = 0; i < of.params.size(); ++i)
      params += fmt::format(", p{}: {}", i, type(of.params[i]));
    Names results;
    for (const char kind : of.results) results.emplace_back(type(kind));
    return fmt::format("fn {}({}) -> {} =\n  match {}\n", of.name, params, one_or_tuple(results), matched);
  }

  /// What is in scope, by kind.
  struct Scope {
    std::vector<Names> by_kind{4};
    Names& of(char kind) { return by_kind[static_cast<std::size_t>(kind)]; }
    const Names& of(char kind) const { return by_kind[static_cast<std::size_t>(kind)]; }
  };
  static Scope params_in_scope(const Function& of) {
    Scope scope;
    for (std::size_t i = 0; i < of.params.size(); ++i)
      scope.of(of.params[i]).push_back(fmt::format("p{}", i));
    return scope;
  }

  std::string expression(const Scope& scope, char kind, int depth) {
    const Names& known = scope.of(kind);
    if (depth == 0 || random_.percent(35)) {
      if (!known.empty() && random_.percent(85)) return random_.pick(known);
      constexpr std::array kConstants = {"ones(2)", "0.25", "Nil[f64[2]]", "2"};
      return kConstants.at(static_cast<std::size_t>(kind));
    }
    const auto vector = [&] { return expression(scope, Vector, depth - 1); };
    if (kind == List && !lists_grow_) return known.empty() ? "Nil[f64[2]]" : random_.pick(known);
    if (kind == List) return fmt::format("Cons({}, {})", vector(), expression(scope, List, depth - 1));
    if (kind == Count) return fmt::format("({} + 1)", expression(scope, Count, depth - 1));
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

  std::string given_by(const Function& function, const Scope& scope) {
    Names made;
    for (const char kind : function.results) made.push_back(expression(scope, kind, 2));
    return fmt::format("      {}\n", one_or_tuple(made));
  }
  std::string leaf(const Function& function) {
    Scope scope = params_in_scope(function);
    scope.of(Number).emplace_back("f64(word)");
    return given_by(function, scope);
  }
  /// A function of a list of vectors, which is called between calls for trees. It makes no longer lists than
  /// it gets, since they would double from node to node.
  std::string text_of_along() {
    lists_grow_ = false;
    Scope scope = params_in_scope(*along_);
    std::string made = head(*along_, "items: List[f64[2]]", "items") + "    Nil ->\n" +
                       given_by(*along_, scope) + "    Cons(first, rest) ->\n";
    scope.of(Vector).emplace_back("first");
    if (random_.percent(50)) {
      made += fmt::format("      along(rest{})\n", arguments(scope, *along_));
    } else {
      made += call(scope, "a", {&*along_, "rest"}) + given_by(*along_, scope);
    }
    lists_grow_ = true;
    return made;
  }
  /// A function of a list of trees: a call for the first one, and one of the function itself for the others.
  std::string for_all(const Function& function, const Function& of_one) {
    std::string made = head(function, "all: List[Tree]", "all") + "    Nil ->\n" +
                       given_by(function, params_in_scope(function)) + "    Cons(first, rest) ->\n";
    if (random_.percent(30)) {  // a tail call
      Scope scope = params_in_scope(function);
      made += call(scope, "a", {&of_one, "first"});
      return made + fmt::format("      {}(rest{})\n", function.name, arguments(scope, function));
    }
    return made + calls(function, {{&of_one, "first"}, {&function, "rest"}});
  }
  /// Calls one after the other, each of which may get what those before it give.
  std::string calls(const Function& function, const std::vector<Call>& calls) {
    Scope scope = params_in_scope(function);
    std::string made;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      made += call(scope, i == 0 ? "a" : "b", calls[i]);
      if (!along_ || !random_.percent(40)) continue;
      const std::string of = random_.percent(50) ? "[ones(2)]" : expression(scope, List, 0);
      made += call(scope, i == 0 ? "c" : "d", {&*along_, of.c_str()});
    }
    return made + given_by(function, scope);
  }
  std::string call(Scope& scope, const char* prefix, const Call& call) {
    const Function& callee = *call.callee;
    const std::string made = fmt::format("      let {} = {}({}{})\n", tuple(callee, prefix), callee.name,
                                         call.of, arguments(scope, callee));
    for (std::size_t i = 0; i < callee.results.size(); ++i)
      scope.of(callee.results[i]).push_back(fmt::format("{}{}", prefix, i));
    return made;
  }
  /// Mostly what was given for the parameter, or a result in its place: values that go through all calls.
  std::string arguments(const Scope& scope, const Function& callee) {
    std::string made;
    std::vector<std::size_t> before(4);  // parameters by kind
    for (const char kind : callee.params) {
      const std::size_t place = before[static_cast<std::size_t>(kind)]++;
      const Names& known = scope.of(kind);
      const bool goes_through = random_.percent(70) && place < known.size();
      const std::string through = !goes_through ? "" : random_.percent(60) ? known.back() : known[place];
      made += ", " + (goes_through ? through : expression(scope, kind, 1));
    }
    return made;
  }

  std::string tree(int depth) {
    if (depth == 0 || random_.percent(20)) return fmt::format("Leaf({})", random_.below(4));
    if (is_binary_ && (!has_children_ || random_.percent(50)))
      return fmt::format("Node({}, {})", tree(depth - 1), tree(depth - 1));
    return fmt::format("Many({})", list_of_trees(depth - 1));
  }
  std::string list_of_trees(int depth) {
    Names trees;
    for (int i = random_.between(0, 3); i > 0; --i) trees.push_back(tree(depth));
    return fmt::format("[{}]", fmt::join(trees, ", "));
  }
  static std::string first_arguments(const Function& function) {
    constexpr std::array kValues = {", ones(2) * x", ", x", ", [ones(2) * x]", ", 3"};
    std::string made;
    for (const char kind : function.params) made += kValues.at(static_cast<std::size_t>(kind));
    return made;
  }
  static std::string total(const Function& function) {
    constexpr std::array kForms = {"sum(r{})", "r{}", "fold(fn(s, v) -> s / 2 + sum(v), 0.0, r{})",
                                   "f64(r{})"};
    Names made;
    for (std::size_t i = 0; i < function.results.size(); ++i) {
      const char* form = kForms.at(static_cast<std::size_t>(function.results[i]));
      made.push_back(fmt::format(fmt::runtime(form), i));
    }
    return fmt::format("{}", fmt::join(made, " + "));
  }

  Random random_;
  bool is_binary_ = false;
  bool has_children_ = false;
  bool lists_grow_ = true;
  std::optional<Function> along_;  ///< takes a list of vectors
};

/// What was split in some programs.
struct Splits {
  uint64_t any = 0;
  uint64_t several = 0;      ///< several functions of one program
  uint64_t more_phases = 0;  ///< a function into more than two phases

  void count(const ir::Module& split) {
    uint64_t functions = 0;
    std::size_t most = 0;
    for (const ir::Function& function : split.functions) {
      functions += function.phases.empty() ? 0u : 1u;
      most = std::max(most, function.phases.size());
    }
    any += functions > 0 ? 1u : 0u;
    several += functions > 1 ? 1u : 0u;
    more_phases += most > 2 ? 1u : 0u;
  }
};

TEST(ThreadedValues, AreTheSameInPhases) {
  const uint64_t first = from_environment("HIATON_SEED", 1);
  const uint64_t count = from_environment("HIATON_PROGRAMS", kThreadedPrograms);
  Splits splits;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const std::string text = ThreadedWriter(seed).text();
    SCOPED_TRACE("HIATON_SEED=" + std::to_string(seed) + " HIATON_PROGRAMS=1\n" + text);
    ir::Module module = passes::simplify(lang::parse(std::make_shared<const Source>("random.hia", text)));
    splits.count(passes::split_loops(module, OverflowMode::Wrap));
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
    EXPECT_GT(splits.any, count / 5);
    EXPECT_GT(splits.several, count / 20);
    EXPECT_GT(splits.more_phases, 0u);
  }
}

}  // namespace
}  // namespace hiaton::properties
