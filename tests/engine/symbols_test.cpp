// Symbols in types: one size throughout a function, in whatever way it runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/all_ways.h"
#include "engine/run_error.h"

namespace hiaton {
namespace {

using ::testing::HasSubstr;

Value vector(const std::string& text, int64_t size) {
  return parse_value(tensor_type(DType::F64, {size}), text);
}

void expect_mismatch(const std::string& text, const std::string& reason) {
  for (const bool simplify : {true, false}) {
    CompileOptions options;
    if (!simplify) options.simplify = passes::SimplifyOptions::none();
    const Program program = Program::from_text("test.hia", text, options);
    for (const RunOptions& way : all_ways()) {
      try {
        program.run({vector("[3, 4]", 2)}, way);
        FAIL() << text;
      } catch (const RunError& error) {
        EXPECT_EQ(error.fault(), Fault::Shape);
        EXPECT_THAT(error.what(), HasSubstr(reason));
      }
    }
  }
}

void expect_refused(const std::string& text, const std::string& reason) {
  try {
    Program::from_text("test.hia", text);
    FAIL() << text;
  } catch (const ProgramError& error) {
    EXPECT_THAT(error.what(), HasSubstr(reason));
  }
}

TEST(Symbols, OfParametersHoldInLets) {
  expect_mismatch(
      "fn f(x: f64[n]) -> f64 =\n"
      "  let y: f64[n] = slice(x, axis=0, start=0, length=1)\n"
      "  sum(x * y)\n"
      "fn main(x: f64[n]) -> (f64, f64[n]) = value_and_grad(f)(x)\n",
      "test.hia:2:19: error: shape mismatch: expected 2 elements along dimension 0, as many as f64[2] has");
}

TEST(Symbols, OfLetsHoldInOthers) {
  const std::string lets =
      "fn main(x: f64[n]) -> f64[_] =\n"
      "  let y: f64[k] = concat(x, x, axis=0)\n";
  expect_mismatch(lets + "  let z: f64[k] = x\n  y * z\n", "expected 4 elements");
  expect_mismatch(lets + "  with z: f64[k] = x for i in 0..3 do z + y\n", "expected 4 elements");
  expect_mismatch(lets + "  if sum(x) > 0.0 then (let z: f64[k] = x\n z) else x\n", "expected 4 elements");
  expect_in_all_ways(
      lets + "  let z: f64[k] = concat(x, slice(y, axis=0, start=0, length=2), axis=0)\n  y * z\n",
      {vector("[3, 4]", 2)}, {vector("[9, 16, 9, 16]", 4)});
}

TEST(Symbols, OfOneBranchAreNotThoseOfTheOther) {
  const std::string text =
      "fn main(x: f64[n]) -> f64[_] =\n"
      "  if sum(x) > 100.0 then (let z: f64[k] = x\n z)\n"
      "  else (let z: f64[k] = concat(x, x, axis=0)\n z)\n";
  expect_in_all_ways(text, {vector("[3, 4]", 2)}, {vector("[3, 4, 3, 4]", 4)});
}

TEST(Symbols, OfResultsHoldInOthers) {
  expect_mismatch(
      "fn f(x: f64[n]) -> (f64[m], f64[m]) = (concat(x, x, axis=0), slice(x, axis=0, start=0, length=1))\n"
      "fn main(x: f64[n]) -> f64[_] =\n"
      "  let (a, b) = f(x)\n"
      "  a * b\n",
      "expected 4 elements");
}

TEST(Symbols, OfResultsHaveGradients) {
  const std::string text =
      "fn f(x: f64[n], k: i64) -> (f64[m], f64[m]) =\n"
      "  if k == 0 then (concat(x, x, axis=0), concat(x, x, axis=0)) else f(x * 2, k - 1)\n"
      "fn g(x: f64[n], k: i64) -> f64 =\n"
      "  let (a, b) = f(x, k)\n"
      "  sum(a * b)\n"
      "fn main(x: f64[n]) -> f64[n] = grad(g)(x, 1)\n";
  expect_in_all_ways(text, {vector("[3, 4]", 2)}, {vector("[48, 64]", 2)});
}

TEST(Symbols, OfSizesThatAreComputedDoNotWrapAround) {
  const Program program = Program::from_text(
      "test.hia",
      "fn f(x: f64[n]) -> f64[n * 9223372036854775807 + 4] = x\nfn main(x: f64[n]) -> f64[_] = f(x)\n");
  for (const RunOptions& way : all_ways()) {
    const RunError error = error_of(program, {vector("[3, 4]", 2)}, way);
    EXPECT_EQ(error.fault(), Fault::Overflow);
    EXPECT_THAT(error.what(), HasSubstr("test.hia:1:55: error: integer overflow"));
  }
}

TEST(Symbols, OfDataValuesMayBeOthersWhereTheseAreWanted) {
  const std::string types =
      "data Tree[T] = Leaf(x: T) | Node(left: Tree[T], right: Tree[T])\n"
      "fn total(t: Tree[f64[_]]) -> f64 = match t Leaf(x) -> sum(x * x) Node(l, r) -> total(l) * total(r)\n"
      "fn of_two(t: Tree[f64[2]]) -> Tree[f64[2]] = t\n"
      "fn any(x: f64[_]) -> Tree[f64[_]] = Node(Leaf(x), Leaf(x))\n";
  expect_in_all_ways(types +
                         "fn f(x: f64[2]) -> f64 = (let t = Node(Leaf(x), of_two(Leaf(x))) in total(t))\n"
                         "fn main(x: f64[2]) -> f64[2] = grad(f)(x)\n",
                     {vector("[3, 4]", 2)}, {vector("[300, 400]", 2)});
  expect_in_all_ways(types + "fn main(x: f64[_]) -> f64 = total(of_two(any(x)))\n", {vector("[3, 4]", 2)},
                     {Value(625.0)});
  expect_mismatch(types + "fn main(x: f64[2]) -> f64 = total(of_two(any(concat(x, x, axis=0))))\n",
                  "expected 2 elements along dimension 0, found f64[4]");
  expect_refused(types + "fn main(x: f64[3]) -> Tree[f64[2]] = of_two(Leaf(x))\n",
                 "expected f64[2], found f64[3]");
  expect_refused(types + "fn f(t: Tree[f64[3]]) -> Tree[f64[2]] = t\nfn main() -> i64 = 1\n",
                 "expected Tree[f64[2]], found Tree[f64[3]]");
}

TEST(Symbols, ThatDifferBeforeTheRunAreRefused) {
  expect_refused(
      "fn main(x: i64) -> f64[_] =\n"
      "  let y: f64[k] = [1.0]\n"
      "  let z: f64[k] = [1.0, 2.0]\n"
      "  y * z\n",
      "test.hia:3:19: error: the value of 'z': ");
  expect_refused("fn main(x: i64) -> (f64[m], f64[m]) = ([1.0], [1.0, 2.0])\n",
                 "test.hia:1:39: error: the results of 'main': ");
}

}  // namespace
}  // namespace hiaton
