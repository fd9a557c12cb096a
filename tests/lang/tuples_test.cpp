// Tuples: several values as one.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hiaton/value.h"
#include "lang/print_cases.h"

namespace hiaton {
namespace {

using testing::HasSubstr;

class Tuples : public testing::TestWithParam<PrintCase> {};

TEST_P(Tuples, PrintAndParseBack) {
  expect_printed(GetParam());
}

const PrintCase kTuplesPrograms[] = {
    {"SeveralValuesWhereOneIsWanted",
     "fn two(n: i64) -> (i64, bool) = (n, true)\nfn f(n: i64) -> List[(i64, bool)] = [two(n), (1, false)]\n",
     "fn two(n: i64) -> (i64, bool) = (n, true)\n"
     "\n"
     "fn f(n: i64) -> List[(i64, bool)] =\n"
     "  let (v1, v2) = two(n)\n"
     "  let v3 = (v1, v2)\n"
     "  let v4 = (1, false)\n"
     "  Cons[(i64, bool)](v3, Cons[(i64, bool)](v4, Nil[(i64, bool)]))\n"},
    {"OneTupleWhereSeveralAreWanted",
     "fn f(p: (i64, f64)) -> (i64, f64) = p\nfn g(p: (i64, f64)) -> f64 =\n  let (_, x) = p\n  x\n",
     "fn f(p: (i64, f64)) -> (i64, f64) = (field(p, variant=0, field=0), field(p, variant=0, field=1))\n"
     "\n"
     "fn g(p: (i64, f64)) -> f64 =\n"
     "  let _ = field(p, variant=0, field=0)\n"
     "  field(p, variant=0, field=1)\n"},
    {"OneResultThatIsATuple", "fn f(n: i64) -> ((i64, i64)) = (n, 2)\n",
     "fn f(n: i64) -> ((i64, i64)) = (n, 2)\n"},
    {"TuplesInTuples", "fn f(n: i64, p: (i64, (f32, bool))) -> (((i64, (f32, bool))), i64) = (p, n)\n",
     "fn f(n: i64, p: (i64, (f32, bool))) -> ((i64, (f32, bool)), i64) = (p, n)\n"},
    {"TypesOfPartsAreInferred",
     "fn second[A, B](p: (A, B)) -> B =\n  let (_, b) = p\n  b\nfn f(x: f32) -> f32 = second((1, x))\n",
     "fn f(x: f32) -> f32 = second_i64_f32((1, x))\n"
     "\n"
     "fn second_i64_f32(p: (i64, f32)) -> f32 =\n"
     "  let _ = field(p, variant=0, field=0)\n"
     "  field(p, variant=0, field=1)\n"},
};

INSTANTIATE_TEST_SUITE_P(Lang, Tuples, testing::ValuesIn(kTuplesPrograms),
                         [](const auto& test) { return test.param.name; });

TEST(TupleErrors, AreAboutTheTypesOfTheParts) {
  EXPECT_THAT(error_of("fn f(p: (i64, f64)) -> i64 =\n  match p\n    (a, b, c) -> a\n"),
              HasSubstr("test.hia:3:5: error: expected 2 patterns for a value of type (i64, f64), found 3"));
  EXPECT_THAT(error_of("fn f(p: (i64, f64)) -> (i64, i64) = p\n"),
              HasSubstr("result 2 of 'f': expected i64, found f64"));
  EXPECT_THAT(error_of("fn f(p: (i64, f64)) -> i64 =\n  let (a, b, c) = p\n  a\n"),
              HasSubstr("expected 3 values for the names after 'let', found 2"));
  EXPECT_THAT(
      error_of("fn f(p: (i64, f32[n])) -> i64 = 1\n"),
      HasSubstr("expected a dimension that is known before the run, found 'n'; a size is declared by a "
                "line 'size n = ...', and '_' stands for any size"));
  EXPECT_EQ(error_of("fn f(x: (f64[n])) -> (f64[n]) = x\n"), "");
  EXPECT_THAT(error_of("fn f(p: (i64, Lost)) -> i64 = 1\n"), HasSubstr("found 'Lost'"));
  EXPECT_THAT(error_of("fn f(p: (i64, f64)) -> i64 =\n  match p\n    (1, x) -> 1\n"),
              HasSubstr("this 'match' has no arm for (0, _)"));
  EXPECT_THAT(error_of("fn g(p: (i64, f64)) -> i64 = 1\nfn f(n: i64) -> i64 = g((n, true))\n"),
              HasSubstr("argument 1 of 'g': expected (i64, f64), found (i64, bool)"));
}

TEST(TupleErrors, ATypeHasALongestName) {
  std::string lets = "fn f(x0: i64) -> i64 =\n";
  std::string aliases;
  for (int i = 0; i < 40; ++i) {
    lets += fmt::format("  let x{1} = (x{0}, x{0})\n", i, i + 1);
    aliases += fmt::format("type T{0} = (T{1}, T{1})\n", i, i + 1);
  }
  EXPECT_THAT(error_of(lets + "  x0\n"), HasSubstr("expected a type of at most 65536 characters, found "));
  EXPECT_THAT(error_of(aliases + "type T40 = i64\nfn f(x: T0) -> i64 = 1\n"),
              HasSubstr("expected a type of at most 65536 characters, found "));
}

TEST(TupleTypes, AreTheSameForTheSameParts) {
  DataTypes types;
  const Type pair = types.tuple_of({DType::I64, types.list_of(DType::F64)});
  EXPECT_EQ(to_string(pair), "(i64, List[f64])");
  EXPECT_EQ(types.tuple_of({DType::I64, types.list_of(DType::F64)}).data, pair.data);
  const Value value = parse_value(pair, "( 3, [0.5,1])");
  EXPECT_EQ(to_string(value, pair), "(3, [0.5, 1.0])");
  EXPECT_THROW(parse_value(pair, "(3)"), ProgramError);
  EXPECT_THROW(parse_value(pair, "3, [1]"), ProgramError);
}

}  // namespace
}  // namespace hiaton
