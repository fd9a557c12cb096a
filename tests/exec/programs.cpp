#include "exec/programs.h"

namespace hiaton::exec::testing {
namespace {

std::vector<Value> i64s(std::initializer_list<int64_t> numbers) {
  return {numbers.begin(), numbers.end()};
}

}  // namespace

const std::vector<ProgramCase>& programs() {
  static const std::vector<ProgramCase> cases = {
      {"a_result_that_is_an_argument", "fn main(n: i64) -> i64 = n", i64s({7}), i64s({7})},
      {"a_result_that_is_a_constant", "fn main() -> i64 = 7", {}, i64s({7})},
      {"constants_only", "fn main() -> i64 = 2 * 3 + 1", {}, i64s({7})},
      {"one_value_used_twice", "fn main(n: i64) -> i64 = n * n", i64s({7}), i64s({49})},
      {"several_results",
       "fn main(a: i64, b: i64) -> (i64, i64, bool) = (a / b, a % b, a < b)",
       i64s({17, 5}),
       {int64_t{3}, int64_t{2}, false}},
      {"the_taken_branch_alone_is_run", "fn main(n: i64) -> i64 = if n == 0 then 0 else 100 / n", i64s({0}),
       i64s({0})},
      {"the_other_branch", "fn main(n: i64) -> i64 = if n == 0 then 0 else 100 / n", i64s({7}), i64s({14})},
      {"branches_of_several_results",
       "fn main(a: i64, b: i64) -> (i64, i64) = if a < b then (a, b) else (b, a)", i64s({9, 4}),
       i64s({4, 9})},
      {"branches_of_constants", "fn main(n: i64) -> i64 = if n > 0 then 1 else if n < 0 then 2 else 3",
       i64s({0}), i64s({3})},
      {"nested_branches",
       "fn main(a: i64, b: i64) -> i64 = if a > 0 then (if b > 0 then a + b else a - b) else (if b > 0 then "
       "b "
       "else 0 - a)",
       i64s({3, -4}), i64s({7})},
      {"one_predicate_steers_two_ifs",
       "fn main(n: i64) -> i64 = let p = n > 2 let a = if p then n else 1 let b = if p then 10 else n a + b",
       i64s({5}), i64s({15})},
      {"short_circuit_and", "fn main(n: i64) -> bool = n != 0 and 10 / n > 2", i64s({0}), {false}},
      {"short_circuit_or", "fn main(n: i64) -> bool = n == 0 or 10 / n > 2", i64s({0}), {true}},
      {"a_branch_on_a_constant", "fn main(n: i64) -> i64 = if true then n else n / 0", i64s({5}), i64s({5})},

      {"a_call", "fn twice(n: i64) -> i64 = n + n fn main(n: i64) -> i64 = twice(n)", i64s({21}), i64s({42})},
      {"a_call_from_two_places",
       "fn twice(n: i64) -> i64 = n + n fn main(n: i64) -> i64 = twice(n) * 100 + twice(n + 1)", i64s({3}),
       i64s({608})},
      {"a_call_with_a_call_as_argument",
       "fn twice(n: i64) -> i64 = n + n fn main(n: i64) -> i64 = "
       "twice(twice(twice(n)))",
       i64s({3}), i64s({24})},
      {"a_call_with_constants_alone",
       "fn add3(a: i64, b: i64) -> i64 = a + b fn main(n: i64) -> i64 = if n > 0 "
       "then add3(1, 2) else n",
       i64s({3}), i64s({3})},
      {"a_function_without_parameters",
       "fn seven() -> i64 = 3 + 4 fn main(n: i64) -> i64 = seven() + (if n > 0 then seven() else n)",
       i64s({1}), i64s({14})},
      {"a_function_that_is_a_constant", "fn seven(n: i64) -> i64 = 7 fn main(n: i64) -> i64 = seven(n) + n",
       i64s({1}), i64s({8})},
      {"an_unused_parameter",
       "fn second(a: i64, b: i64) -> i64 = b fn main(n: i64) -> i64 = second(n, n + 1)", i64s({1}),
       i64s({2})},
      {"a_function_of_several_results",
       "fn divmod(a: i64, b: i64) -> (i64, i64) = (a / b, a % b) fn main(n: i64) -> i64 = let (q, r) = "
       "divmod(n, 7) q * 10 + r",
       i64s({23}), i64s({32})},
      {"an_unused_result",
       "fn divmod(a: i64, b: i64) -> (i64, i64) = (a / b, a % b) fn main(n: i64) -> i64 = let (q, r) = "
       "divmod(n, 7) q",
       i64s({23}), i64s({3})},
      {"an_unused_call", "fn twice(n: i64) -> i64 = n + n fn main(n: i64) -> i64 = let unused = twice(n) n",
       i64s({5}), i64s({5})},

      {"fact",
       "fn fact(n: i64) -> i64 = if n == 1 then n else n * fact(n - 1) fn main(n: i64) -> i64 = fact(n) "
       "+ 5",
       i64s({3}), i64s({11})},
      {"fib",
       "fn fib(n: i64) -> i64 = if n <= 1 then 1 else fib(n - 1) + fib(n - 2) fn main(n: i64) -> i64 = "
       "fib(n)",
       i64s({20}), i64s({10946})},
      {"ackermann",
       "fn ack(m: i64, n: i64) -> i64 = if m == 0 then n + 1 else if n == 0 then ack(m - 1, 1) else "
       "ack(m - 1, ack(m, n - 1)) fn main(m: i64, n: i64) -> i64 = ack(m, n)",
       i64s({2, 9}), i64s({21})},
      {"tak",
       "fn tak(x: i64, y: i64, z: i64) -> i64 = if y >= x then z else tak(tak(x - 1, y, z), tak(y - 1, z, "
       "x), tak(z - 1, x, y)) fn main(x: i64, y: i64, z: i64) -> i64 = tak(x, y, z)",
       i64s({12, 8, 4}), i64s({5})},
      {"mutual_recursion",
       "fn even(n: i64) -> bool = if n == 0 then true else odd(n - 1) fn odd(n: i64) -> bool = if n == 0 "
       "then "
       "false else even(n - 1) fn main(n: i64) -> (bool, bool) = (even(n), odd(n))",
       i64s({31}),
       {false, true}},
      {"a_main_that_calls_itself", "fn main(n: i64) -> i64 = if n == 0 then 0 else n + main(n - 1)",
       i64s({10}), i64s({55})},
      {"tail_recursion",
       "fn total(n: i64, acc: i64) -> i64 = if n == 0 then acc else total(n - 1, acc + n) fn main(n: i64) -> "
       "i64 "
       "= "
       "total(n, 0)",
       i64s({1000}), i64s({500500})},
      {"a_deep_recursion",
       "fn total(n: i64) -> i64 = if n == 0 then 0 else n + total(n - 1) fn main(n: i64) -> i64 "
       "= total(n)",
       i64s({100000}), i64s({5000050000})},
      {"a_recursion_that_is_its_own_argument",
       "fn f(n: i64) -> i64 = if n > 100 then n - 10 else f(f(n + 11)) fn main(n: i64) -> i64 = f(n)",
       i64s({80}), i64s({91})},
      {"recursion_of_several_results",
       "fn fibs(n: i64) -> (i64, i64) = if n == 0 then (0, 1) else let (a, b) = fibs(n - 1) in (b, a + b) "
       "fn main(n: i64) -> i64 = let (a, b) = fibs(n) in a",
       i64s({50}), i64s({12586269025})},

      {"a_loop", "fn main(n: i64) -> (i64, i64) = with i = 0, acc = 0 while i < n do (i + 1, acc + i)",
       i64s({10}), i64s({10, 45})},
      {"a_loop_of_no_iterations",
       "fn main(n: i64) -> (i64, i64) = with i = 0, acc = 3 while i < n do (i + 1, "
       "acc + i)",
       i64s({0}), i64s({0, 3})},
      {"a_long_loop", "fn main(n: i64) -> i64 = with acc = 0 for i in 0..n do acc + i", i64s({100000}),
       i64s({4999950000})},
      {"a_loop_variable_that_stays",
       "fn main(n: i64) -> (i64, i64) = with i = 0, k = n * 2 while i < n do (i + 1, k)", i64s({4}),
       i64s({4, 8})},
      {"a_loop_variable_that_becomes_a_constant",
       "fn main(n: i64) -> (i64, i64) = with i = 0, k = n while i < n do (i + 1, 42)", i64s({4}),
       i64s({4, 42})},
      {"loop_variables_that_swap",
       "fn main(n: i64) -> (i64, i64, i64) = with i = 0, a = 1, b = 2 while i < n do (i + 1, b, a)",
       i64s({3}), i64s({3, 2, 1})},
      {"a_loop_with_values_from_outside",
       "fn main(n: i64, k: i64) -> i64 = let m = k * k with acc = 0 for i in 0..n do acc + m * i + k",
       i64s({4, 3}), i64s({66})},
      {"a_loop_constant_that_comes_late",
       "fn slow(n: i64) -> i64 = if n == 0 then 5 else slow(n - 1) fn main(n: i64) -> (i64, i64) = let k = "
       "slow(50) with i = 0, acc = 0 while i < n do (i + 1, acc + k)",
       i64s({30}), i64s({30, 150})},
      {"nested_loops",
       "fn main(n: i64) -> i64 = with acc = 0 for i in 0..n do with inner = acc for j in 0..i do inner + i * "
       "j",
       i64s({6}), i64s({85})},
      {"three_loops_deep",
       "fn main(n: i64) -> i64 = with a = 0 for i in 0..n do with b = a for j in 0..n do with c = b for k in "
       "0..n do c + i * j + k",
       i64s({4}), i64s({240})},
      {"a_loop_in_a_branch",
       "fn main(n: i64) -> i64 = if n > 0 then with acc = 0 for i in 0..n do acc + i else n", i64s({-4}),
       i64s({-4})},
      {"a_branch_in_a_loop",
       "fn main(n: i64) -> i64 = with acc = 0 for i in 0..n do if i % 2 == 0 then acc + i else acc - 1",
       i64s({10}), i64s({15})},
      {"a_loop_in_a_branch_in_a_loop",
       "fn main(n: i64) -> i64 = with acc = 0 for i in 0..n do if i % 2 == 0 then (with b = acc for j in "
       "0..i do "
       "b + 1) else acc",
       i64s({10}), i64s({20})},
      {"a_call_in_a_loop",
       "fn fact(n: i64) -> i64 = if n <= 1 then 1 else n * fact(n - 1) fn main(n: i64) -> i64 = with acc = 0 "
       "for "
       "i in 0..n do acc + fact(i)",
       i64s({6}), i64s({154})},
      {"a_loop_in_a_recursion",
       "fn f(n: i64) -> i64 = if n == 0 then 1 else with acc = 0 for i in 0..n do acc + f(i) fn main(n: i64) "
       "-> "
       "i64 = f(n)",
       i64s({8}), i64s({128})},
      {"a_loop_whose_condition_calls",
       "fn even(n: i64) -> bool = n % 2 == 0 fn main(n: i64) -> i64 = with x = n while even(x) do x / 2",
       i64s({96}), i64s({3})},
      {"loop_after_loop",
       "fn main(n: i64) -> i64 = let a = with x = 1 for i in 0..n do x * 2 with y = 0 for i in 0..a do y + i",
       i64s({4}), i64s({120})},
      {"collatz",
       "fn main(n: i64) -> (i64, i64) = with x = n, steps = 0 while x != 1 do (if x % 2 == 0 then x / 2 else "
       "3 * "
       "x + 1, steps + 1)",
       i64s({27}), i64s({1, 111})},
      {"gcd",
       "fn gcd(a: i64, b: i64) -> i64 = if b == 0 then a else gcd(b, a % b) fn main(a: i64, b: i64) -> "
       "i64 = gcd(a, b)",
       i64s({1071, 462}), i64s({21})},
      {"floats",
       "fn main(x: f64) -> f64 = with y = x for i in 0..20 do (y + x / y) / 2.0",
       {2.0},
       {1.414213562373095}},

      {"a_division_by_zero", "fn main(n: i64) -> i64 = 7 / n", i64s({0}), {}, Fault::DivisionByZero},
      {"an_unused_division_by_zero",
       "fn main(n: i64) -> i64 = let unused = 7 / n n",
       i64s({0}),
       {},
       Fault::DivisionByZero},
      {"a_fault_in_a_call",
       "fn f(n: i64) -> i64 = 7 % n fn main(n: i64) -> i64 = f(n)",
       i64s({0}),
       {},
       Fault::DivisionByZero},
      {"a_fault_in_a_loop",
       "fn main(n: i64) -> i64 = with acc = 0 for i in 0..n do acc + 10 / (5 - i)",
       i64s({10}),
       {},
       Fault::DivisionByZero},
      {"a_cast_that_does_not_fit", "fn main(x: f64) -> i32 = i32(x)", {1e20}, {}, Fault::InvalidCast},
  };
  return cases;
}

}  // namespace hiaton::exec::testing
