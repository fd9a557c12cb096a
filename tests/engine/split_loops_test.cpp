// Loops whose work depends on no accumulator: all of it runs in batches, and the results have the bits of a
// program in which nothing is split.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "engine/all_ways.h"
#include "hiaton/lang.h"
#include "hiaton/model.h"
#include "sized.h"

namespace hiaton {
namespace {

const std::string kTreeCells =
    "size d = 4\n"
    "data Tree = Leaf(word: i64) | Node(left: Tree, right: Tree)\n"
    "param E: f64[20, d] = normal(1.0)\n"
    "param W: f64[2 * d, d] = normal(0.5)\n"
    "param v: f64[d] = normal(1.0)\n"
    "fn encode(t: Tree) -> f64[d] =\n"
    "  match t\n"
    "    Leaf(word) -> E[word]\n"
    "    Node(left, right) -> tanh(concat(encode(left), encode(right), axis=0) @ W)\n"
    "fn cost(t: Tree) -> f64 = dot(encode(t), v)\n"
    "fn tree(n: i64, word: i64) -> Tree =\n"
    "  if n == 0 then Leaf(word % 20) else Node(tree(n - 1, 3 * word + 1), tree(n - 1, word + 7))\n"
    "fn trees(n: i64) -> List[Tree] = if n == 0 then Nil else Cons(tree(5, n), trees(n - 1))\n";

/// A recursion that also hands a list from call to call, with what it makes of a node.
std::string encode_into(const std::string& of_node, const std::string& found) {
  return "fn encode_into(t: Tree, all: List[f64[d]]) -> (f64[d], List[f64[d]]) =\n"
         "  match t\n"
         "    Leaf(word) -> (E[word], Cons(E[word], all))\n"
         "    Node(left, right) ->\n"
         "      let (a, before) = encode_into(left, all)\n"
         "      let (b, both) = encode_into(right, before)\n" +
         of_node + "      (h, Cons(h, " + found + "))\n";
}
/// The same, and a number that all of the list decides.
const std::string kThreadedCells =
    kTreeCells + encode_into("      let h = tanh(concat(a, b, axis=0) @ W)\n", "both") +
    "fn folded(all: List[f64[d]]) -> f64 = fold(fn(s, h) -> 0.75 * s + dot(h, v), 0.0, all)\n";

/// Nodes of two or three children, in functions that call each other and themselves.
const std::string kSyntaxCells =
    kTreeCells +
    "data Syntax = Word(word: i64) | Pair(left: Syntax, right: Syntax) | Many(children: List[Syntax])\n"
    "fn made(n: i64, word: i64) -> Syntax =\n"
    "  if n == 0 then Word(word % 20)\n"
    "  else if n % 2 == 0 then Pair(made(n - 1, 3 * word + 1), made(n - 1, word + 7))\n"
    "  else Many([made(n - 1, word + 2), made(n - 1, word + 3), made(n - 1, 2 * word)])\n"
    "fn folded(all: List[f64[d]]) -> f64 = fold(fn(s, h) -> 0.75 * s + dot(h, v), 0.0, all)\n";
/// A loss of `n` such trees, where `of_children` encodes the children of a node.
std::string syntax_loss(const std::string& of_children) {
  return "fn encode_one(t: Syntax, all: List[f64[d]]) -> (f64[d], List[f64[d]]) =\n"
         "  match t\n"
         "    Word(word) -> (E[word], Cons(E[word], all))\n"
         "    Pair(left, right) ->\n"
         "      let (a, before) = encode_one(left, all)\n"
         "      let (b, both) = encode_one(right, before)\n"
         "      let h = tanh(concat(a, b, axis=0) @ W)\n"
         "      (h, Cons(h, both))\n"
         "    Many(children) ->\n"
         "      let (sum, found) = " +
         of_children +
         "\n"
         "      let h = tanh(concat(sum, v, axis=0) @ W)\n"
         "      (h, Cons(h, found))\n"
         "fn many(ns: i64, all: List[f64[d]]) -> List[f64[d]] =\n"
         "  if ns == 0 then all else (let (_, more) = encode_one(made(5, ns), all) in many(ns - 1, more))\n"
         "fn loss(n: i64) -> f64 = folded(many(n, []))\n";
}

struct LoopCase {
  const char* name;
  std::string text;  ///< with the function `loss` of the number of trees
};

void PrintTo(const LoopCase& c, std::ostream* out) {
  *out << c.name;
}

const LoopCase kLoops[] = {
    {"Recursion", kTreeCells + "fn total(sum: f64, ts: List[Tree]) -> f64 =\n"
                               "  match ts\n"
                               "    Nil -> sum\n"
                               "    Cons(t, rest) -> total(0.75 * sum + cost(t), rest)\n"
                               "fn loss(n: i64) -> f64 = total(1, trees(n))\n"},
    {"Fold", kTreeCells + "fn loss(n: i64) -> f64 = fold(fn(sum, t) -> 0.75 * sum + cost(t), 1, trees(n))\n"},
    {"FoldOverChildren",
     kTreeCells +
         "data Syntax = Inner(kind: i64, children: List[Syntax])\n"
         "fn made(count: i64, depth: i64, kind: i64) -> List[Syntax] =\n"
         "  if count == 0 then Nil\n"
         "  else Cons(Inner(kind % 20, if depth == 0 then Nil else made(3, depth - 1, 3 * kind + count)),\n"
         "            made(count - 1, depth, kind + 7))\n"
         "fn encode_all(t: Syntax) -> f64[d] =\n"
         "  match t\n"
         "    Inner(kind, children) ->\n"
         "      let below = fold(fn(sum, child) -> 0.5 * sum + encode_all(child), f64(zeros(d)), children)\n"
         "      tanh(concat(E[kind], below, axis=0) @ W)\n"
         "fn loss(n: i64) -> f64 = dot(encode_all(Inner(3, made(n, 4, 5))), v)\n"},
    {"CallsInCalls",
     kTreeCells +
         "data Bag = One(tree: Tree) | Both(left: Bag, right: Bag)\n"
         "fn bag(n: i64) -> Bag = if n <= 1 then One(tree(5, n)) else Both(bag(n / 2), bag(n - n / 2))\n"
         "fn total(sum: f64, bag: Bag) -> f64 =\n"
         "  match bag\n"
         "    One(t) -> 0.75 * sum + cost(t)\n"
         "    Both(left, right) -> total(total(sum, left), right)\n"
         "fn loss(n: i64) -> f64 = total(1, bag(n))\n"},
    {"Branches",
     kTreeCells + "fn total(sum: f64, most: f64, i: i64, ts: List[Tree]) -> (f64, f64) =\n"
                  "  match ts\n"
                  "    Nil -> (sum, most)\n"
                  "    Cons(t, rest) ->\n"
                  "      let c = cost(t)\n"
                  "      if i % 5 == 0 then total(sum, most + c, i + 1, rest)\n"
                  "      else total(if sum > 0.5 then sum - c else sum + c * c, max(most, c), i + 1, rest)\n"
                  "fn loss(n: i64) -> f64 = (let (sum, most) = total(0, 0, 1, trees(n)) in sum * most)\n"},
    {"CallsThatWaitForABranch",
     kTreeCells + "fn leaves(t: Tree) -> f64 =\n"
                  "  match t\n"
                  "    Leaf(word) -> f64(word)\n"
                  "    Node(left, right) -> 0.5 * leaves(left) + leaves(right)\n"
                  "fn total(sum: f64, ts: List[Tree]) -> f64 =\n"
                  "  match ts\n"
                  "    Nil -> sum\n"
                  "    Cons(t, rest) ->\n"
                  "      let c = cost(t)\n"
                  "      total(0.75 * sum + c + (if sum > 0.5 then 0.01 * leaves(t) else 0), rest)\n"
                  "fn loss(n: i64) -> f64 = total(1, trees(n))\n"},
    {"LoopOverTreesThatHandOnAList", kThreadedCells + "fn loss(n: i64) -> f64 =\n"
                                                      "  let all = with all = Nil[f64[d]] for i in 0..n do\n"
                                                      "    let (_, more) = encode_into(tree(5, n - i), all)\n"
                                                      "    more\n"
                                                      "  folded(all)\n"},
    {"FoldOverTreesThatHandOnAList",
     kThreadedCells + "fn added(all: List[f64[d]], t: Tree) -> List[f64[d]] =\n"
                      "  let (h, more) = encode_into(t, all)\n"
                      "  Cons(2 * h, more)\n"
                      "fn loss(n: i64) -> f64 = folded(fold(added, Nil[f64[d]], trees(n)))\n"},
    {"RecursionOverTreesThatHandOnAList",
     kThreadedCells +
         "fn over(ts: List[Tree], sum: f64, all: List[f64[d]]) -> (f64, List[f64[d]]) =\n"
         "  match ts\n"
         "    Nil -> (sum, all)\n"
         "    Cons(t, rest) ->\n"
         "      let (h, more) = encode_into(t, all)\n"
         "      over(rest, sum / 2 + dot(h, v), more)\n"
         "fn loss(n: i64) -> f64 = (let (sum, all) = over(trees(n), 1, []) in sum + folded(all))\n"},
    {"RecursionThatTakesItsListThroughALoop",
     kTreeCells +
         "fn added(hs: List[f64[d]], sum: f64[d], all: List[f64[d]]) -> (f64[d], List[f64[d]]) =\n"
         "  match hs\n"
         "    Nil -> (sum, all)\n"
         "    Cons(h, rest) -> added(rest, 0.5 * sum + h, all)\n" +
         encode_into("      let (sum, found) = added([a, b], f64(zeros(d)), both)\n"
                     "      let h = tanh(concat(a, sum, axis=0) @ W)\n",
                     "found") +
         "fn over(ts: List[Tree], all: List[f64[d]]) -> List[f64[d]] =\n"
         "  match ts\n"
         "    Nil -> all\n"
         "    Cons(t, rest) -> (let (_, more) = encode_into(t, all) in over(rest, more))\n"
         "fn loss(n: i64) -> f64 = fold(fn(s, h) -> 0.75 * s + dot(h, v), 0.0, over(trees(n), []))\n"},
    {"FunctionsThatCallEachOther",
     kSyntaxCells +
         "fn encode_all(ts: List[Syntax], all: List[f64[d]]) -> (f64[d], List[f64[d]]) =\n"
         "  match ts\n"
         "    Nil -> (f64(zeros(d)), all)\n"
         "    Cons(first, rest) ->\n"
         "      let (h, found) = encode_one(first, all)\n"
         "      let (sum, both) = encode_all(rest, found)\n"
         "      (h + 0.5 * sum, both)\n" +
         syntax_loss("encode_all(children, all)")},
    {"FunctionsThatCallEachOtherWithASum",
     kSyntaxCells +
         "fn encode_all(ts: List[Syntax], sum: f64[d], all: List[f64[d]]) -> (f64[d], List[f64[d]]) =\n"
         "  match ts\n"
         "    Nil -> (sum, all)\n"
         "    Cons(first, rest) ->\n"
         "      let (h, found) = encode_one(first, all)\n"
         "      encode_all(rest, 0.5 * sum + h, found)\n" +
         syntax_loss("encode_all(children, f64(zeros(d)), all)")},
};

class SplitLoop : public testing::TestWithParam<LoopCase> {};
INSTANTIATE_TEST_SUITE_P(Loops, SplitLoop, testing::ValuesIn(kLoops),
                         [](const auto& info) { return std::string(info.param.name); });

/// The program as it is, with nothing split and nothing simplified.
Program unsplit(const std::string& text) {
  ir::Module module = lang::parse(std::make_shared<const Source>("test.hia", text));
  return Program::from_graph(passes::lower(module));
}

TEST_P(SplitLoop, HasTheBitsOfTheLoopInAllWays) {
  const std::string text = GetParam().text + "fn main(n: i64) -> f64 = loss(n)\n";
  const Program program = unsplit(text);
  const std::vector<Value> learned = initial_parameters(program.graph().parameters(), 1);
  for (const int64_t n : {0, 1, sized(9, 5)}) {
    RunOptions way = expected_way();
    way.parameters = learned;
    const std::vector<Value> expected = program.run({n}, way).values;
    expect_in_all_ways(text, {n}, expected);
  }
}

TEST_P(SplitLoop, HasTheGradientsOfTheLoop) {
  const Model model = Model::from_text("test.hia", GetParam().text);
  const std::vector<Value> parameters = model.initial_parameters(1);
  const std::vector<std::vector<Value>> examples = {{int64_t{0}}, {int64_t{7}}, {int64_t{4}}};
  const auto loss_of = [&](const std::vector<Value>& values) {
    double sum = 0;
    for (const auto& results : model.loss(examples, {.parameters = values})) sum += results[0].as<double>();
    return sum;
  };
  constexpr int64_t kEach = 7;  ///< every so many elements of a parameter
  std::vector<std::vector<double>> slopes(parameters.size());
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    const Tensor before = parameters[p].tensor();
    for (int64_t i = 0; i < before.size(); i += kEach) {
      const auto there = [&](double step) {
        Tensor moved(DType::F64, before.dims());
        std::copy_n(before.data<double>(), before.size(), moved.mutable_data<double>());
        moved.mutable_data<double>()[i] += step;
        std::vector<Value> values = parameters;
        values[p] = moved;
        return loss_of(values);
      };
      constexpr double kStep = 1e-5;
      slopes[p].push_back((there(kStep) - there(-kStep)) / (2 * kStep));
    }
  }
  for (RunOptions way : all_ways()) {
    Gradients gradients(model.parameters());
    way.parameters = parameters;
    way.gradients = &gradients;
    model.loss(examples, way);
    for (std::size_t p = 0; p < parameters.size(); ++p) {
      for (std::size_t i = 0; i < slopes[p].size(); ++i) {
        const double found = gradients[p].values.data<double>()[static_cast<int64_t>(i) * kEach];
        EXPECT_NEAR(found, slopes[p][i], 1e-5) << "parameter " << p << ", slope " << i;
      }
    }
  }
}

/// How many trees and parts of trees are one batch of the region that multiplies in `encode`.
double mean_batch(const RunStats& stats) {
  double most = 0;
  for (const RegionStats& region : stats.regions) {
    const bool is_cell =
        region.function.starts_with("encode") && region.name.find("concat") != std::string::npos;
    if (is_cell && region.launches > 0)
      most = static_cast<double>(region.firings) / static_cast<double>(region.launches);
  }
  return most;
}

TEST_P(SplitLoop, RunsTheWorkOfAllIterationsInBatches) {
  const Model model = Model::from_text("test.hia", GetParam().text);
  const std::vector<Value> parameters = model.initial_parameters(1);
  Gradients gradients(model.parameters());
  const std::vector<std::vector<Value>> examples = {{int64_t{64}}};
  RunStats stats;
  model.loss(examples, {.count_regions = true, .stats = &stats, .parameters = parameters});
  EXPECT_GE(mean_batch(stats), 200.0);
  model.loss(examples,
             {.count_regions = true, .stats = &stats, .parameters = parameters, .gradients = &gradients});
  EXPECT_GE(mean_batch(stats), 200.0);
  EXPECT_EQ(stats.frames_live_at_end, 0u);
}

TEST(SplitLoops, RunTheCellsOfATreeThatHandsOnAListInBatches) {
  const std::string text = kTreeCells +
                           "fn encode_all(t: Tree, all: List[f64[d]]) -> (f64[d], List[f64[d]]) =\n"
                           "  match t\n"
                           "    Leaf(word) -> (E[word], Cons(E[word], all))\n"
                           "    Node(left, right) ->\n"
                           "      let (a, before) = encode_all(left, all)\n"
                           "      let (b, both) = encode_all(right, before)\n"
                           "      let h = tanh(concat(a, b, axis=0) @ W)\n"
                           "      (h, Cons(h, both))\n"
                           "fn main(n: i64) -> List[f64[d]] =\n"
                           "  let (_, all) = encode_all(tree(n, 1), [])\n"
                           "  all\n";
  const Program program = Program::from_text("test.hia", text);
  const std::vector<Value> learned = initial_parameters(program.graph().parameters(), 1);
  RunStats stats;
  program.run({int64_t{8}}, {.count_regions = true, .stats = &stats, .parameters = learned});
  EXPECT_GE(mean_batch(stats), 255 / 8.0);
}

TEST(SplitLoops, FailAsTheyDidBefore) {
  const std::string text = kTreeCells +
                           "fn total(sum: f64, ts: List[Tree]) -> f64 =\n"
                           "  match ts\n"
                           "    Nil -> sum\n"
                           "    Cons(t, rest) -> total(sum + cost(t), rest)\n"
                           "fn main(word: i64) -> f64 = total(0, Cons(Leaf(1), Cons(Leaf(word), Nil)))\n";
  const Program program = Program::from_text("test.hia", text);
  const std::vector<Value> learned = initial_parameters(program.graph().parameters(), 1);
  for (RunOptions way : all_ways()) {
    way.parameters = learned;
    EXPECT_THAT([&] { program.run({int64_t{20}}, way); },
                testing::ThrowsMessage<RunError>(
                    testing::AllOf(testing::HasSubstr("gather"), testing::HasSubstr("in encode"))));
  }
}

}  // namespace
}  // namespace hiaton
