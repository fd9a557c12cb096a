// Gradients through data values: by finite differences, the same bits in every executor, in linear time.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "engine/floats.h"
#include "hiaton/hiaton.h"
#include "hiaton/model.h"
#include "sized.h"

namespace hiaton {
namespace {

/// What is derived is the function f of a text.
class Derived {
 public:
  /// `params`: "xs: List[f64], n: i64". `results`: the types of those that hold floats.
  Derived(const std::string& text, const std::string& params, const std::string& results)
      : value_(program(text, params, "f64", "f")), gradient_(program(text, params, results, "grad(f)")) {}

  std::vector<Value> arguments(const std::vector<std::string>& texts) const {
    std::vector<Value> values;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      values.push_back(parse_value(value_.parameters()[i].type, texts[i]));
    }
    return values;
  }

  /// The gradient by the reference rules, which all others must have too.
  std::vector<Value> gradient(const std::vector<Value>& arguments) const {
    const std::vector<Value> expected = gradient_.run(arguments, {.executor = Executor::Reference}).values;
    if (has_to_run(1)) {
      EXPECT_EQ(gradient_.run(arguments, {.executor = Executor::Expanding}).values, expected);
    }
    for (const int workers : {1, 2, 8}) {
      if (!has_to_run(workers)) continue;
      for (const bool batching : {true, false}) {
        const RunResult found = gradient_.run(arguments, {.workers = workers, .batching = batching});
        EXPECT_EQ(found.values, expected) << workers << " workers, batching " << batching;
        EXPECT_EQ(found.stats.fallback, "");
        EXPECT_EQ(found.stats.frames_live_at_end, 0u);
      }
    }
    return expected;
  }

  void expect_slopes(const std::vector<std::string>& texts) const {
    const std::vector<Value> at = arguments(texts);
    const std::vector<double> found = floats_of(gradient(at));
    ASSERT_EQ(found.size(), floats_of(at).size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      const auto value = [&](double by) {
        return value_.run(moved(at, static_cast<int64_t>(i), by)).values[0].as<double>();
      };
      const double slope = (value(1e-5) - value(-1e-5)) / 2e-5;
      EXPECT_NEAR(found[i], slope, 1e-7 * (1 + std::abs(slope))) << "float " << i;
    }
  }

  RunStats stats(const std::vector<Value>& arguments) const {
    RunStats stats;
    gradient_.run(arguments, {.stats = &stats});
    return stats;
  }
  const Program& program() const { return gradient_; }

 private:
  static Program program(const std::string& text, const std::string& params, const std::string& results,
                         const std::string& called) {
    std::string names;
    for (std::size_t at = params.find(':'); at != std::string::npos; at = params.find(':', at + 1)) {
      const std::size_t begin = params.rfind(' ', at) + 1;  // 0 where there is none
      names += (names.empty() ? "" : ", ") + params.substr(begin, at - begin);
    }
    return Program::from_text(
        "test.hia", fmt::format("{}\nfn main({}) -> ({}) = {}({})\n", text, params, results, called, names));
  }

  Program value_;
  Program gradient_;
};

constexpr const char* kTreeOfLosses =
    "data Losses = None | One(loss: f64) | Both(left: Losses, right: Losses)\n"
    "fn build(x: f64, depth: i64) -> Losses =\n"
    "  if depth == 0 then One(sin(x)) else Both(build(x * 2, depth - 1), build(x + 1, depth - 1))\n"
    "fn total(l: Losses) -> f64 =\n"
    "  match l\n"
    "    None -> 0\n"
    "    One(loss) -> loss * loss\n"
    "    Both(left, right) -> total(left) + total(right) * total(left)\n";

TEST(DataGradients, OfATreeOfLossesThatAFunctionBuilds) {
  const Derived f(std::string(kTreeOfLosses) + "fn f(x: f64, depth: i64) -> f64 = total(build(x, depth))",
                  "x: f64, depth: i64", "f64");
  for (const char* depth : {"0", "1", "3"}) f.expect_slopes({"0.3", depth});
}

TEST(DataGradients, ByADataValueAreAValueOfItsType) {
  const Derived f(std::string(kTreeOfLosses) + "fn f(l: Losses) -> f64 = total(l)", "l: Losses", "Losses");
  f.expect_slopes({"Both(Both(One(1.5),One(-2)),Both(One(0.5),Both(One(3),One(0.25))))"});
  f.expect_slopes({"None"});
  const std::vector<Value> zero = f.gradient(f.arguments({"Both(None,One(3))"}));
  EXPECT_EQ(to_string(zero[0], f.program().results()[0]), "Both(None, One(0.0))");
}

TEST(DataGradients, KeepWhatHoldsNoFloats) {
  const Derived f(
      "data Word = Word(id: i64, known: bool)\n"
      "data Item = Item(word: Word, x: f64, counts: List[i64], more: List[f64])\n"
      "fn f(i: Item) -> f64 =\n"
      "  match i\n"
      "    Item(Word(id, _), x, _, _) -> x * x * f64(id)",
      "i: Item", "Item");
  const std::vector<Value> found = f.gradient(f.arguments({"Item(Word(7,true),2,[1,2],[3,4])"}));
  EXPECT_EQ(to_string(found[0], f.program().results()[0]), "Item(Word(7, true), 28.0, [1, 2], [0.0, 0.0])");
}

TEST(DataGradients, GoThroughMapFoldAndScan) {
  const Derived f(
      "fn g(x: f64, y: f64) -> f64 = x * x * y\n"
      "fn step(sum: f64, x: f64) -> f64 = sum * cos(x) + x\n"
      "fn f(xs: List[f64], y: f64) -> f64 =\n"
      "  fold(step, 1, map(g, xs, y)) + fold(mul, 1, scan(step, y, xs))",
      "xs: List[f64], y: f64", "List[f64], f64");
  f.expect_slopes({"[0.5,-1.5,2]", "0.75"});
  f.expect_slopes({"[]", "0.75"});
}

TEST(DataGradients, GoThroughListsOfTensors) {
  const Derived f(
      "fn cell(h: f64[3], x: f64[3], w: f64[3, 3]) -> f64[3] = tanh(h @ w + x)\n"
      "fn total(sum: f64, h: f64[3]) -> f64 = sum + logsumexp(h) * h[1]\n"
      "fn scaled(x: f64[3], by: f64) -> f64[3] = x * by\n"
      "fn f(xs: List[f64[3]], w: f64[3, 3], by: f64) -> f64 =\n"
      "  fold(total, 0, scan(cell, [0, 0, 0], map(scaled, xs, by), w))",
      "xs: List[f64[3]], w: f64[3, 3], by: f64", "List[f64[3]], f64[3, 3], f64");
  f.expect_slopes(
      {"[[1,0.5,-1],[0.25,2,1],[0.1,0.2,0.3]]", "[[0.1,0.2,0.3],[0.5,-0.1,0.2],[0.3,0.1,0.4]]", "0.5"});
}

TEST(DataGradients, GoThroughMapFoldAndScanOverRows) {
  const Derived f(
      "fn g(x: f64[2], by: f64) -> f64 = dot(x, x) * by\n"
      "fn step(a: f64[2], x: f64[2]) -> f64[2] = sin(a * x)\n"
      "fn f(x: f64[n, 2], by: f64) -> f64 =\n"
      "  logsumexp(map(g, x, by)) * sum(fold(step, x[0], x)) + sum(scan(step, [1, by], x) * x)",
      "x: f64[n, 2], by: f64", "f64[n, 2], f64");
  f.expect_slopes({"[[1,0.5],[0.25,2],[0.1,0.2],[0.7,-0.3],[1.5,1]]", "0.5"});
  f.expect_slopes({"[[1,0.5]]", "0.5"});
}

TEST(DataGradients, GoThroughTensorsOfUnknownSizeThatAreNotAllRead) {
  const Derived f(
      "data Pair = Pair(a: f64[_], b: f64[_]) | Single(x: f64[2])\n"
      "fn made(x: f64[n], flip: bool) -> Pair =\n"
      "  if flip then Pair(concat(x, x, axis=0), x * x) else Single([sum(x), 1])\n"
      "fn read(p: Pair) -> f64 =\n"
      "  match p\n"
      "    Pair(a, _) -> sum(a * a)\n"
      "    Single(x) -> x[0] * x[1]\n"
      "fn f(x: f64[n], y: Pair, flip: bool) -> f64 = read(made(x, flip)) + read(y)",
      "x: f64[n], y: Pair, flip: bool", "f64[n], Pair");
  f.expect_slopes({"[1,2,3]", "Pair([1,2],[3,4,5])", "true"});
  f.expect_slopes({"[1,2,3]", "Single([2,3])", "false"});
}

TEST(DataGradients, GoThroughLoopsBranchesAndMutualRecursion) {
  const Derived f(
      "data Stack = Empty | Push(top: f64, below: Stack, size: i64)\n"
      "fn even(s: Stack) -> f64 =\n"
      "  match s\n"
      "    Empty -> 1\n"
      "    Push(top, below, _) -> top * odd(below)\n"
      "fn odd(s: Stack) -> f64 =\n"
      "  match s\n"
      "    Empty -> 2\n"
      "    Push(top, below, size) -> sin(top) + f64(size) * even(below)\n"
      "fn f(x: f64, s: Stack, n: i64) -> f64 =\n"
      "  let (stack, y) = with s = s, x = x for i in 0..n do\n"
      "    if i % 2 == 0 then (Push(x * x, s, i), x + 0.5)\n"
      "    else (match s\n"
      "      Empty -> (Empty, x)\n"
      "      Push(top, below, _) -> (Push(top * x, below, 7), x * 0.9))\n"
      "  even(stack) * y",
      "x: f64, s: Stack, n: i64", "f64, Stack");
  for (const char* n : {"0", "1", "5", "8"}) f.expect_slopes({"0.8", "Push(1.5,Push(2.5,Empty,3),4)", n});
}

TEST(DataGradients, OfGradients) {
  const Derived f(std::string(kTreeOfLosses) +
                      "fn slope(l: Losses, x: f64) -> f64 =\n"
                      "  let (by_l, by_x) = grad(h)(l, x)\n"
                      "  total(by_l) * by_x\n"
                      "fn h(l: Losses, x: f64) -> f64 = total(Both(l, build(x, 2)))\n"
                      "fn f(l: Losses, x: f64) -> f64 = slope(l, x) * x",
                  "l: Losses, x: f64", "Losses, f64");
  f.expect_slopes({"Both(Both(One(1.5),One(-2)),Both(One(0.5),None))", "0.4"});
  const Derived tensors(
      "fn step(s: f64[2], x: f64[2]) -> f64[2] = sin(s * x)\n"
      "fn h(xs: List[f64[2]], s: f64[2]) -> f64 = sum(fold(step, s, xs))\n"
      "fn f(xs: List[f64[2]], s: f64[2]) -> f64 =\n"
      "  let (by_xs, by_s) = grad(h)(xs, s)\n"
      "  sum(fold(step, by_s, by_xs))",
      "xs: List[f64[2]], s: f64[2]", "List[f64[2]], f64[2]");
  tensors.expect_slopes({"[[1,0.5],[0.25,2],[0.1,0.2]]", "[0.5,0.75]"});
}

TEST(DataGradients, ReachLearnedParametersThroughData) {
  const char* text =
      "param W: f64[2, 2] = normal(0.5)\n"
      "data Tree = Leaf(x: f64[2]) | Node(left: Tree, right: Tree)\n"
      "data States = State(h: f64[2], below: List[States])\n"
      "fn encode(t: Tree) -> States =\n"
      "  match t\n"
      "    Leaf(x) -> State(tanh(x @ W), Nil[States])\n"
      "    Node(l, r) ->\n"
      "      let a = encode(l)\n"
      "      let b = encode(r)\n"
      "      State(tanh((top(a) - top(b)) @ W), [a, b])\n"
      "fn top(s: States) -> f64[2] =\n"
      "  match s\n"
      "    State(h, _) -> h\n"
      "fn add_loss(sum: f64, s: States) -> f64 = sum + losses(s)\n"
      "fn losses(s: States) -> f64 =\n"
      "  match s\n"
      "    State(h, below) -> fold(add_loss, sum(h * h), below)\n"
      "fn loss(t: Tree) -> f64 = losses(encode(t))\n";
  const Model model = Model::from_text("model.hia", text);
  const std::vector<std::vector<Value>> examples{
      {parse_value(model.loss_program().parameters()[0].type,
                   "Node(Leaf([1,0.5]),Node(Leaf([-0.5,2]),Leaf([0.1,0.2])))")}};
  std::vector<Value> parameters = model.initial_parameters(1);
  Gradients gradients(model.parameters());
  model.loss(examples, {.parameters = parameters, .gradients = &gradients});
  for (int64_t i = 0; i < 4; ++i) {
    const auto value = [&](double by) {
      const std::vector<Value> there = moved(parameters, i, by);
      return model.loss(examples, {.parameters = there})[0][0].as<double>();
    };
    const double slope = (value(1e-5) - value(-1e-5)) / 2e-5;
    EXPECT_NEAR(gradients[0].values.data<double>()[i], slope, 1e-8) << i;
  }
}

/// Counts calls and memory of a run that takes the gradient by a list of `length` numbers.
RunStats stats_of_list(const Derived& f, int64_t length) {
  Value list = Data(0, {});
  for (int64_t i = 0; i < length; ++i)
    list = Data(1, std::vector<Value>{0.001 * static_cast<double>(i), list});
  return f.stats({list, 0.5});
}

TEST(DataGradients, OfALongListTakeLinearTimeAndMemory) {
  const Derived f(
      "fn g(x: f64, y: f64) -> f64 = x * y\n"
      "fn step(sum: f64, x: f64) -> f64 = sum + x * x\n"
      "fn f(xs: List[f64], y: f64) -> f64 = fold(step, 0, map(g, xs, y)) + fold(step, 0, xs)",
      "xs: List[f64], y: f64", "List[f64], f64");
  const RunStats few = stats_of_list(f, 1000);
  constexpr uint64_t kTimes = sized(100, 10);
  const RunStats many = stats_of_list(f, 1000 * kTimes);
  EXPECT_LE(many.calls, (kTimes + 1) * few.calls);
  EXPECT_LE(many.bytes, (kTimes + 10) * few.bytes);
  EXPECT_LE(many.bytes, 1000u * kTimes * 1200u);
}

TEST(DataGradients, OfWhatIsSharedAreAsLargeAsWhatIsRead) {
  // A tree of 2^40 leaves of which one path is read: in memory it is 40 nodes.
  const Derived f(
      "data Tree = Leaf(x: f64) | Node(left: Tree, right: Tree)\n"
      "fn left(t: Tree) -> f64 =\n"
      "  match t\n"
      "    Leaf(x) -> x * x\n"
      "    Node(l, _) -> 0.5 * left(l)\n"
      "fn right(t: Tree) -> f64 =\n"
      "  match t\n"
      "    Leaf(x) -> x\n"
      "    Node(_, r) -> 2 * right(r)\n"
      "fn f(x: f64) -> f64 =\n"
      "  let t = with t: Tree = Leaf(x) for _ in 0..40 do Node(t, t)\n"
      "  left(t) * right(t) + left(t)",
      "x: f64", "f64");
  f.expect_slopes({"1.5"});
  EXPECT_LE(f.stats({1.5}).calls, 600u);
}

TEST(DataGradients, OfGradientsGoThroughAFunctionThatGivesNone) {
  // f has a backward phase, for learned parameters, which gives nothing to its own; and that has no mirror.
  const Program program = Program::from_text(
      "test.hia",
      "param b: f64[2] = ones\n"
      "fn first(a: f64, x: f64) -> f64 = 0.5\n"
      "fn f(s: f64, xs: List[f64]) -> f64 = max(logsumexp(b), fold(first, s, xs))\n"
      "fn loss(x: f64, xs: List[f64]) -> f64 = sin(x * x + fold(first, x, Nil) + f(0.5, xs))\n"
      "fn slope(x: f64, xs: List[f64]) -> f64 =\n"
      "  let (by_x, by_xs) = grad(loss)(x, xs)\n"
      "  sin(by_x) * x + fold(add, 0, by_xs)\n"
      "fn main(x: f64, xs: List[f64]) -> (f64, f64, List[f64]) = value_and_grad(slope)(x, xs)\n");
  const Value xs = parse_value(program.parameters()[1].type, "[0.1]");
  const std::vector<Value> learned = initial_parameters(program.graph().parameters(), 1);
  const auto slope = [&](double x, std::size_t result) {
    return program.run({x, xs}, {.parameters = learned}).values[result].as<double>();
  };
  constexpr double kStep = 1e-5;
  EXPECT_NEAR(slope(0.3, 1), (slope(0.3 + kStep, 0) - slope(0.3 - kStep, 0)) / (2 * kStep), 1e-8);
}

TEST(DataGradients, SavedGraphsHaveThem) {
  const Derived f("fn f(xs: List[f64]) -> f64 = fold(mul, 2, xs)", "xs: List[f64]", "List[f64]");
  const graph::Graph read = graph::from_json(graph::to_json(f.program().graph()), "saved.json");
  const std::vector<Value> arguments = f.arguments({"[2,3,4]"});
  EXPECT_EQ(Program::from_graph(read).run(arguments).values, f.gradient(arguments));
}

TEST(DataGradients, LeaveTheModuleAsItWas) {
  const char* text =
      "fn f(xs: List[f64]) -> f64 = fold(mul, 2, xs)\nfn main(xs: List[f64]) -> List[f64] = grad(f)(xs)\n";
  const Program program = Program::from_text("test.hia", text);
  EXPECT_EQ(ir::print(*program.module()).find("Gradient["), std::string::npos);
  EXPECT_TRUE(ir::equal(*program.module(), *Program::from_text("again.hia", text).module()));
}

constexpr const char* kTuples =
    "data Tree = Leaf(p: (f64, f64)) | Node(left: Tree, right: Tree)\n"
    "fn both(t: Tree) -> (f64, f64) =\n"
    "  match t\n"
    "    Leaf(p) -> p\n"
    "    Node(left, right) ->\n"
    "      match (both(left), both(right))\n"
    "        ((a, b), (c, d)) -> (a * c, b + d * a)\n"
    "fn step(product: f64, pair: (f64, i64)) -> f64 =\n"
    "  match pair\n"
    "    (_, 0) -> product\n"
    "    (x, n) -> product * x + f64(n)\n"
    "fn f(t: Tree, q: (f64, f64), pairs: List[(f64, i64)]) -> f64 =\n"
    "  let (a, b) = both(t)\n"
    "  let (c, d) = q\n"
    "  (a * b * c + d * a) * fold(step, 1, pairs)\n";

TEST(DataGradients, OfTuples) {
  const Derived derived(kTuples, "t: Tree, q: (f64, f64), pairs: List[(f64, i64)]",
                        "Tree, (f64, f64), List[(f64, i64)]");
  derived.expect_slopes(
      {"Node(Node(Leaf((1.5,2)),Leaf((0.5,-1))),Leaf((3,4)))", "(0.25,2)", "[(2,1),(5,0),(3,7)]"});
}

TEST(DataGradients, OfWhatLambdasUse) {
  const Derived derived(
      "fn each[A, B](f: fn(A) -> B, xs: List[A]) -> List[B] =\n"
      "  match xs\n    [] -> []\n    [x, ..rest] -> Cons(f(x), each(f, rest))\n"
      "fn f(a: f64, xs: List[f64]) -> f64 =\n"
      "  let b = sin(a)\n"
      "  fold(fn(sum, x) -> sum + a * x * sum, 1, each(fn(x) -> fold(mul, a, each(fn(y) -> x * y + b, xs)), "
      "xs))\n",
      "a: f64, xs: List[f64]", "f64, List[f64]");
  derived.expect_slopes({"0.75", "[0.5,-1,0.25]"});
}

}  // namespace
}  // namespace hiaton
