// What a person reads when a run fails: every executor says the same.
#include <gtest/gtest.h>

#include "exec/fault.h"
#include "exec/hand_built.h"
#include "exec/programs.h"

namespace hiaton::exec::testing {
namespace {

class Faults : public ::testing::TestWithParam<Mode> {
 protected:
  RunError error_of(const Graph& graph, const std::vector<Value>& arguments, RunOptions options = {}) {
    try {
      run(GetParam(), graph, arguments, options);
    } catch (const RunError& error) {
      return error;
    }
    ADD_FAILURE() << "the run gave a result";
    return {Fault::None, ""};
  }
  RunError error_of(std::string_view text, const std::vector<Value>& arguments, RunOptions options = {}) {
    return error_of(graph_of(text), arguments, options);
  }
};

INSTANTIATE_TEST_SUITE_P(EveryExecutor, Faults, ::testing::ValuesIn(all_modes()),
                         [](const auto& info) { return ::testing::PrintToString(info.param); });

TEST_P(Faults, AnOperationSaysWhereAndOnWhat) {
  const RunError error = error_of("fn main(n: i64) -> i64 =\n  7 / (n - 3)\n", {int64_t{3}});
  EXPECT_EQ(error.fault(), Fault::DivisionByZero);
  EXPECT_EQ(std::string(error.what()),
            "main.hia:2:5: error: division by zero: 7 / 0\n"
            " 2 |   7 / (n - 3)\n"
            "   |     ^\n"
            "  in main(n = 3)");
}

TEST_P(Faults, AnAssumptionSaysItsIdAndWhereItStands) {
  const std::string_view text =
      "fn half(n: i64) -> i64 =\n"
      "  let _ = assume(n % 2 == 0, id=7)\n"
      "  n / 2\n"
      "fn main(n: i64) -> i64 = if n < 2 then n else 1 + main(half(n))\n";
  EXPECT_EQ(run(GetParam(), graph_of(text), {int64_t{8}}).values[0], Value(int64_t{4}));
  const RunError error = error_of(text, {int64_t{6}});
  EXPECT_EQ(error.fault(), Fault::Assumption);
  EXPECT_EQ(error.assumption(), 7);
  EXPECT_EQ(error.message(),
            "main.hia:2:11: error: assumption failed: the condition is false (id=7)\n"
            " 2 |   let _ = assume(n % 2 == 0, id=7)\n"
            "   |           ^^^^^^^^^^^^^^^^^^^^^^^^");
}

TEST_P(Faults, AnAssumptionOnATensorIsOnEachOfItsElements) {
  const std::string_view text =
      "fn main(x: f64[3]) -> f64 =\n"
      "  let _ = assume(x >= 0.0)\n"
      "  sum(sqrt(x))\n";
  const Type type = tensor_type(DType::F64, {3});
  EXPECT_EQ(run(GetParam(), graph_of(text), {parse_value(type, "[1, 4, 0]")}).values[0], Value(3.0));
  const RunError error = error_of(text, {parse_value(type, "[1, 4, -1]")});
  EXPECT_EQ(error.fault(), Fault::Assumption);
  EXPECT_EQ(error.assumption(), 0);
}

// A call in tail position hands its frame on in the production executor, and so leaves the chain: the calls
// of these tests have something left to do.

TEST_P(Faults, TheChainOfCallsIsReadOffTheTag) {
  const RunError error = error_of(
      "fn inner(a: i64, b: i64) -> i64 = a % b\n"
      "fn outward(n: i64) -> i64 =\n"
      "  if n == 0 then 1 + inner(8, n) else 1 + outward(n - 1)\n"
      "fn main(n: i64) -> i64 = outward(n) + 1\n",
      {int64_t{2}});
  EXPECT_EQ(std::string(error.what()),
            "main.hia:1:37: error: division by zero: 8 % 0\n"
            " 1 | fn inner(a: i64, b: i64) -> i64 = a % b\n"
            "   |                                     ^\n"
            "  in inner(a = 8, b = 0) called at main.hia:3:22\n"
            "      if n == 0 then 1 + inner(8, n) else 1 + outward(n - 1)\n"
            "  in outward(n = 0) called at main.hia:3:43\n"
            "      if n == 0 then 1 + inner(8, n) else 1 + outward(n - 1)\n"
            "  in outward(n = 1) called at main.hia:3:43\n"
            "      if n == 0 then 1 + inner(8, n) else 1 + outward(n - 1)\n"
            "  in outward(n = 2) called at main.hia:4:26\n"
            "      fn main(n: i64) -> i64 = outward(n) + 1\n"
            "  in main(n = 2)");
  EXPECT_EQ(error.chain_length(), 5u);
}

TEST_P(Faults, ALongChainKeepsItsFirstAndLastCalls) {
  const RunError error = error_of(
      "fn f(n: i64) -> i64 = if n == 0 then 1 / n else 1 + f(n - 1)\n"
      "fn main(n: i64) -> i64 = 1 + f(n)\n",
      {int64_t{100}});
  EXPECT_EQ(error.chain_length(), 102u);
  ASSERT_EQ(error.chain().size(), 16u);
  EXPECT_EQ(error.chain()[0].arguments, std::vector<std::string>{"n = 0"});
  EXPECT_EQ(error.chain()[7].arguments, std::vector<std::string>{"n = 7"});
  EXPECT_EQ(error.chain()[8].arguments, std::vector<std::string>{"n = 94"});
  EXPECT_EQ(error.chain()[14].arguments, std::vector<std::string>{"n = 100"});
  EXPECT_EQ(error.chain()[15].function, "main");
  EXPECT_NE(std::string(error.what()).find("\n  ... 86 more calls ...\n"), std::string::npos);
}

TEST_P(Faults, AMainThatCallsItselfIsShownAsTheProgram) {
  const RunError error =
      error_of("fn main(n: i64) -> i64 = if n == 0 then 1 / n else 1 + main(n - 1)\n", {int64_t{1}});
  ASSERT_EQ(error.chain().size(), 2u);
  EXPECT_EQ(error.chain()[0].arguments, std::vector<std::string>{"n = 0"});
  EXPECT_EQ(error.chain()[0].call_place, "main.hia:1:56");
  EXPECT_EQ(error.chain()[1].function, "main");
  EXPECT_EQ(error.chain()[1].arguments, std::vector<std::string>{"n = 1"});
  EXPECT_EQ(error.chain()[1].call_place, "");
  EXPECT_EQ(error.chain_length(), 2u);
}

TEST_P(Faults, AFunctionWithoutParametersShowsNone) {
  const RunError error = error_of("fn f() -> i64 = 1 / 0\nfn main() -> i64 = 1 + f()\n", {});
  ASSERT_EQ(error.chain().size(), 2u);
  EXPECT_TRUE(error.chain()[0].arguments.empty());
}

TEST_P(Faults, CallsInLoopsAreInTheChain) {
  const RunError error = error_of(
      "fn f(n: i64) -> i64 = 10 / (3 - n)\n"
      "fn main(n: i64) -> i64 = with acc = 0 for i in 0..n do acc + f(i)\n",
      {int64_t{4}});
  ASSERT_EQ(error.chain().size(), 2u);
  EXPECT_EQ(error.chain()[0].arguments, std::vector<std::string>{"n = 3"});
}

TEST_P(Faults, CallsThatNobodyWroteHaveNoPlace) {
  const RunError error = error_of(
      "fn half(n: i64) -> i64 = 10 / (n - 3)\n"
      "fn main(n: i64) -> i64 = fold(add, 0, map(half, [n + 1, n]))\n",
      {int64_t{3}});
  const std::string text = error.what();
  EXPECT_NE(text.find("\n  in map_half("), std::string::npos) << text;
  EXPECT_EQ(text.find("call site"), std::string::npos) << text;
}

TEST_P(Faults, OverflowTrapsByOption) {
  RunOptions options;
  options.overflow = OverflowMode::Trap;
  const std::string text = "fn main(n: i64) -> i64 = n * n";
  const RunError error = error_of(text, {int64_t{1} << 40}, options);
  EXPECT_EQ(error.fault(), Fault::Overflow);
  EXPECT_NE(error.message().find("integer overflow: 1099511627776 * 1099511627776 does not fit i64"),
            std::string::npos)
      << error.message();
  EXPECT_EQ(run(GetParam(), text, {int64_t{1} << 40}), std::vector<Value>{int64_t{0}});
}

TEST_P(Faults, ACastSaysWhatDoesNotFit) {
  const RunError error = error_of("fn main(x: f64) -> i32 = i32(x)", {1e20});
  EXPECT_EQ(error.fault(), Fault::InvalidCast);
  EXPECT_NE(error.message().find("invalid cast: i32(1e+20) does not fit i32"), std::string::npos)
      << error.message();
}

TEST_P(Faults, AGraphWithoutTextNamesNodesAndFunctions) {
  Hand hand;
  const FunctionId main = hand.add_function("main");
  const OutPort n = hand.int_input("n");
  const FunctionId f = hand.add_function("f");
  const OutPort a = hand.param("a");
  const OutPort quotient = hand.apply("div", {a, a});
  hand.node(quotient).name = "quotient";
  hand.add_result(quotient);
  hand.in_function(main);
  const CallSite site = hand.add_site(f);
  hand.argument(site, n, a);
  hand.output(hand.add1(hand.return_from(site, DType::I64)));
  const RunError error = error_of(hand.finish(), {int64_t{0}});
  EXPECT_EQ(std::string(error.what()),
            "division by zero: 0 / 0 (%2 div 'quotient' of f)\n"
            "  in f(a = 0) called at call site 0 in main\n"
            "  in main(n = 0)");
}

TEST_P(Faults, StatsAreFilledAndAllFramesAreBack) {
  RunStats stats;
  stats.frames_live_at_end = 99;
  RunOptions options;
  options.stats = &stats;
  options.count_regions = true;
  error_of("fn f(n: i64) -> i64 = if n == 0 then 1 / n else 1 + f(n - 1) fn main(n: i64) -> i64 = f(n)",
           {int64_t{100}}, options);
  EXPECT_GE(stats.calls, 101u);
  EXPECT_GE(stats.frames_live_most, 101u);
  EXPECT_EQ(stats.frames_live_at_end, 0u);
}

/// A chain of no calls: at the program itself.
class AtTheProgram : public CallChain {
 public:
  void rewind() override {}
  bool at_call() const override { return false; }
  void go_outward() override {}
  graph::CallSite site() const override { return {}; }
  std::vector<std::optional<Value>> arguments() const override { return {}; }
};

// As a message of another process may say that is not what was sent.
TEST(CallsAround, AChainMayHaveFewerCallsThanItsLengthSays) {
  const graph::Graph graph = graph_of("fn main(n: i64) -> i64 = 1 / n");
  const std::vector<Value> arguments{int64_t{0}};
  AtTheProgram chain;
  const RunError error(Fault::DivisionByZero, "division by zero", {{"f", {}, "", ""}}, uint64_t{1} << 40);
  const RunError found = with_calls_around({graph, arguments, chain}, error);
  EXPECT_EQ(found.chain().size(), 1u);
  EXPECT_EQ(found.chain_length(), (uint64_t{1} << 40) + 1);
}

TEST_P(Faults, ArgumentsMustFitTheProgram) {
  const auto message_of = [&](const std::vector<Value>& arguments) -> std::string {
    try {
      run(GetParam(), "fn main(a: i64, b: f64) -> i64 = a", arguments);
    } catch (const ProgramError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(message_of({int64_t{1}}), "expected 2 arguments for main, found 1");
  EXPECT_EQ(message_of({int64_t{1}, int64_t{2}}),
            "expected argument 'b' of main to be of type f64, found 2 (i64)");
}

}  // namespace
}  // namespace hiaton::exec::testing
