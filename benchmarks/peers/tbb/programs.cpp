// The programs with parallelism on oneTBB's task_group, in the plain way: independent recursive calls become
// tasks, all the way down. The environment variable WORKERS bounds the threads.
#include <tbb/global_control.h>
#include <tbb/task_group.h>

#include <cmath>
#include <cstdint>

#include "timed_programs.h"

namespace {

int64_t fib(int64_t n) {
  if (n <= 1) return 1;
  int64_t a = 0;
  int64_t b = 0;
  tbb::task_group group;
  group.run([&] { a = fib(n - 1); });
  group.run([&] { b = fib(n - 2); });
  group.wait();
  return a + b;
}

int64_t tak(int64_t x, int64_t y, int64_t z) {
  if (y >= x) return z;
  int64_t a = 0;
  int64_t b = 0;
  int64_t c = 0;
  tbb::task_group group;
  group.run([&] { a = tak(x - 1, y, z); });
  group.run([&] { b = tak(y - 1, z, x); });
  group.run([&] { c = tak(z - 1, x, y); });
  group.wait();
  return tak(a, b, c);
}

double f(double x) {
  return std::sqrt(1 - x * x);
}

double simpson(double fa, double fm, double fb, double width) {
  return (fa + 4 * fm + fb) * width / 6;
}

double integrate(double a, double fa, double m, double fm, double b, double fb, double whole,
                 double epsilon) {
  const double left_m = (a + m) / 2;
  const double right_m = (m + b) / 2;
  const double left_fm = f(left_m);
  const double right_fm = f(right_m);
  const double left = simpson(fa, left_fm, fm, m - a);
  const double right = simpson(fm, right_fm, fb, b - m);
  const double change = left + right - whole;
  if (std::fabs(change) <= 15 * epsilon) return left + right + change / 15;
  double left_area = 0;
  double right_area = 0;
  tbb::task_group group;
  group.run([&] { left_area = integrate(a, fa, left_m, left_fm, m, fm, left, epsilon / 2); });
  group.run([&] { right_area = integrate(m, fm, right_m, right_fm, b, fb, right, epsilon / 2); });
  group.wait();
  return left_area + right_area;
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
  const char* workers = std::getenv("WORKERS");
  const std::size_t threads = workers == nullptr ? 1 : std::strtoul(workers, nullptr, 10);
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
  return run_named(
      {
          {"fib", [](const Arguments& a) { return show(fib(integer(a, 0))); }},
          {"tak", [](const Arguments& a) { return show(tak(integer(a, 0), integer(a, 1), integer(a, 2))); }},
          {"simpson", [](const Arguments& a) { return show(quarter_circle(real(a, 0))); }},
      },
      argc, argv);
}
