// Functions marked `recompute`: the same gradients, with less kept.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hiaton/hiaton.h"
#include "hiaton/model.h"
#include "sized.h"

namespace hiaton {
namespace {

constexpr const char* kChains =
    "size d = 3\n"
    "fn step(h: f64[d], w: f64[d, d]) -> f64[d] = tanh(h @ w + 0.1)\n"
    "fn segment(h: f64[d], w: f64[d, d], n: i64) -> f64[d]{0} = with h = h for _ in 0..n do step(h, w)\n"
    "fn by_segments(w: f64[d, d], n: i64) -> f64 =\n"
    "  let root = i64(sqrt(f64(n)))\n"
    "  sum(with h = [0.5, 1, -1] for _ in 0..root do segment(h, w, n / root))\n"
    "fn halves(h: f64[d], w: f64[d, d], n: i64) -> f64[d]{0} =\n"
    "  if n == 1 then step(h, w) else halves(halves(h, w, n / 2), w, n - n / 2)\n"
    "fn by_halves(w: f64[d, d], n: i64) -> f64 = sum(halves([0.5, 1, -1], w, n))\n"
    "fn main(w: f64[d, d], n: i64) -> f64[d, d] = grad({1})(w, n)\n";

Program chain(bool recompute, const char* of) {
  return Program::from_text("chain.hia", fmt::format(kChains, recompute ? " recompute" : "", of));
}

RunStats stats_of_chain(bool recompute, const char* of, int64_t steps) {
  RunStats stats;
  const Program program = chain(recompute, of);
  const Value w = parse_value(program.parameters()[0].type, "[[1,-0.5,0.1],[0.25,1,0.2],[0.3,0.1,-1]]");
  const std::vector<Value> found = program.run({w, steps}, {.stats = &stats}).values;
  EXPECT_EQ(found, chain(!recompute, of).run({w, steps}).values);
  return stats;
}

TEST(Recompute, OfSegmentsKeepsTheSquareRootOfAChain) {
  EXPECT_GE(stats_of_chain(false, "by_segments", 10'000).frames_live_most, 10'000u);
  const RunStats some = stats_of_chain(true, "by_segments", 10'000);
  const RunStats more = stats_of_chain(true, "by_segments", sized(160'000, 40'000));
  EXPECT_LE(some.frames_live_most, 220u);
  EXPECT_LE(more.frames_live_most, 4 * some.frames_live_most + 20);
  EXPECT_LE(some.calls, 20'600u);  // the steps are called twice
}

TEST(Recompute, OfHalvesKeepsTheLogarithmOfAChain) {
  const RunStats some = stats_of_chain(true, "by_halves", 1000);
  const RunStats more = stats_of_chain(true, "by_halves", 8000);
  EXPECT_LE(more.frames_live_most, some.frames_live_most + 50);
}

/// Texts with a place for the mark, and arguments of main.
struct Case {
  const char* name;
  const char* text;
  std::vector<const char*> arguments;
};

const Case kCases[] = {
    {"SeveralResultsAndBranches",
     "fn f(x: f64, y: f64, n: i64) -> (f64, f64){0} =\n"
     "  if n == 0 then (x * y, x)\n"
     "  else (let (a, b) = f(y, x + y, n - 1) in if n % 2 == 0 then (a * b, y) else (sin(a), b * x))\n"
     "fn g(x: f64, y: f64, n: i64) -> f64 =\n"
     "  let (a, b) = f(x, y, n)\n"
     "  let (c, _) = f(y, y, n)\n"
     "  if n > 3 then a else b * c\n"
     "fn main(x: f64, y: f64, n: i64) -> (f64, f64, f64) = value_and_grad(g)(x, y, n)\n",
     {"0.5", "1.5", "5"}},
    {"DataValues",
     "data Tree = Leaf(x: f64[2]) | Node(left: Tree, right: Tree, id: i64)\n"
     "fn doubled(t: Tree, s: f64) -> Tree{0} =\n"
     "  match t\n"
     "    Leaf(x) -> Leaf(sin(x * s))\n"
     "    Node(l, r, id) -> Node(doubled(r, s), doubled(l, s * 0.5), id)\n"
     "fn total(t: Tree) -> f64{0} =\n"
     "  match t\n"
     "    Leaf(x) -> sum(x * x)\n"
     "    Node(l, r, id) -> total(l) * f64(id) + total(r)\n"
     "fn f(t: Tree, s: f64) -> f64 = total(doubled(t, s))\n"
     "fn main(t: Tree, s: f64) -> (Tree, f64) = grad(f)(t, s)\n",
     {"Node(Leaf([1,2]),Node(Leaf([0.5,-1]),Leaf([2,1]),3),2)", "0.75"}},
    {"SecondDerivatives",
     "fn cube(x: f64, n: i64) -> f64{0} = with y = x for i in 0..n do y * sin(x)\n"
     "fn slope(x: f64, n: i64) -> f64{0} = grad(cube)(x, n)\n"
     "fn main(x: f64, n: i64) -> f64 = grad(slope)(x, n)\n",
     {"0.7", "6"}},
    {"OfAFunctionThatIsDerived",
     "fn f(x: f64) -> f64{0} = x * x * x\n"
     "fn main(x: f64) -> (f64, f64) = (grad(f)(x), f(x))\n",
     {"3"}},
};

class RecomputeCase : public testing::TestWithParam<Case> {};

INSTANTIATE_TEST_SUITE_P(Recompute, RecomputeCase, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(RecomputeCase, HasTheSameBitsInEveryExecutor) {
  const auto program = [&](const char* mark) {
    std::string text = GetParam().text;
    for (std::size_t at = text.find("{0}"); at != std::string::npos; at = text.find("{0}")) {
      text.replace(at, 3, mark);
    }
    return Program::from_text("case.hia", text);
  };
  const Program kept = program("");
  const Program recomputed = program(" recompute");
  ASSERT_FALSE(ir::equal(*kept.module(), *recomputed.module()));
  std::vector<Value> arguments;
  for (std::size_t i = 0; i < GetParam().arguments.size(); ++i) {
    arguments.push_back(parse_value(kept.parameters()[i].type, GetParam().arguments[i]));
  }
  const std::vector<Value> expected = kept.run(arguments, {.executor = Executor::Reference}).values;
  for (const Executor executor : {Executor::Reference, Executor::Expanding, Executor::Production}) {
    for (const int workers : {1, 2, 8}) {
      if (executor != Executor::Production && workers > 1) continue;
      EXPECT_EQ(recomputed.run(arguments, {.executor = executor, .workers = workers}).values, expected);
    }
  }
  RunStats of_kept;
  RunStats of_recomputed;
  kept.run(arguments, {.stats = &of_kept});
  recomputed.run(arguments, {.stats = &of_recomputed});
  EXPECT_GE(of_recomputed.calls, of_kept.calls);
  EXPECT_EQ(of_recomputed.frames_live_at_end, 0u);
}

TEST(Recompute, GathersTheSameGradientsOfLearnedParameters) {
  const char* text =
      "size d = 4\n"
      "param W: f32[2 * d, d]\n"
      "param E: f32[10, d] = uniform(1)\n"
      "data Tree = Leaf(word: i64) | Node(left: Tree, right: Tree)\n"
      "fn encode(t: Tree) -> f32[d]{0} =\n"
      "  match t\n"
      "    Leaf(word) -> E[word]\n"
      "    Node(l, r) -> tanh(concat(encode(l), encode(r), axis=0) @ W)\n"
      "fn loss(t: Tree) -> f32 = cross_entropy(encode(t), 1)\n";
  const auto gradients_of = [&](const char* mark, RunOptions options) {
    std::string marked = text;
    marked.replace(marked.find("{0}"), 3, mark);
    const Model model = Model::from_text("model.hia", marked);
    const Value tree = parse_value(model.loss_program().parameters()[0].type,
                                   "Node(Node(Leaf(3),Leaf(4)),Node(Leaf(3),Node(Leaf(9),Leaf(0))))");
    const std::vector<std::vector<Value>> examples(3, std::vector<Value>{tree});
    const std::vector<Value> parameters = model.initial_parameters(1);
    Gradients gradients(model.parameters());
    options.parameters = parameters;
    options.gradients = &gradients;
    model.loss(examples, options);
    return gradients;
  };
  const Gradients expected = gradients_of("", {});
  for (const bool batching : {true, false}) {
    const Gradients found = gradients_of(" recompute", {.batching = batching});
    for (std::size_t p = 0; p < found.size(); ++p) {
      for (int64_t i = 0; i < found[p].values.size(); ++i) {
        EXPECT_NEAR(found[p].values.data<float>()[i], expected[p].values.data<float>()[i], 1e-6);
      }
    }
  }
}

}  // namespace
}  // namespace hiaton
