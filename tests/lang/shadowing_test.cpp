// Functions with the names of operations: in their file, calls are theirs.
#include <gtest/gtest.h>

#include <algorithm>

#include "hiaton/builder.h"
#include "programs.h"

namespace hiaton {
namespace {

/// Whether it prints as text that means the same module.
void expect_to_survive_printing(const ir::Module& module) {
  const std::string text = ir::print(module);
  EXPECT_TRUE(ir::equal(parse(text), module)) << text;
}

bool has_operation(const ir::Function& function, std::string_view name) {
  return std::ranges::any_of(function.nodes, [&](const ir::Node& node) {
    return node.kind == ir::NodeKind::Op && node.op->name.value == name;
  });
}

TEST(Shadowing, AFunctionWithTheNameOfAnOperationIsWhatItsFileCalls) {
  for (const std::string name : {"sum", "make", "split", "min", "variant", "map", "identity"}) {
    const ir::Module module = parse("fn " + name + "(n: i64, m: i64) -> i64 = n - m\n" +
                                    "fn main(n: i64) -> i64 = " + name + "(n, 1)\n");
    const ir::Function& main = module[*module.find("main")];
    EXPECT_TRUE(std::ranges::any_of(main.nodes, [](const ir::Node& node) {
      return node.kind == ir::NodeKind::Call;
    })) << name;
    EXPECT_FALSE(has_operation(main, name)) << name;
    expect_to_survive_printing(module);
  }
}

TEST(Shadowing, TwoColonsCallTheOperation) {
  const ir::Module module = parse(
      "fn min(n: i64, m: i64) -> i64 = ::min(n, m) + 1\n"
      "fn main(n: i64) -> bool = ::and(n > 0, ::min(n, 9) > min(n, 3))\n");
  EXPECT_TRUE(has_operation(module.functions[0], "min"));
  EXPECT_TRUE(has_operation(module.functions[1], "and"));
  EXPECT_TRUE(has_operation(module.functions[1], "min"));
  expect_to_survive_printing(module);
}

TEST(Shadowing, WhatTheLanguageMeansStaysWhereItsOperationIsShadowed) {
  const ir::Module module = parse(
      "fn at(n: i64) -> i64 = n\n"
      "fn gather(n: i64) -> i64 = n\n"
      "fn stack(n: i64) -> i64 = n\n"
      "fn matmul(n: i64) -> i64 = n\n"
      "fn slice(n: i64) -> i64 = n\n"
      "fn square(x: f32) -> f32 = x * x\n"
      "fn main(t: f32[2, 2], i: i64) -> f32 =\n"
      "  let (a, b) = split([t[gather(i)], t[0]] @ t, axis=0, lengths=[1, 1])\n"
      "  let squares = map(square, a[0])\n"
      "  squares[1] + b[0][0]\n");
  const ir::Function& main = module[*module.find("main")];
  for (const std::string_view name : {"at", "gather", "stack", "matmul", "slice"}) {
    EXPECT_TRUE(has_operation(main, name)) << name;
  }
  EXPECT_NE(ir::print(module).find("::gather("), std::string::npos) << ir::print(module);
  expect_to_survive_printing(module);
}

TEST(Shadowing, LiteralsTakeTheTypesOfTheFunctionsParameters) {
  const ir::Module module = parse(
      "fn max(a: f32, n: i32) -> f32 = a\n"
      "fn main() -> f32 = max(1, 2)\n");
  expect_to_survive_printing(module);
}

TEST(Shadowing, FunctionsAreAppliedToLists) {
  const ir::Module module = parse(
      "fn neg(n: i64) -> f64 = f64(n)\n"
      "fn main(xs: List[i64]) -> List[f64] = map(neg, xs)\n");
  expect_to_survive_printing(module);
}

TEST(Shadowing, TwoColonsWantAnOperation) {
  EXPECT_EQ(error_of(with_body("::f(n)")),
            "test.hia:1:25: error: expected an operation after '::', found the name 'f'\n"
            " 1 | fn f(n: i64) -> i64 = ::f(n)\n"
            "   |                         ^");
  EXPECT_EQ(error_of(with_body("::neg + 1")),
            "test.hia:1:29: error: expected '(' and the operands, found '+'\n"
            " 1 | fn f(n: i64) -> i64 = ::neg + 1\n"
            "   |                             ^");
}

TEST(Shadowing, BuildersMayDeclareTheNamesOfOperations) {
  ModuleBuilder program;
  const FunctionRef sum = program.declare("sum", {{Type(DType::F64, {{2, ""}}), "x"}}, {DType::F64});
  program.define(sum, [](FunctionBuilder& f) { return f.op("sum", {f.param(0)}); });
  const ir::Module module = program.finish();
  EXPECT_NE(ir::print(module).find("::sum(x, axes=[])"), std::string::npos) << ir::print(module);
  expect_to_survive_printing(module);
}

}  // namespace
}  // namespace hiaton
