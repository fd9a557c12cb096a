#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "hiaton/hiaton.h"

namespace hiaton {
namespace {

constexpr const char* kFact =
    "fn fact(n: i64) -> i64 = if n == 1 then n else n * fact(n - 1)\n"
    "fn main(n: i64) -> i64 = fact(n) + 5\n";

ir::Module sum_module() {
  ModuleBuilder builder;
  const FunctionRef main = builder.declare("main", {{DType::I32, "a"}, {DType::I32, "b"}}, {DType::I32});
  builder.define(main, [](FunctionBuilder& f) { return f.param(0) + f.param(1); });
  return builder.finish();
}

CompileOptions trapping() {
  CompileOptions options;
  options.simplify.overflow = OverflowMode::Trap;
  return options;
}

TEST(Program, RunsText) {
  const Program program = Program::from_text("fact.hia", kFact);
  EXPECT_EQ(program.run({Value(int64_t{3})}).values, std::vector<Value>{int64_t{11}});
}

TEST(Program, SizesAreThoseOfText) {
  const Program program = Program::from_text("size.hia", "size d = 3\nfn main(n: i64) -> i64 = n + d\n");
  const std::string path = testing::TempDir() + "sizes.json";
  std::ofstream(path) << graph::to_json(program.graph());
  EXPECT_EQ(Program::from_file(path).run({Value(int64_t{1})}).values, std::vector<Value>{int64_t{4}});
  EXPECT_THAT(
      [&] {
        Program::from_file(path, {.sizes = {{"d", 7}}});
      },
      testing::ThrowsMessage<ProgramError>(
          "expected values of sizes with program text, found them with a saved graph"));
}

TEST(Program, OptionsThatMakeNoSenseAreRefused) {
  const Program program = Program::from_text("fact.hia", kFact);
  const auto refused = [&](RunOptions options, const char* message) {
    EXPECT_THAT([&] { program.run({Value(int64_t{3})}, options); },
                testing::ThrowsMessage<ProgramError>(message));
  };
  refused({.parts = -5}, "expected parts and replicas of 0 or more, found -5 and 0");
  refused({.replicas = -1}, "expected parts and replicas of 0 or more, found 0 and -1");
  refused({.timeout = std::chrono::seconds(-1)}, "expected a timeout of 0 or more, found a negative one");
  net::run_in_threads(2, [&](const net::Processes& processes) {
    for (const Executor executor : {Executor::Reference, Executor::Expanding}) {
      refused({.executor = executor, .processes = processes.transport()},
              "expected the executor production or flow with several processes, found another one");
    }
  });
}

TEST(Program, IsRefusedWhereItWasMovedFrom) {
  Program program = Program::from_text("fact.hia", kFact);
  const Program taken = std::move(program);
  EXPECT_EQ(taken.run({Value(int64_t{3})}).values, std::vector<Value>{int64_t{11}});
  const auto refused =
      testing::ThrowsMessage<ProgramError>("expected a program, found a Program that was moved from");
  const std::vector<std::vector<Value>> lists = {{int64_t{3}}};
  EXPECT_THAT([&] { program.run({Value(int64_t{3})}); }, refused);
  EXPECT_THAT([&] { program.run_all(lists); }, refused);
  EXPECT_THAT([&] { program.open(); }, refused);
  OpenRun run = taken.open({int64_t{3}});
  OpenRun other = std::move(run);
  EXPECT_EQ(other.wait(0), Value(int64_t{11}));
  EXPECT_THAT([&] { run.wait(0); }, testing::ThrowsMessage<ProgramError>(
                                        "expected an open run, found an OpenRun that was moved from"));
}

/// What runs keep for the next one does not refer to the program that ran before, which may be gone.
TEST(Program, CopiesAndMovedProgramsRunAfterTheFirstIsGone) {
  constexpr const char* kTotal =
      "data Tree = Leaf(v: f64) | Node(l: Tree, r: Tree)\n"
      "fn total(t: Tree) -> f64 = match t Leaf(v) -> v * v Node(l, r) -> total(l) + total(r)\n"
      "fn twice(n: i64) -> Tree = if n == 0 then Leaf(1) else Node(twice(n - 1), twice(n - 1))\n"
      "fn main(n: i64, t: Tree) -> (f64, Tree, f64) =\n"
      "  let (value, slopes) = value_and_grad(total)(t)\n"
      "  (value, slopes, 1 / total(twice(n)))\n";
  const Value leaf = Data(0, {1.5});
  const std::vector<Value> arguments = {int64_t{3}, Data(1, {leaf, leaf})};
  for (const Executor executor : {Executor::Production, Executor::Flow, Executor::Reference}) {
    for (const int workers : {1, 2}) {
      const RunOptions options{.executor = executor, .workers = workers};
      auto first = std::make_unique<Program>(Program::from_text("total.hia", kTotal));
      const std::vector<Value> expected = first->run(arguments, options).values;
      OpenRun open = first->open(arguments, options);
      const Program copy = *first;
      const Program moved = std::move(*first);
      first.reset();
      EXPECT_EQ(copy.run(arguments, options).values, expected);
      EXPECT_EQ(moved.run(arguments, options).values, expected);
      EXPECT_EQ(open.wait(0), expected[0]);
    }
  }
}

TEST(Program, RunsOneElementOfEachInABatch) {
  const Program program = Program::from_text("slices.hia",
                                             "fn main(x: f64[3]) -> f64[1] = slice(x, axis=0, start=1, "
                                             "length=1) * slice(x, axis=0, start=2, length=1)\n");
  std::vector<std::vector<Value>> arguments;
  for (const char* text : {"[1,2,3]", "[4,5,6]", "[7,8,9]"}) {
    arguments.push_back({parse_value(program.parameters()[0].type, text)});
  }
  const std::vector<std::vector<Value>> found = program.run_all(arguments);
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], program.run(arguments[i]).values) << i;
  EXPECT_EQ(to_string(found[2][0]), "[72.0]");
}

TEST(Program, RunsManyListsOfArgumentsInWaves) {
  const Program program =
      Program::from_text("chains.hia",
                         "fn f(n: i64, x: f64[2]) -> f64[2] = if n == 0 then x else tanh(f(n - 1, x)) + x\n"
                         "fn main(n: i64, x: f64[2]) -> f64[2] = f(n, x)\n");
  constexpr std::size_t kLists = 200;
  constexpr int64_t kFramesOfEach = 50;
  std::vector<std::vector<Value>> arguments;
  for (std::size_t i = 0; i < kLists; ++i) {
    const std::string text = "[0.5, " + std::to_string(i) + ".25]";
    arguments.push_back({kFramesOfEach - 2, parse_value(program.parameters()[1].type, text)});
  }
  RunStats stats;
  RunOptions options;
  options.stats = &stats;
  const std::vector<std::vector<Value>> found = program.run_all(arguments, options);
  for (std::size_t i = 0; i < kLists; ++i) EXPECT_EQ(found[i], program.run(arguments[i]).values) << i;
  EXPECT_GT(stats.frames_live_most, 10 * kFramesOfEach) << "what runs at once makes large batches";
  EXPECT_LT(stats.frames_live_most, 30 * kFramesOfEach) << "but not all does";
}

/// Lists of the numbers 1, 2, ... for fact, and what came of them.
class Numbers : public Examples {
 public:
  explicit Numbers(std::size_t count) : asked(count), taken(count) {}

  std::size_t size() const override { return asked.size(); }
  std::vector<Value> arguments(std::size_t index) override {
    ++asked[index];
    if (index == bad) return {Value(true)};
    if (index == broken) throw ProgramError("no such number");
    return {Value(static_cast<int64_t>(index + 1))};
  }
  void take_results(std::size_t index, std::vector<Value> results) override {
    taken[index].push_back(results.at(0).as<int64_t>());
  }

  std::vector<int> asked;
  std::vector<std::vector<int64_t>> taken;  ///< what take_results was given, by list
  std::size_t bad = SIZE_MAX;
  std::size_t broken = SIZE_MAX;
};

std::string error_of(const Program& program, Examples& examples, const RunOptions& options) {
  try {
    program.run_all(examples, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Program, AsksForEachExampleAndGivesItsResultsOnce) {
  const Program program = Program::from_text("fact.hia", kFact);
  for (const Executor executor : {Executor::Production, Executor::Flow, Executor::Reference}) {
    for (const int workers : {1, 2, 8}) {
      Numbers numbers(20);
      program.run_all(numbers, {.executor = executor, .workers = workers});
      EXPECT_EQ(numbers.asked, std::vector<int>(20, 1));
      int64_t fact = 1;
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        fact *= static_cast<int64_t>(i + 1);
        EXPECT_EQ(numbers.taken[i], std::vector<int64_t>{fact + 5}) << i;
      }
    }
  }
}

TEST(Program, EndsWhereAnExampleIsWrongOrCannotBeMade) {
  const Program program = Program::from_text("fact.hia", kFact);
  for (const int workers : {1, 2}) {
    const RunOptions options{.workers = workers};
    Numbers numbers(20);
    numbers.bad = 13;
    EXPECT_THAT(error_of(program, numbers, options), testing::HasSubstr("expected argument 'n'"));
    numbers.bad = SIZE_MAX;
    numbers.broken = 13;
    EXPECT_EQ(error_of(program, numbers, options), "no such number");
    numbers.broken = SIZE_MAX;
    EXPECT_EQ(error_of(program, numbers, options), "");
  }
}

TEST(Program, LooksThroughDataValuesUnlessTheyAreKnownToFit) {
  const Program program = Program::from_text("first.hia",
                                             "data Pairs = Pair(first: i64, rest: Pairs) | End\n"
                                             "fn main(pairs: Pairs, n: i64) -> i64 = match pairs\n"
                                             "  Pair(first, _) -> first + n\n"
                                             "  End -> n\n");
  const Data end(1, {});
  const Data fitting(0, {Value(int64_t{2}), end});
  const Data other(0, {Value(int64_t{3}), Data(0, {Value(1.0), end})});  // in a part that nobody reads
  const Value one(int64_t{1});
  const std::vector<Value> four{int64_t{4}};
  EXPECT_THROW(program.run({other, one}), ProgramError);
  EXPECT_EQ(program.run({other, one}, {.checks_data = false}).values, four);
  EXPECT_EQ(program.run({fitting, one}, {.checks_data = false}).values, std::vector<Value>{int64_t{3}});
  const std::vector<std::vector<Value>> list{{other, one}};
  EXPECT_THROW(program.run_all(list), ProgramError);
  EXPECT_EQ(program.run_all(list, {.checks_data = false}), std::vector<std::vector<Value>>{four});
  EXPECT_THROW(program.run({one, one}, {.checks_data = false}), ProgramError);
  EXPECT_THROW(program.run({fitting, Value(1.0)}, {.checks_data = false}), ProgramError);
  EXPECT_THROW(program.run({fitting}, {.checks_data = false}), ProgramError);
}

TEST(Program, LetsGoOfTheArgumentsOfAnExampleThatIsThrough) {
  const Program program = Program::from_text("double.hia", "fn main(x: f64[1000]) -> f64 = sum(x * x)\n");
  class Blocks : public Examples {
   public:
    std::size_t size() const override { return 5000; }
    std::vector<Value> arguments(std::size_t) override { return {Tensor(DType::F64, {1000})}; }
    void take_results(std::size_t, std::vector<Value>) override {}
  } blocks;
  RunStats stats;
  program.run_all(blocks, {.stats = &stats});
  EXPECT_LT(stats.bytes, 5000 * 1000 * sizeof(double) / 2);
}

TEST(Program, RunsModulesOfTheBuilder) {
  const Program program = Program::from_module(sum_module());
  EXPECT_EQ(program.run({Value(2), Value(3)}).values, std::vector<Value>{5});
}

TEST(Program, RunsGraphsAsTheyAre) {
  graph::GraphBuilder builder;
  builder.add_function("main");
  const graph::OutPort n = builder.input("n", DType::I64);
  builder.output(builder.op(*catalog().find("neg"), {n}));
  const Program program = Program::from_graph(builder.finish());
  EXPECT_EQ(program.run({Value(int64_t{3})}).values, std::vector<Value>{int64_t{-3}});
  EXPECT_FALSE(program.module().has_value());
}

TEST(Program, SavedGraphsRunLikeTheTextTheyCameFrom) {
  const Program program = Program::from_text("fact.hia", kFact);
  const Program loaded = Program::from_graph(graph::from_json(graph::to_json(program.graph()), "fact.json"));
  EXPECT_EQ(loaded.run({Value(int64_t{6})}).values, program.run({Value(int64_t{6})}).values);
}

TEST(Program, TellsParametersAndResults) {
  const Program program = Program::from_text(
      "two.hia", "fn main(first: i64, second: bool) -> (f64, bool) = (f64(first), second)\n");
  ASSERT_EQ(program.parameters().size(), 2u);
  EXPECT_EQ(program.parameters()[0].name, "first");
  EXPECT_EQ(program.parameters()[1].type, Type(DType::Bool));
  EXPECT_EQ(program.results(), (std::vector<Type>{DType::F64, DType::Bool}));
}

TEST(Program, ParametersOfAMainThatIsCalledKeepTheirNames) {
  const Program program =
      Program::from_text("again.hia", "fn main(n: i64) -> i64 = if n <= 0 then n else main(n - 2)\n");
  ASSERT_EQ(program.parameters().size(), 1u);
  EXPECT_EQ(program.parameters()[0].name, "n");
}

TEST(Program, OverflowModeOfTheProgramHoldsInEveryRun) {
  const Program traps = Program::from_module(sum_module(), trapping());
  RunOptions wrap;
  wrap.overflow = OverflowMode::Wrap;
  EXPECT_THROW(traps.run({Value(INT32_MAX), Value(1)}, wrap), RunError);
  RunOptions trap;
  trap.overflow = OverflowMode::Trap;
  const Program wraps = Program::from_module(sum_module());
  EXPECT_EQ(wraps.run({Value(INT32_MAX), Value(1)}, trap).values, std::vector<Value>{INT32_MIN});
}

TEST(Program, ProgramsLiveAndRunBesideEachOther) {
  const Program fact = Program::from_text("fact.hia", kFact);
  const Program sum = Program::from_module(sum_module());
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (int64_t n = 1; n < 50; ++n) {
        RunOptions options;
        options.workers = 1 + i % 3;
        if (fact.run({Value(int64_t{5})}, options).values[0] != Value(int64_t{125})) ++wrong;
        if (sum.run({Value(i), Value(1)}, options).values[0] != Value(i + 1)) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Program, ReadsItsParametersInEveryExecutor) {
  const Program program =
      Program::from_text("row.hia",
                         "param E: f32[2, 2] = ones\n"
                         "fn row(n: i64) -> f32[2] = if n == 0 then E[n] * 3.0 else row(n - 1)\n"
                         "fn main(n: i64) -> f32 = sum(row(n))\n");
  const std::vector<Value> parameters = initial_parameters(program.graph().parameters(), 1);
  for (const Executor executor :
       {Executor::Production, Executor::Flow, Executor::Reference, Executor::Expanding}) {
    RunOptions options;
    options.executor = executor;
    options.parameters = parameters;
    EXPECT_EQ(program.run({Value(int64_t{2})}, options).values, std::vector<Value>{6.0F});
  }
}

TEST(Program, TensorsLargerThanAnyMemoryAreErrors) {
  for (const char* rows : {"1048576", "2147483648", "4294967296"}) {  // the last: 2^64 elements
    const std::string size = rows;
    const Program program = Program::from_text(
        "product.hia",
        "fn f(a: f32[n, 0], b: f32[0, m]) -> f32[n, m] = if sum(a) > 0 then f(a, b) else a @ b\n"
        "fn main(x: f32[k]) -> f32 = sum(f(reshape(x, shape=[" +
            size + ", 0]), reshape(x, shape=[0, " + size + "])))\n");
    for (const Executor executor : {Executor::Flow, Executor::Reference, Executor::Expanding}) {
      RunOptions options;
      options.executor = executor;
      options.max_bytes = uint64_t{1} << 30;
      try {
        program.run({Value(Tensor(DType::F32, {0}))}, options);
        ADD_FAILURE() << "expected an error";
      } catch (const std::exception& error) {
        EXPECT_LT(std::string(error.what()).size(), 2000u);
      }
    }
  }
}

TEST(Program, WrongArgumentsAreNamed) {
  const Program program = Program::from_text("fact.hia", kFact);
  EXPECT_THROW(program.run({}), ProgramError);
  EXPECT_THROW(program.run({Value(true)}), ProgramError);
}

TEST(Program, WrongTextsAndFilesAreErrors) {
  EXPECT_THROW(Program::from_text("x.hia", "fn main() -> i64 = true\n"), ProgramError);
  EXPECT_THROW(Program::from_text("x.hia", "fn f() -> i64 = 1\n"), ProgramError);
  EXPECT_THROW(Program::from_file("/nonexistent/x.hia"), ProgramError);
  EXPECT_THROW(Program::from_file("/"), ProgramError);
}

}  // namespace
}  // namespace hiaton
