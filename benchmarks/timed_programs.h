// What the native programs and those of the C++ peers share: `PROGRAM NAME ARGUMENT...` runs one named
// program and prints its result and the seconds it took, as JSON.
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

namespace benchmarks {

using Arguments = std::vector<std::string>;

inline int64_t integer(const Arguments& arguments, std::size_t index) {
  return std::strtoll(arguments.at(index).c_str(), nullptr, 10);
}
inline double real(const Arguments& arguments, std::size_t index) {
  return std::strtod(arguments.at(index).c_str(), nullptr);
}

struct Program {
  const char* name;
  std::function<std::string(const Arguments&)> run;
};

inline std::string show(int64_t result) {
  return std::to_string(result);
}
inline std::string show(double result) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", result);
  return text;
}

inline int run_named(const std::vector<Program>& programs, int argc, char** argv) {
  for (const Program& program : programs) {
    if (argc < 2 || std::strcmp(program.name, argv[1]) != 0) continue;
    const Arguments arguments(argv + 2, argv + argc);
    const auto begin = std::chrono::steady_clock::now();
    const std::string result = program.run(arguments);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    std::printf("{\"results\": [%s], \"seconds\": %.9f}\n", result.c_str(), seconds.count());
    return 0;
  }
  std::fprintf(stderr, "expected the name of a program:");
  for (const Program& program : programs) std::fprintf(stderr, " %s", program.name);
  std::fprintf(stderr, "\n");
  return 2;
}

}  // namespace benchmarks
