// u8 in programs: the same in every executor, and what does not fit ends a run under trapping overflow.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/known_case.h"
#include "engine/run_error.h"

namespace hiaton {
namespace {

class Bytes : public testing::TestWithParam<KnownCase> {};

TEST_P(Bytes, AreTheSameInAllWays) {
  expect_known(GetParam());
}

#define IMAGE "[[0,128],[255,64]]"

const KnownCase kBytes[] = {
    {"ArithmeticWrapsAround",
     "fn main(a: u8, b: u8) -> (u8, u8, u8, u8, u8, u8) = (a + b, b - a, a * b, -b, a / b, a % b)\n",
     {"250", "7"},
     {"1", "13", "214", "249", "35", "5"}},
    {"ConversionsToAndFromEveryType",
     "fn main(n: i64, x: f64, a: u8) -> (u8, u8, u8, u8, bool, i32, i64, f32, f64) =\n"
     "  (u8(n), u8(i32(n)), u8(x), u8(n > 3), bool(a), i32(a), i64(a), f32(a), f64(a))\n",
     {"511", "255.9", "200"},
     {"255", "255", "255", "1", "true", "200", "200", "200", "200"}},
    {"ComparisonsAreThoseOfNumbersWithoutSign",
     "fn main(a: u8, b: u8) -> (bool, bool, u8, u8, u8) = (a > b, a == b, max(a, b), min(a, b), abs(a))\n",
     {"200", "100"},
     {"true", "false", "200", "100", "200"}},
    {"BitsComeInAsZeros",
     "fn main(a: u8, b: u8) -> (u8, u8, u8, u8, u8, u8) =\n"
     "  (bitwise_and(a, b), bitwise_xor(a, b), bitwise_invert(a), bitwise_left_shift(a, b),\n"
     "   bitwise_right_shift(a, b), bitwise_rotate_left(a, b))\n",
     {"200", "1"},
     {"0", "201", "55", "144", "100", "145"}},
    {"Images",
     "fn main(x: u8[h, w]) -> (u8[h, w], u8[w], u8, f32, bool[h, w], u8[h, w], i64[h]) =\n"
     "  (255 - x, x[1], x[1, 1], mean(f32(x)), x > 100, where(x > 100, x, 0), argmax(x))\n",
     {IMAGE},
     {"[[255,127],[0,191]]", "[255,64]", "64", "111.75", "[[false,true],[true,false]]", "[[0,128],[255,0]]",
      "[1,0]"}},
    {"Pieces",
     "fn main(x: u8[2, 2], i: i64) -> (u8[4, 2], u8[2, 2, 2], u8[4], u8[1, 2], u8[_, 2], u8[2], u8[2, 3]) =\n"
     "  (concat(x, x, axis=0), stack(x, x + 1), reshape(x, shape=[4]), x[1:2], x[i:], reduce_max(x, "
     "axes=[0]),\n"
     "   pad(x, axis=1, before=1, after=0))\n",
     {IMAGE, "1"},
     {"[[0,128],[255,64],[0,128],[255,64]]", "[[[0,128],[255,64]],[[1,129],[0,65]]]", "[0,128,255,64]",
      "[[255,64]]", "[[255,64]]", "[255,128]", "[[0,0,128],[0,255,64]]"}},
    {"SumsWrapAround",
     "fn main(x: u8[4]) -> (u8, u8[4], u8[4], u8[3]) =\n"
     "  (sum(x), cumsum(x), sort(x), scatter_add(zeros(3), [0, 2, 2, 0], x))\n",
     {"[200,100,7,255]"},
     {"50", "[200,44,51,50]", "[7,100,200,255]", "[199,0,107]"}},
    {"FieldsBesideOthers",
     "data Pixel = Black | Grey(level: u8) | Color(r: u8, g: u8, b: u8, name: str, at: i64, weights: "
     "f32[2])\n"
     "fn light(p: Pixel) -> u8 = match p\n"
     "  Black -> 0\n"
     "  Grey(255) -> 7\n"
     "  Grey(level) -> level\n"
     "  Color(r, g, b, _, _, _) -> u8((i64(r) + i64(g) + i64(b)) / 3)\n"
     "fn next(p: Pixel) -> Pixel = match p\n"
     "  Black -> Grey(1)\n"
     "  Grey(level) -> Color(level, level + 1, 250, \"x\", 3, [1, 2])\n"
     "  Color(r, g, b, name, at, w) -> Color(b, r, g, name + \"y\", at + 1, w * 2)\n"
     "fn main(p: Pixel, n: i64) -> (Pixel, u8, bool) =\n"
     "  let last = with q = p for i in 0..n do next(q)\n"
     "  (last, light(last), last == next(p))\n",
     {"Grey(200)", "3"},
     {"Color(201, 250, 200, \"xyy\", 5, [4, 8])", "217", "false"}},
    {"ListsAndRecursion",
     "fn bytes(n: i64) -> List[u8] = if n == 0 then Nil else Cons(u8(n * 100), bytes(n - 1))\n"
     "fn total(xs: List[u8]) -> i64 = match xs Nil -> 0 Cons(x, rest) -> i64(x) + total(rest)\n"
     "fn main(n: i64) -> (List[u8], i64, str, List[i64]) =\n"
     "  (bytes(n), total(bytes(n)), str(u8(n)), map(fn(x) -> i64(x), bytes(2)))\n",
     {"4"},
     {"[144,44,200,100]", "488", "\"4\"", "[200,100]"}},
    {"LoopsCountInThem",
     "fn main(n: u8) -> (i64, u8[3]) =\n"
     "  (with s = 0 for i in 0..n do s + i64(i), [n, 1, 2])\n",
     {"20"},
     {"190", "[20,1,2]"}},
    {"WrappingUnderWrapping",
     "fn main(a: u8, n: i64) -> (u8, u8, u8, u8, u8, i32) =\n"
     "  (wrapping_add(a, 10), wrapping_sub(3, a), wrapping_mul(a, a), wrapping_neg(a), wrapping_u8(n),\n"
     "   wrapping_i32(n))\n",
     {"250", "4294967555"},
     {"4", "9", "36", "6", "3", "259"}},
};

INSTANTIATE_TEST_SUITE_P(Known, Bytes, testing::ValuesIn(kBytes), name_of_known);

Program trapping(const std::string& text) {
  CompileOptions options;
  options.simplify.overflow = OverflowMode::Trap;
  return Program::from_text("test.hia", text, options);
}

std::vector<Value> byte_and_number(int byte, int64_t number) {
  return {Value(static_cast<uint8_t>(byte)), Value(number)};
}

TEST(TrappingBytes, WhatDoesNotFitEndsTheRun) {
  for (const char* const body : {"a + u8(n)", "u8(n) - a", "a * u8(n)", "-a", "u8(n * 100)"}) {
    const Program program = trapping("fn main(a: u8, n: i64) -> u8 = " + std::string(body) + "\n");
    for (const RunOptions& way : all_ways())
      EXPECT_EQ(error_of(program, byte_and_number(200, 100), way).fault(), Fault::Overflow) << body;
  }
  for (const RunOptions& way : all_ways()) {
    EXPECT_EQ(error_of(trapping("fn main(x: f32) -> u8 = u8(x)\n"), {Value(256.0f)}, way).fault(),
              Fault::InvalidCast);
    EXPECT_EQ(error_of(trapping("fn main(x: f32) -> u8 = u8(x)\n"), {Value(-1.0f)}, way).fault(),
              Fault::InvalidCast);
  }
}

TEST(TrappingBytes, WrappingOperationsWrapAround) {
  const Program program = trapping(
      "fn main(a: u8, n: i64) -> (u8, u8, u8, u8, u8, i32, u8[2], i64) =\n"
      "  (wrapping_add(a, 100), wrapping_sub(3, a), wrapping_mul(a, a), wrapping_neg(a), wrapping_u8(n),\n"
      "   wrapping_i32(n), wrapping_add([a, 1], 255), wrapping_mul(n, n))\n");
  const std::vector<Value> arguments = byte_and_number(200, int64_t{1} << 33);
  const std::vector<Value> expected = program.run(arguments, {.executor = Executor::Reference}).values;
  EXPECT_EQ(expected[0], Value(uint8_t{44}));
  EXPECT_EQ(expected[5], Value(int32_t{0}));
  EXPECT_EQ(to_string(expected[6]), "[199, 0]");
  EXPECT_EQ(expected[7], Value(int64_t{0}));
  for (const RunOptions& way : all_ways_to_results()) EXPECT_EQ(program.run(arguments, way).values, expected);
}

}  // namespace
}  // namespace hiaton
