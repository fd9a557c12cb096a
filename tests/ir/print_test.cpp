// Printing what no text would give: names that clash, deep nesting, strange placements and constants.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ir/support.h"

namespace hiaton {
namespace {

void expect_survives(const ir::Module& module) {
  const std::string text = print(module);
  const ir::Module again = parse(text);
  EXPECT_TRUE(equal(module, again)) << text;
  EXPECT_EQ(print(again), text);
}

TEST(Print, NamesThatCannotStandAreReplaced) {
  const char* names[] = {"let", "f",  "min", "i64", "n", "a b", "", "_",
                         "v1",  "v1", "x",   "x",   "3", "nan", "ü"};
  const ir::Module module = module_of({{DType::I64, "n"}}, {DType::I64}, [&](FunctionBuilder& f) -> Vars {
    std::vector<Var> values;
    for (const char* name : names) values.push_back(f.named(f.param(0) * 2, name));
    Var sum = f.param(0);
    for (Var value : values) sum = sum + value;
    return sum;
  });
  expect_survives(module);
  EXPECT_NE(print(module).find("let v1 = n * 2"), std::string::npos);
  EXPECT_NE(print(module).find("let x = n * 2"), std::string::npos);
}

TEST(Print, NamesOfLoopsAndBranchesThatClash) {
  const ir::Module module = module_of({{DType::I64, "n"}}, {DType::I64}, [](FunctionBuilder& f) -> Vars {
    const Var n = f.param(0);
    const Var outer = f.named(n + 1, "a");
    const Vars last = f.while_loop(
        {f.named(n * 3, "b"), outer},
        [&](const Vars& now) { return f.named(now[0], "a") < f.named(now[1], "a"); },
        [&](const Vars& now) -> Vars {
          const Var a = f.named(f.named(now[0], "a") + outer, "a");
          return {a, f.if_else(
                         a < n, [&] { return f.named(a * 2, "a"); }, [&] { return f.named(a * 3, "a"); })};
        });
    return f.named(last[0], "a") + f.named(last[1], "a") + outer;
  });
  expect_survives(module);
}

TEST(Print, ExtremeConstants) {
  std::vector<Value> constants = {true,
                                  false,
                                  std::numeric_limits<int32_t>::min(),
                                  std::numeric_limits<int64_t>::min(),
                                  std::numeric_limits<int64_t>::max(),
                                  -0.0f,
                                  -0.0,
                                  1e-45f,
                                  5e-324,
                                  std::numeric_limits<float>::max(),
                                  std::numeric_limits<double>::max(),
                                  std::numeric_limits<float>::infinity(),
                                  -std::numeric_limits<double>::infinity(),
                                  std::nanf(""),
                                  -std::nan(""),
                                  1e22,
                                  123456789.0f};
  std::vector<Type> types;
  for (const Value& constant : constants) types.push_back(constant.type());
  expect_survives(module_of({}, types, [&](FunctionBuilder& f) -> Vars {
    std::vector<Var> results;
    for (const Value& constant : constants) results.push_back(f.constant(constant));
    return Vars(results);
  }));
  expect_survives(module_of({}, types, [&](FunctionBuilder& f) -> Vars {
    std::vector<Var> results;
    for (const Value& constant : constants) results.push_back(f.op("identity", {f.constant(constant)}));
    return Vars(results);
  }));
}

TEST(Print, EveryOperationOnConstantsAndOnValues) {
  for (const OpDef* op : catalog().all()) {
    for (const KernelVariant& kernel : op->kernels) {
      const Type operand = kernel.operand;
      const Type result = op->type_rule.value({.operands = std::vector<Type>(op->arity(), operand)});
      expect_survives(module_of({{operand, "a"}}, {result, result, result}, [&](FunctionBuilder& f) -> Vars {
        const Var a = f.param(0), zero = f.constant(zero_of(operand.dtype));
        const std::vector<Var> values(op->arity(), a), constants(op->arity(), zero);
        std::vector<Var> mixed = values;
        mixed.back() = zero;
        const Attributes attributes = op->takes_attributes(0) ? Attributes{} : Attributes{3};
        return {f.op(*op, values, attributes), f.op(*op, constants, attributes),
                f.op(*op, mixed, attributes)};
      }));
    }
  }
}

TEST(Print, OperationsInsideEachOther) {
  const ir::Module module =
      module_of({{DType::I64, "a"}, {DType::Bool, "c"}}, {DType::Bool}, [](FunctionBuilder& f) -> Vars {
        const Var a = f.param(0), c = f.param(1);
        const Var sums = (a - (a - a)) * -(a + a) / (a * a) % a;
        const Var tests = f.op("and", {!(sums < a), (a == a) == (c == !c)});
        return f.op("or", {tests, (!c) != tests});
      });
  expect_survives(module);
}

TEST(Print, PlacementsOfAnyBytes) {
  for (const char* place :
       {"a\"b", "back\\slash", "line\nbreak", "\x01\x7f", "w\xFFx", "w\xC3\xBC", "#", "'"}) {
    expect_survives(module_of({{DType::I64, "n"}}, {DType::I64}, [&](FunctionBuilder& f) -> Vars {
      f.set_placement(place);
      return f.param(0) + 1;
    }));
  }
}

TEST(Print, PlacedBranchesHoldUnplacedNodes) {
  const ir::Module module =
      module_of({{DType::Bool, "c"}, {DType::I64, "n"}}, {DType::I64}, [](FunctionBuilder& f) -> Vars {
        f.set_placement("a");
        const Var n = f.param(1);
        const ir::BlockId then = f.begin_block({});
        f.set_placement("");
        f.end_block(then, n * 2 + n);
        const ir::BlockId otherwise = f.begin_block({});
        f.set_placement("b");
        f.end_block(otherwise, -n);
        f.set_placement("a");
        return f.finish_if(f.param(0), then, otherwise);
      });
  expect_survives(module);
}

TEST(Print, UnusedNodesStay) {
  const ir::Module module = module_of({{DType::I64, "n"}}, {DType::I64}, [](FunctionBuilder& f) -> Vars {
    const Var n = f.param(0);
    n / 0;
    f.if_else(
        n < 1, [&] { return n % 0; }, [&] { return n; });
    f.constant(7.5);
    return n;
  });
  EXPECT_EQ(print(module),
            "fn f(n: i64) -> i64 =\n  let _ = n / 0\n  let _ = if n < 1 then n % 0 else n\n  n\n");
  expect_survives(module);
}

TEST(Print, ConstantConditionsAndResults) {
  const ir::Module module =
      module_of({{DType::I64, "n"}}, {DType::I64, DType::Bool}, [](FunctionBuilder& f) -> Vars {
        const Var yes = f.constant(true), one = f.constant(int64_t{1});
        const Var chosen = f.if_else(
            yes, [&] { return one; }, [&] { return f.constant(int64_t{-2}); });
        const Var last = f.while_loop(
            one, [&](const Vars&) { return f.constant(false); }, [&](const Vars&) { return one; });
        return {chosen + last, yes};
      });
  expect_survives(module);
}

#if defined(HIATON_SANITIZED)
constexpr std::size_t kDeep =
    ir::kMaxNesting / 4;  // the stack frames of a sanitized build are several times larger
#else
constexpr std::size_t kDeep = ir::kMaxNesting;
#endif

TEST(Print, NestingAsDeepAsModulesMayBe) {
  const ir::Module module = module_of({{DType::Bool, "c"}}, {DType::I64}, [](FunctionBuilder& f) -> Vars {
    std::vector<ir::BlockId> branches;
    for (std::size_t i = 0; i < kDeep; ++i) branches.push_back(f.begin_block({}));
    f.end_block(branches.back(), f.constant(int64_t{1}));
    branches.pop_back();
    Var value;
    while (true) {
      const ir::BlockId otherwise = f.begin_block({});
      f.end_block(otherwise, f.constant(int64_t{2}));
      const ir::BlockId then = branches.empty() ? ir::BlockId(1) : ir::BlockId(branches.back().index() + 1);
      value = f.finish_if(f.param(0), then, otherwise);
      if (branches.empty()) return value;
      f.end_block(branches.back(), value);
      branches.pop_back();
    }
  });
  EXPECT_FALSE(print(module).empty());
  EXPECT_TRUE(equal(module, module));
}

TEST(Print, GradientWithoutRequestIsItsHead) {
  ir::Module module = parse("fn f(x: f32) -> f32 = x\nfn g(x: f32) -> f32 = grad(f)\n");
  module.gradient_requests.clear();
  EXPECT_EQ(print(module), "fn f(x: f32) -> f32 = x\n\nfn g(x: f32) -> f32\n");
}

}  // namespace
}  // namespace hiaton
