// Tensors with another value at a place, `x with [i, j] = value`: the same in every executor, changed in
// place where nothing else holds them, and their gradients.
#include <gtest/gtest.h>

#include "engine/known_case.h"
#include "engine/run_error.h"

namespace hiaton {
namespace {

class Places : public testing::TestWithParam<KnownCase> {};

TEST_P(Places, AreTheSameInAllWays) {
  expect_known(GetParam());
}

const KnownCase kPlaces[] = {
    {"ElementsAndRows",
     "fn main(x: f32[2, 3], i: i64) -> (f32[2, 3], f32[2, 3], f32[2, 3], f32[2, 3]) =\n"
     "  (x with [i, 0] = 9, x with [i] = [7, 8, 9], (x with [0, 0] = 0) with [i, 2] = x[0, 1] + 1, x)\n",
     {"[[1,2,3],[4,5,6]]", "1"},
     {"[[1,2,3],[9,5,6]]", "[[1,2,3],[7,8,9]]", "[[0,2,3],[4,5,3]]", "[[1,2,3],[4,5,6]]"}},
    {"OfEveryElementType",
     "fn main(a: bool[2], b: u8[2], c: i32[2], i: i64) -> (bool[2], u8[2], i32[2], f64[1, 1, 2]) =\n"
     "  let d: f64[1, 1, 2] = zeros(1, 1, 2)\n"
     "  (a with [i] = not a[i], b with [i] = b[0] + 1, c with [i] = -7, d with [0, 0, i] = 0.5)\n",
     {"[true,false]", "[255,3]", "[1,2]", "1"},
     {"[true,true]", "[255,0]", "[1,-7]", "[[[0,0.5]]]"}},
    {"ReadOnes",
     "fn main(x: f32[2, 2, 2], y: i32[2, 2], i: i64) -> (f32, f32[2], f32, i32, f32[2], i64) =\n"
     "  (x[i, 0, 1], x[i, 1], x[1][0][i], y[i, 1 - i], at(x, 0)[i], size(x, axis=-1) + size(y))\n",
     {"[[[1,2],[3,4]],[[5,6],[7,8]]]", "[[-1,-2],[-3,-4]]", "1"},
     {"6", "[7,8]", "6", "-3", "[3,4]", "4"}},
    {"CountedFromTheEnd",
     "fn main(x: i64[4], y: i64[2, 2], i: i64) -> (i64, i64, i64[4], i64[2, 2], i64[2]) =\n"
     "  let s = with s: i64 = 0 for k in 0..4 do s * 10 + at(x, k - 4, from_end=1) * 2\n"
     "  let changed = with z: i64[4] = x for k in 0..2 do set_at(z, k, 0 - k - 1, from_end=1)\n"
     "  (s, at(y, 0 - i, i, from_end=1) + 1, changed, set_at(y, 9, 0 - i, 0, from_end=1), at(y, -2, "
     "from_end=1))\n",
     {"[1,2,3,4]", "[[5,6],[7,8]]", "1"},
     {"2468", "9", "[1,2,1,0]", "[[5,6],[9,8]]", "[5,6]"}},
    {"Sieve",
     "fn crossed(s: i64[_], j: i64, p: i64) -> i64[_] =\n"
     "  if j >= size(s, axis=0) then s else crossed(s with [j] = 0, j + p, p)\n"
     "fn sieve(s: i64[_], p: i64) -> i64[_] =\n"
     "  if p * p >= size(s, axis=0) then s else sieve(if s[p] == 1 then crossed(s, p * p, p) else s, p + 1)\n"
     "fn main(n: i64) -> i64 = sum(sieve(ones(n), 2)) - 2\n",
     {"100"},
     {"25"}},
    {"OldOnesStay",
     "data Two = Two(a: i64[_], b: i64[_])\n"
     "fn both(x: i64[_], n: i64) -> Two =\n"
     "  if n == 0 then Two(x, x) else (let t = both(x with [n] = n, n - 1) in Two(t.a with [0] = n, x))\n"
     "fn main(x: i64[n]) -> (i64[_], i64[_], i64[_], i64[n]) =\n"
     "  let t = both(x, 2)\n"
     "  let steps = with y: i64[_] = x for i in 0..3 do (if i == 1 then y else y with [i] = y[0] + i + 1)\n"
     "  (t.a, t.b, steps, x)\n",
     {"[5,6,7]"},
     {"[2,1,2]", "[5,6,7]", "[6,6,9]", "[5,6,7]"}},
    {"OfItself",
     "fn main(x: i64[2], y: i64[2, 2], i: i64) -> (i64[2], i64[2], i64[2, 2]) =\n"
     "  let a = x + 1\n"
     "  let b = x + 2\n"
     "  let c = y + 1\n"
     "  (a with [i] = a[1 - i], scatter_add(b, [0, 1], b), c with [i] = c[1 - i])\n",
     {"[1,2]", "[[1,2],[3,4]]", "1"},
     {"[2,2]", "[6,8]", "[[2,3],[2,3]]"}},
    {"GradientsOfReading",
     "fn f(x: f64[2, 3], v: f64[3], i: i64) -> f64 =\n"
     "  let first = with s: f64 = 0 for j in 0..3 do s + x[i, j] * v[j] * x[0, 2]\n"
     "  first + sum(at(x, i) * v)\n"
     "fn main(x: f64[2, 3], v: f64[3], i: i64) -> (f64[2, 3], f64[3]) = grad(f)(x, v, i)\n",
     {"[[1,2,3],[4,5,6]]", "[1,2,3]", "1"},
     {"[[0,0,32],[4,8,12]]", "[16,20,24]"}},
    {"Gradients",
     "fn f(x: f64[2, 2], v: f64, r: f64[2], i: i64) -> f64 =\n"
     "  let y = (x with [i, 0] = v * v) with [1 - i] = r * 3\n"
     "  sum(y * y * [[1.0, 2], [3, 4]])\n"
     "fn main(x: f64[2, 2], v: f64, r: f64[2], i: i64) -> (f64[2, 2], f64, f64[2]) = grad(f)(x, v, r, i)\n",
     {"[[1,2],[3,4]]", "2", "[1,2]", "0"},
     {"[[0,8],[0,0]]", "32", "[54,144]"}},
};

INSTANTIATE_TEST_SUITE_P(Engine, Places, testing::ValuesIn(kPlaces), name_of_known);

TEST(Places, FailWhereTheyAreOutside) {
  for (const char* body :
       {"x with [i] = x[0]", "x with [0 - i] = x[0]", "x with [0, i] = 1", "x with [i, 0] = 1",
        "x with [0, 0] = x[i, 0]", "x with [0, 0] = x[0, -i]", "x with [0] = at(x, i)",
        "x with [0, 1] = (x + x)[0, i]", "(x + 1) with [0, i] = 1", "(x + 1) with [i] = [1, 2]"}) {
    const Program program = Program::from_text(
        "test.hia", std::string("fn main(x: f64[n, n], i: i64) -> f64[n, n] = ") + body + "\n");
    const Value x = parse_value(program.parameters()[0].type, "[[1,2],[3,4]]");
    for (const RunOptions& way : all_ways()) {
      EXPECT_EQ(error_of(program, {x, int64_t{2}}, way).fault(), Fault::Index) << body;
    }
  }
}

/// Two tensors do not fit in the memory: the copy of the argument is the only one.
TEST(Places, AreChangedInPlace) {
  for (const std::string type : {"i64[_]", "i64[1000000]"}) {
    for (const std::string change : {"x with [i] = x[i - 1] + 1", "scatter_add(x, i, x[i - 1] + 1)"}) {
      const Program program = Program::from_text(
          "test.hia", "fn changed(x: " + type + ", i: i64, n: i64) -> " + type +
                          " =\n  if i > n then x else changed(" + change + ", i + 1, n)\nfn main(x: " + type +
                          ", n: i64) -> (i64, i64) =\n"
                          "  let a = changed(x, 1, n)\n"
                          "  let b = with x = a for i in n + 1..2 * n do " +
                          change + "\n  (b[n], b[2 * n - 1])\n");
      const std::vector<Value> expected{int64_t{1000}, int64_t{1999}};
      for (const int workers : {1, 2}) {
        const RunOptions way{.workers = workers, .max_bytes = 12'000'000};
        const Tensor zeros(DType::I64, {1'000'000});
        EXPECT_EQ(program.run({zeros, int64_t{1000}}, way).values, expected) << type << change << workers;
      }
    }
  }
}

}  // namespace
}  // namespace hiaton
