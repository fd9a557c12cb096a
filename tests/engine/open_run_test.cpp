// Runs whose arguments come, and whose results leave, while they go on.
#include "hiaton/open_run.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/pipeline.h"
#include "hiaton/engine.h"
#include "hiaton/error.h"
#include "hiaton/trace.h"

namespace hiaton::open_runs {
namespace {

constexpr Executor kExecutors[] = {Executor::Production, Executor::Flow, Executor::Reference};

Program power() {
  return Program::from_text(
      "power.hia",
      "fn power(x: f64, n: i64) -> f64 = if n == 0 then 1.0 else x * power(x, n - 1)\n"
      "fn main(x: f64, n: i64, g: f64) -> (f64, f64) = value_and_vjp(power)(x, n, g)\n");
}

/// A tree of products with a learned matrix: batches, and calls that workers share.
Program tree() {
  return Program::from_text(
      "tree.hia",
      "param W: f64[8, 4] = normal(0.3)\n"
      "fn encode(x: f64[4], n: i64) -> f64[4] =\n"
      "  if n == 0 then x else tanh(concat(encode(x, n - 1), encode(x * 0.9, n - 1), axis=0) @ W)\n"
      "fn main(x: f64[4], n: i64, g: f64[4]) -> (f64[4], f64[4], f64[8, 4]) =\n"
      "  value_and_vjp(encode, wrt=(x, W))(x, n, g)\n");
}

Value tensor(std::vector<double> elements) {
  const auto size = static_cast<int64_t>(elements.size());
  Tensor made(DType::F64, std::vector<int64_t>{size});
  std::ranges::copy(elements, made.mutable_data<double>());
  return made;
}

std::vector<double> elements(const Value& value) {
  const double* const data = value.tensor().data<double>();
  return {data, data + value.tensor().size()};
}

std::string message_of(const auto& work) {
  try {
    work();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no error";
}

Fault fault_of(const auto& work) {
  try {
    work();
  } catch (const RunError& error) {
    return error.fault();
  }
  return Fault::None;
}

TEST(OpenRun, GivesTheValueBeforeTheGradientIsAskedFor) {
  for (const Executor executor : kExecutors) {
    OpenRun run = power().open({1.5, int64_t{3}}, {.executor = executor});
    ASSERT_EQ(run.phases(), (std::vector<Phase>{{2, 1}, {1, 1}}));
    EXPECT_EQ(run.wait(0).as<double>(), 1.5 * 1.5 * 1.5);
    run.feed(2, 2.0);
    EXPECT_EQ(run.wait(1).as<double>(), 2.0 * 3 * 1.5 * 1.5);
    EXPECT_EQ(run.wait(0).as<double>(), 1.5 * 1.5 * 1.5);
    const RunStats stats = run.finish();
    EXPECT_EQ(stats.frames_live_at_end, 0);
    EXPECT_EQ(run.wait(1).as<double>(), 13.5) << "results stay";
  }
}

TEST(OpenRun, ComputesTheForwardPathOnce) {
  const Program program = power();
  const auto multiplications = [](const RunStats& stats) {
    uint64_t firings = 0;
    for (const RegionStats& region : stats.regions) firings += region.firings;
    return firings;
  };
  RunStats stats;
  program.run({1.5, int64_t{30}, 1.0}, {.executor = Executor::Flow, .count_regions = true, .stats = &stats});
  OpenRun run = program.open({1.5, int64_t{30}}, {.executor = Executor::Flow, .count_regions = true});
  run.wait(0);
  run.feed(2, 1.0);
  const RunStats open = run.finish();
  EXPECT_EQ(multiplications(open), multiplications(stats));
  EXPECT_EQ(open.calls, stats.calls);
}

TEST(OpenRun, TakesArgumentsInAnyOrder) {
  OpenRun run = power().open();
  run.feed(2, 1.0);
  run.feed(1, int64_t{2});
  EXPECT_EQ(message_of([&] { run.wait(0); }),
            "expected an argument for parameter 'x' before result 0 is waited for, found none");
  run.feed(0, 3.0);
  EXPECT_EQ(run.wait(1).as<double>(), 6.0);
  EXPECT_EQ(run.wait(0).as<double>(), 9.0);
}

TEST(OpenRun, SaysWhatIsWrong) {
  OpenRun run = power().open({1.5});
  EXPECT_EQ(message_of([&] { run.feed(0, 1.0); }),
            "expected a parameter to feed, found 'x', which has its argument");
  EXPECT_EQ(message_of([&] { run.feed(1, 1.0); }),
            "expected argument 'n' of main to be of type i64, found 1.0 (f64)");
  EXPECT_EQ(message_of([&] { run.feed(3, 1.0); }), "expected one of 3 parameters to feed, found number 3");
  EXPECT_EQ(message_of([&] { run.wait(2); }), "expected one of 2 results, found number 2");
  run.feed(1, int64_t{1});
  EXPECT_EQ(message_of([&] { run.finish(); }),
            "expected an argument for parameter 'g' before the run is finished, found none");
  EXPECT_EQ(run.wait(0).as<double>(), 1.5) << "a refused argument changes nothing";
  run.feed(2, 1.0);
  run.finish();
  EXPECT_EQ(message_of([&] { run.feed(2, 1.0); }), "expected an open run to feed, found one that is over");
}

TEST(OpenRun, OfOnePhaseIsARun) {
  const Program program = Program::from_text("sum.hia", "fn main(a: i64, b: i64) -> i64 = a + b\n");
  for (const Executor executor : {Executor::Production, Executor::Reference, Executor::Expanding}) {
    OpenRun run = program.open({int64_t{1}}, {.executor = executor});
    EXPECT_EQ(run.phases(), (std::vector<Phase>{{2, 1}}));
    EXPECT_THROW(run.wait(0), ProgramError);
    run.feed(1, int64_t{2});
    EXPECT_EQ(run.wait(0).as<int64_t>(), 3);
  }
}

TEST(OpenRun, GivesResultsInTheOrderOfTheirParameters) {
  const Program program =
      Program::from_text("steps.hia",
                         "fn f(x: i64) -> i64 = with s = x for i in 0..10 do s + i\n"
                         "fn main(a: i64, b: i64, c: i64, d: i64) -> (i64, i64, i64, i64, i64) =\n"
                         "  (7, f(a), if a > b then f(b) else b, f(a) + 1, c * f(b))\n");
  for (const Executor executor : kExecutors) {
    OpenRun run = program.open({}, {.executor = executor});
    EXPECT_EQ(run.phases(), (std::vector<Phase>{{0, 1}, {1, 1}, {1, 2}, {1, 1}, {1, 0}}));
    EXPECT_EQ(run.wait(0).as<int64_t>(), 7);
    EXPECT_THROW(run.wait(1), ProgramError);
    run.feed(0, int64_t{5});
    EXPECT_EQ(run.wait(1).as<int64_t>(), 50);
    run.feed(1, int64_t{2});
    EXPECT_EQ(run.wait(2).as<int64_t>(), 47);
    EXPECT_EQ(run.wait(3).as<int64_t>(), 51);
    run.feed(2, int64_t{3});
    EXPECT_EQ(run.wait(4).as<int64_t>(), 141);
    EXPECT_THROW(run.finish(), ProgramError);
    run.feed(3, int64_t{0});
    run.finish();
  }
}

struct Way {
  const char* name;
  RunOptions options;
};

std::vector<Way> ways() {
  RunOptions unbatched, two, shared, reference;
  unbatched.batching = false;
  two.workers = 2;
  shared.workers = 3;
  shared.share_every_call = true;
  reference.executor = Executor::Reference;
  return {{"alone", {}},
          {"unbatched", unbatched},
          {"two workers", two},
          {"shared", shared},
          {"reference", reference}};
}

/// The tree, what it is run for, and what a run gives.
class OpenRunOfTree : public ::testing::Test {
 protected:
  const Program program = tree();
  const std::vector<Value> parameters = initial_parameters(program.graph().parameters(), 3);
  const Value x = tensor({0.5, -0.25, 1, 0.75});
  const Value g = tensor({1, -1, 0.5, 2});
  const std::vector<Value> expected = program.run({x, int64_t{6}, g}, {.parameters = parameters}).values;
};

TEST_F(OpenRunOfTree, GivesWhatARunGives) {
  for (auto [name, options] : ways()) {
    SCOPED_TRACE(name);
    options.parameters = parameters;
    RunStats stats;
    options.stats = &stats;
    OpenRun run = program.open({x, int64_t{6}}, options);
    options.parameters = {};
    EXPECT_EQ(elements(run.wait(0)), elements(expected[0]));
    run.feed(2, g);
    for (const std::size_t result : {std::size_t{1}, std::size_t{2}}) {
      const std::vector<double> found = elements(run.wait(result));
      const std::vector<double> wanted = elements(expected[result]);
      for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(found[i], wanted[i], 1e-12);
    }
    EXPECT_EQ(stats.frames_live_at_end, 0);
    EXPECT_GT(stats.calls, 64);
  }
}

/// Gradients of learned parameters are complete after finish(), also what members did for others.
TEST_F(OpenRunOfTree, GathersGradientsOfLearnedParameters) {
  CompileOptions of_encode;
  of_encode.entry = "encode";
  const Program step = Program::from_graph(compile_vjp(*program.module(), {0}, of_encode));
  for (auto [name, options] : ways()) {
    SCOPED_TRACE(name);
    Gradients sums(step.graph().parameters());
    options.parameters = parameters;
    options.gradients = &sums;
    OpenRun run = step.open({x, int64_t{6}}, options);
    EXPECT_EQ(elements(run.wait(0)), elements(expected[0]));
    run.feed(2, g);
    const std::vector<double> by_x = elements(run.wait(1));
    run.finish();
    const std::vector<double> by_w = elements(Value(sums[0].values));
    for (std::size_t i = 0; i < by_x.size(); ++i) EXPECT_NEAR(by_x[i], elements(expected[1])[i], 1e-12);
    for (std::size_t i = 0; i < by_w.size(); ++i) EXPECT_NEAR(by_w[i], elements(expected[2])[i], 1e-12);
  }
}

/// Each wait that has something to do is a slice of each worker that did something for it.
TEST_F(OpenRunOfTree, IsDrawn) {
  const auto slices_with = [](const Trace& trace, const char* field) {
    const nlohmann::json events = nlohmann::json::parse(trace.to_json())["traceEvents"];
    return std::ranges::count_if(
        events, [&](const auto& event) { return event["ph"] == "X" && event["args"].contains(field); });
  };
  for (auto [name, options] : ways()) {
    SCOPED_TRACE(name);
    Trace trace;
    options.parameters = parameters;
    options.trace = &trace;
    OpenRun run = program.open({x, int64_t{6}}, options);
    EXPECT_EQ(elements(run.wait(0)), elements(expected[0]));
    const std::string drawn = trace.to_json();
    const std::ptrdiff_t waits = slices_with(trace, "phases"), batches = slices_with(trace, "firings");
    run.wait(0);
    EXPECT_EQ(trace.to_json(), drawn) << "nothing is done for a result that has come";
    run.feed(2, g);
    run.wait(1);
    run.finish();
    if (options.executor == Executor::Reference) {
      EXPECT_EQ(slices_with(trace, "phases"), 0) << "which draws no run";
      continue;
    }
    EXPECT_GE(waits, 1);
    EXPECT_GT(slices_with(trace, "phases"), waits);
    EXPECT_GT(slices_with(trace, "firings"), options.batching ? batches : -1);
  }
}

TEST(OpenRun, ManyAreOpenAtOnce) {
  const Program program = tree();
  const std::vector<Value> parameters = initial_parameters(program.graph().parameters(), 3);
  for (auto [name, options] : ways()) {
    SCOPED_TRACE(name);
    options.parameters = parameters;
    std::vector<OpenRun> runs;
    for (int i = 0; i < 12; ++i) {
      runs.push_back(program.open({tensor({1.0 * i, 2, 3, 4}), int64_t{i % 4}}, options));
      runs.back().wait(0);
    }
    for (int i = 11; i >= 0; --i) {
      const Value g = tensor({1, 1, 1.0 * i, 1});
      runs[static_cast<std::size_t>(i)].feed(2, g);
      const std::vector<Value> expected =
          program.run({tensor({1.0 * i, 2, 3, 4}), int64_t{i % 4}, g}, {.parameters = parameters}).values;
      const std::vector<double> found = elements(runs[static_cast<std::size_t>(i)].wait(1));
      for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(found[k], elements(expected[1])[k], 1e-12);
    }
  }
}

TEST(OpenRun, OutlivesItsProgram) {
  std::optional<OpenRun> run;
  {
    const Program program = tree();
    const std::vector<Value> parameters = initial_parameters(program.graph().parameters(), 3);
    run.emplace(program.open({tensor({1, 2, 3, 4}), int64_t{3}}, {.parameters = parameters}));
    run->wait(0);
  }
  OpenRun moved = std::move(*run);
  run.reset();
  moved.feed(2, tensor({1, 1, 1, 1}));
  EXPECT_EQ(moved.wait(1).tensor().size(), 4);
}

/// Faults in either phase, for each way: by the program, and by budgets.
TEST(OpenRun, EndsByAFaultOfAnyPhase) {
  const Program program = Program::from_text(
      "faults.hia",
      "fn f(x: i64, n: i64) -> i64 = if n == 0 then 100 / x else f(x, n - 1) + f(x, n / 2)\n"
      "fn main(a: i64, b: i64, n: i64) -> (i64, i64) = (f(a, 5), f(b, n))\n");
  for (auto [name, options] : ways()) {
    SCOPED_TRACE(name);
    OpenRun first = program.open({int64_t{0}}, options);
    EXPECT_EQ(fault_of([&] { first.wait(0); }), Fault::DivisionByZero);
    EXPECT_EQ(fault_of([&] { first.wait(0); }), Fault::DivisionByZero) << "the same one each time";
    EXPECT_THROW(first.feed(1, int64_t{1}), ProgramError);

    RunStats stats;
    options.stats = &stats;
    OpenRun second = program.open({int64_t{1}}, options);
    const int64_t value = second.wait(0).as<int64_t>();
    second.feed(1, int64_t{0});
    second.feed(2, int64_t{4});
    const std::string message = message_of([&] { second.wait(1); });
    EXPECT_NE(message.find("100 / 0"), std::string::npos) << message;
    EXPECT_NE(message.find("in f(x = 0"), std::string::npos) << message;
    EXPECT_EQ(second.wait(0).as<int64_t>(), value) << "what has come stays";
    EXPECT_EQ(fault_of([&] { second.finish(); }), Fault::DivisionByZero);
    EXPECT_EQ(stats.frames_live_at_end, 0);
  }
}

TEST(OpenRun, BudgetsCountWhatItKeepsBetweenPhases) {
  const Program program = tree();
  const std::vector<Value> parameters = initial_parameters(program.graph().parameters(), 3);
  for (auto [name, options] : ways()) {
    SCOPED_TRACE(name);
    options.parameters = parameters;
    options.max_frames = 60;
    OpenRun small = program.open({tensor({1, 2, 3, 4}), int64_t{6}}, options);
    EXPECT_EQ(fault_of([&] { small.wait(0); }), Fault::MaxFrames);
  }
  // The frames of the first phase, which wait for the third, leave too few for those of the second.
  const Program two =
      Program::from_text("two.hia",
                         "fn f(x: f64[2], n: i64) -> f64[2] = if n == 0 then x else tanh(f(x, n - 1))\n"
                         "fn main(x: f64[2], y: f64[2], g: f64[2]) -> (f64[2], f64[2], f64[2], f64[2]) =\n"
                         "  let (a, by_a) = value_and_vjp(f)(x, 50, g)\n"
                         "  let (b, by_b) = value_and_vjp(f)(y, 50, g)\n"
                         "  (a, b, by_a, by_b)\n");
  for (auto [name, options] : ways()) {
    if (options.executor == Executor::Reference)
      continue;  // its calls wait for nothing, and so take more frames
    SCOPED_TRACE(name);
    options.max_frames = 90;
    OpenRun run = two.open({tensor({1, 2})}, options);
    EXPECT_EQ(run.wait(0).tensor().size(), 2);
    run.feed(1, tensor({3, 4}));
    const auto go_on = [&] {
      run.wait(1);  // where workers share each call, they tell each other later what they hold
      run.feed(2, tensor({1, 1}));
      run.wait(2);
    };
    EXPECT_EQ(fault_of(go_on), Fault::MaxFrames);
    options.max_frames = 110;
    OpenRun large = two.open({tensor({1, 2}), tensor({3, 4})}, options);
    large.wait(1);
    large.feed(2, tensor({1, 1}));
    large.wait(3);
  }
}

TEST(OpenRun, ItsTimeIsThatOfItsWork) {
  RunOptions options;
  options.timeout = std::chrono::milliseconds(300);
  for (const Executor executor : kExecutors) {
    options.executor = executor;
    OpenRun run = power().open({1.5, int64_t{3}}, options);
    run.wait(0);
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    run.feed(2, 1.0);
    EXPECT_EQ(run.wait(1).as<double>(), 6.75);
  }
  const Program endless = Program::from_text("endless.hia",
                                             "fn f(n: i64) -> i64 = if n < 0 then 0 else f(n + 1) + 1\n"
                                             "fn main(a: i64, b: i64) -> (i64, i64) = (a, f(b))\n");
  for (const Executor executor : kExecutors) {
    options.executor = executor;
    options.timeout = std::chrono::milliseconds(20);
    OpenRun run = endless.open({int64_t{1}}, options);
    EXPECT_EQ(run.wait(0).as<int64_t>(), 1);
    run.feed(1, int64_t{1});
    EXPECT_EQ(fault_of([&] { run.wait(1); }), Fault::Timeout);
  }
}

TEST(OpenRun, CanBeCancelledAtAnyTime) {
  const Program endless = Program::from_text("endless.hia",
                                             "fn f(n: i64) -> i64 = if n == 0 then 0 else f(n)\n"
                                             "fn main(a: i64, b: i64) -> (i64, i64) = (a, f(b))\n");
  for (const Executor executor : kExecutors) {
    RunStats stats;
    OpenRun run = endless.open({int64_t{1}}, {.executor = executor, .stats = &stats});
    run.cancel();  // before anything
    EXPECT_EQ(message_of([&] { run.wait(0); }), "expected an open run, found one that was cancelled");

    OpenRun between = endless.open({int64_t{1}}, {.executor = executor, .stats = &stats});
    between.wait(0);
    between.cancel();
    between.cancel();
    EXPECT_EQ(stats.frames_live_at_end, 0);
    EXPECT_EQ(between.wait(0).as<int64_t>(), 1) << "what has come stays";
    EXPECT_THROW(between.wait(1), ProgramError);

    OpenRun during = endless.open({int64_t{1}, int64_t{1}}, {.executor = executor});
    auto fault = std::async(std::launch::async, [&] { return fault_of([&] { during.wait(1); }); });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    during.cancel();
    EXPECT_EQ(fault.get(), Fault::Interrupted);

    OpenRun flagged = endless.open({int64_t{1}, int64_t{1}}, {.executor = executor});
    const std::atomic<bool> flag{true};
    EXPECT_EQ(fault_of([&] { flagged.wait(1, &flag); }), Fault::Interrupted);
  }
}

/// What was left by one run is nothing to the next one of the same worker.
TEST(OpenRun, LeavesNothingWhenItIsAbandoned) {
  const Program program = tree();
  const std::vector<Value> parameters = initial_parameters(program.graph().parameters(), 3);
  const Value x = tensor({1, 2, 3, 4});
  for (auto [name, options] : ways()) {
    SCOPED_TRACE(name);
    options.parameters = parameters;
    const int64_t before = x.slot().tensor->references.load();
    for (int i = 0; i < 3; ++i) program.open({x, int64_t{5}}, options).wait(0);
    EXPECT_EQ(x.slot().tensor->references.load(), before);
    RunStats stats;
    options.stats = &stats;
    EXPECT_EQ(program.run({x, int64_t{2}, x}, options).values.size(), 3);
    EXPECT_EQ(stats.frames_live_at_end, 0);
  }
}

/// Parameters of the program are those that it was opened with, whatever happens to the others meanwhile.
TEST(OpenRun, KeepsItsParameters) {
  const Program program = tree();
  std::vector<Value> parameters = initial_parameters(program.graph().parameters(), 3);
  const Value x = tensor({1, 2, 3, 4});
  const std::vector<Value> expected = program.run({x, int64_t{2}, x}, {.parameters = parameters}).values;
  OpenRun run = program.open({x, int64_t{2}}, {.parameters = parameters});
  run.wait(0);
  parameters = initial_parameters(program.graph().parameters(), 4);
  program.run({x, int64_t{2}, x}, {.parameters = parameters});
  run.feed(2, x);
  EXPECT_EQ(elements(run.wait(1)), elements(expected[1]));
}

TEST(OpenRun, IsFedWhileAnotherThreadWaits) {
  const Program program =
      Program::from_text("slow.hia",
                         "fn f(n: i64) -> i64 = if n < 2 then n else f(n - 1) + f(n - 2)\n"
                         "fn main(a: i64, b: i64) -> (i64, i64) = (f(a), f(b))\n");
  OpenRun run = program.open({int64_t{27}});
  auto first = std::async(std::launch::async, [&] { return run.wait(0).as<int64_t>(); });
  run.feed(1, int64_t{10});
  EXPECT_EQ(first.get(), 196'418);
  EXPECT_EQ(run.wait(1).as<int64_t>(), 55);
}

TEST(OpenRun, RefusesWhatItCannotDo) {
  RunOptions options;
  options.executor = Executor::Expanding;
  EXPECT_EQ(
      message_of([&] { power().open({}, options); }),
      "an open run of several phases: expected the executor production, flow or reference, found another "
      "one");
  options = {};
  options.evaluation = Evaluation::DemandDriven;
  EXPECT_EQ(message_of([&] { power().open({}, options); }),
            "an open run: expected one that is data-driven, found a demand-driven one");
  options = {};
  options.workers = 0;
  EXPECT_EQ(message_of([&] { power().open({}, options); }), "expected at least 1 worker, found 0");
}

}  // namespace
}  // namespace hiaton::open_runs
