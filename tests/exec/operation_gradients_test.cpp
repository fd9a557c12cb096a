// The gradient of every operation against central differences in f64, and the gradient of that.
#include <gtest/gtest.h>

#include <cmath>

#include "exec/reference.h"
#include "hiaton/builder.h"
#include "hiaton/passes.h"
#include "ops/cases.h"

namespace hiaton {
namespace {

std::vector<int64_t> sizes(const Type& type) {
  std::vector<int64_t> found;
  for (const Dim& dim : type.shape) found.push_back(dim.size);
  return found;
}

/// The sum of the elements of x, each with a weight of its own.
Var weighted_sum(FunctionBuilder& f, Var x) {
  if (x.type().is_scalar()) return x * 1.25;
  Tensor weights(DType::F64, sizes(x.type()));
  for (int64_t i = 0; i < weights.size(); ++i) {
    weights.mutable_data<double>()[i] = 0.5 + std::fmod(0.37 * static_cast<double>(i + 1), 1.0);
  }
  return f.op("sum", {x * f.constant(weights)}, std::vector<int64_t>());
}

std::vector<ir::ValueInfo> params_of(const OpCase& of) {
  std::vector<ir::ValueInfo> params;
  for (std::size_t i = 0; i < of.operands.size(); ++i) {
    params.push_back({of.operands[i], "x" + std::to_string(i)});
  }
  return params;
}

std::vector<Type> float_types(const OpCase& of) {
  std::vector<Type> types;
  for (const Type& type : of.operands) {
    if (is_float(type.dtype)) types.push_back(type);
  }
  return types;
}

FunctionRef add_value(ModuleBuilder& program, const std::string& name, const OpDef& op, const OpCase& of) {
  const FunctionRef value = program.declare(name, params_of(of), {DType::F64});
  program.define(value, [&](FunctionBuilder& f) {
    std::vector<Var> operands;
    for (std::size_t i = 0; i < of.operands.size(); ++i) operands.push_back(f.param(i));
    return weighted_sum(f, f.cast(f.op(op, operands, of.attributes), DType::F64));
  });
  return value;
}

/// `order` 0: the value, as main; 1: main gives the gradients; 2: the gradients of what order 1 gives,
/// summed.
ir::Module probe(const OpDef& op, const OpCase& of, int order) {
  ModuleBuilder program;
  const FunctionRef value = add_value(program, order == 0 ? "main" : "value", op, of);
  if (order == 0) return program.finish();
  const std::vector<Type> types = float_types(of);
  const FunctionRef gradient = program.declare(order == 1 ? "main" : "gradient", params_of(of), types);
  ir::Module module = passes::add_gradient(std::move(program.module()), {gradient.id, value.id});
  if (order == 1) return module;
  ModuleBuilder more(std::move(module));
  const FunctionRef summed = more.declare(order == 2 ? "main" : "summed", params_of(of), {DType::F64});
  more.define(summed, [&](FunctionBuilder& f) {
    std::vector<Var> operands;
    for (std::size_t i = 0; i < of.operands.size(); ++i) operands.push_back(f.param(i));
    const Vars gradients = f.call(gradient, operands);
    Var sum = f.constant(0.0);
    for (const Var part : gradients) sum = sum + weighted_sum(f, part);
    return Vars(sum);
  });
  if (order == 2) return std::move(more.module());
  const FunctionRef second = more.declare("main", params_of(of), types);
  return passes::add_gradient(std::move(more.module()), {second.id, summed.id});
}

double& element(Value& value, int64_t index) {
  if (value.is_tensor()) return reinterpret_cast<double*>(value.slot().tensor->elements)[index];
  return const_cast<double&>(value.slot().f64);
}
int64_t size_of_value(const Value& value) {
  return value.is_tensor() ? value.tensor().size() : 1;
}

class Function {
 public:
  explicit Function(const ir::Module& module) : graph_((ir::verify(module), passes::lower(module))) {}
  std::vector<Value> operator()(const std::vector<Value>& arguments) const {
    return exec::run_reference(graph_, arguments, {}).values;
  }

 private:
  graph::Graph graph_;
};

/// The cast to f32, which is linear up to its rounding.
bool op_is_single(const OpCase& of) {
  return of.op == "f32";
}

/// Compares what `gradients` gives with the slopes of `value`.
void expect_slopes(const Function& value, const Function& gradients, const OpCase& of,
                   const std::string& what) {
  const std::vector<Value> operands = Draw(7).operands(of);
  std::vector<Value> found = gradients(operands);
  std::size_t result = 0;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    if (!is_float(operands[k].dtype())) continue;
    Value& gradient = found.at(result++);
    ASSERT_EQ(gradient.type(), operands[k].type()) << what << " of operand " << k;
    for (int64_t i = 0; i < size_of_value(operands[k]); ++i) {
      const double step_size = op_is_single(of) ? 0.25 : 1e-5;
      const auto at = [&](double step) {
        std::vector<Value> moved = Draw(7).operands(of);
        element(moved[k], i) += step;
        return value(moved)[0].as<double>();
      };
      const double slope = (at(step_size) - at(-step_size)) / (2 * step_size);
      ASSERT_NEAR(element(gradient, i), slope,
                  (op_is_single(of) ? 1e-5 : 1e-6) * std::max(1.0, std::abs(slope)))
          << what << " of operand " << k << ", element " << i;
    }
  }
}

std::string text_of(const OpCase& of) {
  std::string text(of.op);
  for (const Type& type : of.operands) text += " " + to_string(type);
  for (int64_t attribute : of.attributes) text += " " + std::to_string(attribute);
  return text;
}

class OperationGradient : public testing::TestWithParam<const OpDef*> {};

TEST_P(OperationGradient, IsTheSlope) {
  const OpDef& op = *GetParam();
  for (const OpCase& of : cases_of(op)) {
    expect_slopes(Function(probe(op, of, 0)), Function(probe(op, of, 1)), of, text_of(of));
  }
}

TEST_P(OperationGradient, HasAGradientThatIsItsSlope) {
  const OpDef& op = *GetParam();
  for (const OpCase& of : cases_of(op)) {
    expect_slopes(Function(probe(op, of, 2)), Function(probe(op, of, 3)), of, "gradient of " + text_of(of));
  }
}

std::vector<const OpDef*> differentiable_operations() {
  std::vector<const OpDef*> ops;
  for (const OpDef* op : catalog().all()) {
    if (op->gradient.value.rule != nullptr) ops.push_back(op);
  }
  return ops;
}

INSTANTIATE_TEST_SUITE_P(Catalog, OperationGradient, testing::ValuesIn(differentiable_operations()),
                         [](const testing::TestParamInfo<const OpDef*>& info) {
                           return std::string(info.param->name.value);
                         });

}  // namespace
}  // namespace hiaton
