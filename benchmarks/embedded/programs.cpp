// Programs that only a C++ program can run as the benchmarks want them: many runs of one program in a
// process, and single operations on tensors that are there before. `PROGRAM NAME ARGUMENT...` with the
// environment variable WORKERS.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "hiaton/hiaton.h"

namespace {

using hiaton::DType;
using hiaton::Program;
using hiaton::RunOptions;
using hiaton::Tensor;
using hiaton::Value;

struct Measured {
  std::string result;
  double seconds = 0;
};

Measured seconds_of(const std::function<std::string()>& run) {
  const auto begin = std::chrono::steady_clock::now();
  std::string result = run();
  return {std::move(result), std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()};
}

Program collatz() {
  return Program::from_text("collatz.hia",
                            "fn steps(n: i64, count: i64) -> i64 =\n"
                            "  if n == 1 then count\n"
                            "  else steps(if n % 2 == 0 then n / 2 else 3 * n + 1, count + 1)\n"
                            "fn main(n: i64) -> i64 = steps(n, 0)\n");
}

std::vector<std::vector<Value>> first_numbers(int64_t count) {
  std::vector<std::vector<Value>> arguments;
  for (int64_t i = 1; i <= count; ++i) arguments.push_back({Value(i)});
  return arguments;
}

/// The program for each of the numbers up to `count`, in one run.
Measured run_all(int64_t count, const RunOptions& options) {
  const Program program = collatz();
  const std::vector<std::vector<Value>> arguments = first_numbers(count);
  program.run(arguments[0], options);  // compiles it
  return seconds_of([&] {
    int64_t steps = 0;
    for (const std::vector<Value>& results : program.run_all(arguments, options))
      steps += results[0].as<int64_t>();
    return std::to_string(steps);
  });
}

/// The same, in a run for each.
Measured run_each(int64_t count, const RunOptions& options) {
  const Program program = collatz();
  const std::vector<std::vector<Value>> arguments = first_numbers(count);
  program.run(arguments[0], options);
  return seconds_of([&] {
    int64_t steps = 0;
    for (const std::vector<Value>& list : arguments)
      steps += program.run(list, options).values[0].as<int64_t>();
    return std::to_string(steps);
  });
}

/// Small integers, so that all orders of adding up give the same.
Value filled(std::initializer_list<int64_t> dims, int64_t factor) {
  Tensor tensor(DType::F32, dims);
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor.mutable_data<float>()[i] = static_cast<float>(i * factor % 7 - 3);
  return Value(std::move(tensor));
}

/// Runs the program once before, for its plan and its memory, and once by the clock; gives a sum over the
/// result.
Measured one_operation(const char* text, const std::vector<Value>& operands, const RunOptions& options) {
  const Program program = Program::from_text("operation.hia", text);
  program.run(operands, options);
  return seconds_of([&] {
    const Tensor result = program.run(operands, options).values[0].tensor();
    const float* elements = result.data<float>();
    return std::to_string(
        static_cast<int64_t>(elements[0] + elements[result.size() / 2] + elements[result.size() - 1]));
  });
}

Measured product(int64_t n, const RunOptions& options) {
  return one_operation("fn main(a: f32[n, k], b: f32[k, m]) -> f32[n, m] = a @ b\n",
                       {filled({n, n}, 3), filled({n, n}, 5)}, options);
}

/// Measures a convolution of `images` images of 64 channels, each 56 by 56.
Measured conv2d(int64_t images, const RunOptions& options) {
  return one_operation(
      "fn main(x: f32[n, 64, 56, 56], w: f32[64, 64, 3, 3]) -> f32[n, 64, 56, 56] = "
      "conv2d(x, w, padding=1)\n",
      {filled({images, 64, 56, 56}, 3), filled({64, 64, 3, 3}, 5)}, options);
}

Measured run_named(const std::string& name, int64_t argument, const RunOptions& options) {
  if (name == "run_all") return run_all(argument, options);
  if (name == "run_each") return run_each(argument, options);
  if (name == "product") return product(argument, options);
  if (name == "conv2d") return conv2d(argument, options);
  throw std::invalid_argument("expected run_all, run_each, product or conv2d, found " + name);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 3) throw std::invalid_argument("expected a name and a number");
    const char* workers = std::getenv("WORKERS");
    RunOptions options;
    options.workers = workers == nullptr ? 1 : std::atoi(workers);
    const Measured measured = run_named(argv[1], std::atoll(argv[2]), options);
    std::printf("{\"results\": [%s], \"seconds\": %.9f}\n", measured.result.c_str(), measured.seconds);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
