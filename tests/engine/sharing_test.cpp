// One example on several workers: calls that others run.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include "engine/run_error.h"
#include "engine/tree_model.h"
#include "grown_tree.h"
#include "hiaton/hiaton.h"
#include "sized.h"

namespace hiaton {
namespace {

constexpr int kRounds = sized(10, 3);
constexpr int kDepth = sized(9, 6);

/// Complete, of 2^(depth + 1) - 1 nodes; with other words in each.
Value tree(int depth, int64_t seed) {
  if (depth == 0) return tree_model::leaf(seed % 2, seed % 3);
  return tree_model::node(seed % 2, tree(depth - 1, 2 * seed), tree(depth - 1, 2 * seed + 1));
}

RunOptions shared(int workers, bool every_call = true) {
  return {.executor = Executor::Flow, .workers = workers, .share_every_call = every_call};
}

const std::string kGrow = grown_tree_with(
    "fn main(x: f32[3], n: i64) -> (f32[3], i64, Tree) =\n"
    "  let (sum, number) = fold(grow(x, n, 1), x)\n"
    "  (sum, number, grow(x, 2, 5))\n");

TEST(Sharing, GivesTheBitsOfOneWorker) {
  const Program program = Program::from_text("test.hia", kGrow);
  const std::vector<Value> arguments{parse_value(tensor_type(DType::F32, {3}), "[0.1, 0.2, -0.3]"),
                                     Value(int64_t{kDepth})};
  const std::vector<Value> expected = program.run(arguments, {.executor = Executor::Flow}).values;
  for (const int workers : {2, 3, 8}) {
    for (int round = 0; round < kRounds; ++round) {
      const RunResult found = program.run(arguments, shared(workers));
      EXPECT_EQ(found.values, expected) << workers;
      EXPECT_GT(found.stats.steals, 0u);
      EXPECT_EQ(program.run(arguments, shared(workers, false)).values, expected) << workers;
    }
  }
}

TEST(Sharing, TakesCallsWhereThereIsNothingElseToDo) {
  const Program program = Program::from_text("test.hia", kGrow);
  const std::vector<Value> arguments{parse_value(tensor_type(DType::F32, {3}), "[0.1, 0.2, -0.3]"),
                                     Value(int64_t{kDepth + 4})};
  uint64_t steals = 0;
  for (int round = 0; round < 1000 && steals == 0; ++round)
    steals = program.run(arguments, shared(2, false)).stats.steals;
  EXPECT_GT(steals, 0u);
}

/// Losses keep their bits; the sums of gradients are made in another order.
TEST(Sharing, OfGradientsGivesThoseOfOneWorker) {
  const Model model = Model::from_text("test.hia", tree_model::kTreeModel);
  const std::vector<Value> parameters = model.initial_parameters(1);
  const auto learned = [&](RunOptions options) {
    Gradients gradients(model.parameters());
    options.parameters = parameters;
    options.gradients = &gradients;
    std::vector<Value> found = model.loss(tree_model::Trees{{tree(kDepth, 1)}}, options)[0];
    std::vector<float> sums;
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      const Tensor& sum = gradients[i].values;
      sums.insert(sums.end(), sum.data<float>(), sum.data<float>() + sum.size());
    }
    return std::pair(found, sums);
  };
  const auto [loss, sums] = learned({});
  for (const int workers : {2, 8}) {
    for (const bool every_call : {true, false}) {
      for (int round = 0; round < kRounds; ++round) {
        const auto [found, found_sums] = learned(shared(workers, every_call));
        EXPECT_EQ(found, loss);
        ASSERT_EQ(found_sums.size(), sums.size());
        for (std::size_t i = 0; i < sums.size(); ++i)
          EXPECT_NEAR(found_sums[i], sums[i], 1e-4 * (1 + std::abs(sums[i])));
      }
    }
  }
}

TEST(Sharing, TellsTheWholeChainOfCalls) {
  const Program program =
      Program::from_text("test.hia",
                         "fn f(x: f32[2], n: i64) -> f32 =\n"
                         "  if n == 0 then x[i64(x[0]) - 7]\n"
                         "  else f(x + 1.0, n - 1) + (if n < 5 then 1.0 else g(x, n - 5))\n"
                         "fn g(x: f32[2], n: i64) -> f32 = if n == 0 then sum(x) else g(x, n - 1) * 0.5\n"
                         "fn main(x: f32[2]) -> f32 = f(x, 8) * 2.0\n");
  const std::vector<Value> arguments{parse_value(tensor_type(DType::F32, {2}), "[1, 2]")};
  const RunError expected = error_of(program, arguments, {.executor = Executor::Reference});
  ASSERT_EQ(expected.fault(), Fault::Index);
  for (const int workers : {2, 3, 8}) {
    for (int round = 0; round < kRounds; ++round)
      EXPECT_STREQ(error_of(program, arguments, shared(workers)).what(), expected.what());
  }
}

TEST(Sharing, KeepsToBudgets) {
  const Program program =
      Program::from_text("test.hia",
                         "fn f(x: f32[2], n: i64) -> f32 = sum(x) + f(x, n + 1) * f(x, n + 2)\n"
                         "fn main(x: f32[2]) -> f32 = f(x, 0)\n");
  const std::vector<Value> arguments{parse_value(tensor_type(DType::F32, {2}), "[1, 2]")};
  for (const bool every_call : {true, false}) {
    for (const int workers : {2, 8}) {
      RunOptions options = shared(workers, every_call);
      options.max_frames = 1000;
      EXPECT_EQ(error_of(program, arguments, options).fault(), Fault::MaxFrames);
      options = shared(workers, every_call);
      options.max_bytes = 10'000'000;
      EXPECT_EQ(error_of(program, arguments, options).fault(), Fault::MaxBytes);
      options = shared(workers, every_call);
      options.timeout = std::chrono::milliseconds(3);
      EXPECT_EQ(error_of(program, arguments, options).fault(), Fault::Timeout);
      const std::atomic<bool> cancel = true;
      options = shared(workers, every_call);
      options.cancel = &cancel;
      EXPECT_EQ(error_of(program, arguments, options).fault(), Fault::Interrupted);
    }
  }
}

/// A program that a run ended with an error runs again.
TEST(Sharing, GoesOnAfterAnError) {
  const Program program = Program::from_text(
      "test.hia",
      "fn f(x: f32[4], n: i64) -> f32 = if n <= 0 then x[n + 1] else f(x, n - 1) + f(x, n - 2)\n"
      "fn main(x: f32[4], n: i64) -> f32 = f(x, n)\n");
  const Value x = parse_value(tensor_type(DType::F32, {4}), "[1, 2, 3, 4]");
  const std::vector<Value> expected =
      program.run({x, Value(int64_t{9})}, {.executor = Executor::Reference}).values;
  for (int round = 0; round < kRounds; ++round) {
    EXPECT_EQ(error_of(program, {x, Value(int64_t{-2})}, shared(3)).fault(), Fault::Index);
    EXPECT_EQ(program.run({x, Value(int64_t{9})}, shared(3)).values, expected);
  }
}

/// Tail calls of a stolen call return to the worker of its caller; several examples share their calls too.
TEST(Sharing, OfTailCallsAndOfManyExamples) {
  const Program program = Program::from_text(
      "test.hia",
      "fn turn(x: f32[2], n: i64) -> f32[2] = if n == 0 then x else turn(tanh(x) * 1.1, n - 1)\n"
      "fn f(x: f32[2], n: i64) -> f32[2] = if n == 0 then turn(x, 9) else f(x + 0.1, n - 1) - f(turn(x, 3), "
      "n - 1)\n"
      "fn main(x: f32[2], n: i64) -> f32[2] = f(x, n)\n");
  std::vector<std::vector<Value>> lists;
  for (int i = 0; i < 7; ++i)
    lists.push_back(
        {parse_value(tensor_type(DType::F32, {2}), "[" + std::to_string(i) + ", 2]"), Value(int64_t{i})});
  const std::vector<std::vector<Value>> expected = program.run_all(lists, {.executor = Executor::Flow});
  for (const int workers : {2, 8}) {
    for (const bool every_call : {true, false})
      EXPECT_EQ(program.run_all(lists, shared(workers, every_call)), expected);
  }
}

TEST(Sharing, DrawsAnArrowForEachCallThatIsGiven) {
  const Program program = Program::from_text("test.hia", kGrow);
  Trace trace;
  RunOptions options = shared(2);
  options.trace = &trace;
  const RunResult result = program.run(
      {parse_value(tensor_type(DType::F32, {3}), "[0.1, 0.2, -0.3]"), Value(int64_t{3})}, options);
  const std::string json = trace.to_json();
  const auto count = [&](const std::string& part) {
    uint64_t found = 0;
    for (std::size_t at = json.find(part); at != std::string::npos; at = json.find(part, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count("\"ph\":\"s\""), result.stats.steals);
  EXPECT_EQ(count("\"ph\":\"f\""), result.stats.steals);
}

}  // namespace
}  // namespace hiaton
