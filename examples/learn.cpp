// A model built, trained and asked from C++: a TreeRNN learns what "not" does to "good" and "bad".
#include <fmt/format.h>

#include "hiaton/builder.h"
#include "hiaton/model_trainer.h"

using namespace hiaton;

constexpr int64_t kSize = 8;  ///< of the state of a node
enum Word : int64_t { kGood, kBad, kNot };

/// data Tree = Leaf(word: i64) | Node(left: Tree, right: Tree), a cell, and the functions loss and predict.
Model make_model() {
  ModuleBuilder program;
  const Type tree = program.module().data_types.declare("Tree");
  program.module().data_types.define(
      tree, {{"Leaf", {{"word", DType::I64}}}, {"Node", {{"left", tree}, {"right", tree}}}});
  const std::size_t words = program.add_parameter("E", tensor_type(DType::F32, {3, kSize}));
  const std::size_t weights = program.add_parameter("W", tensor_type(DType::F32, {2 * kSize, kSize}));
  const std::size_t classes = program.add_parameter("V", tensor_type(DType::F32, {kSize, 2}));

  const FunctionRef encode = program.declare("encode", {{tree, "t"}}, {tensor_type(DType::F32, {kSize})});
  program.define(encode, [&](FunctionBuilder& f) {
    const auto leaf = [&](const Vars& fields) { return f.op("gather", {f.parameter(words), fields[0]}); };
    const auto node = [&](const Vars& children) {
      const Var both = f.op("concat", {f.call(encode, {children[0]}), f.call(encode, {children[1]})}, {0});
      return f.op("tanh", {f.op("matmul", {both, f.parameter(weights)})});
    };
    return f.match(f.param(0), {leaf, node});
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
  const auto leaf = [](Word w) { return Value(Data(0, {int64_t{w}})); };
  Value tree = leaf(word);
  for (int i = 0; i < negations; ++i) tree = Data(1, {leaf(kNot), tree});
  return tree;
}

int main() {
  train::ModelTrainer trainer(make_model());
  std::vector<std::vector<Value>> examples;
  for (int negations = 0; negations < 4; ++negations) {
    for (Word word : {kGood, kBad})
      examples.push_back({phrase(word, negations), int64_t{word ^ (negations % 2)}});
  }
  fmt::print("loss before {:.3f}\n", trainer.step(examples, 0.01));
  for (int i = 0; i < 200; ++i) trainer.step(examples, 0.01);
  fmt::print("loss after  {:.3f}\n", trainer.step(examples, 0.01));
  for (int negations = 0; negations < 6; ++negations) {
    const bool good = trainer.predict({phrase(kGood, negations)})[0].as<int64_t>() == kGood;
    fmt::print("good with {} not: {}\n", negations, good ? "good" : "bad");
  }
}
