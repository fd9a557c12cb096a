// Modules made from C++: what they become, and every mistake with its message.
#include <gtest/gtest.h>

#include "ir/support.h"

namespace hiaton {
namespace {

TEST(Builder, MakesTheModuleThatTheTextMakes) {
  ModuleBuilder program;
  const FunctionRef fact = program.declare("fact", {{DType::I64, "n"}}, {DType::I64});
  program.define(fact, [&](FunctionBuilder& f) -> Vars {
    const Var n = f.param(0);
    return f.if_else(
        n == 1, [&] { return n; }, [&] { return n * f.call(fact, {n - 1}); });
  });
  EXPECT_TRUE(
      equal(program.finish(), parse("fn fact(n: i64) -> i64 = if n == 1 then n else n * fact(n - 1)")));
}

TEST(Builder, OperatorsAreOperations) {
  const ir::Module module = module_of(
      {{DType::I64, "a"}, {DType::I64, "b"}, {DType::Bool, "c"}},
      {DType::I64, DType::I64, DType::I64, DType::I64, DType::I64, DType::I64, DType::Bool, DType::Bool,
       DType::Bool, DType::Bool, DType::Bool, DType::Bool, DType::Bool},
      [](FunctionBuilder& f) -> Vars {
        const Var a = f.param(0), b = f.param(1), c = f.param(2);
        return {a + b, a - b, a * b, a / b, a % b, -a, a == b, a != b, a<b, a <= b, a> b, a >= b, !c};
      });
  EXPECT_EQ(print(module),
            "fn f(a: i64, b: i64, c: bool) -> "
            "(i64, i64, i64, i64, i64, i64, bool, bool, bool, bool, bool, bool, bool) = "
            "(a + b, a - b, a * b, a / b, a % b, -a, a == b, a != b, a < b, a <= b, a > b, a >= b, not c)\n");
}

TEST(Builder, NumbersBesideAVarTakeItsType) {
  const ir::Module module =
      module_of({{DType::I32, "i"}, {DType::F32, "x"}, {DType::F64, "y"}},
                {DType::I32, DType::I32, DType::F32, DType::F32, DType::F64, DType::Bool},
                [](FunctionBuilder& f) -> Vars {
                  const Var i = f.param(0), x = f.param(1), y = f.param(2);
                  return {i + 1, 2 - i, x * 3, 0.5 / x, 1 + y, y < 2.5};
                });
  EXPECT_EQ(print(module),
            "fn f(i: i32, x: f32, y: f64) -> (i32, i32, f32, f32, f64, bool) = "
            "(i + 1i32, 2i32 - i, x * 3.0f32, 0.5f32 / x, 1.0 + y, y < 2.5)\n");
}

TEST(Builder, MixedOperatorsTakeNumbersOnBothSides) {
  const ir::Module module =
      module_of({{DType::I64, "n"}},
                {DType::I64, DType::I64, DType::I64, DType::I64, DType::Bool, DType::Bool, DType::Bool,
                 DType::Bool, DType::Bool, DType::Bool},
                [](FunctionBuilder& f) -> Vars {
                  const Var n = f.param(0);
                  return {n % 2, 2 % n, n / 3, 3 / n, 1 == n, 1 != n, 1 < n, 1 <= n, 1 > n, 1 >= n};
                });
  EXPECT_EQ(print(module),
            "fn f(n: i64) -> (i64, i64, i64, i64, bool, bool, bool, bool, bool, bool) = "
            "(n % 2, 2 % n, n / 3, 3 / n, 1 == n, 1 != n, 1 < n, 1 <= n, 1 > n, 1 >= n)\n");
}

TEST(Builder, LoopsAreThoseOfTheText) {
  const ir::Module module =
      module_of({{DType::I64, "n"}}, {DType::I64, DType::I64}, [](FunctionBuilder& f) -> Vars {
        const Var n = f.param(0), zero = f.constant(int64_t{0}), one = f.constant(int64_t{1});
        const Vars powers = f.while_loop(
            {zero, one}, [&](const Vars& now) { return now[0] < n; },
            [&](const Vars& now) -> Vars {
              return {now[0] + 1, now[1] * 2};
            });
        const Var sum =
            f.for_loop(zero, n, {zero}, [](Var i, const Vars& now) -> Vars { return now[0] + i; });
        return {powers[1], sum};
      });
  EXPECT_TRUE(
      equal(module, parse("fn f(n: i64) -> (i64, i64) =\n"
                          "  let (_, power) = with i = 0, power = 1 while i < n do (i + 1, power * 2)\n"
                          "  let sum = with sum = 0 for i in 0..n do sum + i\n"
                          "  (power, sum)\n")));
}

TEST(Builder, OperationsByNameAndCasts) {
  const ir::Module module = module_of({{DType::I64, "n"}}, {DType::F64}, [](FunctionBuilder& f) -> Vars {
    return f.op("sqrt", {f.cast(f.op("abs", {f.param(0)}), DType::F64)});
  });
  EXPECT_EQ(print(module), "fn f(n: i64) -> f64 = sqrt(f64(abs(n)))\n");
}

TEST(Builder, SplitsTensors) {
  const Type vector = tensor_type(DType::F32, {5});
  const ir::Module module =
      module_of({{vector, "x"}}, {tensor_type(DType::F32, {2}), tensor_type(DType::F32, {3})},
                [](FunctionBuilder& f) -> Vars {
                  return f.split(f.param(0), 0, std::vector<int64_t>{2, 3});
                });
  EXPECT_EQ(print(module),
            "fn f(x: f32[5]) -> (f32[2], f32[3]) = (slice(x, axis=0, start=0, length=2), slice(x, axis=0, "
            "start=2, length=3))\n");
}

TEST(Builder, SlicesWithBoundsOfTheRunAreThoseOfTheText) {
  const Type image(DType::F64, {unknown_dim(), {3, ""}});
  const Type rows(DType::F64, {unknown_dim(), unknown_dim()});
  ModuleBuilder program;
  const FunctionRef main = program.declare(
      "main", {{image, "x"}, {DType::I64, "i"}, {DType::I64, "j"}},
      {image, image, rows, rows, Type(DType::F64, {unknown_dim()}), Type(DType::I64, {unknown_dim()})});
  program.define(main, [](FunctionBuilder& f) -> Vars {
    const Var x = f.param(0), i = f.param(1), j = f.param(2);
    return {f.slice(x, 0, i, j),  f.slice(x, 0, Var(), j), f.slice(x, 1, i, Var()),
            f.slice(x, -1, i, j), f.take(x, -1, j),        f.range(j)};
  });
  EXPECT_TRUE(
      equal(program.finish(), parse("fn main(x: f64[_, 3], i: i64, j: i64) ->\n"
                                    "  (f64[_, 3], f64[_, 3], f64[_, _], f64[_, _], f64[_], i64[_]) =\n"
                                    "  (x[i:j], x[:j], x[:, i:], x[:, i:j], x[:, j], range(j))\n")));
}

TEST(Builder, SlicesWithoutBoundsAreTheTensor) {
  const Type vector(DType::F64, {unknown_dim()});
  const ir::Module module = module_of({{vector, "x"}}, {vector}, [](FunctionBuilder& f) -> Vars {
    return f.slice(f.param(0), 0, Var(), Var());
  });
  EXPECT_EQ(print(module), "fn f(x: f64[_]) -> f64[_] = x\n");
}

TEST(Builder, ComparesDataAsTheTextDoes) {
  const auto source =
      "data Tree = Leaf(number: i64, at: f64[_]) | Node(left: Tree, right: Tree)\n"
      "fn main(a: Tree, b: Tree, s: str, x: List[(i64, str)], y: List[(i64, str)], p: (str, i64), q: (str, "
      "i64)) ->\n"
      "  (bool, bool, bool, bool, bool, bool, str) =\n"
      "  (a == b, a != b, s == \"x\", x == y, p < q, p >= q, s + \"x\")\n";
  ModuleBuilder program;
  DataTypes& types = program.module().data_types;
  const Type tree = types.declare("Tree");
  types.define(tree, {{"Leaf", {{"number", DType::I64}, {"at", Type(DType::F64, {unknown_dim()})}}},
                      {"Node", {{"left", tree}, {"right", tree}}}});
  const Type list = types.list_of(types.tuple_of({DType::I64, string_type()}));
  const Type pair = types.tuple_of({string_type(), DType::I64});
  const FunctionRef main = program.declare(
      "main",
      {{tree, "a"}, {tree, "b"}, {string_type(), "s"}, {list, "x"}, {list, "y"}, {pair, "p"}, {pair, "q"}},
      {DType::Bool, DType::Bool, DType::Bool, DType::Bool, DType::Bool, DType::Bool, string_type()});
  program.define(main, [](FunctionBuilder& f) -> Vars {
    const Var a = f.param(0), b = f.param(1), s = f.param(2), p = f.param(5), q = f.param(6);
    const Var text = f.constant(Value(std::string("x")), string_type());
    return {a == b, a != b, s == text, f.param(3) == f.param(4), p < q, p >= q, s + text};
  });
  EXPECT_TRUE(equal(program.finish(), parse(source)));
}

TEST(Builder, ComparesTensorsAsAWholeOrByElement) {
  const Type vector(DType::I64, {unknown_dim()});
  const ir::Module module =
      module_of({{vector, "x"}, {vector, "y"}}, {DType::Bool, Type(DType::Bool, {unknown_dim()}), DType::I64},
                [](FunctionBuilder& f) -> Vars {
                  const Var x = f.param(0), y = f.param(1);
                  const Var same = f.equal(x, y), each = x == y;
                  const Var a = f.op("sum", {x}), b = f.op("sum", {y});
                  return {same, each, f.order(a, b)};
                });
  EXPECT_TRUE(
      equal(module, parse("fn f(x: i64[_], y: i64[_]) -> (bool, bool[_], i64) =\n"
                          "  (if size(x, axis=0) == size(y, axis=0) then sum(i64(x != y)) == 0 else "
                          "false, x == y,\n"
                          "   (let a = sum(x) in (let b = sum(y) in if a < b then -1 else if b < a then "
                          "1 else 0)))\n")));
}

TEST(Builder, RefusesWrongSlicesAndComparisons) {
  const Type vector(DType::F64, {unknown_dim()});
  const auto message = [&](const std::function<Var(FunctionBuilder&)>& make) {
    return error_of([&] {
      module_of({{vector, "x"}, {DType::I64, "n"}}, {DType::Bool}, [&](FunctionBuilder& f) -> Vars {
        make(f);
        return f.constant(true);
      });
    });
  };
  EXPECT_EQ(message([](FunctionBuilder& f) { return f.slice(f.param(0), 1, f.param(1), Var()); }),
            "[slice] expected an axis of f64[_], found 1");
  EXPECT_EQ(message([](FunctionBuilder& f) { return f.take(f.param(1), 0, f.param(1)); }),
            "[take] expected a tensor, found i64");
  EXPECT_EQ(message([](FunctionBuilder& f) { return f.equal(f.param(0), f.param(1)); }),
            "[equal] expected two values of one type, found f64[_] and i64");
  EXPECT_EQ(message([](FunctionBuilder& f) { return f.order(f.param(0), f.param(0)); }),
            "[order] expected two numbers, strings, or tuples of them, of one type, found f64[_] and f64[_]");
}

TEST(Builder, MarksNodesWithSpanAndPlacement) {
  const ir::Module module = module_of({{DType::I64, "n"}}, {DType::I64}, [](FunctionBuilder& f) -> Vars {
    f.set_span({3, 7});
    f.set_placement("process:1");
    const Var doubled = f.param(0) + f.param(0);
    f.set_placement("");
    return f.named(doubled, "doubled") * f.param(0);
  });
  EXPECT_EQ(module.functions[0].nodes[0].span, (Span{3, 7}));
  EXPECT_EQ(print(module),
            "fn f(n: i64) -> i64 =\n  let doubled = on \"process:1\" (n + n)\n  doubled * n\n");
}

TEST(Builder, ReserveChangesNothing) {
  const auto build = [](std::size_t nodes) {
    return module_of({{DType::I64, "n"}}, {DType::I64}, [&](FunctionBuilder& f) -> Vars {
      f.reserve(nodes);
      return f.param(0) * 2 + 1;
    });
  };
  EXPECT_TRUE(equal(build(0), build(1000)));
}

TEST(Builder, ManyFunctionsAreDeclaredInLinearTime) {
  ModuleBuilder builder;
  for (int i = 0; i < 100'000; ++i) {
    const FunctionRef g = builder.declare("g" + std::to_string(i), {}, {DType::I64});
    builder.define(g, [](FunctionBuilder& f) -> Vars { return f.constant(int64_t{1}); });
  }
  EXPECT_EQ(builder.finish().functions.size(), 100'000u);
}

TEST(Builder, ManyParametersAreDeclaredInLinearTime) {
  ModuleBuilder builder;
  for (std::size_t i = 0; i < 100'000; ++i)
    EXPECT_EQ(builder.add_parameter("p" + std::to_string(i), tensor_type(DType::F32, {1})), i);
}

// Mistakes.

TEST(BuilderErrors, OperandTypes) {
  EXPECT_EQ(error_in([](FunctionBuilder& f) -> Vars { return f.param(0) + f.param(1); }),
            "[+] expected numbers of one type, found i64 and f64");
  EXPECT_EQ(error_in([](FunctionBuilder& f) -> Vars { return f.op("sqrt", {f.param(0)}); }),
            "[sqrt] expected f32 or f64, found i64");
  EXPECT_EQ(error_in([](FunctionBuilder& f) -> Vars { return !f.param(0); }),
            "[not] expected bool, found i64");
}

TEST(BuilderErrors, OperandCount) {
  EXPECT_EQ(error_in([](FunctionBuilder& f) -> Vars { return f.op("min", {f.param(0)}); }),
            "[min] expected 2 operands, found 1");
}

TEST(BuilderErrors, UnknownOperation) {
  EXPECT_EQ(error_in([](FunctionBuilder& f) -> Vars { return f.op("nothing", {f.param(0)}); }),
            "there is no operation 'nothing'");
}

TEST(BuilderErrors, UnknownParameter) {
  EXPECT_EQ(error_in([](FunctionBuilder& f) -> Vars { return f.param(3); }),
            "function 'f' has 3 parameters, none of index 3");
}

TEST(BuilderErrors, ConditionOfIf) {
  EXPECT_EQ(error_in([](FunctionBuilder& f) -> Vars {
              const auto n = [&] { return f.param(0); };
              return f.if_else(f.param(0), n, n);
            }),
            "condition of 'if': expected (bool), found (i64)");
}

TEST(Builder, BranchesMayDifferInSizes) {
  const ir::Module module = module_of({{DType::Bool, "b"}, {tensor_type(DType::F64, {2}), "x"}},
                                      {Type(DType::F64, {unknown_dim()})}, [](FunctionBuilder& f) -> Vars {
                                        const Var x = f.param(1);
                                        return f.if_else(
                                            f.param(0), [&] { return x; },
                                            [&] {
                                              return f.op("concat", {x, x}, {0});
                                            });
                                      });
  EXPECT_EQ(print(module), "fn f(b: bool, x: f64[2]) -> f64[_] = if b then x else concat(x, x, axis=0)\n");
}

TEST(BuilderErrors, BranchesThatDiffer) {
  EXPECT_EQ(error_in([](FunctionBuilder& f) -> Vars {
              return f.if_else(
                  f.param(2), [&] { return f.param(0); }, [&] { return f.param(1); });
            }),
            "the branches of 'if' differ in type: expected (i64), found (f64)");
}

TEST(BuilderErrors, LoopState) {
  EXPECT_EQ(error_in([](FunctionBuilder& f) -> Vars {
              return f.while_loop(
                  f.param(0), [&](const Vars&) { return f.param(2); },
                  [&](const Vars&) { return f.param(1); });
            }),
            "next state of a loop: expected (i64), found (f64)");
  EXPECT_EQ(error_in([](FunctionBuilder& f) -> Vars {
              return f.while_loop(
                  f.param(0), [&](const Vars& now) { return now[0]; }, [&](const Vars& now) { return now; });
            }),
            "condition of 'while': expected (bool), found (i64)");
}

TEST(BuilderErrors, Results) {
  EXPECT_EQ(error_in([](FunctionBuilder& f) -> Vars { return f.param(1); }),
            "results of 'f': expected (i64), found (f64)");
  EXPECT_EQ(error_in([](FunctionBuilder& f) -> Vars {
              return {f.param(0), f.param(0)};
            }),
            "results of 'f': expected (i64), found (i64, i64)");
}

TEST(BuilderErrors, SeveralValuesWhereOneIsWanted) {
  EXPECT_EQ(error_in([](FunctionBuilder& f) -> Vars {
              const Vars two = {f.param(0), f.param(0)};
              const Var one = two;
              return one;
            }),
            "expected one value, found 2 values");
}

TEST(BuilderErrors, Arguments) {
  ModuleBuilder builder;
  const FunctionRef g = builder.declare("g", {{DType::I64, "n"}}, {DType::I64});
  EXPECT_EQ(error_of([&] { builder.define(g, [&](FunctionBuilder& f) -> Vars { return f.call(g, {}); }); }),
            "arguments of 'g': expected (i64), found ()");
}

TEST(BuilderErrors, UndeclaredCallee) {
  EXPECT_EQ(error_in([](FunctionBuilder& f) -> Vars { return f.call(FunctionRef{ir::FunctionId(7)}, {}); }),
            "call of a function that was not declared");
}

TEST(BuilderErrors, NumbersThatDoNotFit) {
  ModuleBuilder builder;
  const FunctionRef g = builder.declare("g", {{DType::I32, "n"}, {DType::Bool, "c"}}, {DType::I32});
  builder.define(g, [](FunctionBuilder& f) -> Vars {
    EXPECT_EQ(error_of([&] { f.param(0) + 3'000'000'000; }), "3000000000 does not fit in i32");
    EXPECT_EQ(error_of([&] { f.param(0) * 0.5; }), "0.5 does not fit in i32");
    EXPECT_EQ(error_of([&] { (void)(f.param(1) == 1); }),
              "expected a bool beside a bool, found the number 1");
    EXPECT_EQ(error_of([&] { f.param(0) + 1e300; }), "1e+300 does not fit in i32");
    EXPECT_EQ(error_of([&] { f.param(0) + ~uint64_t{0}; }), "18446744073709551615 does not fit in i32");
    EXPECT_EQ(error_of([&] { f.constant(int64_t{0}) + ~uint64_t{0}; }),
              "18446744073709551615 does not fit in i64");
    return f.param(0) + 1.0;
  });
}

TEST(BuilderErrors, ValuesOfAnotherFunction) {
  ModuleBuilder builder;
  const FunctionRef g = builder.declare("g", {{DType::I64, "n"}}, {DType::I64});
  const FunctionRef h = builder.declare("h", {{DType::I64, "n"}}, {DType::I64});
  builder.define(g, [&](FunctionBuilder& in_g) -> Vars {
    builder.define(h, [&](FunctionBuilder& in_h) -> Vars {
      EXPECT_EQ(error_of([&] {
                  in_h.op("add", {in_h.param(0), in_g.param(0)});
                }),
                "function 'h' uses a value of another function");
      EXPECT_EQ(error_of([&] { in_h.op("neg", {Var()}); }), "function 'h' uses a value of another function");
      return in_h.param(0);
    });
    return in_g.param(0);
  });
}

TEST(BuilderErrors, ValuesOfAFunctionThatIsFinished) {
  ModuleBuilder builder;
  const FunctionRef g = builder.declare("g", {{DType::I64, "n"}}, {DType::I64});
  const FunctionRef h = builder.declare("h", {{DType::I64, "n"}}, {DType::I64});
  Var of_g;
  builder.define(g, [&](FunctionBuilder& f) -> Vars { return of_g = f.param(0); });
  EXPECT_EQ(error_of([&] { of_g + 1; }), "function 'g' is finished");
  EXPECT_EQ(
      error_of([&] { builder.define(h, [&](FunctionBuilder& f) -> Vars { return f.param(0) + of_g; }); }),
      "function 'h' uses a value of another function");
}

TEST(BuilderErrors, NoValuesAndNoFunctions) {
  ModuleBuilder builder;
  const std::string no_value = "expected a value of a function, found one that was never made";
  EXPECT_EQ(error_of([] { Var() + 1; }), no_value);
  EXPECT_EQ(error_of([] { (void)Var().type(); }), no_value);
  const auto none = [](FunctionBuilder& f) -> Vars { return f.param(0); };
  const std::string no_function = "expected a function that is declared";
  EXPECT_EQ(error_of([&] { builder.define({}, none); }), no_function);
  EXPECT_EQ(error_of([&] { builder.redefine({ir::FunctionId(3)}, none); }), no_function);
  EXPECT_EQ(error_of([&] { builder.declare_gradient("slope", {}, {}); }), no_function);
}

TEST(BuilderErrors, ValuesOfABranchOutsideOfIt) {
  Var leaked;
  EXPECT_EQ(error_in([&](FunctionBuilder& f) -> Vars {
              const Var n = f.param(0);
              f.if_else(
                  f.param(2), [&] { return leaked = n + 1; }, [&] { return n; });
              return leaked * 2;
            }),
            "function 'f', node 4 (mul): operand 0 (value 4) is not defined before it");
}

TEST(BuilderErrors, Declarations) {
  ModuleBuilder builder;
  const auto declare = [&](std::string name, std::vector<ir::ValueInfo> params, std::vector<Type> results) {
    return error_of([&] { builder.declare(name, params, results); });
  };
  EXPECT_EQ(declare("g", {}, {DType::I64}), "");
  EXPECT_EQ(declare("g", {}, {DType::I64}), "function 'g' is declared twice");
  EXPECT_EQ(declare("min", {}, {DType::I64}), "");
  EXPECT_EQ(declare("i64", {}, {DType::I64}), "expected a name for a function, found 'i64'");
  EXPECT_EQ(declare("let", {}, {DType::I64}), "expected a name for a function, found 'let'");
  EXPECT_EQ(declare("", {}, {DType::I64}), "expected a name for a function, found ''");
  EXPECT_EQ(declare("a b", {}, {DType::I64}), "expected a name for a function, found 'a b'");
  EXPECT_EQ(declare("h", {}, {}), "function 'h': expected at least one result");
  EXPECT_EQ(declare("h", {{DType::I64, "if"}}, {DType::I64}),
            "function 'h': expected a name for a parameter, found 'if'");
  EXPECT_EQ(declare("h", {{DType::I64, "a"}, {DType::I64, "a"}}, {DType::I64}),
            "function 'h': two parameters are named 'a'");
}

TEST(BuilderErrors, Definitions) {
  ModuleBuilder builder;
  const FunctionRef g = builder.declare("g", {{DType::I64, "n"}}, {DType::I64});
  const auto same = [](FunctionBuilder& f) -> Vars { return f.param(0); };
  EXPECT_EQ(error_of([&] { builder.finish(); }), "function 'g' is declared but not defined");
  builder.define(g, same);
  EXPECT_EQ(error_of([&] { builder.define(g, same); }), "function 'g' is defined twice");
  EXPECT_EQ(builder.finish().functions.size(), 1u);
  EXPECT_EQ(error_of([&] { builder.finish(); }), "the module is finished");
}

TEST(Builder, WhatIsAttemptedLeavesNothing) {
  ModuleBuilder program;
  const FunctionRef f = program.declare("f", {{DType::I64, "n"}}, {DType::I64});
  program.define(f, [](FunctionBuilder& b) {
    const Var twice = b.param(0) * 2;
    Type type;
    b.attempt([&] {
      type = b.if_else(
                  twice > 3, [&] { return b.constant(0.5); }, [&] { return b.constant(1.5); })[0]
                 .type();
      return false;
    });
    EXPECT_EQ(type, Type(DType::F64));
    EXPECT_THROW(b.attempt([&] {
      b.begin_block({});
      b.op("sin", {twice});
      return true;
    }),
                 ProgramError);
    Var more;
    b.attempt([&] {
      more = twice + 1;
      return true;
    });
    return more;
  });
  const ir::Module module = program.finish();
  EXPECT_EQ(module.functions[0].blocks.size(), 1u);
  EXPECT_EQ(module.functions[0].nodes.size(), 4u);  // two constants, a product and a sum
}

}  // namespace
}  // namespace hiaton
