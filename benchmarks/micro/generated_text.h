// Program text of any size, for the layers that read it.
#pragma once

#include <fmt/format.h>

#include <string>

namespace benchmarks {

/// `count` functions of eight lines, each calling the one before: calls, branches, a loop, several results.
inline std::string generated_text(int count) {
  std::string text = "fn step0(n: i64, x: f64) -> (i64, f64) = (n, x)\n";
  for (int i = 1; i <= count; ++i) {
    text += fmt::format(
        "fn step{0}(n: i64, x: f64) -> (i64, f64) =\n"
        "  let (m, y) = step{1}(n - 1, x * 0.5)\n"
        "  let k = with acc = m while acc < n * {0} do\n"
        "    acc * 2 + abs(n) + 1\n"
        "  if m > {0} and n != {1} then\n"
        "    (k % 1000, y + sqrt(x))\n"
        "  else\n"
        "    (k + m * {0} - n, y - x)\n",
        i, i - 1);
  }
  return text + fmt::format("fn main(n: i64, x: f64) -> (i64, f64) = step{}(n, x)\n", count);
}

}  // namespace benchmarks
