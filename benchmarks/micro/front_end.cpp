// From text to graph, layer by layer; items are lines.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>

#include "generated_text.h"
#include "hiaton/hiaton.h"

namespace hiaton {
namespace {

constexpr int kFunctions = 1000;

std::shared_ptr<const Source> source() {
  static const auto text = std::make_shared<const Source>("big.hia", benchmarks::generated_text(kFunctions));
  return text;
}

void count_lines(benchmark::State& state) {
  const std::string_view text = source()->text();
  state.SetItemsProcessed(state.iterations() * std::count(text.begin(), text.end(), '\n'));
}

void parse(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(lang::parse(source()));
  count_lines(state);
}
BENCHMARK(parse)->Unit(benchmark::kMillisecond);

void verify(benchmark::State& state) {
  const ir::Module module = lang::parse(source());
  for (auto _ : state) ir::verify(module);
  count_lines(state);
}
BENCHMARK(verify)->Unit(benchmark::kMillisecond);

void simplify(benchmark::State& state) {
  const ir::Module module = lang::parse(source());
  for (auto _ : state) benchmark::DoNotOptimize(passes::simplify(module));
  count_lines(state);
}
BENCHMARK(simplify)->Unit(benchmark::kMillisecond);

void lower(benchmark::State& state) {
  const ir::Module module = passes::simplify(lang::parse(source()));
  for (auto _ : state) benchmark::DoNotOptimize(passes::lower(module));
  count_lines(state);
}
BENCHMARK(lower)->Unit(benchmark::kMillisecond);

void text_to_graph(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(Program::from_module(lang::parse(source())));
  count_lines(state);
}
BENCHMARK(text_to_graph)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hiaton
