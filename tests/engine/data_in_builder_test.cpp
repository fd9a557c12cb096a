// Data values in functions that are made in C++: constants with fields, and whether two values are the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "engine/all_ways.h"
#include "engine/run_error.h"

namespace hiaton {
namespace {

/// data Tree = Leaf(word: i64, weights: f32[_], name: str) | Node(left: Tree, level: u8, right: Tree) | None
Type declare_tree(DataTypes& types) {
  const Type tree = types.declare("Tree");
  types.define(
      tree,
      {{"Leaf",
        {{"word", DType::I64}, {"weights", Type(DType::F32, {unknown_dim()})}, {"name", string_type()}}},
       {"Node", {{"left", tree}, {"level", DType::U8}, {"right", tree}}},
       {"None", {}}});
  return tree;
}

class Trees {
 public:
  explicit Trees(unsigned seed) : random_(seed) {}

  /// Draws few different values, so that equal ones are met; parts are shared.
  Value tree(int size) {
    if (size <= 1) return random_() % 3 == 0 ? Value(Data(2, {})) : leaf();
    const Value left = tree(size / 2);
    const Value right = random_() % 3 == 0 ? left : tree(size - size / 2);
    return Data(1, {left, static_cast<uint8_t>(random_() % 2 * 255), right});
  }

 private:
  Value leaf() {
    Tensor weights(DType::F32, {static_cast<int64_t>(random_() % 2)});
    for (int64_t i = 0; i < weights.size(); ++i) weights.mutable_data<float>()[i] = 0.5F;
    return Data(0, {Value(static_cast<int64_t>(random_() % 2)), Value(std::move(weights)),
                    Value(random_() % 2 == 0 ? "a" : "é")});
  }

  std::mt19937 random_;
};

TEST(DataInBuilder, ConstantsWithFieldsAreTheValues) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    ModuleBuilder builder;
    const Type tree = declare_tree(builder.module().data_types);
    const Value value = Trees(seed).tree(static_cast<int>(seed) + 2);
    const FunctionRef main = builder.declare("main", {{DType::I64, "n"}}, {tree, DType::I64});
    builder.define(main, [&](FunctionBuilder& f) { return Vars{f.constant(value, tree), f.param(0)}; });
    const Program program = Program::from_module(builder.finish());
    for (const RunOptions& way : all_ways_to_results())
      EXPECT_EQ(program.run({Value(int64_t{1})}, way).values[0], value) << seed;
  }
}

TEST(DataInBuilder, APartThatIsSharedIsMadeOnce) {
  ModuleBuilder builder;
  const Type tree = declare_tree(builder.module().data_types);
  Value value = Data(0, {Value(int64_t{1}), Value(Tensor(DType::F32, {2})), Value("x")});
  for (int i = 0; i < 40; ++i) value = Data(1, {value, uint8_t{1}, value});  // as a tree, 2^40 leaves
  const FunctionRef main = builder.declare("main", {}, {tree});
  builder.define(main, [&](FunctionBuilder& f) -> Vars { return f.constant(value, tree); });
  EXPECT_LT(builder.module()[main.id].nodes.size(), 100u);
}

TEST(DataInBuilder, AListAsAConstantMayBeLong) {
  ModuleBuilder builder;
  const Type list = builder.module().data_types.list_of(DType::I64);
  Value value = Data(0, {});
  constexpr int64_t kLength = 100'000;
  for (int64_t i = 0; i < kLength; ++i) value = Data(1, {Value(i), value});
  const FunctionRef main = builder.declare("main", {}, {list});
  builder.define(main, [&](FunctionBuilder& f) -> Vars { return f.constant(value, list); });
  EXPECT_GE(builder.module()[main.id].nodes.size(), static_cast<std::size_t>(kLength));
}

TEST(DataInBuilder, EqualityIsThatOfValues) {
  ModuleBuilder builder;
  const Type tree = declare_tree(builder.module().data_types);
  const FunctionRef main = builder.declare("main", {{tree, "a"}, {tree, "b"}}, {DType::Bool, DType::Bool});
  builder.define(main, [&](FunctionBuilder& f) {
    const Value given = Trees(7).tree(4);
    const Var same = f.equal(f.param(0), f.param(1));
    return Vars{same, f.equal(f.param(0), f.constant(given, tree))};
  });
  const Program program = Program::from_module(builder.finish());
  int equal_ones = 0;
  for (unsigned seed = 0; seed < 120; ++seed) {
    const int size = 1 + static_cast<int>(seed % 5);
    const Value a = Trees(seed).tree(size);
    const Value b = Trees(seed / 2).tree(size);
    const bool same = a == b;
    equal_ones += same ? 1 : 0;
    const std::vector<Value> expected{Value(same), Value(a == Trees(7).tree(4))};
    for (const RunOptions& way : all_ways_to_results()) EXPECT_EQ(program.run({a, b}, way).values, expected);
  }
  EXPECT_GT(equal_ones, 5);
  EXPECT_LT(equal_ones, 115);
}

TEST(DataInBuilder, ATestForAVariantThatIsNoneTellsNothing) {
  ModuleBuilder builder;
  DataTypes& types = builder.module().data_types;
  const Type either = types.declare("Either");
  types.define(either, {{"A", {{"x", DType::I64}}}, {"B", {{"y", DType::F64}}}});
  const FunctionRef main = builder.declare("main", {{either, "t"}}, {DType::I64});
  builder.define(main, [](FunctionBuilder& f) -> Vars {
    const Var t = f.param(0);
    return f.if_else(
        f.variant(t) == 2, [&] { return f.constant(int64_t{7}); }, [&] { return f.field(t, 0, 0); });
  });
  const Program program = Program::from_module(builder.finish());
  for (const RunOptions& way : all_ways()) {
    EXPECT_EQ(program.run({Data(0, {int64_t{5}})}, way).values[0], Value(int64_t{5}));
    EXPECT_EQ(error_of(program, {Data(1, {1.5})}, way).fault(), Fault::Index);
  }
}

}  // namespace
}  // namespace hiaton
