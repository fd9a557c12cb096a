// Programs and models in several threads at once: their own ones, and the same one.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "engine/tree_model.h"
#include "hiaton/hiaton.h"
#include "sized.h"

namespace hiaton {
namespace {

using tree_model::kTreeModel;
using tree_model::leaf;
using tree_model::node;

constexpr int kRuns = sized<int>(300, 20);

constexpr const char* kFib =
    "fn fib(n: i64) -> i64 = if n <= 1 then 1 else fib(n - 1) + fib(n - 2)\n"
    "fn main(n: i64) -> i64 = 1 / (n - 13) * 0 + fib(n)\n";

/// Several threads do `work`, all from the same moment on.
void at_once(int threads, const std::function<void(int)>& work) {
  std::atomic<int> missing = threads;
  std::vector<std::jthread> all;
  for (int i = 0; i < threads; ++i) {
    all.emplace_back([&, i] {
      for (--missing; missing.load() > 0;) std::this_thread::yield();
      work(i);
    });
  }
}

Value tree(int depth) {
  return depth == 0 ? leaf(1, 2) : node(0, tree(depth - 1), tree(depth / 2));
}

/// The losses of some trees, and the gradients.
std::string step(const Model& model, int workers) {
  return tree_model::step(model, workers, {{tree(3)}, {tree(1)}, {tree(4)}});
}

void run_fib(const Program& program, int workers) {
  RunOptions options;
  options.workers = workers;
  EXPECT_EQ(program.run({Value(int64_t{12})}, options).values[0], Value(int64_t{233}));
  EXPECT_THROW(program.run({Value(int64_t{13})}, options), RunError);
}

TEST(Threads, EachWithAProgramOfItsOwn) {
  at_once(2, [](int number) {
    if (number == 0) {
      for (int i = 0; i < kRuns; ++i) run_fib(Program::from_text("fib.hia", kFib), 2);
    } else {
      const auto right = step(Model::from_text("model.hia", kTreeModel), 1);
      for (int i = 0; i < kRuns; ++i) EXPECT_EQ(step(Model::from_text("model.hia", kTreeModel), 2), right);
    }
  });
}

TEST(Threads, AllWithTheSameProgram) {
  const Program program = Program::from_text("fib.hia", kFib);
  at_once(4, [&](int number) {
    for (int i = 0; i < kRuns; ++i) run_fib(program, 1 + number % 2);
  });
}

TEST(Threads, AllWithTheSameModel) {
  const auto right = step(Model::from_text("model.hia", kTreeModel), 1);
  const Model model = Model::from_text("model.hia", kTreeModel);
  at_once(4, [&](int number) {
    for (int i = 0; i < kRuns; ++i) EXPECT_EQ(step(model, 1 + number % 2), right);
  });
}

TEST(Threads, ARunThatIsCancelledLeavesTheOthersAlone) {
  const Program program = Program::from_text(
      "forever.hia", "fn main(n: i64) -> i64 = with i = 0 while i >= 0 and i < n do (i + 1) % 1000\n");
  std::atomic<bool> cancel{false};
  at_once(3, [&](int number) {
    RunOptions options;
    if (number == 0) {
      options.cancel = &cancel;
      EXPECT_THROW(program.run({Value(int64_t{1000})}, options), RunError);
    } else {
      for (int i = 0; i < kRuns; ++i) EXPECT_NO_THROW(program.run({Value(int64_t{500})}, options));
      cancel = true;
    }
  });
}

}  // namespace
}  // namespace hiaton
