// What a run and a call cost in each executor; items are calls.
#include <benchmark/benchmark.h>

#include "hiaton/hiaton.h"

namespace hiaton {
namespace {

constexpr const char* kFib =
    "fn fib(n: i64) -> i64 = if n <= 1 then 1 else fib(n - 1) + fib(n - 2)\n"
    "fn main(n: i64) -> i64 = fib(n)\n";

void run_fib(benchmark::State& state, Executor executor, int64_t n) {
  const Program program = Program::from_text("fib.hia", kFib);
  RunOptions options;
  options.executor = executor;
  int64_t calls = 0;
  for (auto _ : state) {
    const RunResult result = program.run({Value(n)}, options);
    calls = 2 * result.values[0].as<int64_t>() - 1;
  }
  state.SetItemsProcessed(state.iterations() * calls);
}
BENCHMARK_CAPTURE(run_fib, production, Executor::Production, 20);
BENCHMARK_CAPTURE(run_fib, expanding, Executor::Expanding, 10);
BENCHMARK_CAPTURE(run_fib, reference, Executor::Reference, 10);

/// Everything around the program's own work: plan, frames, threads.
void run_one_call(benchmark::State& state) {
  const Program program = Program::from_text("fib.hia", kFib);
  RunOptions options;
  options.workers = static_cast<int>(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(program.run({Value(int64_t{0})}, options));
}
BENCHMARK(run_one_call)->Arg(1)->Arg(2);

void loop_iterations(benchmark::State& state) {
  constexpr int64_t kIterations = 100'000;
  const Program program = Program::from_text(
      "loop.hia", "fn main(n: i64) -> (i64, i64) = with i = 0, x = 1 while i < n do (i + 1, x * 3 + i)\n");
  for (auto _ : state) benchmark::DoNotOptimize(program.run({Value(kIterations)}));
  state.SetItemsProcessed(state.iterations() * kIterations);
}
BENCHMARK(loop_iterations);

}  // namespace
}  // namespace hiaton
