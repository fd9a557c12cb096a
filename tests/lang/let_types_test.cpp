// Names whose values do not tell their types: what the names are used for tells them.
#include "lang/message_case.h"

namespace hiaton {
namespace {

#define VALUE_OR                                \
  "data Option[T] = None | Some(value: T)\n"    \
  "fn value_or[T](o: Option[T], x: T) -> T =\n" \
  "  match o\n"                                 \
  "    None -> x\n"                             \
  "    Some(value) -> value\n"
#define MAP                                                                               \
  "data Map[K, V] = Tip | Bin(left: Map[K, V], key: K, value: V, right: Map[K, V])\n"     \
  "fn put[K, V](m: Map[K, V], key: K, value: V) -> Map[K, V] = Bin(m, key, value, Tip)\n" \
  "fn count[K, V](m: Map[K, V]) -> i64 = 1\n"
#define APPEND                                            \
  "fn append[T](xs: List[T], ys: List[T]) -> List[T] =\n" \
  "  match xs\n"                                          \
  "    [] -> ys\n"                                        \
  "    [x, ..rest] -> Cons(x, append(rest, ys))\n"

class LetTypes : public testing::TestWithParam<MessageCase> {};

TEST_P(LetTypes, AreToldByUses) {
  expect_message(GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Programs, LetTypes,
    testing::Values(
        MessageCase{"ByAnArgument", MAP "fn f() -> i64 = (let m = Tip in count(put(m, \"a\", 1)))\n"},
        MessageCase{"ByALaterUseThanTheFirst",
                    MAP "fn f() -> i64 = (let m = Tip in count(m) + count(put(m, 1, 2.5)))\n"},
        MessageCase{"ByTheResult", "fn f() -> List[f64] = (let xs = [] in xs)\n"},
        MessageCase{"ByABranch", VALUE_OR "fn f(n: i64) -> i64 =\n"
                                          "  let x = None\n"
                                          "  let y = if n > 2 then x else Some(n)\n"
                                          "  value_or(y, 1)\n"},
        MessageCase{"NamesThatHideEachOther", MAP "fn f() -> i64 =\n"
                                                  "  let m = Tip\n"
                                                  "  let m = put(m, \"a\", 1)\n"
                                                  "  let m = put(m, \"b\", 2)\n"
                                                  "  count(m)\n"},
        MessageCase{"NamesThatTellEachOther", APPEND "fn f(n: i64) -> List[List[i64]] =\n"
                                                     "  let a = []\n"
                                                     "  let b = Cons(a, [])\n"
                                                     "  let c = append(b, Cons(Cons(n, []), []))\n"
                                                     "  c\n"},
        MessageCase{"SeveralNamesOfATuple", MAP "fn f(n: i64) -> (i64, i64) =\n"
                                                "  let (m, k, l) = (Tip, n, [])\n"
                                                "  let xs: List[i64] = l\n"
                                                "  (count(put(m, k, xs)), k)\n"},
        MessageCase{"InsideOfFunctions",
                    MAP "fn f(n: i64) -> i64 =\n"
                        "  let m = Tip\n"
                        "  let g = fn(k: i64) -> count(put(m, k, n))\n"
                        "  let fn h(k: i64) -> i64 = if k == 0 then count(m) else h(k - 1)\n"
                        "  g(n) + h(n)\n"},
        MessageCase{"InLoopsAndFolds", MAP "fn f(n: i64) -> i64 =\n"
                                           "  let m = Tip\n"
                                           "  let empty = []\n"
                                           "  let xs = fold(fn(ys, k) -> Cons(k + n, ys), empty, [1, 2])\n"
                                           "  count(with m = m for i in 0..n do put(m, i, xs))\n"},
        MessageCase{"WhatOthersOfTheNameStandFor",
                    VALUE_OR "fn take(o: Option[str]) -> i64 = 1\n"
                             "fn f(n: i64) -> i64 =\n"
                             "  let x = None\n"
                             "  let y = match Some(\"a\")\n"
                             "    Some(x) -> take(Some(x))\n"
                             "    None -> 2\n"
                             "  let g = fn(x: str) -> take(Some(x))\n"
                             "  let z = with x = 1 for i in 0..3 do x + i\n"
                             "  let fn h(x: str) -> i64 = take(Some(x))\n"
                             "  let inner = (let x = \"b\" in take(Some(x)))\n"
                             "  value_or(x, n) + y + g(\"a\") + z + h(\"b\") + inner\n"},
        MessageCase{"WhatIsComputedStaysAsItIs",
                    "data Either[A, B] = Left(a: A) | Right(b: B)\n"
                    "fn of(e: Either[str, i64]) -> i64 = 1\n"
                    "fn f(n: i64) -> i64 = (let e = Left(str(print(n))) in of(e))\n"},
        MessageCase{"ListsBesideNumbers",
                    "fn f() -> List[i64] =\n"
                    "  let xs = Cons(1, [])\n"
                    "  let ys = Cons(2, [3])\n"
                    "  if xs == ys then xs else ys\n"},
        MessageCase{"NothingTellsThem", MAP "fn f() -> i64 = (let m = Tip in count(m))\n",
                    "4:26: error: expected the type of 'm', which neither its value nor a use of it tells; "
                    "it is written let m: Map[...] = Tip"},
        MessageCase{"NoUse", "fn f() -> i64 = (let xs = [] in 1)\n",
                    "1:27: error: expected the type of 'xs', which neither its value nor a use of it tells; "
                    "it is written let xs: List[...] = []"},
        MessageCase{"TwoUsesThatDiffer",
                    MAP "fn f() -> i64 =\n"
                        "  let m = Tip\n"
                        "  count(put(m, \"a\", 1)) + count(put(m, 2, 1))\n",
                    "6:40: error: argument 2 of 'put': expected str, found i64"}),
    name_of_message);

/// Errors elsewhere may be why nothing tells a type: these come alone.
class OneError : public testing::TestWithParam<MessageCase> {};

TEST_P(OneError, ComesAlone) {
  const std::string found = error_of(GetParam().text);
  const std::string wanted = GetParam().error;
  EXPECT_NE(found.find(wanted), std::string::npos) << found;
  EXPECT_EQ(found.find("error:"), found.rfind("error:")) << found;
}

INSTANTIATE_TEST_SUITE_P(
    Programs, OneError,
    testing::Values(MessageCase{"InWhatTellsTheType",
                                MAP "fn f() -> i64 =\n"
                                    "  let m = Tip\n"
                                    "  let k = put(m, \"a\", unknown)\n"
                                    "  let g = fn(z: i64) -> count(m) + z\n"
                                    "  count(k) + g(1)\n",
                                "unknown name 'unknown'"},
                    MessageCase{"InAnArgument", MAP "fn f() -> i64 = (let x = unknown in count(x))\n",
                                "unknown name 'unknown'"},
                    MessageCase{"InAField",
                                VALUE_OR "fn f() -> i64 = (let x = Some(unknown) in value_or(x, 1))\n",
                                "unknown name 'unknown'"}),
    name_of_message);

}  // namespace
}  // namespace hiaton
