// map, fold and scan over the rows of a tensor that has none, in every executor.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/all_ways.h"

namespace hiaton {
namespace {

constexpr const char* kFunctions =
    "fn total(row: f64[n]) -> f64 = sum(row)\n"
    "fn twice(row: f64[n]) -> f64[n] = row * 2\n"
    "fn positive(row: f64[n]) -> bool[n] = row > 0\n"
    "fn table(row: f64[n], o: f64[k]) -> f64[n, k] = outer(row, o)\n"
    "fn columns(row: f64[n], b: bool[j, k]) -> i32[k, 3] = i32(outer(f64(b[0]), [1f64, 2, 3]))\n"
    "fn step(acc: f64[n], row: f64[n], w: f64) -> f64[n] = acc * w + row\n"
    "fn doubled(row: f64[n]) -> f64[_] = concat(row, row, axis=0)\n";

Tensor zeros(DType dtype, const std::vector<int64_t>& dims) {
  return Tensor(dtype, dims);
}

void expect_main(const std::string& main, const std::vector<Value>& arguments,
                 const std::vector<Value>& expected) {
  expect_in_all_ways(kFunctions + main, arguments, expected);
}

TEST(NoRows, MapGivesNoRows) {
  expect_main("fn main(x: f64[m, 2]) -> f64[m] = map(total, x)\n", {zeros(DType::F64, {0, 2})},
              {zeros(DType::F64, {0})});
  expect_main("fn main(x: f64[0, 2]) -> f64[0] = map(total, x)\n", {zeros(DType::F64, {0, 2})},
              {zeros(DType::F64, {0})});
  expect_main("fn main(x: i64[m]) -> i64[m] = map(neg, x)\n", {zeros(DType::I64, {0})},
              {zeros(DType::I64, {0})});
}

TEST(NoRows, MapGivesRowsOfSizesThatArgumentsHave) {
  expect_main("fn main(x: f64[m, n]) -> (f64[m, n], bool[m, n]) = (map(twice, x), map(positive, x))\n",
              {zeros(DType::F64, {0, 4})}, {zeros(DType::F64, {0, 4}), zeros(DType::Bool, {0, 4})});
  expect_main("fn main(x: f64[m, n], o: f64[k]) -> f64[m, n, k] = map(table, x, o)\n",
              {zeros(DType::F64, {0, 4}), zeros(DType::F64, {3})}, {zeros(DType::F64, {0, 4, 3})});
  const Value truths = parse_value(tensor_type(DType::Bool, {1, 2}), "[[true, false]]");
  expect_main("fn main(x: f64[m, n], b: bool[j, k]) -> i32[m, k, 3] = map(columns, x, b)\n",
              {zeros(DType::F64, {0, 4}), truths}, {zeros(DType::I32, {0, 2, 3})});
  // NaN is no integer, but has a size.
  const Tensor nan(DType::F64, {3});
  expect_main("fn main(x: f64[m, n], o: f64[k]) -> f64[m, n, k] = map(table, x, o / 0)\n",
              {zeros(DType::F64, {0, 0}), nan}, {zeros(DType::F64, {0, 0, 3})});
}

TEST(NoRows, ScanGivesNoRowsAndFoldWhatItBeginsWith) {
  const Value begin = parse_value(tensor_type(DType::F64, {3}), "[1, 2, 3]");
  expect_main(
      "fn main(x: f64[m, n], a: f64[n]) -> (f64[n], f64[m, n]) = (fold(step, a, x, 2), scan(step, a, x, "
      "2))\n",
      {zeros(DType::F64, {0, 3}), begin}, {begin, zeros(DType::F64, {0, 3})});
}

TEST(NoRows, GradientsGoToWhatFoldBeginsWith) {
  const std::string text =
      "fn f(x: f64[m, n], a: f64[n], w: f64) -> f64 = sum(map(twice, x)) + sum(map(total, x)) +\n"
      "  sum(fold(step, a, x, w)) + sum(scan(step, a, x, w))\n"
      "fn main(x: f64[m, n], a: f64[n], w: f64) -> (f64, f64[m, n], f64[n], f64) = value_and_grad(f)(x, a, "
      "w)\n";
  const Type row = tensor_type(DType::F64, {2});
  expect_main(text, {zeros(DType::F64, {0, 2}), parse_value(row, "[1, 2]"), Value(3.0)},
              {Value(3.0), zeros(DType::F64, {0, 2}), parse_value(row, "[1, 1]"), Value(0.0)});
}

TEST(NoRows, SaysWhyWhereOnlyACallKnowsTheSize) {
  const Program program = Program::from_text(
      "test.hia", std::string(kFunctions) + "fn main(x: f64[m, n]) -> f64[m, _] = map(doubled, x)\n");
  for (const RunOptions& way : all_ways()) {
    try {
      program.run({zeros(DType::F64, {0, 2})}, way);
      ADD_FAILURE() << "no error";
    } catch (const RunError& error) {
      EXPECT_EQ(error.fault(), Fault::NoRows);
      EXPECT_THAT(error.what(),
                  testing::HasSubstr("how large a row of the result is, only a call with a row tells"));
    }
    const Value row = parse_value(tensor_type(DType::F64, {1, 2}), "[[1, 2]]");
    EXPECT_EQ(to_string(program.run({row}, way).values[0]), "[[1.0, 2.0, 1.0, 2.0]]");
  }
}

}  // namespace
}  // namespace hiaton
