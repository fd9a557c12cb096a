// Data types, construction, match and lists.
#include <gtest/gtest.h>

#include "lang/print_cases.h"

namespace hiaton {
namespace {

class DataPrograms : public testing::TestWithParam<PrintCase> {};

TEST_P(DataPrograms, PrintAndParseBack) {
  expect_printed(GetParam());
}

#define TREE "data Tree = Leaf(word: i64) | Node(left: Tree, right: Tree)\n"
#define AB "data AB = A | B\n"

const PrintCase kDataPrograms[] = {
    {"MatchBecomesBranches",
     "fn total(t: Tree) -> i64 =\n"
     "  match t\n"
     "    Leaf(w) -> w\n"
     "    Node(l, r) -> total(l) + total(r)\n"
     "data Tree = | Leaf(word: i64)\n"
     "            | Node(left: Tree, right: Tree)\n",
     TREE "\n"
          "fn total(t: Tree) -> i64 = if variant(t) == 0 then field(t, variant=0, field=0) else\n"
          "  let l = field(t, variant=1, field=0)\n"
          "  let r = field(t, variant=1, field=1)\n"
          "  total(l) + total(r)\n"},
    {"AListMayBeginAnotherOne",
     "fn f(n: i64, xs: List[i64]) -> List[i64] = [n, 1, ..xs]\n"
     "fn g(n: i64) -> List[f64] = [1, ..[0.5, ..[]]]\n",
     "fn f(n: i64, xs: List[i64]) -> List[i64] = Cons[i64](n, Cons[i64](1, xs))\n\n"
     "fn g(n: i64) -> List[f64] =\n  let v1 = Cons[f64](0.5, Nil[f64])\n  Cons[f64](1.0, v1)\n"},
    {"TypesMayBeMutuallyRecursive",
     "data Forest = Empty | More(first: Rose, rest: Forest)\n"
     "data Rose = Rose(label: f32, children: Forest)\n"
     "fn leaf(x: f32) -> Rose = Rose(x, Empty)\n",
     "data Forest = Empty | More(first: Rose, rest: Forest)\n"
     "data Rose = Rose(label: f32, children: Forest)\n"
     "\n"
     "fn leaf(x: f32) -> Rose = Rose(x, Empty)\n"},
    {"ConstructionInsideOfFunctions",
     TREE "fn build(n: i64) -> Tree = if n == 0 then Leaf(1) else Node(build(n - 1), Leaf(n))\n",
     TREE "\nfn build(n: i64) -> Tree = if n == 0 then Leaf(1) else Node(build(n - 1), Leaf(n))\n"},
    {"LiteralsTakeTheTypeOfTheField", "data P = P(x: f32, n: i32)\nfn f() -> P = P(1, 2)\n",
     "data P = P(x: f32, n: i32)\n"
     "\n"
     "fn f() -> P = P(1.0f32, 2i32)\n"},
    {"ARecordNeedsNoTest",
     "data P = P(x: f64, y: f64)\nfn f(p: P) -> f64 =\n  match p\n    P(x, y) -> x * y\n",
     "data P = P(x: f64, y: f64)\n"
     "\n"
     "fn f(p: P) -> f64 =\n"
     "  let x = field(p, variant=0, field=0)\n"
     "  let y = field(p, variant=0, field=1)\n"
     "  x * y\n"},
    {"OnlyNamedFieldsAreTaken",
     "data P = P(x: i64, y: i64, z: i64)\nfn f(p: P) -> i64 = match p P(_, y, _) -> y\n",
     "data P = P(x: i64, y: i64, z: i64)\n\nfn f(p: P) -> i64 = field(p, variant=0, field=1)\n"},
    {"EqualityComparesFields", "data P = P(x: i64, y: f64[2]) | Q\nfn f(p: P, q: P) -> bool = p != q\n",
     "data P = P(x: i64, y: f64[2]) | Q\n"
     "\n"
     "fn f(p: P, q: P) -> bool = not equal_P(p, q)\n"
     "\n"
     "fn equal_P(a: P, b: P) -> bool = if variant(a) == variant(b) then if variant(a) == 0 then\n"
     "  let v1 = field(a, variant=0, field=0) == field(b, variant=0, field=0)\n"
     "  if v1 then\n"
     "    let v2 = field(a, variant=0, field=1)\n"
     "    let v3 = field(b, variant=0, field=1)\n"
     "    if size(v2, axis=0) == size(v3, axis=0) then sum(i64(v2 != v3), axes=[]) == 0 else false\n"
     "  else false\n"
     "else true\n"
     "else false\n"},
    {"FieldsByName",
     "data P = P(x: i64, y: i64)\n"
     "fn f(p: P) -> i64 = p.x + P(y=p.y, x=2).y\n",
     "data P = P(x: i64, y: i64)\n"
     "\n"
     "fn f(p: P) -> i64 =\n"
     "  let v1 = field(p, variant=0, field=0)\n"
     "  let v2 = field(P(2, field(p, variant=0, field=1)), variant=0, field=1)\n"
     "  v1 + v2\n"},
    {"OtherFieldsStay", "data T = A(x: i64, n: f64) | B(s: f64, x: i64)\nfn f(t: T) -> T = t with x = t.x\n",
     "data T = A(x: i64, n: f64) | B(s: f64, x: i64)\n"
     "\n"
     "fn f(t: T) -> T =\n"
     "  let v1 = if variant(t) == 0 then field(t, variant=0, field=0) else field(t, variant=1, field=1)\n"
     "  if variant(t) == 0 then A(v1, field(t, variant=0, field=1)) else B(field(t, variant=1, field=0), "
     "v1)\n"},
    {"WithIsALoopWhereForFollows",
     "data P = P(x: i64)\n"
     "fn f(p: P) -> P = let n = p.x with q = (p with x = 2) for i in 0..n do q with x = i\n",
     "data P = P(x: i64)\n"
     "\n"
     "fn f(p: P) -> P =\n"
     "  let n = field(p, variant=0, field=0)\n"
     "  let v1 = P(2)\n"
     "  let (_, v2) = with i = 0, q = v1 while i < n do (i + 1, P(i))\n"
     "  v2\n"},
    {"PatternsOfNumbers",
     "fn f(n: i64, b: bool) -> i64 =\n"
     "  match (n, b)\n"
     "    (0, true) -> 10\n"
     "    (k @ -1, _) -> k\n"
     "    (k, false) if k > 5 -> 20\n"
     "    (other, _) -> other\n",
     "fn f(n: i64, b: bool) -> i64 = if n == 0 then if b then 10 else if n > 5 then 20 else n else if n == "
     "-1 "
     "then n else if b then n else if n > 5 then 20 else n\n"},
    {"PatternsOfLists",
     "fn f(xs: List[i64]) -> i64 =\n"
     "  let x = match xs\n"
     "    [] -> 0\n"
     "    [a, ..rest] -> a\n"
     "  (x)\n",
     "fn f(xs: List[i64]) -> i64 = if variant(xs) == 0 then 0 else\n"
     "  let a = field(xs, variant=1, field=0)\n"
     "  let rest = field(xs, variant=1, field=1)\n"
     "  a\n"},
    {"TheLastVariantIsNotTested",
     "data C = Red | Green | Blue | Grey(x: i64)\n"
     "fn f(c: C) -> i64 = match c Green -> 1 Red -> 2 Grey(x) -> x Blue -> 4\n",
     "data C = Red | Green | Blue | Grey(x: i64)\n"
     "\n"
     "fn f(c: C) -> i64 =\n"
     "  let v1 = variant(c)\n"
     "  if v1 == 1 then 1 else if v1 == 0 then 2 else if v1 == 3 then field(c, variant=3, field=0) else 4\n"},
    {"WildcardTakesTheRest",
     "data C = Red | Green | Blue\nfn f(c: C) -> bool = match c Green -> true _ -> false\n",
     "data C = Red | Green | Blue\n\nfn f(c: C) -> bool = if variant(c) == 1 then true else false\n"},
    {"ANameTakesTheWhole",
     TREE
     "fn f(t: Tree) -> Tree =\n  match t\n    Node(Leaf(_), r) -> r\n    Node(l, _) -> l\n    Leaf -> t\n",
     "data Tree = Leaf(word: i64) | Node(left: Tree, right: Tree)\n"
     "\n"
     "fn f(t: Tree) -> Tree = if variant(t) == 1 then\n"
     "  let l = field(t, variant=1, field=0)\n"
     "  if variant(l) == 0 then field(t, variant=1, field=1) else l\n"
     "else t\n"},
    {"NestedPatternsShareArms",
     TREE "fn f(t: Tree) -> i64 =\n"
          "  match t\n"
          "    Node(Leaf(a), Leaf(b)) -> a + b\n"
          "    Leaf(a) -> a\n"
          "    _ -> 0\n",
     TREE "\n"
          "fn f(t: Tree) -> i64 = if variant(t) == 1 then\n"
          "  let v1 = field(t, variant=1, field=0)\n"
          "  if variant(v1) == 0 then\n"
          "    let v2 = field(t, variant=1, field=1)\n"
          "    if variant(v2) == 0 then\n"
          "      let a = field(v1, variant=0, field=0)\n"
          "      let b = field(v2, variant=0, field=0)\n"
          "      a + b\n"
          "    else 0\n"
          "  else 0\n"
          "else field(t, variant=0, field=0)\n"},
    {"ArmsOfSeveralValues", TREE "fn f(t: Tree) -> (i64, f64) = match t Leaf(w) -> (w, 1) Node -> (0, 0.5)\n",
     TREE "\n"
          "fn f(t: Tree) -> (i64, f64) = if variant(t) == 0 then\n"
          "  let w = field(t, variant=0, field=0)\n"
          "  (w, 1.0)\n"
          "else (0, 0.5)\n"},
    {"LiteralsTakeTheTypeOfTheOtherArms",
     "data O = No | Some(x: f32)\n"
     "fn f(o: O) -> f32 =\n  let y = match o No -> 0 Some(x) -> x\n  y\n",
     "data O = No | Some(x: f32)\n"
     "\n"
     "fn f(o: O) -> f32 = if variant(o) == 0 then 0.0f32 else field(o, variant=1, field=0)\n"},
    {"MatchInsideOfAnExpression",
     TREE "fn f(t: Tree, u: Tree) -> i64 =\n"
          "  1 + (match t Leaf(a) -> a Node -> 0) * (match u\n"
          "    Leaf(b) ->\n"
          "      let c = b + 1\n"
          "      c * c\n"
          "    Node(Leaf, _) -> 7\n"
          "    _ -> 8)\n",
     "data Tree = Leaf(word: i64) | Node(left: Tree, right: Tree)\n"
     "\n"
     "fn f(t: Tree, u: Tree) -> i64 =\n"
     "  let v1 = if variant(t) == 0 then field(t, variant=0, field=0) else 0\n"
     "  let v2 = if variant(u) == 0 then\n"
     "    let b = field(u, variant=0, field=0)\n"
     "    let c = b + 1\n"
     "    c * c\n"
     "  else\n"
     "    let v3 = variant(field(u, variant=1, field=0)) == 0\n"
     "    if v3 then 7 else 8\n"
     "  1 + v1 * v2\n"},
    {"ListsOfAnything",
     TREE "fn f(xs: List[Tree], ys: List[List[f32[2]]]) -> List[i64] =\n"
          "  match xs\n"
          "    Nil -> Nil\n"
          "    Cons(Leaf(w), rest) -> Cons(w, f(rest, ys))\n"
          "    Cons(_, rest) -> f(rest, Nil)\n",
     "data Tree = Leaf(word: i64) | Node(left: Tree, right: Tree)\n"
     "\n"
     "fn f(xs: List[Tree], ys: List[List[f32[2]]]) -> List[i64] = if variant(xs) == 0 then Nil[i64] else\n"
     "  let v1 = field(xs, variant=1, field=0)\n"
     "  if variant(v1) == 0 then\n"
     "    let rest = field(xs, variant=1, field=1)\n"
     "    let w = field(v1, variant=0, field=0)\n"
     "    Cons[i64](w, f(rest, ys))\n"
     "  else\n"
     "    let rest = field(xs, variant=1, field=1)\n"
     "    f(rest, Nil[List[f32[2]]])\n"},
    {"BracketsMakeAListWhereOneIsWished", "fn f(x: f32) -> List[f32] = [1, x]\n",
     "fn f(x: f32) -> List[f32] = Cons[f32](1.0f32, Cons[f32](x, Nil[f32]))\n"},
    {"ListsTakeTheirTypeFromTheirParts",
     "fn f(c: bool, x: f32) -> (List[f32], List[f32], List[i64]) =\n"
     "  let a = Cons(x, Nil)\n"
     "  let b = Cons(1, Cons(x, Nil[f32]))\n"
     "  let d = Cons(1, Nil)\n"
     "  (a, if c then Nil else b, d)\n",
     "fn f(c: bool, x: f32) -> (List[f32], List[f32], List[i64]) =\n"
     "  let a = Cons[f32](x, Nil[f32])\n"
     "  let b = Cons[f32](1.0f32, Cons[f32](x, Nil[f32]))\n"
     "  let d = Cons[i64](1, Nil[i64])\n"
     "  let v1 = if c then Nil[f32] else b\n"
     "  (a, v1, d)\n"},
    {"OwnVariantsMayBeNamedLikeThoseOfLists",
     "data Ints = Nil | Cons(head: i64, tail: Ints)\n"
     "fn f(n: i64) -> Ints = if n == 0 then Nil else Cons(n, f(n - 1))\n"
     "fn g(n: i64) -> List[f64] = Cons(0.5, Nil)\n"
     "fn h(xs: Ints) -> i64 = match xs Cons(x, _) -> x Nil -> 0\n",
     "data Ints = Nil | Cons(head: i64, tail: Ints)\n"
     "\n"
     "fn f(n: i64) -> Ints = if n == 0 then Nil else Cons(n, f(n - 1))\n"
     "\n"
     "fn g(n: i64) -> List[f64] = Cons[f64](0.5, Nil[f64])\n"
     "\n"
     "fn h(xs: Ints) -> i64 = if variant(xs) == 1 then field(xs, variant=1, field=0) else 0\n"},
    {"ArmNamesHideOthers",
     TREE "fn f(t: Tree, w: i64) -> i64 =\n  let r = match t\n    Leaf(w) -> w\n    Node(t, _) -> f(t, w)\n  "
          "r + w\n",
     TREE "\n"
          "fn f(t: Tree, w: i64) -> i64 =\n"
          "  let r = if variant(t) == 0 then field(t, variant=0, field=0) else\n"
          "    let v1 = field(t, variant=1, field=0)\n"
          "    f(v1, w)\n"
          "  r + w\n"},
};

INSTANTIATE_TEST_SUITE_P(Programs, DataPrograms, testing::ValuesIn(kDataPrograms), name_of_case<PrintCase>);

class DataErrors : public testing::TestWithParam<ErrorCase> {};

TEST_P(DataErrors, SayWhatIsWrong) {
  expect_error(GetParam());
}

const ErrorCase kDataErrors[] = {
    {"MissingVariant", TREE "fn f(t: Tree) -> i64 = match t Leaf(w) -> w",
     "2:24: this 'match' has no arm for Node(_, _)"},
    {"MissingNestedVariants",
     TREE "fn f(t: Tree) -> i64 = match t Node(Leaf(a), Node(_, Leaf(b))) -> a Leaf -> 1",
     "2:24: this 'match' has no arm for Node(Leaf(_), Node(_, Node(_, _))), Node(Leaf(_), Leaf(_)), "
     "Node(Node(_, _), _)"},
    {"UnreachableArm", TREE "fn f(t: Tree) -> i64 = match t Leaf(w) -> w _ -> 1 Node(_, _) -> 2",
     "2:52: this arm is never reached: the arms before it take everything"},
    {"ArmTakenByAnInnerMatch",
     AB "fn f(a: AB, b: AB) -> i64 =\n  match a\n    A ->\n      match b\n        A -> 1\n        B -> 2\n"
        "    B -> 3",
     "8:5: this arm belongs to the 'match' of line 5, for arms go on until the end of the expression; "
     "put that 'match' in parentheses"},
    {"ArmTakenByAnInnerMatchInALineOfItsArm",
     AB "fn f(a: AB, b: AB) -> i64 =\n  match a\n    A -> match b A -> 1 B -> 2\n    B -> 3",
     "5:5: this arm belongs to the 'match' of line 4, for arms go on until the end of the expression; "
     "put that 'match' in parentheses"},
    {"ArmTakenByTheInnermostMatch",
     AB "fn f(a: AB, b: AB) -> i64 =\n  match a\n    A -> match b\n      A -> 1\n      B -> match a\n"
        "        A -> 1\n        B -> 2\n    B -> 3",
     "9:5: this arm belongs to the 'match' of line 6, for arms go on until the end of the expression; "
     "put that 'match' in parentheses"},
    {"MatchOfATensor", "fn f(x: f64[2]) -> i64 = match x 1 -> 1 _ -> 2",
     "1:34: expected a pattern for a value of type f64[2], found 1"},
    {"PatternOfAnotherNumber", "fn f(n: i64) -> i64 = match n 0.5 -> 1 _ -> 2",
     "1:31: expected a pattern for a value of type i64, found 0.5"},
    {"PatternOutOfRange", "fn f(n: i32) -> i64 = match n 3000000000 -> 1 _ -> 2",
     "1:31: expected a value of type i32, found 3000000000, which is out of its range"},
    {"NumberWithoutAnArm", "fn f(n: i64) -> i64 = match n 0 -> 1 1 -> 2",
     "1:23: this 'match' has no arm for 2"},
    {"TruthWithoutAnArm", "fn f(n: bool) -> i64 = match n false -> 1",
     "1:24: this 'match' has no arm for true"},
    {"OnlyConditions", "fn f(n: i64) -> i64 = match n k if k > 0 -> 1",
     "1:23: this 'match' has no arm for _ where no condition holds"},
    {"ConditionOfANumber", "fn f(n: i64) -> i64 = match n k if k -> 1 _ -> 2",
     "1:36: the condition of an arm: expected bool, found i64"},
    {"MatchInACondition", "fn f(n: i64) -> i64 = match n k if f((match n _ -> 1)) > 0 -> 1 _ -> 2",
     "1:36: expected a condition without 'match' for an arm; a function can hold it"},
    {"NumberThatIsTaken", "fn f(n: i64) -> i64 = match n 0 -> 1 _ -> 2 0 -> 3",
     "1:45: this arm is never reached: the arms before it take everything"},
    {"PairsWithoutAnArm", "fn f(a: bool, b: bool) -> i64 = match (a, b)\n (true, _) -> 1\n (_, true) -> 2",
     "1:33: this 'match' has no arm for (false, false)"},
    {"TupleOfAnotherSize", "fn f(a: bool, b: bool) -> i64 = match (a, b)\n (true, _, _) -> 1\n _ -> 2",
     "2:2: expected '_' or 2 patterns in parentheses, for this 'match' is of 2 values"},
    {"TupleForOneValue", "fn f(a: bool) -> i64 = match a\n (true, _) -> 1\n _ -> 2",
     "2:2: expected a pattern for one value of type bool, found 2 patterns"},
    {"ListPatternOfATree", TREE "fn f(t: Tree) -> i64 = match t\n [] -> 1\n _ -> 2",
     "3:2: expected a variant of Tree (Leaf, Node), found '[]'"},
    {"ListWithoutAnArm", "fn f(t: List[i64]) -> i64 = match t\n [] -> 1\n [a, b, ..rest] -> 2",
     "1:29: this 'match' has no arm for [_]"},
    {"RestWithoutElements", "fn f(t: List[i64]) -> i64 = match t\n [..rest] -> 1",
     "2:2: expected an element before the rest of the list"},
    {"TwoNamesForAValue", "fn f(n: i64) -> i64 = match n a @ b -> 1",
     "1:31: expected one name for a value, found two"},
    {"WholeTwice", "fn f(n: i64) -> i64 = match n a @ a @ 1 -> 1 _ -> 1",
     "1:31: expected one name for a value, found two"},
    {"UnknownVariantInAPattern", TREE "fn f(t: Tree) -> i64 = match t Leav(w) -> w _ -> 1",
     "2:32: expected a variant of Tree (Leaf, Node), found 'Leav'"},
    {"WrongNumberOfParts", TREE "fn f(t: Tree) -> i64 = match t Leaf(a, b) -> a _ -> 1",
     "2:32: 'Leaf' has 1 field, found 2 in the pattern: Leaf(word: i64)"},
    {"PatternOfANumber", TREE "fn f(t: Tree) -> i64 = match t Leaf(Leaf(x)) -> x _ -> 1",
     "2:37: expected a name or '_' for a value of type i64, found 'Leaf'"},
    {"NameTwiceInAPattern", TREE "fn f(t: Tree) -> i64 = match t Node(a, a) -> 1 _ -> 2",
     "2:40: name 'a' is defined twice"},
    {"ArmsDiffer", TREE "fn f(t: Tree) -> i64 =\n  let x = match t Leaf(w) -> w _ -> 0.5\n  1",
     "3:37: the arms of 'match' differ: i64 in one before, f64 in this one"},
    {"ArmWithoutArrow", TREE "fn f(t: Tree) -> i64 = match t Leaf(w) = w",
     "2:40: expected '->' and the value of the arm, found '='"},
    {"NoArm", TREE "fn f(n: i64) -> i64 = match n else 1",
     "2:31: expected an operator or an arm ('Variant(names) -> expression' or '_ -> expression'), found "
     "'else', a keyword"},
    {"FieldOfANumber", "fn f(n: i64) -> i64 = n.x",
     "1:25: expected a value of a data type before '.x', found i64"},
    {"UnknownField", "data P = P(left: i64)\nfn f(p: P) -> i64 = p.lift",
     "2:23: 'P' has no field 'lift'; did you mean 'left'?: P(left: i64)"},
    {"FieldOfSomeVariants", TREE "fn f(t: Tree) -> Tree = t.left",
     "2:27: a Tree has a field 'left' only where it is no 'Leaf': 'match' tells which it is"},
    {"FieldInAnArmOfOthers", "data T = Tip | Fork(v: i64)\nfn f(t: T) -> i64 = match t Fork -> t.v _ -> t.v",
     "2:48: a T has a field 'v' only where it is no 'Tip': 'match' tells which it is"},
    {"FieldBehindItsArm",
     "data T = Tip | Fork(v: i64)\nfn f(t: T) -> i64 = (match t Fork -> t.v _ -> 0) + t.v",
     "2:54: a T has a field 'v' only where it is no 'Tip': 'match' tells which it is"},
    {"FieldOfAnotherThanTheOneOfTheArm",
     "data T = Tip | Fork(v: i64)\nfn f(t: T, u: T) -> i64 = match t Fork -> t.v + u.v _ -> 0",
     "2:51: a T has a field 'v' only where it is no 'Tip': 'match' tells which it is"},
    {"FieldOfTwoTypes", "data T = A(x: i64) | B(x: f64)\nfn f(t: T) -> i64 = t.x",
     "2:23: field 'x' is of type i64 in 'A' and of type f64 in 'B': 'match' takes them apart"},
    {"NoValues",
     "data A = A(b: B) | C(b: B)\ndata B = B(a: A) | F\ndata G = G(g: G) | H(a: A, g: G)\n"
     "data L = L(ls: List[L])\nfn f(d: L) -> i64 = 1",
     "3:6: no value of 'G' can be made: each of its variants needs another value that needs one of 'G' "
     "first"},
    {"LineThatBeginsWithAMinus", "fn f(n: i64) -> i64 =\n  let m = n\n  -m * 2\ndata A = A",
     "3:3: this line continues the value of the 'let' before, for it begins with '-', and the 'let' has no "
     "expression that it is for; in parentheses, (-x), it is one of its own"},
    {"EqualityOfTwoTypes", TREE "fn f(t: Tree, n: i64) -> bool = t == n",
     "2:35: [==] expected scalars or tensors of one type, found Tree and i64"},
    {"FieldWithoutAName", "fn f(n: i64) -> i64 = n.if",
     "1:25: expected the name of a field after '.', found 'if', a keyword"},
    {"FieldGivenTwice", "data P = P(x: i64, y: i64)\nfn f() -> P = P(1, x=2)",
     "2:20: field 'x' of 'P' has a value already"},
    {"FieldWithoutAValue", "data P = P(x: i64, y: i64)\nfn f() -> P = P(y=2)",
     "2:15: 'P' needs a value for its field 'x': P(x: i64, y: i64)"},
    {"UpdateOfAnUnknownField", "data P = P(x: i64, y: i64)\nfn f(p: P) -> P = p with z = 1",
     "2:26: 'P' has no field 'z': P(x: i64, y: i64)"},
    {"UpdateOfAnotherType", "data P = P(x: i64)\nfn f(p: P) -> P = p with x = 0.5",
     "2:30: field 'x' of 'P': expected i64, found f64"},
    {"UpdateTwice", "data P = P(x: i64)\nfn f(p: P) -> P = p with x = 1, x = 2",
     "2:33: field 'x' of 'P' has a value already"},
    {"WrongNumberOfFields", TREE "fn f() -> Tree = Node(Leaf(1))",
     "2:18: 'Node' has 2 fields, found 1: Node(left: Tree, right: Tree)"},
    {"WrongFieldType", TREE "fn f(x: f64) -> Tree = Leaf(x)",
     "2:29: field 'word' of 'Leaf': expected i64, found f64"},
    {"WrongDataType", TREE "data C = Red\nfn f() -> Tree = Red",
     "3:18: the result of 'f': expected Tree, found C"},
    {"UnknownVariant", TREE "fn f() -> Tree = Laef(1)",
     "2:18: unknown function 'Laef'; did you mean 'Leaf'?"},
    {"NameOfNoField", TREE "fn f() -> Tree = Leaf(wort=1)",
     "2:23: 'Leaf' has no field 'wort'; did you mean 'word'?: Leaf(word: i64)"},
    {"VariantTwice", "data A = X | Y\ndata B = Y\nfn f(a: A) -> A = a",
     "2:10: variant 'Y' is defined twice; the first one belongs to 'A'"},
    {"TypeTwice", "data A = X\ndata A = Y\nfn f(a: A) -> A = a", "2:6: data type 'A' is defined twice"},
    {"FieldTwice", "data A = X(a: i64, a: i64)\nfn f(a: A) -> A = a", "1:20: field 'a' is defined twice"},
    {"BuiltInType", "data List = X\nfn f() -> i64 = 1",
     "1:6: expected a new name, found 'List', which is built in"},
    {"SmallVariant", "data A = x\nfn f(a: A) -> A = a",
     "1:10: expected the name of a variant with a capital first letter, found 'x'"},
    {"SmallType", "data a = X\nfn f() -> i64 = 1",
     "1:6: expected the name of a data type with a capital first letter, found 'a'"},
    {"UnknownFieldType", "data A = X(a: Tere)\ndata Tree = Y\nfn f(a: A) -> A = a",
     "1:15: expected a type (bool, u8, i32, i64, f32, f64, str, List[...] or a data type), found 'Tere'; did "
     "you "
     "mean "
     "'Tree'?"},
    {"FieldsWithoutTypes", "data A = X(a)\nfn f() -> i64 = 1",
     "1:13: expected ':' and the type of the field, found ')'; a field has a name and a type: Leaf(value: "
     "i64)"},
    {"EmptyParentheses", "data A = X()\nfn f() -> i64 = 1",
     "1:12: expected a field; a variant without fields has no parentheses, found ')'"},
    {"TextBehindAType", "data A = X + Y\nfn f(a: A) -> A = a",
     "1:12: expected '|' and another variant, 'fn', 'data', 'param', 'size' or the end of the program, found "
     "'+'"},
    {"FunctionNamedLikeAVariant", "data A = X\nfn X() -> i64 = 1",
     "2:4: expected a new name for a function, found 'X', which is a variant"},
    {"ParameterNamedLikeAVariant", "data A = X\nfn f(X: i64) -> i64 = 1",
     "2:6: expected the name of a parameter, found 'X', which is a variant"},
    {"NameLikeAVariant", "data A = X\nfn f() -> i64 =\n  let X = 1\n  2",
     "3:7: expected a name, found 'X', which is a variant"},
    {"SizeNamedLikeAVariant", "size X = 3\ndata A = X\nfn f() -> i64 = 1",
     "1:6: expected the name of a size, found 'X', which is a variant"},
    {"LearnedParameterNamedLikeAVariant", "data A = X\nparam X: f32[2]\nfn f() -> i64 = 1",
     "2:7: expected the name of a learned parameter, found 'X', which is a variant"},
    {"NilAlone", "fn f() -> i64 =\n  match Nil\n    [] -> 1\n    _ -> 2",
     "2:9: expected a list of a known type, found 'Nil' alone; Nil[i64] is the empty list of i64"},
    {"ListWithoutElementType", "fn f(xs: List) -> i64 = 1",
     "1:10: expected a type (bool, u8, i32, i64, f32, f64, str, List[...] or a data type), found 'List'; the "
     "elements "
     "have a type: List[i64]"},
    {"ListOfMixedElements", "fn f(x: f64) -> List[i64] = [1, x]",
     "1:33: an element of a list: expected i64, found f64"},
    {"ConsOnATreeAsTail", TREE "fn f(t: Tree) -> i64 =\n  let a = Cons(1, t)\n  1",
     "3:19: field 'tail' of 'Cons': expected a list, found Tree"},
    {"CastOfData", TREE "fn f(t: Tree) -> i64 = i64(t)",
     "2:24: [i64] expected numbers or tensors, found Tree"},
    {"DataTypeAsAValue", TREE "fn f() -> Tree = Leaf(Tree)", "2:23: unknown name 'Tree'"},
    {"DataTypeAsAFunction", TREE "fn f() -> Tree = Tree(1)", "2:18: unknown function 'Tree'"},
    {"VariantAsAType", TREE "fn f(t: Leaf) -> i64 = 1",
     "2:9: expected a type (bool, u8, i32, i64, f32, f64, str, List[...] or a data type), found 'Leaf'"},
    {"ArithmeticOnData", TREE "fn f(t: Tree) -> Tree = t + t",
     "2:27: [+] expected numbers of one type, found Tree and Tree"},
};

INSTANTIATE_TEST_SUITE_P(Messages, DataErrors, testing::ValuesIn(kDataErrors), name_of_case<ErrorCase>);

TEST(DataErrors, OneCauseGivesOneFinding) {
  const char* programs[] = {
      TREE "fn f(t: Tree) -> i64 =\n  let x = match t Leaf(w) -> ww + 1 Node(l, _) -> f(l) + f(t)\n  x + 1",
      TREE "fn f(t: Tree) -> i64 = match oops Leaf(w) -> w + 1 Node(l, r) -> f(l) + f(r)",
      TREE "fn f(t: Tree) -> i64 = match t Laef(w) -> w + 1 Node(l, r) -> f(l) + f(r)",
      TREE "fn f(t: Oops) -> i64 = match t Leaf(w) -> w + 1 Node(l, r) -> f(l) + f(r)",
      TREE "fn f(t: Tree) -> Tree = Node(oops, Node(t, t))",
      "data A = X(a: Oops) | Y\nfn f(a: A) -> A = match a X(b) -> X(b) Y -> Y",
  };
  for (const char* program : programs) {
    const std::string message = error_of(program);
    EXPECT_NE(message, "") << program;
    EXPECT_EQ(message.find("error: "), message.rfind("error: ")) << message;
  }
}

}  // namespace
}  // namespace hiaton
