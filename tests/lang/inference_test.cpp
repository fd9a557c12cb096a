// Which types generic functions and data types stand for, whatever the order of what tells them.
#include "lang/message_case.h"

namespace hiaton {
namespace {

#define OPTION "data Option[T] = None | Some(value: T)\n"
#define EITHER                                     \
  "data Either[A, B] = Left(a: A) | Right(b: B)\n" \
  "fn of(e: Either[str, i64]) -> i64 = 1\n"
#define MAP                                                                               \
  "data Map[K, V] = Tip | Bin(left: Map[K, V], key: K, value: V, right: Map[K, V])\n"     \
  "fn put[K, V](m: Map[K, V], key: K, value: V) -> Map[K, V] = Bin(m, key, value, Tip)\n" \
  "fn count[K, V](m: Map[K, V]) -> i64 = 1\n"

class Inference : public testing::TestWithParam<MessageCase> {};

TEST_P(Inference, IsTheSameInEveryOrder) {
  expect_message(GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Programs, Inference,
    testing::Values(
        MessageCase{"LiteralsBeforeVariantsWithoutFields", MAP "fn f() -> i64 = count(put(Tip, \"a\", 1))\n"},
        MessageCase{
            "CallsThatLeaveTypesOpen", MAP
            "fn of[K, V](xs: List[(K, V)]) -> Map[K, V] = Tip\nfn f() -> i64 = count(put(of([]), 2, 0.5))\n"},
        MessageCase{
            "FunctionsInFields",
            "data Monoid[T] = Monoid(zero: T, plus: fn(T, T) -> T)\n"
            "fn total[T](m: Monoid[T], xs: List[T]) -> T = fold(m.plus, m.zero, xs)\n"
            "fn f(n: i64) -> (i64, str, f64) = (total(Monoid(0, add), [1, n]), total(Monoid(\"\", add), "
            "[\"a\"]),\n"
            "  total(Monoid(1.0, mul), [2, 3]))\n"},
        MessageCase{"LiteralsWithinCallsFollowWhatIsWished",
                    MAP "fn f() -> Map[str, f64] = put(put(Tip, \"a\", 1), \"b\", 2)\n"
                        "fn g(x: f32) -> i64 = count(put(put(Tip, \"a\", 2), \"b\", x))\n"
                        "fn same[T](a: T) -> T = a\n"
                        "fn h(x: f64) -> f64 = max(same(1), x) + same(same(2))\n"},
        MessageCase{"FloatsBeforeIntegers",
                    "fn same[T](a: T, b: T) -> T = b\nfn f() -> f64 = (let x = same(1, 0.5) in x)\n"},
        MessageCase{"Branches",
                    OPTION "fn f(n: i64) -> Option[i64] = (let r = if n > 2 then None else Some(n) in r)\n"},
        MessageCase{"BranchesOfLists",
                    "fn f(xs: List[i64]) -> List[i64] = (let r = if true then [] else xs in r)\n"},
        MessageCase{"Arms",
                    OPTION "fn f(n: i64) -> Option[i64] = (let r = match n 1 -> None  k if k > 1 -> None  _ "
                           "-> Some(n) in r)\n"},
        MessageCase{"Elements",
                    OPTION "fn f(n: i64) -> List[Option[i64]] = (let xs = [None, Some(n)] in xs)\n"},
        MessageCase{"BothSidesOfEqual",
                    OPTION "fn f(n: i64) -> (bool, bool) = (None == Some(n), Some(n) != None)\n"
                           "fn g(xs: List[i64]) -> bool = [] == xs\n"},
        MessageCase{"GradientsByTheirParameters",
                    "fn loss(w: f64, x: f64) -> f64 = w * x\n"
                    "fn f(x: f64) -> f64 = (let step = grad(loss, wrt=w) in step(1, 2) + step(1, x))\n"},
        MessageCase{
            "OpenPlacesBesideValues",
            "fn f(n: f32) -> List[fn(f32) -> f32] = (let g = add(n, _) in (let fs = [g, mul(_, 2)] in "
            "fs))\n"},
        MessageCase{"OpenPlacesBesideLiterals",
                    "type Pred[T] = fn(T) -> bool\n"
                    "fn both[T](p: Pred[T], q: Pred[T]) -> Pred[T] = fn(x) -> p(x) and q(x)\n"
                    "fn f(n: i64) -> bool = both(gt(_, 1), lt(_, 5))(n)\n"},
        MessageCase{"OperationsOnFloatsAlone",
                    "fn f(x: f64) -> f64 = (let g = if x > 2 then cos else sin in g(x))\n"},
        MessageCase{"OperationsOnFloatsAloneBehindOthers",
                    "fn f(x: f64) -> f64 = (let g = if x > 2 then neg else sin in g(x))\n"},
        MessageCase{"FirstValuesOfFoldsByTheirSteps", MAP
                    "fn f(xs: List[str]) -> i64 = count(fold(fn(m, x) -> put(m, x, 1), Tip, xs))\n"
                    "fn g(xs: i64[n]) -> i64 = count(fold(fn(m, x, y) -> put(m, x, [y]), Tip, xs, 0.5))\n"},
        MessageCase{"FirstValuesOfFoldsByNamedFunctions",
                    MAP "fn step[K](m: Map[K, i64], key: K) -> Map[K, i64] = put(m, key, 1)\n"
                        "fn f(xs: List[str]) -> i64 = count(fold(step, Tip, xs))\n"},
        MessageCase{"FirstValuesOfFoldsByWhatTheyAreFor",
                    MAP "fn keys[K, V](m: Map[K, V]) -> List[K] = []\n"
                        "fn step[K, V](m: Map[K, V], key: K) -> Map[K, V] = m\n"
                        "fn of(m: Map[str, f64]) -> i64 = 1\n"
                        "fn same[T](a: T, b: T) -> T = a\n"
                        "fn f(xs: List[str], m: Map[str, i64]) -> i64 = of(fold(fn(m, x) -> m, Tip, xs))\n"
                        "  + count(same(fold(fn(m, x) -> m, Tip, xs), m))\n"},
        MessageCase{
            "EmptyListsThatFoldsBeginWith",
            "fn f(xs: List[f64]) -> List[f64] = (let r = fold(fn(ys, x) -> Cons(x, ys), [], xs) in r)\n"
            "fn g(xs: List[i64]) -> List[List[i64]] = (let r = scan(fn(ys, x) -> Cons(x, ys), [], xs) in "
            "r)\n"},
        MessageCase{
            "CallsInStepsThatLeaveTypesOpen", MAP OPTION
            "fn get[K, V](m: Map[K, V], key: K) -> Option[V] = None\n"
            "fn or_else[T](o: Option[T], other: T) -> T = other\n"
            "fn f(xs: List[str]) -> i64 = count(fold(fn(m, x) -> put(m, x, or_else(get(m, x), 0) + 1), Tip, "
            "xs))\n"},
        MessageCase{
            "FirstValuesOfFoldsInTuples",
            MAP "fn f(xs: List[str]) -> i64 =\n"
                "  let (m, k) = fold(fn((m, k), x) -> (put(m, x, k), k + 1), (Tip, 0), xs)\n"
                "  count(m) + k\n"
                "fn g(xs: List[str]) -> i64 =\n"
                "  let ((k, m), ys) = fold(fn(((k, m), ys), x) -> ((k + 1, put(m, x, k)), Cons(k, ys)), ((0, "
                "Tip), []), xs)\n"
                "  count(m) + k + fold(add, 0, ys)\n"},
        MessageCase{"FirstValuesOfFoldsByFunctionsOfALet", MAP
                    "fn f(xs: List[str]) -> i64 = (let step = fn(m, x) -> put(m, x, 1) in count(fold(step, "
                    "Tip, xs)))\n"},
        MessageCase{
            "LoopsByTheirNextValues",
            MAP "fn f(n: i64) -> i64 = count(with m = Tip for i in 0..n do put(m, i, 0.5))\n"
                "fn g(n: i64) -> (i64, List[i64]) =\n"
                "  let (m, k, xs) = with m = Tip, k = 0, xs = [] while k < n do (put(m, k, xs), k + 1, "
                "Cons(k, xs))\n"
                "  (count(m), xs)\n"
                "fn h(n: i64) -> i64 = (let (m, k) = with (m, k) = (Tip, 0) for i in 0..n do (put(m, i, k), "
                "k + i) in count(m))\n"},
        MessageCase{
            "LoopVariablesThatTellEachOther", MAP OPTION
            "fn get[K, V](m: Map[K, V], key: K) -> Option[V] = None\n"
            "fn f(n: i64) -> i64 =\n"
            "  let (m, last) = with m = Tip, last = None for i in 0..n do (put(m, i, \"a\"), get(m, i))\n"
            "  count(m)\n"},
        MessageCase{"LoopsInsideOfLoops",
                    MAP "fn f(n: i64) -> i64 =\n"
                        "  count(with m = Tip for i in 0..n do with m = m for j in 0..i do put(m, i, j))\n"},
        MessageCase{"LoopsThatNothingTells",
                    MAP "fn f(n: i64) -> i64 = (let m = with m = Tip for i in 0..n do m in n)\n",
                    "expected the type of 'm', which nothing here tells; it is written m: Map[...] = Tip"},
        MessageCase{
            "ArgumentsTogether",
            EITHER "fn same[T](a: T, b: T) -> T = a\n"
                   "fn swap[A, B](a: Either[A, B], b: Either[A, B]) -> Either[A, B] = b\n"
                   "fn put[A, B](a: Either[A, B], b: List[B]) -> Either[A, B] = a\n"
                   "fn f(n: i64) -> i64 = of(same(Left(\"x\"), Right(n))) + of(swap(Right(1), Left(\"y\")))\n"
                   "  + of(put(Left(\"x\"), [n])) + of(put(Left(\"x\"), []))\n"},
        MessageCase{
            "FieldsTogether", EITHER
            "data Two[T] = Two(one: T, other: T)\n"
            "fn f(n: i64) -> i64 = (let two = Two(Left(\"x\"), Right(n)) in of(two.one) + of(two.other))\n"},
        MessageCase{"ArgumentsThatDoNotTellAll",
                    EITHER "fn same[T](a: T, b: T) -> T = a\n"
                           "fn f(n: i64) -> i64 = (let e = same(Left(\"x\"), Left(\"y\")) in n)\n",
                    "expected the type B of 'Left', which nothing here tells"},
        MessageCase{"FoldsThatNothingTells",
                    MAP "fn f(xs: List[str]) -> i64 = count(fold(fn(m, x) -> m, Tip, xs))\n",
                    "expected the type K of 'Tip', which nothing here tells"},
        MessageCase{
            "BranchesTogether", EITHER
            "fn f(n: i64) -> i64 = (let e = if n > 2 then Left(\"x\") else if n > 1 then Right(n) else "
            "Left(\"y\") in of(e))\n"
            "fn g(n: i64) -> i64 = (let e = if n > 2 then (let z = [n] in Left(z)) else Right(fn(x: i64) -> "
            "x) in 1)\n"},
        MessageCase{"ArmsTogether", EITHER
                    "fn f(n: i64) -> i64 = (let e = match n 1 -> Left(\"x\") k if k > 4 -> Right(k) _ -> "
                    "Left(\"y\") in of(e))\n"},
        MessageCase{
            "ElementsTogether", EITHER
            "fn f(n: i64) -> List[Either[str, i64]] = (let es = [Left(\"x\"), Right(n), Left(\"y\")] in "
            "es)\n"},
        MessageCase{"BothSidesOfEqualTogether", EITHER
                    "fn f(n: i64) -> (bool, bool) = (Left(\"x\") == Right(n), Right(n) != Left(0.5))\n"},
        MessageCase{"BranchesBesideAWhole", EITHER
                    "fn f(n: i64, o: Either[str, i64]) -> i64 = (let e = if n > 2 then Left(\"x\") else o in "
                    "of(e))\n"},
        MessageCase{"BranchesThatDoNotTellAll",
                    EITHER
                    "fn f(n: i64) -> i64 = (let e = if n > 2 then Left(\"x\") else Left(\"y\") in 1)\n",
                    "expected the type B of 'Left', which nothing here tells"},
        MessageCase{
            "BranchesThatDiffer",
            EITHER
            "fn f(n: i64) -> i64 = (let e = if n > 2 then Left(\"x\") else if n > 1 then Right(n) else "
            "Left(n) in 1)\n",
            "field 'a' of 'Left': expected str, found i64"},
        MessageCase{
            "GradientsInProgramsWithErrors",
            "fn loss(w: f64, x: f64) -> f64 = w * x\n"
            "fn f(x: f64) -> f64 = (let y = nothing in (let step = grad(loss, wrt=w) in step(1, 2)))\n",
            "unknown name 'nothing'"},
        MessageCase{"TensorsOfAnySizeForASymbol",
                    OPTION "fn f(x: f64[n]) -> Option[f64[n]] = Some(x)\n"
                           "fn g(o: Option[f64[_]]) -> Option[List[f64[m, 2]]] = None\n"
                           "fn h(x: f64[n]) -> Option[List[f64[_, 2]]] = g(f(x))\n"},
        MessageCase{
            "ZerosBesideRowNumbers",
            "fn f(x: f64[n, 2], rows: i64[n], k: i64) -> f64[_, 2] = scatter_add(zeros(k, 2), rows, x)\n"
            "fn g(x: f32[n], rows: i64[n]) -> f32[3] = scatter_add(zeros(3), rows, x)\n"
            "fn h(x: i64[n], rows: i64[n]) -> i64[3] = scatter_add(zeros(3), rows, x)\n"},
        MessageCase{"ListsOfTensorsOfAnySize",
                    "fn f(x: f64[m]) -> List[f64[m]] = [x]\n"
                    "fn g(xs: List[f64[k]]) -> i64 = 1\n"
                    "fn h(x: f64[n]) -> i64 = (let xs = Cons(x, Nil) in g(xs) + g(f(x)) + g([x, ..xs]))\n"},
        MessageCase{
            "NumbersInTheTupleThatAFoldBeginsWith",
            "fn f(ps: List[(i64, f64)]) -> (f64, i64) =\n"
            "  let (s, n) = fold(fn((s, n), (_, x)) -> (s + x, n + 1), (0, 0), ps)\n  (s, n / 2)\n"
            "fn g(y: f32[2], xs: List[f64]) -> (f32[2], i64) =\n"
            "  let (a, (b, n)) = fold(fn((a, (b, n)), x) -> (a + x, (b + y, n + 1)), (0, (zeros(2), 0)), "
            "xs)\n"
            "  (b, n)\n"
            "fn h(xs: List[i64]) -> i64 =\n"
            "  let (s, i) = fold(fn((s, i), x) -> (s + [1, 2, 3][i + 1], i + 1), (0, -1), xs)\n  s + i\n"},
        MessageCase{"NumbersThatLoopsBeginWith",
                    "fn f(a: f32[2]) -> (f32[2], f32, i64) =\n"
                    "  let (s, (t, n)) = with (s, (t, n)) = (zeros(2), (0, 0)) for i in 0..3 do (s + a, (t + "
                    "a[0], n + 1))\n"
                    "  let (p, q) = with p = 0, q = [0, 1] while p < 3 do (p + a[0], q * a)\n"
                    "  (s + q, t + p, n / 2)\n"
                    "fn g(n: i64) -> f32 = with s = 0 for i in 0..n do s + 1\n"
                    "fn h(n: i64) -> List[i64] = with s = [0, 1] for i in 0..n do [i, ..s]\n"
                    "fn k(n: i64) -> f64 = (let x = with x = 1 for i in 0..n do 0.5 in x)\n"},
        MessageCase{"NumbersOfALoopThatNoTypeFits",
                    "fn f(n: i64) -> i64 = with x = 1 for i in 0..n do i > 2\n",
                    "the next value of 'x': expected i64, found bool"},
        MessageCase{"NumbersOfFoldsInsideEachOther",
                    "fn f(a: f32, xs: List[i64]) -> (f32, i64) =\n"
                    "  let (q, n) = fold(fn((q, n), v) ->\n"
                    "    let (r, i) = fold(fn((r, i), w) ->\n"
                    "      let (s, j) = fold(fn((s, j), x) ->\n"
                    "        let (t, k) = fold(fn((t, k), y) ->\n"
                    "          let (u, l) = fold(fn((u, l), z) -> (u + a, l + 1), (0, 0), xs)\n"
                    "          (t + u, k + l), (0, 0), xs)\n"
                    "        (s + t, j + k), (0, 0), xs)\n"
                    "      (r + s, i + j), (0, 0), xs)\n"
                    "    (q + r, n + i), (0, 0), xs)\n"
                    "  (q, n)\n"},
        MessageCase{"AttemptsAskForNoFunctions",
                    "fn half[T](x: T) -> T = x * 0.5\n"
                    "fn f(xs: List[i64], t: f32[5]) -> f32 =\n"
                    "  let s = fold(fn(s, x) -> if x > 3 then half(s) else s + t[x], 0, xs)\n  s\n"},
        MessageCase{"WhatIsWrongInAStep",
                    MAP "fn f(xs: List[i64]) -> i64 = count(fold(fn(m, x) -> put(m, x, nothing), Tip, xs))\n",
                    "unknown name 'nothing'"},
        MessageCase{"WhatIsWrongInALoop",
                    MAP "fn f(n: i64) -> i64 = count(with m = Tip for i in 0..n do put(m, i, nothing))\n",
                    "unknown name 'nothing'"},
        MessageCase{"BesideWhatNothingTells",
                    MAP "fn of[K, V](m: Map[K, V], entries: List[(K, V)]) -> Map[K, V] = m\n"
                        "fn g(n: i64) -> i64 = count(of(Tip, map(fn(i) -> (i, 0.5), [n, 2])))\n"},
        MessageCase{"ATypeThatIsNoList", "fn f[T](xs: List[T]) -> i64 = 1\nfn g() -> i64 = f(3)\n",
                    "argument 1 of 'f': expected List[T], found i64"},
        MessageCase{"ATypeThatIsNoTuple", "fn f[A, B](p: (A, B)) -> i64 = 1\nfn g(n: i64) -> i64 = f(n)\n",
                    "argument 1 of 'f': expected (A, B), found i64"},
        MessageCase{"ATupleOfAnotherLength",
                    "fn f[A, B](p: (A, B)) -> i64 = 1\nfn g() -> i64 = f((1, 2, 3))\n",
                    "argument 1 of 'f': expected (i64, i64), found (i64, i64, i64)"},
        MessageCase{"AFieldThatIsNoList",
                    "data Bag[T] = Bag(items: List[T])\nfn g(n: i64) -> i64 = (let b = Bag(n) in n)\n",
                    "field 'items' of 'Bag': expected List[T], found i64"},
        MessageCase{
            "VariantsWithoutFieldsHaveNoArguments",
            OPTION "fn of[T](o: Option[T]) -> i64 = 1\nfn f() -> i64 = of(None)\n",
            "expected the type T of 'None', which nothing here tells; in brackets it is written None[...]"}),
    name_of_message);

/// Where a step or a body is wrong, it is no second finding that it does not tell a type.
TEST(InferenceBesideErrors, SaysOnceWhatIsWrongInAStep) {
  for (const char* text :
       {"fn f(xs: List[i64]) -> i64 = (let ys = fold(fn(ys, x) -> [x + \"a\", ..ys], [], xs) in 1)\n",
        "fn f(n: i64) -> i64 = (let ys = with ys = [] for i in 0..n do [i + \"a\", ..ys] in 1)\n"}) {
    const std::string found = error_of(text);
    EXPECT_EQ(found.find("error: "), found.rfind("error: ")) << found;
    EXPECT_NE(found.find("[+] expected numbers of one type, found i64 and str"), std::string::npos) << found;
  }
}

TEST(InferenceBesideErrors, DoesNotMissWhatABrokenResultWouldTell) {
  const std::string found = error_of(OPTION "fn f(n: i64) -> Option[T] = None\n");
  EXPECT_EQ(found.find("error: "), found.rfind("error: ")) << found;
  EXPECT_NE(found.find("found 'T'"), std::string::npos) << found;
}

/// What is wrong in one function, or before an expression, hides no types from the others.
TEST(InferenceBesideErrors, FindsTheSameTypes) {
  const std::string program = MAP
      "fn of[K, V](m: Map[K, V], entries: List[(K, V)]) -> Map[K, V] = m\n"
      "fn wrong(n: i64) -> i64 = nothing\n"
      "fn g(n: i64) -> i64 = count(of(Tip, map(fn(i) -> (i, 0.5), [n, 2])))\n"
      "fn h(n: i64) -> i64 =\n"
      "  let a = nowhere\n"
      "  let c = count(of(Tip, map(fn(i) -> (i, 0.5), [n, 2])))\n"
      "  c + a\n";
  EXPECT_EQ(error_of(program),
            "test.hia:5:27: error: unknown name 'nothing'\n"
            " 5 | fn wrong(n: i64) -> i64 = nothing\n"
            "   |                           ^^^^^^^\n"
            "test.hia:8:11: error: unknown name 'nowhere'\n"
            " 8 |   let a = nowhere\n"
            "   |           ^^^^^^^");
}

}  // namespace
}  // namespace hiaton
