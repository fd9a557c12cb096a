// The programs of the benchmarks as a C++ programmer writes them. The compiler may do what it likes with a
// function (it turns some recursions into loops), but not inline it into itself or into another.
#include <cmath>
#include <cstdint>

#include "timed_programs.h"

#define RECURSIVE __attribute__((noinline))

namespace {

RECURSIVE int64_t fib(int64_t n) {
  return n <= 1 ? 1 : fib(n - 1) + fib(n - 2);
}

RECURSIVE int64_t ack(int64_t m, int64_t n) {
  if (m == 0) return n + 1;
  if (n == 0) return ack(m - 1, 1);
  return ack(m - 1, ack(m, n - 1));
}

RECURSIVE int64_t tak(int64_t x, int64_t y, int64_t z) {
  return y < x ? tak(tak(x - 1, y, z), tak(y - 1, z, x), tak(z - 1, x, y)) : z;
}

RECURSIVE bool test(int32_t n, int32_t i) {
  if ((6 * i - 1) * (6 * i - 1) > n) return true;
  if (n % (6 * i - 1) == 0) return false;
  return test(n, i + 1);
}

RECURSIVE int32_t prime_plus(int32_t n, int32_t i);

RECURSIVE int32_t prime_minus(int32_t n, int32_t i) {
  if (test(6 * i - 1, 1)) return n == 0 ? 6 * i - 1 : prime_plus(n - 1, i);
  return prime_plus(n, i);
}

RECURSIVE int32_t prime_plus(int32_t n, int32_t i) {
  if (test(6 * i - 1, 1)) return n == 0 ? 6 * i - 1 : prime_minus(n - 1, i + 1);
  return prime_minus(n, i + 1);
}

int32_t primes(int32_t n) {
  return n <= 0 ? 2 : n == 1 ? 3 : prime_minus(n - 2, 1);
}

RECURSIVE int64_t sum(int64_t n) {
  return n == 0 ? 0 : n + sum(n - 1);
}

RECURSIVE int64_t tail_sum(int64_t n, int64_t total) {
  return n == 0 ? total : tail_sum(n - 1, total + n);
}

int64_t loop(int64_t n) {
  uint64_t x = 1;
  for (int64_t i = 0; i < n; ++i) x = x * 6364136223846793005u + static_cast<uint64_t>(i);
  return static_cast<int64_t>(x);
}

RECURSIVE double f(double x) {
  return std::sqrt(1 - x * x);
}

double simpson(double fa, double fm, double fb, double width) {
  return (fa + 4 * fm + fb) * width / 6;
}

RECURSIVE double integrate(double a, double fa, double m, double fm, double b, double fb, double whole,
                           double epsilon) {
  const double left_m = (a + m) / 2;
  const double right_m = (m + b) / 2;
  const double left_fm = f(left_m);
  const double right_fm = f(right_m);
  const double left = simpson(fa, left_fm, fm, m - a);
  const double right = simpson(fm, right_fm, fb, b - m);
  const double change = left + right - whole;
  if (std::fabs(change) <= 15 * epsilon) return left + right + change / 15;
  return integrate(a, fa, left_m, left_fm, m, fm, left, epsilon / 2) +
         integrate(m, fm, right_m, right_fm, b, fb, right, epsilon / 2);
}

double quarter_circle(double epsilon) {
  const double fa = f(0);
  const double fm = f(0.5);
  const double fb = f(1);
  return 4 * integrate(0, fa, 0.5, fm, 1, fb, simpson(fa, fm, fb, 1), epsilon);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace benchmarks;
  return run_named(
      {
          {"fib", [](const Arguments& a) { return show(fib(integer(a, 0))); }},
          {"ack", [](const Arguments& a) { return show(ack(integer(a, 0), integer(a, 1))); }},
          {"tak", [](const Arguments& a) { return show(tak(integer(a, 0), integer(a, 1), integer(a, 2))); }},
          {"primes",
           [](const Arguments& a) { return show(int64_t{primes(static_cast<int32_t>(integer(a, 0)))}); }},
          {"sum", [](const Arguments& a) { return show(sum(integer(a, 0))); }},
          {"tail_sum", [](const Arguments& a) { return show(tail_sum(integer(a, 0), 0)); }},
          {"loop", [](const Arguments& a) { return show(loop(integer(a, 0))); }},
          {"simpson", [](const Arguments& a) { return show(quarter_circle(real(a, 0))); }},
      },
      argc, argv);
}
