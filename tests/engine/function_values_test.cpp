// Functions as values: every executor calls the same ones, and gradients flow through what they take along.
#include "engine/known_case.h"
#include "sized.h"

namespace hiaton {
namespace {

class FunctionValues : public testing::TestWithParam<KnownCase> {};

TEST_P(FunctionValues, AreCalledInEveryExecutor) {
  expect_known(GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Programs, FunctionValues,
    testing::Values(
        KnownCase{
            "GradientsOfValuesThatTakeSuchGradients",
            "data Step = Step(name: str, f: fn(f64) -> f64)\n"
            "fn slope(s: Step) -> Step = Step(s.name + \"'\", fn(x) -> grad(s.f)(x))\n"
            "fn cube(x: f64) -> f64 = x * x * x\n"
            "fn times(n: i64, s: Step) -> Step = if n == 0 then s else times(n - 1, slope(s))\n"
            "fn derivative(f: fn(f64) -> f64) -> fn(f64) -> f64 = grad(f)\n"
            "fn main(x: f64, n: i64) -> (List[f64], f64, str, f64, f64) =\n"
            "  let steps = [Step(\"cube\", cube), slope(Step(\"cube\", cube)), times(n, Step(\"cube\", "
            "cube))]\n"
            "  let third = times(n + 1, Step(\"cube\", cube))\n"
            "  let fs = [derivative(if x > 0 then slope(steps_first(steps)).f else cube), cube]\n"
            "  let all = fold(fn(s, f) -> s + f(x), 0.0, fs)\n"
            "  (map(fn(s) -> s.f(x), steps), third.f(x), third.name, all, grad(fn(y) -> "
            "steps_first(steps).f(y) * y)(x))\n"
            "fn steps_first(steps: List[Step]) -> Step = match steps [s, ..] -> s [] -> Step(\"\", sin)\n",
            {"2", "2"},
            {"[8, 12, 12]", "6", "\"cube'''\"", "20", "32"}},
        KnownCase{"InListsFieldsAndBranches",
                  "data Layer = Layer(w: f64, f: fn(f64) -> f64)\n"
                  "fn square(x: f64) -> f64 = x * x\n"
                  "fn adder(n: f64) -> fn(f64) -> f64 = fn(x) -> x + n\n"
                  "fn pick(c: bool) -> fn(f64) -> f64 = if c then square else adder(3)\n"
                  "fn compose(fs: List[fn(f64) -> f64], x: f64) -> f64 =\n"
                  "  match fs\n"
                  "    [] -> x\n"
                  "    [f, ..rest] -> compose(rest, f(x))\n"
                  "fn run(l: Layer, x: f64) -> f64 = l.f(x) * l.w\n"
                  "fn main(n: f64) -> (f64, f64, f64, List[f64], List[f64]) =\n"
                  "  let h = pick(n > 1)\n"
                  "  let g = pick(n < 1)\n"
                  "  (h(n), run(Layer(2, adder(n)), n), compose([square, adder(1), fn(x) -> x * n], 3),\n"
                  "   map(fn(f) -> f(2), [h, g, abs]), map(h, [1, 2]))\n",
                  {"2"},
                  {"4", "8", "20", "[4, 5, 2]", "[1, 4]"}},
        KnownCase{
            "FunctionsThatHoldEachOther",
            "fn sum_then(xs: List[i64], k: fn(i64) -> i64) -> i64 =\n"
            "  match xs\n"
            "    [] -> k(0)\n"
            "    [x, ..rest] -> sum_then(rest, fn(s) -> k(s * 2 + x))\n"
            "fn twice(f: fn(i64) -> i64) -> fn(i64) -> i64 = fn(x) -> f(f(x))\n"
            "fn many(n: i64) -> fn(i64) -> i64 = if n == 0 then fn(x) -> x * 3 + 1 else twice(many(n - 1))\n"
            "fn main(xs: List[i64], n: i64) -> (i64, i64) = (sum_then(xs, fn(s) -> s + n), many(n)(0))\n",
            {"[1,2,3]", "3"},
            {"20", "3280"}},
        KnownCase{
            "LocalFunctionsThatCallThemselves",
            "fn main(n: i64, k: i64) -> (i64, List[bool], i64) =\n"
            "  let fn go(i: i64, acc: i64) -> i64 = if i == 0 then acc * k else go(i - 1, acc + i)\n"
            "  let fn even(i: i64) -> bool = if i == 0 then true else odd(i - 1)\n"
            "  let fn odd(i: i64) -> bool = if i == 0 then k < 0 else even(i - 1)\n"
            "  let fn apply(f: fn(i64) -> i64, i: i64) -> i64 = if i == 0 then f(k) else f(apply(f, i - 1))\n"
            "  (go(n, 0), map(even, [n, n + 1]), apply(fn(x) -> x + n, 3))\n",
            {"5", "2"},
            {"30", "[false, true]", "22"}},
        KnownCase{"OpenPlacesAndVariants",
                  "data Pair = Pair(a: i64, b: i64)\n"
                  "fn minus(a: i64, b: i64) -> i64 = a - b\n"
                  "fn total(p: Pair) -> i64 = p.a * 10 + p.b\n"
                  "fn main(xs: List[i64], n: i64) -> (List[i64], List[i64], i64, List[i64], i64) =\n"
                  "  let less = minus(_, n * n)\n"
                  "  (map(less, xs), map(minus(n, _), xs), fold(max(_, _), 0, xs),\n"
                  "   map(fn(p) -> total(p), map(Pair(_, n), xs)), fold(fn(s, f) -> f(s), n, [less, minus(_, "
                  "1)]))\n",
                  {"[1,5,2]", "2"},
                  {"[-3, 1, -2]", "[1, -3, 0]", "5", "[12, 52, 22]", "-3"}},
        KnownCase{"FunctionsOfFunctions",
                  "fn apply(f: fn(fn(i64) -> i64) -> fn(i64) -> i64, n: i64) -> i64 = f(neg)(n)\n"
                  "fn twice(f: fn(i64) -> i64) -> fn(i64) -> i64 = fn(x) -> f(f(x)) + 1\n"
                  "fn same[T](x: T) -> T = x\n"
                  "fn main(n: i64) -> (i64, i64, i64) =\n"
                  "  let fs: List[fn(fn(i64) -> i64) -> fn(i64) -> i64] = [twice, same, fn(f) -> fn(x) -> "
                  "f(x) * n]\n"
                  "  (apply(twice, n), fold(fn(s, f) -> s * 10 + f(neg)(n), 0, fs), same(twice(abs))(n))\n",
                  {"3"},
                  {"4", "361", "4"}},
        KnownCase{
            "CallsThatGiveKnownFunctions",
            "fn slope(f: fn(f64) -> f64) -> fn(f64) -> f64 = grad(f)\n"
            "fn after(f: fn(f64) -> f64, g: fn(f64) -> f64) -> fn(f64) -> f64 = fn(x) -> f(g(x))\n"
            "fn scale(k: f64) -> fn(f64) -> f64 = fn(x) -> x * k\n"
            "fn second(f: fn(f64) -> f64) -> fn(f64) -> f64 = grad(slope(f))\n"
            "fn cube(x: f64) -> f64 = x * x * x\n"
            "fn by(c: bool, x: f64) -> f64 = (let f = if c then cube else neg in slope(f)(x))\n"
            "fn loss(k: f64, x: f64) -> f64 = slope(after(cube, scale(k)))(x)\n"
            "fn main(x: f64) -> (f64, f64, f64, f64, f64, List[f64], f64, f64) =\n"
            "  let twice = slope(slope(cube))\n"
            "  let fs = [twice, scale(x)]\n"
            "  (twice(x), slope(slope(slope(cube)))(x), second(cube)(x), slope(after(cube, scale(x)))(1),\n"
            "   by(true, x), map(second(cube), [1, x]), fold(fn(s, f) -> s + f(x), 0, fs), grad(loss, "
            "wrt=k)(2, x))\n",
            {"2"},
            {"12", "6", "12", "24", "12", "[6, 12]", "16", "144"}},
        KnownCase{"GradientsThroughWhatIsTakenAlong",
                  "data Layer = Layer(w: f64[2], f: fn(f64[2]) -> f64[2])\n"
                  "fn chain(fs: List[fn(f64) -> f64], x: f64) -> f64 = fold(fn(s, f) -> f(s), x, fs)\n"
                  "fn loss(a: f64, b: f64, c: bool) -> f64 =\n"
                  "  let last = if c then fn(x: f64) -> x * x * b else fn(x) -> x + b\n"
                  "  chain([fn(x) -> x * a, last], 3)\n"
                  "fn of_layer(l: Layer, k: f64) -> f64 = sum(l.f(l.w)) * k\n"
                  "fn main(a: f64, b: f64) -> (f64, f64, f64, f64, f64[2], f64, f64) =\n"
                  "  let (da, db) = grad(loss)(a, b, true)\n"
                  "  let (ea, eb) = grad(loss)(a, b, false)\n"
                  "  let (dl, dk) = grad(of_layer)(Layer([a, b], fn(x) -> x * x), 2)\n"
                  "  let f: fn(f64) -> f64 = fn(x) -> x * x * a\n"
                  "  (da, db, ea, eb, dl.w, dk, grad(f)(b))\n",
                  {"2", "5"},
                  {"180", "36", "3", "1", "[8, 20]", "29", "20"}}),
    name_of_known);

TEST(FunctionValues, AMillionOfThemAreHeldAndFreed) {
  const Program program = Program::from_text("test.hia",
                                             "fn sum_then(n: i64, k: fn(i64) -> i64) -> i64 =\n"
                                             "  if n == 0 then k(0) else sum_then(n - 1, fn(s) -> k(s + n))\n"
                                             "fn main(n: i64) -> i64 = sum_then(n, fn(s) -> s)\n");
  for (RunOptions way : all_ways()) {
    const int64_t n = way.executor == Executor::Production ? sized<int64_t>(1'000'000, 200'000) : 3'000;
    RunStats stats;
    way.stats = &stats;
    EXPECT_EQ(program.run({Value(n)}, way).values[0].as<int64_t>(), n * (n + 1) / 2);
    EXPECT_EQ(stats.frames_live_at_end, 0u);
  }
}

}  // namespace
}  // namespace hiaton
