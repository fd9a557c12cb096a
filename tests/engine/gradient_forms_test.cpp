// Gradients by chosen parameters, of functions that are arguments, and products of gradients and Jacobians:
// the same in every executor, and what is known of them.
#include <gtest/gtest.h>

#include "engine/floats.h"
#include "engine/known_case.h"
#include "hiaton/model.h"

namespace hiaton {
namespace {

class GradientForms : public testing::TestWithParam<KnownCase> {};

TEST_P(GradientForms, AreTheSameInAllWays) {
  expect_known(GetParam());
}

#define PRODUCT "fn f(x: f64, n: i64, y: f64, z: f64[2]) -> f64 = x * x * y * sum(z) * f64(n)\n"

const KnownCase kForms[] = {
    {"ByChosenArguments",
     PRODUCT "fn main(x: f64) -> (f64[2], f64, f64, f64) =\n"
             "  let (z, x) = grad(f, wrt=(3, 0))(x, 2, 0.5, [1, 3])\n"
             "  let (value, y) = value_and_grad(f, wrt=y)(3, 1, 2, [1, 1])\n"
             "  (z, x, value, y)\n",
     {"4"},
     {"[16,16]", "32", "36", "18"}},
    {"AsAFunctionOfItsOwn",
     PRODUCT
     "fn by_y(x: f64, n: i64, y: f64, z: f64[2]) -> f64 = grad(f, wrt=2)\n"
     "fn main(x: f64) -> (f64, f64) = (by_y(x, 2, 0.5, [1, 3]), grad(by_y, wrt=x)(x, 2, 0.5, [1, 3]))\n",
     {"4"},
     {"128", "64"}},
    {"OfGradientsWhoseGradientsDependOnNoResult",
     "fn h(q: f64) -> f64 = q * q * q\n"
     "fn k(x: f64) -> f64 = (let g = grad(h)(x) in g * g)\n"
     "fn l(x: f64) -> f64 = grad(k)(x)\n"
     "fn m(x: f64) -> f64 = (let g = grad(l)(x) in g * g)\n"
     "fn main(x: f64) -> (f64, f64, f64) = (grad(l)(x), grad(m)(x), grad(grad(grad(h)))(x))\n",
     {"2"},
     {"432", "373248", "6"}},
    {"ByLearnedParameters",
     "param w: f64[2] = ones\nparam unused: f64[3] = ones\n"
     "fn power(n: i64) -> f64 = if n == 0 then 1 else sum(w) * power(n - 1)\n"
     "fn f(x: f64, n: i64) -> f64 = x * power(n) + w[0]\n"
     "fn main(x: f64) -> (f64[2], f64, f64[3], f64[2]) =\n"
     "  let (by_w, by_x, by_unused) = grad(f, wrt=(w, x, unused))(x, 3)\n"
     "  (by_w, by_x, by_unused, with g = [0.0, 0] for i in 0..3 do g + grad(f, wrt=w)(x, i))\n",
     {"0.5"},
     {"[7,6]", "8", "[0,0,0]", "[5.5,2.5]"}},
    {"OfGradientsByLearnedParameters",
     "param w: f64[2] = ones\n"
     "fn loss(x: f64) -> f64 = x * w[0] * w[0] * w[1] + sum(with a = w for _ in 0..2 do a * w)\n"
     "fn inner(x: f64) -> f64 = (let g = grad(loss, wrt=w)(x) in g[0] * g[1])\n"
     "fn main(x: f64) -> (f64, f64[2], f64) =\n"
     "  let (by_w, by_x) = grad(inner, wrt=(w, 0))(x)\n"
     "  (inner(x), by_w, by_x)\n",
     {"2"},
     {"35", "[78,62]", "17"}},
    {"AParameterHidesALearnedOne",
     "param w: f64[2] = ones\n"
     "fn f(w: f64) -> f64 = w * w * sum(param w)\n"
     "fn main(x: f64) -> (f64, f64[2]) = (grad(f, wrt=w)(x), grad(f, wrt=param w)(x))\n",
     {"3"},
     {"12", "[9,9]"}},
    {"Vjp",
     "fn f(x: f64[n], k: i64) -> (f64[n], i64, f64) = (x * x * f64(k), k, sum(x))\n"
     "fn main(x: f64[2]) -> (f64[2], f64[2]) = (vjp(f)(x, 3, [1, 0], 0), vjp(f, wrt=x)(x, 3, [0, 1], 0.5))\n",
     {"[1,2]"},
     {"[6,0]", "[0.5,12.5]"}},
    {"VjpByALearnedParameterOfAVjp",
     "param w: f64[2] = ones\n"
     "fn f(x: f64) -> f64[2] = x * x * w * w\n"
     "fn g(x: f64) -> f64 = vjp(f, wrt=x)(x, [1, 2])\n"
     "fn main(x: f64) -> (f64, f64[2]) = (g(x), vjp(g, wrt=w)(x, 0.5))\n",
     {"3"},
     {"18", "[6,12]"}},
    {"OfFunctionsThatAreArguments",
     "fn newton(f: fn(f64) -> f64, x: f64) -> f64 = x - f(x) / grad(f)(x)\n"
     "fn twice(f: fn(f64) -> f64, x: f64) -> f64 = grad(grad(f))(x)\n"
     "fn apply(f: fn(f64) -> f64, x: f64) -> f64 = f(x)\n"
     "fn cube(x: f64) -> f64 = x * x * x\n"
     "fn main(a: f64) -> (f64, f64, f64, f64, List[f64]) =\n"
     "  (newton(fn(x) -> x * x - a, 2), twice(cube, a), newton(cube, 3), apply(grad(cube), 2),\n"
     "   map(grad(cube), [1, 2]))\n",
     {"3"},
     {"1.75", "18", "2", "12", "[3,12]"}},
    {"OfLambdas",
     "fn main(a: f64, xs: f64[3]) -> (f64, f64, f64, f64[3], f64) =\n"
     "  let (by_x, by_y) = grad(fn(x, y) -> a * x * y * y)(2.0, 3.0)\n"
     "  let by_second = grad(fn(x, y) -> a * x * y, wrt=1)(2.0, 3.0)\n"
     "  (by_x, by_y, by_second, map(grad(fn(x) -> a * x * x), xs), vjp(fn(x: f64) -> x * a)(2, 5))\n",
     {"0.5", "[1,2,3]"},
     {"4.5", "6", "1", "[1,2,3]", "2.5"}},
    {"ByWhatALambdaTakesAlong",
     "fn slope(f: fn(f64) -> f64, x: f64) -> f64 = grad(f)(x)\n"
     "fn g(a: f64, x: f64) -> f64 = slope(fn(x) -> a * a * x * x, x)\n"
     "fn main(a: f64) -> (f64, f64) = grad(g)(a, 2)\n",
     {"3"},
     {"24", "18"}},
    {"OfFunctionsThatTakeFunctions",
     "fn sum_of(x: f64, f: fn(f64) -> f64, y: f64) -> f64 = f(x) * f(y)\n"
     "fn main(a: f64) -> (f64, f64, f64) =\n"
     "  let (by_x, by_y) = grad(sum_of)(2, fn(x) -> a * x * x, 1)\n"
     "  (by_x, by_y, grad(sum_of, wrt=2)(2, fn(x) -> a * x, 1))\n",
     {"2"},
     {"16", "32", "8"}},
    {"VjpsThatAreArguments",
     "fn apply(f: fn(f64[2], f64[2]) -> f64[2], x: f64[2]) -> f64[2] = f(x, [1, 10])\n"
     "fn square(x: f64[2]) -> f64[2] = x * x\n"
     "fn pull(f: fn(f64[2]) -> f64[2], x: f64[2], g: f64[2]) -> f64[2] = vjp(f)(x, g)\n"
     "fn main(a: f64) -> (f64[2], f64[2], f64[2]) =\n"
     "  (apply(vjp(square), [1, 2]), apply(vjp(fn(x: f64[2]) -> a * x), [1, 2]),\n"
     "   pull(fn(x) -> x * x * a, [1, 2], [1, 1]))\n",
     {"3"},
     {"[2,40]", "[3,30]", "[6,12]"}},
    {"OfOperations",
     "fn slope(f: fn(f64) -> f64, x: f64) -> f64 = grad(f)(x)\n"
     "fn main(x: f64) -> (f64, f64, f64, f64) =\n"
     "  let (by_a, by_b) = grad(mul)(x, 3)\n"
     "  (slope(exp, 0), grad(sin)(x - 2), by_a, by_b)\n",
     {"2"},
     {"1", "1", "3", "2"}},
    {"StopGradient",
     "data D = D(x: f64, n: i64)\n"
     "fn f(x: f64, v: f64[2]) -> f64 = x * stop_gradient(x) + sum(stop_gradient(v) * v)\n"
     "fn g(d: D) -> f64 = (let e = stop_gradient(d) in e.x * d.x * f64(stop_gradient(d.n)))\n"
     "fn main(x: f64) -> (f64, f64[2], D) =\n"
     "  let (by_x, by_v) = grad(f)(x, [1, 2])\n"
     "  (by_x, by_v, grad(g)(D(x, 2)))\n",
     {"3"},
     {"3", "[1,2]", "D(6,2)"}},
    {"OfGenericFunctions",
     "data Pair[T] = Pair(a: T, b: T)\n"
     "fn total[T](p: Pair[T], f: fn(T) -> f64) -> f64 = f(p.a) * f(p.b)\n"
     "fn square[T](x: T) -> T = x * x\n"
     "fn main(x: f64) -> (Pair[f64], Pair[f64[2]], List[f64]) =\n"
     "  (grad(total)(Pair(x, 3), fn(x) -> x), grad(total)(Pair([1.0, 2], [3.0, 4]), fn(v) -> sum(v)),\n"
     "   map(grad(square), [x]))\n",
     {"2"},
     {"Pair(3,2)", "Pair([7,7],[3,3])", "[4]"}},
};

INSTANTIATE_TEST_SUITE_P(Engine, GradientForms, testing::ValuesIn(kForms), name_of_known);

TEST(GradientForms, FailWhereAGradientHasAnotherSizeThanItsResult) {
  const Program program = Program::from_text("test.hia",
                                             "fn f(x: f64[n]) -> f64[_] = concat(x, x, axis=0)\n"
                                             "fn main(x: f64[n], g: f64[m]) -> f64[n] = vjp(f)(x, g)\n");
  const Type vector = program.results()[0];
  const Value x = parse_value(vector, "[1,2]");
  const Value right = parse_value(vector, "[1,2,3,4]");
  for (const RunOptions& way : all_ways()) {
    EXPECT_EQ(program.run({x, right}, way).values[0], parse_value(vector, "[4,6]"));
    EXPECT_THROW(program.run({x, x}, way), RunError);
  }
}

/// A loss with a step of descent inside, as for a learned beginning: the training gradient is its slope.
TEST(GradientForms, InsideALossAreDerivedByTraining) {
  const Model model = Model::from_text("meta.hia",
                                       "size d = 3\n"
                                       "param W: f64[d, d] = normal(0.5)\n"
                                       "param b: f64[d] = uniform(1)\n"
                                       "fn inner(w: f64[d, d], x: f64[d]) -> f64 = sum(tanh(x @ w + b))\n"
                                       "fn loss(x: f64[d]) -> f64 =\n"
                                       "  let w = W - 0.1 * grad(inner, wrt=0)(W, x)\n"
                                       "  inner(w, x) + sum(sin(grad(inner, wrt=b)(w, x)))\n");
  const std::vector<std::vector<Value>> examples{
      {parse_value(model.loss_program().parameters()[0].type, "[0.3,-0.7,1.1]")}};
  const std::vector<Value> parameters = model.initial_parameters(1);
  const auto loss_at = [&](const std::vector<Value>& at) {
    return model.loss(examples, {.parameters = at})[0][0].as<double>();
  };
  Gradients gradients(model.parameters());
  model.loss(examples, {.parameters = parameters, .gradients = &gradients});
  std::vector<double> found;
  for (std::size_t p = 0; p < gradients.size(); ++p) collect_floats(gradients[p].values, found);
  ASSERT_EQ(found.size(), 12u);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto at = [&](double by) { return loss_at(moved(parameters, static_cast<int64_t>(i), by)); };
    EXPECT_NEAR(found[i], (at(1e-5) - at(-1e-5)) / 2e-5, 1e-8) << i;
  }
}

}  // namespace
}  // namespace hiaton
