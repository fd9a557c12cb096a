// Operations as C++ functions: each makes what the operation of its name makes.
#include <gmock/gmock.h>

#include "hiaton/hiaton.h"
#include "shown_code.h"

namespace hiaton {
namespace {

// Shown in docs/api.md, from here
ir::Module smoothed_norm() {
  ModuleBuilder program;
  const Type matrix(DType::F64, {{2, ""}, {2, ""}});
  const FunctionRef main = program.declare("main", {{matrix, "x"}, {matrix, "w"}}, {DType::F64});
  program.define(main, [](FunctionBuilder& f) {
    const Var x = f.param(0), w = f.param(1);
    const Var weights = softmax(matmul(x, w));    // along the last axis, as in programs
    const Var smooth = x * (1.0 + erf(x)) / 2.0;  // numbers become constants of the type beside them
    return sqrt(sum(weights * smooth * smooth));
  });
  return program.finish();
}
// to here

TEST(TypedCalls, AreWhatTheTextMeans) {
  const auto source =
      std::make_shared<Source>("norm.hia",
                               "fn main(x: f64[2, 2], w: f64[2, 2]) -> f64 =\n"
                               "  let smooth = x * (1.0 + erf(x)) / 2.0\n"
                               "  sqrt(sum(softmax(matmul(x, w), axis=-1) * smooth * smooth))\n");
  const auto result = [](ir::Module module) {
    Tensor x(DType::F64, {2, 2});
    for (int i = 0; i < 4; ++i) x.mutable_data<double>()[i] = i - 1.5;
    return Program::from_module(std::move(module)).run({{Value(x), Value(x)}}).values;
  };
  EXPECT_EQ(result(smoothed_norm()), result(lang::parse(source)));
}

TEST(TypedCalls, AreThoseThatTheDocumentShows) {
  expect_shown("engine/typed_calls_test.cpp", "api.md");
}

/// The operation and the attributes of the node that was made last.
std::string last_of(const FunctionBuilder& f) {
  const ir::Node& node = f.function()[f.last_node()];
  std::string text(node.op->name.value);
  for (const int64_t attribute : node.attributes) text += " " + std::to_string(attribute);
  return text + " of " + std::to_string(node.operands.size());
}

TEST(TypedCalls, TakeOperandsThenAttributesInEveryForm) {
  ModuleBuilder program;
  const Type pair = program.module().data_types.declare("Pair");
  program.module().data_types.define(pair, {{"Pair", {{"a", DType::I64}, {"b", DType::I64}}}});
  const Type matrix(DType::F64, {{2, ""}, {3, ""}});
  const FunctionRef main = program.declare("main", {{matrix, "x"}, {DType::I64, "n"}}, {DType::I64});
  program.define(main, [&](FunctionBuilder& f) {
    const Var x = f.param(0), n = f.param(1);
    const auto expect = [&](Var, const std::string& made) { EXPECT_EQ(last_of(f), made); };
    expect(exp(x), "exp of 1");
    expect(max(x, x), "max of 2");
    expect(softmax(x), "softmax -1 of 1");
    expect(softmax(x, 0), "softmax 0 of 1");
    expect(sum(x), "sum of 1");
    expect(sum(x, {0, 1}), "sum 0 1 of 1");
    expect(reshape(x, {3, 2}), "reshape 3 2 of 1");
    expect(slice(x, 1, 0, 2), "slice 1 0 2 of 1");
    const Var image = reshape(x, {1, 2, 3});
    expect(max_pool2d(image, 2, {2, 1}), "max_pool2d 2 2 2 1 0 0 of 1");
    expect(avg_pool2d(image, {1, 2}, 1, {0, 1}), "avg_pool2d 1 2 1 1 0 1 of 1");
    expect(concat({x, x, x}, 0), "concat 0 of 3");
    expect(uniform(n, {4}), "uniform 4 of 1");
    expect(where(x > 0.0, x, x), "where of 3");
    expect(and_(n > 0, n > 1), "and of 2");
    expect(to_f32(n), "f32 of 1");
    expect(pass_after(n, {x, x}), "pass_after of 3");
    const Var made = make(f, pair, {n, n}, 0);
    EXPECT_EQ(last_of(f), "make 0 of 2");
    return field(made, 0, 1);
  });
  program.finish();
}

TEST(TypedCalls, SayWhatIsWrong) {
  ModuleBuilder program;
  const FunctionRef main = program.declare("main", {{DType::Bool, "b"}}, {DType::Bool});
  program.define(main, [](FunctionBuilder& f) {
    EXPECT_THROW(exp(f.param(0)), ProgramError);
    EXPECT_THROW(concat({}, 0), ProgramError);
    return f.param(0);
  });
}

}  // namespace
}  // namespace hiaton
