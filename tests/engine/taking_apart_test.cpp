// Patterns where names are bound, the order of tuples, gradients of what an expression gives, and types that
// other arguments tell: in every executor.
#include "engine/known_case.h"

namespace hiaton {
namespace {

class TakenApart : public testing::TestWithParam<KnownCase> {};

TEST_P(TakenApart, GivesKnownValues) {
  expect_known(GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Programs, TakenApart,
    testing::Values(
        KnownCase{"InLetsLambdasAndLoops",
                  "data Point = Point(x: f64, y: f64)\n"
                  "fn length(p: Point) -> f64 =\n"
                  "  let Point(x, y) = p\n"
                  "  x * x + y * y\n"
                  "fn main(n: i64, p: Point) -> (f64, i64, List[i64], (i64, i64), (i64, i64)) =\n"
                  "  let (a, (b, whole @ (c, _))) = (1, (n, (n * 2, 7)))\n"
                  "  let (d, _) = whole\n"
                  "  (length(p), a + b + c + d, map(fn((a, b)) -> a * n + b, [(1, 2), (n, 4)]),\n"
                  "   with (a, b) = (0, 1) while b < n * 10 do (b, a + b),\n"
                  "   with (a, b) = (0, 1) for i in 0..n do (b, a + b + i))\n",
                  {"3", "Point(3, 4)"},
                  {"25", "16", "[5, 13]", "(21, 34)", "(3, 6)"}},
        KnownCase{"WithGradients",
                  "data Point = Point(x: f64, y: f64)\n"
                  "fn loss(p: Point, k: f64) -> f64 =\n"
                  "  let (Point(x, y), (z, _)) = (p, (k * k, 0))\n"
                  "  fold(fn(sum, (a, b)) -> sum + a * b * z, x * y, [(x, k), (y, 2)])\n"
                  "fn main(x: f64) -> (Point, f64) = grad(loss)(Point(x, 3), 2)\n",
                  {"5"},
                  {"Point(11, 13)", "84"}},
        KnownCase{"TuplesInOrder",
                  "import \"std/list\"\n"
                  "import \"std/map\"\n"
                  "fn main(a: (i64, str), b: (i64, str)) -> (bool, bool, bool, bool, List[(i64, str)],\n"
                  "                                          List[((f64, i64), str)]) =\n"
                  "  (a < b, a <= b, a > b, a >= a, sort([b, a, (0, \"z\")]),\n"
                  "   entries(put(put(map_of([((0.5, 2), \"a\")]), (0.5, 1), \"b\"), (0.5, 2), \"c\")))\n",
                  {"(1, \"b\")", "(1, \"a\")"},
                  {"false", "false", "true", "true", "[(0, \"z\"), (1, \"a\"), (1, \"b\")]",
                   "[((0.5, 1), \"b\"), ((0.5, 2), \"c\")]"}},
        KnownCase{"GradientsOfWhatAnExpressionGives",
                  "data Layer = Layer(act: fn(f64) -> f64)\n"
                  "fn f(x: f64, y: f64) -> f64 = x * x * y\n"
                  "fn times(a: f64) -> fn(f64) -> f64 = fn(b) -> a * b * b\n"
                  "fn main(x: f64) -> (f64, f64, f64, f64, List[f64], f64) =\n"
                  "  let fx = f(_, 3)\n"
                  "  let l = Layer(fn(y) -> y * x)\n"
                  "  let step = grad(f, wrt=y)\n"
                  "  (grad(fx)(x), grad(f(x, _))(1), grad(l.act)(5), grad(times(3))(x), map(grad(times(2)), "
                  "[1, x]),\n"
                  "   step(3, 1))\n",
                  {"2"},
                  {"12", "4", "2", "12", "[4, 8]", "9"}},
        KnownCase{"TypesThatOtherArgumentsTell",
                  "import \"std/map\"\n"
                  "import \"std/option\"\n"
                  "data Monoid[T] = Monoid(zero: T, plus: fn(T, T) -> T)\n"
                  "fn total[T](m: Monoid[T], xs: List[T]) -> T = fold(m.plus, m.zero, xs)\n"
                  "fn main(n: i64) -> (i64, i64, str, f64, List[Option[i64]], bool, i64, i64) =\n"
                  "  let r = if n > 2 then None else Some(n)\n"
                  "  let add_n = add(n, _)\n"
                  "  (map_size(put(MapTip, \"a\", 1)), total(Monoid(0, add), [1, 2, n]),\n"
                  "   total(Monoid(\"\", add), [\"a\", \"b\"]), total(Monoid(1.0, mul), [2, 3]), [None, "
                  "Some(n), r],\n"
                  "   None == r, value_or(match n 1 -> None  k if k > 5 -> None  _ -> Some(n), 0),\n"
                  "   fold(fn(s, f) -> f(s), 1, [add_n, mul(_, 2), fn(x) -> x - 1]))\n",
                  {"3"},
                  {"1", "6", "\"ab\"", "6", "[None, Some(3), None]", "true", "3", "7"}}),
    name_of_known);

}  // namespace
}  // namespace hiaton
