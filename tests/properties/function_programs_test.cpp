// Random programs with functions as values: results and gradients are those of the same functions in C++, and
// every executor gives them.
//
// HIATON_PROGRAMS=100000 HIATON_SEED=7 test_properties --gtest_filter=*RandomFunctionPrograms.*
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "engine/all_ways.h"
#include "properties/random_choices.h"
#include "sized.h"

namespace hiaton::properties {
namespace {

constexpr uint64_t kFunctionPrograms = sized_programs(200, 20);

/// A number and its slopes by the two arguments of the program.
struct Dual {
  double value = 0;
  double by_a = 0;
  double by_b = 0;

  Dual with(double new_value, double slope) const { return {new_value, by_a * slope, by_b * slope}; }
  friend Dual operator+(Dual x, Dual y) { return {x.value + y.value, x.by_a + y.by_a, x.by_b + y.by_b}; }
  friend Dual operator-(Dual x, Dual y) { return x + y.with(-y.value, -1); }
};
Dual half(Dual x) {
  return x.with(x.value * 0.5, 0.5);
}
Dual sine(Dual x) {
  return x.with(std::sin(x.value), std::cos(x.value));
}
Dual mix(Dual x, Dual y) {
  return half(x) - sine(y);
}

using Known = std::vector<Dual>;  ///< the values of the names around, in order
using Call = std::function<Dual(Dual)>;

struct Number {
  std::string text;
  std::function<Dual(const Known&)> value;
};
struct Function {
  std::string text;
  std::function<Call(const Known&)> value;
};

Known with(Known known, Dual next) {
  known.push_back(next);
  return known;
}

Call composed(Call first, Call second) {
  return [=](Dual x) { return second(first(x)); };
}

constexpr const char* kPrelude =
    "data Box = Box(f: fn(f64) -> f64, k: f64)\n"
    "fn half(x: f64) -> f64 = x * 0.5\n"
    "fn mix(x: f64, y: f64) -> f64 = half(x) - sin(y)\n"
    "fn apply(f: fn(f64) -> f64, x: f64) -> f64 = f(x)\n"
    "fn use(f: fn(f64) -> f64) -> fn(f64) -> f64 = f\n"
    "fn compose(f: fn(f64) -> f64, g: fn(f64) -> f64) -> fn(f64) -> f64 = fn(x) -> g(f(x))\n"
    "fn repeat(n: i64, f: fn(f64) -> f64) -> fn(f64) -> f64 =\n"
    "  if n == 0 then f else compose(f, repeat(n - 1, f))\n"
    "fn nested(n: i64, f: fn(f64) -> f64, x: f64) -> f64 =\n"
    "  if n == 0 then f(x) else nested(n - 1, fn(y) -> half(f(y)), x)\n"
    "fn chosen(fs: List[fn(f64) -> f64], x: f64) -> fn(f64) -> f64 =\n"
    "  match fs\n"
    "    [] -> half\n"
    "    [f, ..rest] -> if x > 0 then f else chosen(rest, x + 0.5)\n"
    "fn chain(fs: List[fn(f64) -> f64], x: f64) -> f64 = fold(fn(y, f) -> f(y), x, fs)\n";

class FunctionWriter {
 public:
  explicit FunctionWriter(uint64_t seed) : random_(seed), names_{"a", "b"} {}

  Number number(int depth) {
    if (depth == 0 || random_.percent(15)) return leaf();
    switch (random_.below(8)) {
      case 0: {
        const Number x = number(depth - 1);
        const Number y = number(depth - 1);
        return {fmt::format("({} + {})", x.text, y.text),
                [=](const Known& k) { return x.value(k) + y.value(k); }};
      }
      case 1: {
        const Number x = number(depth - 1);
        const Number y = number(depth - 1);
        return {fmt::format("mix({}, {})", x.text, y.text),
                [=](const Known& k) { return mix(x.value(k), y.value(k)); }};
      }
      case 2:
        return called("apply({}, {})", depth, [](const Call& f, Dual x) { return f(x); });
      case 3:
        return called("Box({}, 2).f({})", depth, [](const Call& f, Dual x) { return f(x); });
      case 4:
        return called("nested(2, {}, {})", depth, [](const Call& f, Dual x) { return half(half(f(x))); });
      case 5: {
        const Function f = function(depth - 1);
        const Function g = function(depth - 1);
        const Number x = number(depth - 1);
        return {fmt::format("chain([{}, {}], {})", f.text, g.text, x.text),
                [=](const Known& k) { return composed(f.value(k), g.value(k))(x.value(k)); }};
      }
      default:
        return called("use({})({})", depth, [](const Call& f, Dual x) { return f(x); });
    }
  }

 private:
  Number leaf() {
    if (random_.percent(30)) {
      const double constant = random_.between(-3, 3) * 0.25;
      return {fmt::format("({:.2f})", constant), [=](const Known&) { return Dual{constant}; }};
    }
    const std::size_t name = random_.below(names_.size());
    return {names_[name], [=](const Known& known) { return known[name]; }};
  }

  Number called(const char* form, int depth, Dual (*call)(const Call&, Dual)) {
    const Function f = function(depth - 1);
    const Number x = number(depth - 1);
    return {fmt::format(fmt::runtime(form), f.text, x.text),
            [=](const Known& known) { return call(f.value(known), x.value(known)); }};
  }

  /// What `write` gives with one more name.
  Number inside(const std::string& name, int depth) {
    names_.push_back(name);
    const Number body = number(depth);
    names_.pop_back();
    return body;
  }

  Function function(int depth) {
    if (depth <= 0) {
      if (random_.percent(50)) return {"half", [](const Known&) -> Call { return half; }};
      return {"sin", [](const Known&) -> Call { return sine; }};
    }
    switch (random_.below(7)) {
      case 0: {
        const Number x = number(depth - 1);
        const Function f = function(depth - 1);
        const Function g = function(depth - 1);
        return {fmt::format("(if {} < 0.1 then {} else {})", x.text, f.text, g.text),
                [=](const Known& k) { return x.value(k).value < 0.1 ? f.value(k) : g.value(k); }};
      }
      case 1: {
        const Function f = function(depth - 1);
        const Function g = function(depth - 1);
        return {fmt::format("compose({}, {})", f.text, g.text),
                [=](const Known& k) { return composed(f.value(k), g.value(k)); }};
      }
      case 2: {
        const Number x = number(depth - 1);
        if (random_.percent(50)) {
          return {fmt::format("mix(_, {})", x.text), [=](const Known& k) -> Call {
                    return [y = x.value(k)](Dual open) { return mix(open, y); };
                  }};
        }
        return {fmt::format("mix({}, _)", x.text),
                [=](const Known& k) -> Call { return [y = x.value(k)](Dual open) { return mix(y, open); }; }};
      }
      case 3: {
        const Function f = function(depth - 1);
        const Function g = function(depth - 1);
        const Number x = number(depth - 1);
        return {fmt::format("chosen([{}, {}], {})", f.text, g.text, x.text), [=](const Known& k) -> Call {
                  const double at = x.value(k).value;
                  return at > 0 ? f.value(k) : at + 0.5 > 0 ? g.value(k) : Call(half);
                }};
      }
      case 4: {
        const Function f = function(depth - 1);
        return {fmt::format("repeat(2, {})", f.text),
                [=](const Known& k) { return composed(f.value(k), composed(f.value(k), f.value(k))); }};
      }
      case 5: {
        const std::string go = fmt::format("go{}", made_);
        const std::string name = fmt::format("x{}", made_++);
        const Number step = inside(name, depth - 1);
        return {
            fmt::format("(let fn {0}(i: i64, {1}: f64) -> f64 = if i == 0 then {1} else {0}(i - 1, {2}) in "
                        "{0}(2, _))",
                        go, name, step.text),
            [=](const Known& k) -> Call {
              return [=](Dual x) { return step.value(with(k, step.value(with(k, x)))); };
            }};
      }
      default: {
        const std::string name = fmt::format("x{}", made_++);
        const Number body = inside(name, depth - 1);
        return {fmt::format("(fn({}{}) -> {})", name, random_.percent(50) ? ": f64" : "", body.text),
                [=](const Known& k) -> Call { return [=](Dual x) { return body.value(with(k, x)); }; }};
      }
    }
  }

  Random random_;
  std::vector<std::string> names_;
  int made_ = 0;
};

void expect_near(const Value& found, double expected) {
  EXPECT_NEAR(found.as<double>(), expected, 1e-9 * (1 + std::abs(expected)));
}

TEST(RandomFunctionPrograms, GiveWhatTheirFunctionsGive) {
  const uint64_t first = from_environment("HIATON_SEED", 1);
  const uint64_t count = from_environment("HIATON_PROGRAMS", kFunctionPrograms);
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const Number loss = FunctionWriter(seed).number(3);
    const std::string text =
        fmt::format("{}fn loss(a: f64, b: f64) -> f64 = {} + 0.125 * (a - b)\n", kPrelude, loss.text) +
        "fn main(a: f64, b: f64) -> (f64, f64, f64) =\n"
        "  let (by_a, by_b) = grad(loss)(a, b)\n"
        "  (loss(a, b), by_a, by_b)\n";
    SCOPED_TRACE("HIATON_SEED=" + std::to_string(seed) + " HIATON_PROGRAMS=1\n" + text);
    CompileOptions how;
    if (seed % 8 == 0) how.simplify = passes::SimplifyOptions::none();
    const hiaton::Program program = hiaton::Program::from_text("random.hia", text, how);
    const Dual a{0.75, 1, 0};
    const Dual b{-0.375, 0, 1};
    const Dual expected = loss.value({a, b}) + (a - b).with((a.value - b.value) * 0.125, 0.125);
    std::vector<Value> values;
    for (RunOptions way : all_ways()) {
      RunStats stats;
      way.stats = &stats;
      way.checks_counts = true;
      const std::vector<Value> found = program.run({Value(a.value), Value(b.value)}, way).values;
      if (values.empty()) values = found;
      ASSERT_EQ(found, values) << way.workers << " workers";
      EXPECT_EQ(stats.values_live_at_end, 0u);
      EXPECT_EQ(stats.frames_live_at_end, 0u);
    }
    expect_near(values[0], expected.value);
    expect_near(values[1], expected.by_a);
    expect_near(values[2], expected.by_b);
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace hiaton::properties
