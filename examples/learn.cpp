// A model built, trained and asked from C++: a TreeRNN learns what "not" does to "good" and "bad".
#include <fmt/format.h>

#include "hiaton/builder.h"
#include "hiaton/model.h"

using namespace hiaton;

constexpr int64_t kSize = 8;  ///< of the state of a node
enum Word : int64_t { kGood, kBad, kNot };

/// data Tree = Leaf(word: i64) | Node(left: Tree, right: Tree), a cell, and the functions loss and predict.
Model make_model() {
  ModuleBuilder program;
  const Type tree = program.module().data_types.declare("Tree");
  program.module().data_types.define(
      tree, {{"Leaf", {{"word", DType::I64}}}, {"Node", {{"left", tree}, {"right", tree}}}});
  const auto matrix = [](int64_t rows, int64_t columns) { return tensor_type(DType::F32, {rows, columns}); };
  const std::size_t words = program.add_parameter("E", matrix(3, kSize));
  const std::size_t weights = program.add_parameter("W", matrix(2 * kSize, kSize));
  const std::size_t classes = program.add_parameter("V", matrix(kSize, 2));

  const FunctionRef encode = program.declare("encode", {{tree, "t"}}, {tensor_type(DType::F32, {kSize})});
  program.define(encode, [&](FunctionBuilder& f) {
    const Var t = f.param(0);
    const auto leaf = [&] { return f.op("gather", {f.parameter(words), f.field(t, 0, 0)}); };
    const auto node = [&] {
      const Var left = f.call(encode, {f.field(t, 1, 0)});
      const Var right = f.call(encode, {f.field(t, 1, 1)});
      return f.op("tanh", {f.op("matmul", {f.op("concat", {left, right}, {0}), f.parameter(weights)})});
    };
    return f.if_else(f.variant(t) == 0, leaf, node);
  });
  const auto scores = [&](FunctionBuilder& f) {
    return f.op("matmul", {f.call(encode, {f.param(0)}), f.parameter(classes)});
  };
  const FunctionRef loss = program.declare("loss", {{tree, "t"}, {DType::I64, "label"}}, {DType::F32});
  program.define(loss, [&](FunctionBuilder& f) { return f.op("cross_entropy", {scores(f), f.param(1)}); });
  const FunctionRef predict = program.declare("predict", {{tree, "t"}}, {DType::I64});
  program.define(predict, [&](FunctionBuilder& f) { return f.op("argmax", {scores(f)}, {0}); });
  return Model::from_module(program.finish());
}

/// (not (not ... word)), with so many "not".
Value phrase(Word word, int negations) {
  const auto leaf = [](Word w) { return Value(Data(0, std::vector<Value>{int64_t{w}})); };
  Value tree = leaf(word);
  for (int i = 0; i < negations; ++i) tree = Data(1, std::vector<Value>{leaf(kNot), tree});
  return tree;
}

/// One step of gradient descent; the loss before it.
float step(const Model& model, std::vector<Value>& parameters, std::span<const std::vector<Value>> examples) {
  Gradients gradients(model.parameters());
  float total = 0;
  for (const auto& result : model.loss(examples, {.parameters = parameters, .gradients = &gradients})) {
    total += result[0].as<float>();
  }
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    const Tensor old = parameters[p].tensor();
    Tensor moved = Tensor::uninitialized(DType::F32, old.dims());
    for (int64_t i = 0; i < old.size(); ++i) {
      moved.mutable_data<float>()[i] = old.data<float>()[i] - 0.1F * gradients[p].values.data<float>()[i];
    }
    parameters[p] = moved;
  }
  return total;
}

int main() {
  const Model model = make_model();
  std::vector<Value> parameters = model.initial_parameters(/*seed=*/1);
  std::vector<std::vector<Value>> examples;
  for (int negations = 0; negations < 4; ++negations) {
    for (Word word : {kGood, kBad})
      examples.push_back({phrase(word, negations), int64_t{word ^ (negations % 2)}});
  }
  fmt::print("loss before {:.3f}\n", step(model, parameters, examples));
  for (int i = 0; i < 500; ++i) step(model, parameters, examples);
  fmt::print("loss after  {:.3f}\n", step(model, parameters, examples));
  for (int negations = 0; negations < 6; ++negations) {
    const std::vector<Value> example{phrase(kGood, negations)};
    const auto result = model.predict({&example, 1}, {.parameters = parameters});
    fmt::print("good with {} not: {}\n", negations, result[0][0].as<int64_t>() == kGood ? "good" : "bad");
  }
}
