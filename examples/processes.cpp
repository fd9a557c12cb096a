// A program whose calls several processes share, by themselves:
//   mpirun -n 2 example_processes 35
// Without a launcher it runs in this process alone, and with a second number in so many threads that act as
// processes.
#include <fmt/format.h>

#include <cstdlib>
#include <string>

#include "hiaton/engine.h"
#include "hiaton/error.h"
#include "hiaton/net.h"

using namespace hiaton;

const std::string kText =
    "fn fib(n: i64) -> i64 = if n <= 1 then n else fib(n - 1) + fib(n - 2)\n"
    "fn main(n: i64) -> i64 = 100 / fib(n) + fib(n)\n";

/// What every process does. The first one has the result, or the error.
void share(const net::Processes& processes, int64_t n) {
  const Program program = Program::from_text("fib.hia", kText);
  try {
    const RunResult result = program.run({Value(n)}, {.processes = processes.transport()});
    if (processes.is_first())
      fmt::print("{} in {} processes\n", to_string(result.values[0]), processes.size());
  } catch (const RunError& error) {
    fmt::print("{}\n", error.what());
  }
}

int main(int count, char** words) {
  const int64_t n = count > 1 ? std::strtoll(words[1], nullptr, 10) : 20;
  try {
    if (count > 2) {
      net::run_in_threads(std::atoi(words[2]), [n](net::Processes& processes) { share(processes, n); });
    } else {
      const net::Processes processes = net::join({.program = kText});
      share(processes, n);
    }
  } catch (const Error& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 1;
  }
  return 0;
}
