// Memory that runs out, at whichever allocation: what was asked for ends with an error that says so, nothing
// is leaked, and what it worked with goes on to give right results.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <new>
#include <optional>
#include <string>

#include "allocation/failing_allocations.h"
#include "engine/tree_model.h"
#include "hiaton/hiaton.h"
#include "sized.h"
#include "train/directory.h"

namespace hiaton::testing {
namespace {

using namespace tree_model;

using Work = std::function<std::string()>;

/// What `work` gives; none where it ended with an error that speaks of memory.
std::optional<std::string> outcome_of(const Work& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
  } catch (const Error& error) {
    const bool is_of_memory = std::string_view(error.what()).find("emory") != std::string_view::npos;
    if (!is_of_memory) ADD_FAILURE() << "an error of another kind: " << error.what();
  }
  return std::nullopt;
}

/// Whether work leaves as many allocations as were there before; else it may keep some for the next time.
enum class Keeps : uint8_t { Nothing, Memory };

/// Does `work` with the first allocation failing, with the second, ... until it has no more of them. Where
/// the build is slow, with every third one.
void fail_at_every_allocation(const Work& work, Keeps keeps) {
  const std::string right = work();
  const auto is_wrong = [&](const FailingAllocations& failing, const std::optional<std::string>& result) {
    return result ? *result != right : !failing.has_failed();
  };
  constexpr uint64_t kStep = sized(1, 3);
  for (Shortage shortage : {Shortage::Once, Shortage::Forever}) {
    bool has_failed = true;
    for (uint64_t nth = shortage == Shortage::Once ? 1 : kStep; has_failed && !::testing::Test::HasFailure();
         nth += kStep) {
      const int64_t live = live_allocations();
      bool wrong = false;
      {
        const FailingAllocations failing(nth, shortage);
        wrong = is_wrong(failing, outcome_of(work));
        has_failed = failing.has_failed();
      }
      EXPECT_FALSE(wrong) << "a wrong result after the failure of allocation " << nth;
      if (keeps == Keeps::Nothing) {
        EXPECT_EQ(live_allocations(), live) << "after allocation " << nth;
      }
    }
    EXPECT_EQ(work(), right);
  }
}

// Programs --------------------------------------------------------------------------------------------------

struct Case {
  const char* name;
  const char* text;
  int64_t argument;
};

/// Calls that need each other and calls that do not, loops with calls, lists, tensors, failing operations.
const Case kCases[] = {
    {"calls",
     "fn fib(n: i64) -> i64 = if n <= 1 then 1 else fib(n - 1) + fib(n - 2)\n"
     "fn main(n: i64) -> i64 = fib(n)\n",
     5},
    {"loop",
     "fn f(n: i64) -> i64 = if n > 6 then n - 2 else f(f(n + 4))\n"
     "fn main(n: i64) -> i64 = with acc = 0 for i in 0..n do acc + f(i)\n",
     4},
    {"data",
     "fn down(n: i64) -> List[i64] = if n == 0 then Nil else Cons(n, down(n - 1))\n"
     "fn total(xs: List[i64]) -> i64 =\n  match xs\n    Nil -> 0\n    Cons(x, rest) -> x + total(rest)\n"
     "fn main(n: i64) -> i64 = total(down(n))\n",
     3},
    {"tensors",
     "fn power(x: f64[2, 2], n: i64) -> f64[2, 2] = if n == 0 then x else power(x @ x + 1, n - 1)\n"
     "fn main(n: i64) -> f64[2, 2] = power([[1.0, 0.5], [0.25, 0.125]], n)\n",
     2},
};

struct Way {
  const char* name;
  Executor executor;
  int workers;
  bool traced = false;
};

constexpr Way kWays[] = {{"production1", Executor::Production, 1},  {"production2", Executor::Production, 2},
                         {"traced", Executor::Production, 2, true}, {"flow", Executor::Flow, 1},
                         {"reference", Executor::Reference, 1},     {"expanding", Executor::Expanding, 1}};

std::string run(const Program& program, const Case& what, const Way& way) {
  Trace trace;
  RunOptions options;
  options.executor = way.executor;
  options.workers = way.workers;
  if (way.traced) options.trace = &trace;
  return show(program.run({Value(what.argument)}, options).values);
}

class FailingAllocation : public ::testing::TestWithParam<std::tuple<Case, Way>> {
 protected:
  const Case what = std::get<0>(GetParam());
  const Way way = std::get<1>(GetParam());
};

INSTANTIATE_TEST_SUITE_P(Programs, FailingAllocation,
                         ::testing::Combine(::testing::ValuesIn(kCases), ::testing::ValuesIn(kWays)),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param).name) + "_" +
                                  std::get<1>(info.param).name;
                         });

TEST_P(FailingAllocation, FromTheTextToTheResultIsAnErrorWithoutALeak) {
  fail_at_every_allocation([&] { return run(Program::from_text("main.hia", what.text), what, way); },
                           Keeps::Nothing);
}

TEST_P(FailingAllocation, InARunLeavesTheProgramUsable) {
  for (const int workers : {1, way.workers}) {  // by this thread too, which keeps memory for the kernels
    run(Program::from_text("main.hia", what.text), what, {way.name, way.executor, workers, way.traced});
  }
  const int64_t live = live_allocations();
  {
    const Program program = Program::from_text("main.hia", what.text);
    fail_at_every_allocation([&] { return run(program, what, way); }, Keeps::Memory);
  }
  EXPECT_EQ(live_allocations(), live);
}

// Learning --------------------------------------------------------------------------------------------------

class FailingAllocationOfLearning : public ::testing::TestWithParam<int> {};

INSTANTIATE_TEST_SUITE_P(Workers, FailingAllocationOfLearning, ::testing::Values(1, 2));

TEST_P(FailingAllocationOfLearning, InAStepLeavesTheModelUsable) {
  for (const int workers : {1, GetParam()}) {  // by this thread too, which keeps memory for the kernels
    step(Model::from_text("tree.hia", kTreeModel), workers);
  }
  const int64_t live = live_allocations();
  {
    const Model model = Model::from_text("tree.hia", kTreeModel);
    fail_at_every_allocation([&] { return step(model, GetParam()); }, Keeps::Memory);
  }
  EXPECT_EQ(live_allocations(), live);
}

TEST(FailingAllocationOfLearning, WhileAModelIsCompiledIsAnErrorWithoutALeak) {
  const auto compile = [] { return show(Model::from_text("tree.hia", kTreeModel).initial_parameters(1)); };
  fail_at_every_allocation(compile, Keeps::Nothing);
}

// Training --------------------------------------------------------------------------------------------------

/// How a process that lacks memory ends. nlohmann::json's destructor takes memory, and aborts where there is
/// none.
enum class End : uint8_t { AllAllocated, Failed };

End end_of_process(uint64_t nth, const Work& work) {
  const pid_t child = fork();
  if (child == 0) {
    constexpr unsigned kSeconds = 60;
    alarm(kSeconds);
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    const FailingAllocations failing(nth, Shortage::Once);
    outcome_of(work);
    _exit(failing.has_failed() ? 1 : 0);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  if (WIFEXITED(status)) return WEXITSTATUS(status) == 0 ? End::AllAllocated : End::Failed;
  EXPECT_EQ(WTERMSIG(status), SIGABRT) << "allocation " << nth;
  return End::Failed;
}

std::string parameters_of(const train::ModelTrainer& trainer) {
  std::string text;
  for (const train::ParameterValues& parameter : trainer.parameters()) {
    for (float value : parameter.values.floats()) text += std::to_string(value) + " ";
  }
  return text;
}

TEST(FailingAllocationOfTraining, LeavesCheckpointsFromWhichItGoesOnToTheSameNumbers) {
  const train::Directory directory;
  const std::filesystem::path model = directory / "tree.hia";
  train::write_file(model, kTreeModel);
  const train::Treebank bank = train::read_trees(
      std::make_shared<const Source>("trees", "(1 (0 (1 2) (0 1)) (1 0))\n(0 2)\n(0 (1 1) (0 2))\n"), {});
  const auto train_in = [&](const std::filesystem::path& out) {
    train::ModelTrainer trainer = train::make_trainer(
        {.model = model, .classes = 2, .vocabulary_size = 3, .workers = 2, .batching = "deterministic"});
    train::Settings settings;
    settings.epochs = 2;
    settings.batch = 2;
    settings.checkpoint_every_steps = 1;
    settings.out = out;
    settings.resume = std::filesystem::exists(out / "last.safetensors");
    const train::TreeExamples trees(trainer.model(), bank.trees, 2);
    trainer.train(trees, &trees, settings);
    return parameters_of(trainer);
  };
  const std::string right = train_in(directory / "whole");
  constexpr uint64_t kStride = 211;  // steps allocate alike
  const std::filesystem::path out = directory / "parts";
  const Work training = [&] { return train_in(out); };
  for (uint64_t nth = 1; !HasFailure() && end_of_process(nth, training) == End::Failed; nth += kStride) {
    EXPECT_EQ(train_in(out), right) << "after allocation " << nth;
    std::filesystem::remove_all(out);
  }
}

}  // namespace
}  // namespace hiaton::testing
