// Whole programs over several processes: those of the papers, and one for each construct of the language.
#include "support.h"

namespace hiaton::partition::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Value number(int64_t value) {
  return Value(value);
}

TEST(PartitionedPrograms, TheFactorialOfAnnexA) {
  EXPECT_THAT(run_every_way("fn fac(n: i64) -> i64 =\n"
                            "  if on \"process:1\" (n <= 1) then on \"process:0\" 1\n"
                            "  else on \"process:1\" (n * fac(n - 1))\n"
                            "fn main(n: i64) -> i64 = fac(n)\n",
                            {number(5)}),
              ElementsAre(number(120)));
}

TEST(PartitionedPrograms, FibonacciPlusOneOnTwoTasks) {
  const std::string text =
      "fn fib(n: i64) -> i64 on \"process:1\" = if n <= 1 then n else fib(n - 1) + fib(n - 2)\n"
      "fn main(n: i64) -> i64 on \"process:0\" = fib(n) + 1\n";
  EXPECT_THAT(run_every_way(text, {number(8)}), ElementsAre(number(22)));
  const Found found = run(Split(text, 2), {number(20)});
  EXPECT_THAT(found.values, ElementsAre(number(6766)));
  EXPECT_THAT(found.crossed, ElementsAre("n 0>1 {} 20", "Return 1>0 {} 6765")) << "the call crosses, no more";
  EXPECT_EQ(found.stats.calls, 21891u);
}

TEST(PartitionedPrograms, OneFibonacciOnEachSide) {
  EXPECT_THAT(
      run_every_way("fn fib(n: i64) -> i64 =\n"
                    "  if n <= 1 then n else on \"process:1\" fib(n - 1) + on \"process:2\" fib(n - 2)\n"
                    "fn main(n: i64) -> i64 = fib(n)\n",
                    {number(8)}),
      ElementsAre(number(21)));
}

TEST(PartitionedPrograms, MutualRecursionOverTwoPlaces) {
  const std::string text =
      "fn is_even(n: i64) -> bool on \"even\" = if n == 0 then true else is_odd(n - 1)\n"
      "fn is_odd(n: i64) -> bool on \"odd\" = if n == 0 then false else is_even(n - 1)\n"
      "fn main(n: i64) -> bool = is_even(n)\n";
  EXPECT_THAT(run_every_way(text, {number(7)}), ElementsAre(Value(false)));
  EXPECT_THAT(run_every_way(text, {number(6)}), ElementsAre(Value(true)));
}

TEST(PartitionedPrograms, MutualRecursionWithBodiesThatAreSpread) {
  EXPECT_THAT(run_every_way("fn f(n: i64) -> i64 =\n"
                            "  if n <= 0 then 1 else on \"process:1\" (n + on \"\" g(n - 1)) * 2\n"
                            "fn g(n: i64) -> i64 =\n"
                            "  if on \"process:2\" (n <= 0) then 3 else on \"process:3\" (f(n - 2) - n)\n"
                            "fn main(n: i64) -> i64 = f(n) + g(n)\n",
                            {number(7)}),
              ElementsAre(::testing::_));
}

TEST(PartitionedPrograms, ALoopOverTwoProcessesWithNoIterationOneAndMany) {
  const std::string text =
      "fn main(n: i64) -> i64 =\n"
      "  let (a, _) = with a = 1, i = n while i > 0 do (on \"process:1\" (a * i), i - 1)\n"
      "  a\n";
  EXPECT_THAT(run_every_way(text, {number(0)}), ElementsAre(number(1)));
  EXPECT_THAT(run_every_way(text, {number(1)}), ElementsAre(number(1)));
  EXPECT_THAT(run_every_way(text, {number(5)}), ElementsAre(number(120)));
}

TEST(PartitionedPrograms, LoopsInLoopsWithCallsInBranches) {
  EXPECT_THAT(
      run_every_way("fn count(n: i64) -> i64 on \"process:2\" =\n"
                    "  let (k, _) = with k = 0, i = n while i > 0 do\n"
                    "    let (j, _) = on \"process:1\" with j = 0, l = i while l > 0 do\n"
                    "      (if l % 2 == 0 then on \"process:3\" half(j + l) else j + 1, l - 1)\n"
                    "    (k + j, i - 1)\n"
                    "  k\n"
                    "fn half(n: i64) -> i64 = if n < 4 then n else on \"process:0\" (1 + half(n / 2))\n"
                    "fn main(n: i64) -> i64 = count(n) - on \"process:1\" count(n - 2)\n",
                    {number(6)}),
      ElementsAre(::testing::_));
}

TEST(PartitionedPrograms, SeveralResultsFromSeveralPlaces) {
  EXPECT_THAT(run_every_way("fn divmod(a: i64, b: i64) -> (i64, i64) =\n"
                            "  if a < b then (0, a) else\n"
                            "    let (q, r) = on \"process:1\" divmod(a - b, b)\n"
                            "    (on \"process:2\" (q + 1), r)\n"
                            "fn main(a: i64, b: i64) -> (i64, i64) = divmod(a, b)\n",
                            {number(17), number(5)}),
              ElementsAre(number(3), number(2)));
}

TEST(PartitionedPrograms, DataValuesAndTensorsCross) {
  EXPECT_THAT(run_every_way("data Tree = Leaf(value: f64[2]) | Node(left: Tree, right: Tree)\n"
                            "fn grow(n: i64) -> Tree on \"process:1\" =\n"
                            "  if n == 0 then Leaf([1.5, 2.5]) else Node(grow(n - 1), grow(n - 1))\n"
                            "fn total(t: Tree) -> f64[2] on \"process:2\" =\n"
                            "  match t\n"
                            "    Leaf(value) -> value\n"
                            "    Node(left, right) -> on \"process:3\" (total(left) + total(right))\n"
                            "fn main(n: i64) -> f64 = sum(total(grow(n)))\n",
                            {number(4)}),
              ElementsAre(Value(64.0)));
}

TEST(PartitionedPrograms, OperationsGoToThePlacedParameterThatTheyRead) {
  const std::string text =
      "param E: f64[4, 2] on \"process:1\"\n"
      "param w: f64[2]\n"
      "fn walk(n: i64, x: f64[2]) -> f64[2] = if n == 0 then x else walk(n - 1, x * w + E[n])\n"
      "fn main(n: i64, x: f64[2]) -> f64[2] = walk(n, x)\n";
  const Split split(text, 2);
  for (const Channel& channel : split.parts.channels) {
    EXPECT_NE(split.parts.placed.graph[channel.of.node].type, tensor_type(DType::F64, {4, 2}))
        << "a row crosses, not the table";
  }
  Tensor table(DType::F64, {4, 2});
  Tensor weights(DType::F64, {2});
  for (int i = 0; i < 8; ++i) table.mutable_data<double>()[i] = i;
  for (int i = 0; i < 2; ++i) weights.mutable_data<double>()[i] = i + 2;
  const std::vector<Value> parameters{table, weights};
  RunOptions options;
  options.parameters = parameters;
  const std::vector<Value> arguments{Value(int64_t{3}), Value(weights)};
  const Found found = run(split, arguments, {net::Delivery::Random, 7}, options);
  EXPECT_EQ(found.values, exec::run_reference(split.graph, arguments, options).values);
  EXPECT_FALSE(found.crossed.empty());
}

TEST(PartitionedPrograms, FunctionsWithoutParameters) {
  EXPECT_THAT(run_every_way("fn one() -> i64 on \"process:1\" = 1\n"
                            "fn two() -> i64 = on \"process:2\" (one() + one())\n"
                            "fn main(b: bool) -> i64 = if b then two() * two() else one()\n",
                            {Value(true)}),
              ElementsAre(number(4)));
}

TEST(PartitionedPrograms, AMainThatIsElsewhereAndCallsItself) {
  EXPECT_THAT(run_every_way("fn main(n: i64) -> i64 on \"process:1\" =\n"
                            "  if n <= 0 then 0 else on \"process:3\" (n + main(n - 1))\n",
                            {number(4)}),
              ElementsAre(number(10)));
}

TEST(PartitionedPrograms, GradientsOfAFunctionThatIsSpread) {
  const std::string text =
      "fn f(x: f64, n: i64) -> f64 =\n"
      "  if n == 0 then x else on \"process:1\" (sin(on \"process:2\" f(x * x, n - 1)))\n"
      "fn slope(x: f64, n: i64) -> f64 = grad(f)\n"
      "fn main(x: f64) -> f64 = slope(x, 3)\n";
  const auto graph_with_gradients = [&] {
    return passes::lower(
        passes::add_gradients(lang::parse(std::make_shared<const Source>("main.hia", text))));
  };
  const std::vector<Value> expected =
      exec::run_reference(graph_with_gradients(), std::vector{Value(0.5)}, {}).values;
  for (int processes = 2; processes <= 3; ++processes) {
    const Split split(graph_with_gradients(), processes);
    EXPECT_GT(split.parts.channels.size(), 4u);
    EXPECT_EQ(run(split, {Value(0.5)}, {net::Delivery::Random, 3}).values, expected);
  }
}

TEST(PartitionedPrograms, CallsAsDeepAsMemoryAllows) {
  const Split split(
      "fn count(n: i64) -> i64 = if n == 0 then 0 else on \"process:1\" (1 + on \"\" count(n - 1))\n"
      "fn main(n: i64) -> i64 = count(n)\n",
      2);
  EXPECT_THAT(run(split, {number(2000)}).values, ElementsAre(number(2000)));
}

// Errors ----------------------------------------------------------------------------------------------------

RunError error_of(const Split& split, const std::vector<Value>& arguments, const RunOptions& options = {}) {
  RunStats stats;
  RunOptions counted = options;
  counted.stats = &stats;
  try {
    run(split, arguments, {}, counted);
  } catch (const RunError& error) {
    EXPECT_EQ(stats.frames_live_at_end, 0u);
    return error;
  }
  ADD_FAILURE() << "the run gave a result";
  return {Fault::None, ""};
}

TEST(PartitionedErrors, SayTheProcessAndTheCallsWithTheirArguments) {
  const Split split(
      "fn inner(a: i64, b: i64) -> i64 = on \"process:1\" (a % b)\n"
      "fn outward(n: i64) -> i64 =\n"
      "  if n == 0 then 1 + inner(8, n) else 1 + outward(n - 1)\n"
      "fn main(n: i64) -> i64 = outward(n) + 1\n",
      2);
  const RunError error = error_of(split, {number(1)});
  EXPECT_EQ(error.fault(), Fault::DivisionByZero);
  EXPECT_EQ(std::string(error.what()),
            "main.hia:1:53: error: division by zero: 8 % 0 (process 1)\n"
            " 1 | fn inner(a: i64, b: i64) -> i64 = on \"process:1\" (a % b)\n"
            "   |                                                     ^\n"
            "  in inner(a = 8, b = 0) called at main.hia:3:22\n"
            "      if n == 0 then 1 + inner(8, n) else 1 + outward(n - 1)\n"
            "  in outward(n = 0) called at main.hia:3:43\n"
            "      if n == 0 then 1 + inner(8, n) else 1 + outward(n - 1)\n"
            "  in outward(n = 1) called at main.hia:4:26\n"
            "      fn main(n: i64) -> i64 = outward(n) + 1\n"
            "  in main(n = 1)");
}

TEST(PartitionedErrors, ABudgetEndsAnEndlessRecursionOverTwoProcesses) {
  const Split split(
      "fn f(n: i64) -> i64 on \"process:0\" = 1 + g(n + 1)\n"
      "fn g(n: i64) -> i64 on \"process:1\" = 1 + f(n + 1)\n"
      "fn main(n: i64) -> i64 = f(n)\n",
      2);
  RunOptions options;
  options.max_frames = 500;
  const RunError error = error_of(split, {number(1)}, options);
  EXPECT_EQ(error.fault(), Fault::MaxFrames);
  EXPECT_THAT(error.what(), HasSubstr("frame budget: more than 500 frames are live"));
  EXPECT_THAT(error.what(), HasSubstr("(process "));
}

TEST(PartitionedPrograms, TokensOfPartsAreNotThoseOfTheGraph) {
  RunOptions options;
  options.on_token = [](const TokenEvent&) { ADD_FAILURE() << "its node would be one of a part"; };
  const Split split("fn main(n: i64) -> i64 = on \"process:1\" (n + 1)\n", 2);
  EXPECT_THAT(run(split, {number(1)}, {}, options).values, ElementsAre(number(2)));
}

TEST(PartitionedErrors, WrongArgumentsAreRefused) {
  const Split split("fn main(n: i64) -> i64 = on \"process:1\" (n + 1)\n", 2);
  EXPECT_THROW(run(split, {}), ProgramError);
  EXPECT_THROW(run(split, {Value(1.5)}), ProgramError);
}

}  // namespace
}  // namespace hiaton::partition::testing
