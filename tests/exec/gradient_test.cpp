// Gradients of programs, by the rules of the graph.
#include <gtest/gtest.h>

#include "exec/production.h"
#include "exec/reference.h"
#include "hiaton/builder.h"
#include "hiaton/passes.h"

namespace hiaton {
namespace {

/// A module with `f` and a function `main` that gives the gradients of f.
ir::Module with_gradient(ModuleBuilder& program, FunctionRef f, bool with_value = false) {
  const ir::Function of = program.module()[f.id];
  std::vector<Type> results;
  if (with_value) results = of.results;
  for (const ir::ValueInfo& param : of.params) {
    if (is_float(param.type.dtype)) results.push_back(param.type);
  }
  const FunctionRef main = program.declare("main", of.params, results);
  ir::Module module = passes::loops_to_calls(std::move(program.module()));
  const auto kind =
      with_value ? ir::GradientForm::Kind::ValueAndGradients : ir::GradientForm::Kind::Gradients;
  module = passes::add_gradient(std::move(module), {main.id, f.id, {kind, {}}});
  ir::verify(module);
  return module;
}

std::vector<Value> run(const ir::Module& module, std::vector<Value> arguments) {
  const graph::Graph graph = passes::lower(module);
  const std::vector<Value> expected = exec::run_reference(graph, arguments, {}).values;
  exec::PlanCache plans;
  const RunResult found = exec::run_production(graph, arguments, {}, plans);
  EXPECT_EQ(found.stats.fallback, "");
  EXPECT_EQ(found.values, expected);
  return expected;
}

TEST(Gradient, OfFactorialIsWhatThePaperSays) {
  ModuleBuilder program;
  const FunctionRef fac = program.declare("fac", {{DType::F32, "n"}}, {DType::F32});
  program.define(fac, [&](FunctionBuilder& f) {
    const Var n = f.param(0);
    return f.if_else(
        n <= 1, [&] { return constant_like(n, 1.0); }, [&] { return n * f.call(fac, {n - 1}); });
  });
  const std::vector<Value> results = run(with_gradient(program, fac, true), {5.0f});
  EXPECT_EQ(results[0], Value(120.0f));
  EXPECT_EQ(results[1], Value(154.0f));
}

TEST(Gradient, OfPowerIsNTimesThePowerBelow) {
  ModuleBuilder program;
  const FunctionRef power = program.declare("power", {{DType::F64, "x"}, {DType::I64, "n"}}, {DType::F64});
  program.define(power, [&](FunctionBuilder& f) {
    const Var x = f.param(0);
    const Var n = f.param(1);
    return f.if_else(
        n == 0, [&] { return constant_like(x, 1.0); },
        [&] {
          return x * f.call(power, {x, n - 1});
        });
  });
  EXPECT_EQ(run(with_gradient(program, power), {3.0, int64_t{4}})[0], Value(4 * 27.0));
}

TEST(Gradient, GoesThroughLoops) {
  ModuleBuilder program;
  const FunctionRef f = program.declare("f", {{DType::F64, "x"}, {DType::I64, "n"}}, {DType::F64});
  program.define(f, [&](FunctionBuilder& b) {
    const Var x = b.param(0);
    const Vars last = b.for_loop(b.constant(int64_t{0}), b.param(1), Vars{constant_like(x, 1.0)},
                                 [&](Var, const Vars& state) { return Vars(state[0] * x); });
    return Vars(last[0]);
  });
  EXPECT_EQ(run(with_gradient(program, f), {3.0, int64_t{4}})[0], Value(4 * 27.0));
}

TEST(Gradient, OfAGradientIsTheSecondDerivative) {
  ModuleBuilder program;
  const FunctionRef power = program.declare("power", {{DType::F64, "x"}, {DType::I64, "n"}}, {DType::F64});
  program.define(power, [&](FunctionBuilder& f) {
    const Var x = f.param(0);
    const Var n = f.param(1);
    return f.if_else(
        n == 0, [&] { return constant_like(x, 1.0); },
        [&] {
          return x * f.call(power, {x, n - 1});
        });
  });
  const FunctionRef first = program.declare("first", {{DType::F64, "x"}, {DType::I64, "n"}}, {DType::F64});
  const FunctionRef main = program.declare("main", {{DType::F64, "x"}, {DType::I64, "n"}}, {DType::F64});
  ir::Module module = passes::add_gradient(std::move(program.module()), {first.id, power.id});
  module = passes::add_gradient(std::move(module), {main.id, first.id});
  ir::verify(module);
  EXPECT_EQ(run(module, {3.0, int64_t{4}})[0], Value(12 * 9.0));
}

TEST(Gradient, OfAGradientGoesThroughLoops) {
  ModuleBuilder program;
  const FunctionRef f = program.declare("f", {{DType::F64, "x"}, {DType::I64, "n"}}, {DType::F64});
  program.define(f, [&](FunctionBuilder& b) {
    const Var x = b.param(0);
    return b.for_loop(b.constant(int64_t{0}), b.param(1), Vars{constant_like(x, 1.0)},
                      [&](Var, const Vars& state) { return Vars(state[0] * x); });
  });
  const FunctionRef first = program.declare("first", {{DType::F64, "x"}, {DType::I64, "n"}}, {DType::F64});
  const FunctionRef main = program.declare("main", {{DType::F64, "x"}, {DType::I64, "n"}}, {DType::F64});
  ir::Module module = passes::loops_to_calls(std::move(program.module()));
  module = passes::add_gradient(std::move(module), {first.id, f.id});
  module = passes::add_gradient(std::move(module), {main.id, first.id});
  EXPECT_EQ(run(module, {3.0, int64_t{4}})[0], Value(12 * 9.0));
}

TEST(Gradient, GoesThroughADataValue) {
  ModuleBuilder program;
  DataTypes& types = program.module().data_types;
  const Type box = types.declare("Box");
  types.define(box, {{"Box", {{"x", DType::F64}, {"n", DType::I64}}}});
  const FunctionRef f = program.declare("f", {{DType::F64, "x"}}, {DType::F64});
  program.define(f, [&](FunctionBuilder& b) {
    const Var x = b.param(0);
    return Vars(b.field(b.make(box, 0, {x * x, b.constant(int64_t{1})}), 0, 0));
  });
  EXPECT_EQ(run(with_gradient(program, f), {1.5})[0], Value(3.0));
}

}  // namespace
}  // namespace hiaton
