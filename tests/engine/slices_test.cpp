// Ranges in brackets and tensors of sizes that only the run knows: the same in every executor, and their
// gradients by finite differences.
#include <gtest/gtest.h>

#include <limits>

#include "engine/floats.h"
#include "engine/known_case.h"
#include "engine/run_error.h"
#include "hiaton/apply.h"

namespace hiaton {
namespace {

class Slices : public testing::TestWithParam<KnownCase> {};

TEST_P(Slices, AreTheSameInAllWays) {
  expect_known(GetParam());
}

#define MATRIX "[[1,2,3],[4,5,6],[7,8,9],[10,11,12]]"

const KnownCase kSlices[] = {
    {"Rows",
     "fn main(x: f32[n, 3], i: i64, j: i64) -> (f32[_, 3], f32[_, 3], f32[_, 3], f32[_, 3], f32[2, 3]) =\n"
     "  (x[i:j], x[i:], x[:j], x[:], x[1:3])\n",
     {MATRIX, "1", "2"},
     {"[[4,5,6]]", "[[4,5,6],[7,8,9],[10,11,12]]", "[[1,2,3],[4,5,6]]", MATRIX, "[[4,5,6],[7,8,9]]"}},
    {"ColumnsAndElements",
     "fn main(x: i64[m, n], i: i64, j: i64) -> (i64[_], i64[_, _], i64[_, _], i64[_], i64[_]) =\n"
     "  (x[:, j], x[:, i:j], x[i:, j:], x[i, i:], x[1:, 0])\n",
     {MATRIX, "1", "2"},
     {"[3,6,9,12]", "[[2],[5],[8],[11]]", "[[6],[9],[12]]", "[5,6]", "[4,7,10]"}},
    {"OfThreeDimensions",
     "fn main(x: bool[2, 2, 2], i: i64) -> (bool[2, _, 2], bool[2, 2], bool[_, 2], bool[2, 1]) =\n"
     "  (x[:, i:2, :], x[:, i, :], x[i, :, :], x[:, i, 0:1])\n",
     {"[[[true,false],[false,true]],[[true,true],[false,false]]]", "1"},
     {"[[[false,true]],[[false,false]]]", "[[false,true],[false,false]]", "[[true,true],[false,false]]",
      "[[false],[false]]"}},
    {"OfNothing",
     "fn main(x: f64[n], i: i64) -> (f64[_], f64[_], f64[0], i64[_], f64[_, 2], i64) =\n"
     "  (x[i:i], x[0:0], x[2:2], range(i - 1), zeros(i - 1, 2), size(x[i:], axis=0))\n",
     {"[1,2,3]", "1"},
     {"[]", "[]", "[]", "[]", "[]", "2"}},
    {"Filled",
     "fn main(n: i64) -> (i64[_], i64[_], i64[3], f32[_], i32[2], f64[_, _], f64[2, 2], bool[_]) =\n"
     "  (range(n), range(n - 2, n), range(1, 4), zeros(n), ones(2), full(0.5, 2, n), full(f64(n), 2, 2),\n"
     "   full(n > 2, n))\n",
     {"3"},
     {"[0,1,2]", "[1,2]", "[1,2,3]", "[0,0,0]", "[1,1]", "[[0.5,0.5,0.5],[0.5,0.5,0.5]]", "[[3,3],[3,3]]",
      "[true,true,true]"}},
    {"FromAStartThatTheRunTells",
     "fn main(x: i64[4, 3], i: i64) -> (i64[2, 3], i64[4, 1], i64[2, 3], i64[4, 3], i64[4, 3]) =\n"
     "  (slice_at(x, i, axis=0, length=2), slice_at(x, i, axis=-1, length=1),\n"
     "   slice_at_like(x, i, x[:2], axis=0), pad_at(x[:2], i, x, axis=0), iota_like(x, axis=1) + i)\n",
     {MATRIX, "1"},
     {"[[4,5,6],[7,8,9]]", "[[2],[5],[8],[11]]", "[[4,5,6],[7,8,9]]", "[[0,0,0],[1,2,3],[4,5,6],[0,0,0]]",
      "[[1,2,3],[1,2,3],[1,2,3],[1,2,3]]"}},
    {"PartsOfUnknownSizes",
     "fn main(x: f32[n, 3], i: i64) -> (f32[2, 3], f32[n, 3], i64[n]) =\n"
     "  (slice_at(x, i, axis=0, length=2), pad_at(x[1:], i, x, axis=0), iota_like(x[:, 0], axis=0))\n",
     {MATRIX, "1"},
     {"[[4,5,6],[7,8,9]]", "[[0,0,0],[4,5,6],[7,8,9],[10,11,12]]", "[0,1,2,3]"}},
    {"LongRanges",
     "fn main(n: i64) -> (i64, i64) = (sum(range(n)), size(range(5000), axis=0))\n",
     {"12345"},
     {"76193340", "5000"}},
    {"CountsOfIntegers",
     "fn main(xs: i64[n]) -> (i64[4], i32[2]) =\n"
     "  (scatter_add(zeros(4), xs, ones(size(xs, axis=0))), scatter_add([1i32, 2], [1, 1], [3i32, -5]))\n",
     {"[3,1,3]"},
     {"[0,1,0,2]", "[1,0]"}},
    {"InRecursion",
     "fn total(x: f64[n]) -> f64 = if size(x, axis=0) == 0 then 0 else x[0] + 2 * total(x[1:])\n"
     "fn halves(x: f64[n]) -> f64 =\n"
     "  let n = size(x, axis=0)\n"
     "  if n < 2 then sum(x) else halves(x[:n / 2]) - halves(x[n / 2:])\n"
     "fn main(x: f64[n]) -> (f64, f64[n], f64, f64[n]) =\n"
     "  let (a, by_a) = value_and_grad(total)(x)\n"
     "  let (b, by_b) = value_and_grad(halves)(x)\n"
     "  (a, by_a, b, by_b)\n",
     {"[1,2,3,4]"},
     {"49", "[1,2,4,8]", "0", "[1,-1,-1,1]"}},
};

INSTANTIATE_TEST_SUITE_P(Engine, Slices, testing::ValuesIn(kSlices), name_of_known);

TEST(Slices, HaveTheGradientsOfDifferences) {
  const Program program = Program::from_text(
      "test.hia",
      "fn f(x: f64[4, 3], v: f64[n], i: i64) -> f64 =\n"
      "  let n = size(v, axis=0)\n"
      "  let tail = v[i:] * full(v[0], n - i)\n"
      "  sum(sin(x[i:, 1:]) * x[i, 0]) + dot(x[:, i], x[:, i - 1]) + sum(tail[:n - i - 1]) * sum(x[0:i, "
      ":2])\n"
      "fn main(x: f64[4, 3], v: f64[n], i: i64) -> (f64, f64[4, 3], f64[n]) = value_and_grad(f)(x, v, i)\n");
  const std::vector<Value> at{parse_value(program.parameters()[0].type, MATRIX),
                              parse_value(program.parameters()[1].type, "[0.5,-1,2,0.25]"), int64_t{1}};
  const std::vector<Value> results = program.run(at).values;
  const std::vector<double> found = floats_of({results.begin() + 1, results.end()});
  ASSERT_EQ(found.size(), 16u);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto value = [&](double by) {
      return program.run(moved(at, static_cast<int64_t>(i), by)).values[0].as<double>();
    };
    EXPECT_NEAR(found[i], (value(1e-5) - value(-1e-5)) / 2e-5, 1e-6) << i;
  }
  for (const RunOptions& way : all_ways()) EXPECT_EQ(program.run(at, way).values, results);
}

TEST(Slices, FailWhereTheyAreNotInside) {
  const std::pair<const char*, Fault> bodies[] = {
      {"sum(x[i:])", Fault::Index},
      {"sum(x[:j])", Fault::Index},
      {"sum(x[:i - j])", Fault::Index},
      {"sum(x[j:i])", Fault::Index},
      {"sum(x[0:3, j])", Fault::Index},
      {"sum(x[:, i:j])", Fault::Index},
      {"sum(x[i:i])", Fault::Index},
      {"sum(x[i - j:i - j])", Fault::Index},
      {"sum(x[:, j - 6:])", Fault::Index},
      {"sum(x[i - 9223372036854775807 - 5:])", Fault::Index},
      {"sum(x[-1 - 9223372036854775807 + 0 * i:j + 9223372036854775802])", Fault::Index},
      {"sum(slice_at(x, i, axis=0, length=2))", Fault::Index},
      {"sum(slice_at(x, i - j, axis=1, length=1))", Fault::Index},
      {"sum(slice_at_like(x, j, x[:1], axis=0))", Fault::Index},
      {"sum(pad_at(x[0:2], j - 3, x, axis=0))", Fault::Index},
      {"f64(sum(range(i - j)))", Fault::Size},
      {"f64(sum(range(j, i)))", Fault::Size},
      {"sum(zeros(i - j, 2))", Fault::Size}};
  for (const auto& [body, fault] : bodies) {
    const Program program = Program::from_text(
        "test.hia", std::string("fn main(x: f64[n, n], i: i64, j: i64) -> f64 = ") + body + "\n");
    const Value x = parse_value(program.parameters()[0].type, "[[1,2,3],[4,5,6],[7,8,9]]");
    for (const RunOptions& way : all_ways()) {
      const RunError error = error_of(program, {x, int64_t{4}, int64_t{5}}, way);
      EXPECT_EQ(error.fault(), fault) << body;
      const bool says_it =
          std::string(error.what()).find("expected 0 or more, found -1") != std::string::npos;
      EXPECT_EQ(says_it, fault == Fault::Size) << error.what();
    }
  }
}

TEST(Slices, OfSizesThatNoTensorHasAreRefused) {
  const Tensor x(DType::F32, {3});
  const Tensor y(DType::F32, {200'000});
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const auto apply = [](const char* op, const std::vector<Value>& operands,
                        const std::vector<int64_t>& attributes) {
    return apply_operation(*catalog().find(op), operands, attributes);
  };
  EXPECT_THROW(apply("pad", {x}, {0, kMost, kMost}), ProgramError);
  EXPECT_THROW(apply("pad", {y}, {0, kMost - 200'000, kMost}), ProgramError);
  EXPECT_THROW(apply("slice_like", {x, y}, {0, kMost - 800}), ProgramError);
  EXPECT_THROW(apply("slice_like", {y, x}, {0, kMost}), ProgramError);
  EXPECT_THROW(apply("pad_like", {x, y}, {0, kMost}), ProgramError);
  EXPECT_THROW(apply("pad_like", {y, x}, {0, kMost}), ProgramError);
  const Value square = parse_value(tensor_type(DType::F32, {2, 2}), "[[1, 2], [3, 4]]");
  const Value zero = Tensor(DType::F32, {2, 2});
  for (const int64_t far : {kMost, -kMost - 1}) {
    EXPECT_EQ(apply("tril", {square}, {far}), far > 0 ? square : zero);
    EXPECT_EQ(apply("triu", {square}, {far}), far > 0 ? zero : square);
  }
}

}  // namespace
}  // namespace hiaton
