// A program outside of the tree that uses the installed library: it runs a file, builds a function, learns a
// slope, trains a model on trees, shares a run between processes and catches errors. Prints what it found;
// tests/package/package.py knows what that is.
//
//   consumer PROGRAM MODEL DIRECTORY
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <stdexcept>

#include "hiaton/hiaton.h"

namespace {

using namespace hiaton;

void run_file(const char* file) {
  const Program program = Program::from_file(file);
  std::cout << "fact " << to_string(program.run({Value(int64_t{3})}).values[0]) << '\n';
}

/// As docs/api.md says.
void pass_values() {
  const Program program = Program::from_text(
      "total.hia",
      "data Tree = Leaf(value: i64) | Node(left: Tree, right: Tree)\n"
      "fn total(t: Tree) -> i64 = match t Leaf(value) -> value Node(l, r) -> total(l) + total(r)\n"
      "fn main(t: Tree, by: List[f64], x: f32[n]) -> (i64, Tree) = (total(t) + n, Node(t, t))\n");

  const Value leaf = Data(0, {int64_t{3}});  // Leaf(3)
  const Value tree = Data(1, {leaf, leaf});  // Node(Leaf(3), Leaf(3))
  const Value list = make_list({0.5, 1.5});  // [0.5, 1.5]: variant 0 is Nil, variant 1 Cons(head, tail)
  Tensor x(DType::F32, {2});                 // zeros; written before anyone else sees it
  x.mutable_data<float>()[0] = 1.5F;

  const RunResult result = program.run({tree, list, x});
  const int64_t total = result.values[0].as<int64_t>();  // 8
  const Data both = result.values[1].data();             // of variant 1, with two fields
  std::cout << total << ' ' << both.field(0).data().variant() << '\n';

  std::cout << to_string(result.values[1], program.results()[1]) << '\n';
  const Value other = parse_value(program.parameters()[0].type, "Node(Leaf(1), Leaf(2))");
  std::cout << to_string(program.run({other, list, x}).values[0]) << '\n';
}

void build() {
  ModuleBuilder module;
  const FunctionRef twice = module.declare("main", {{DType::F64, "x"}}, {DType::F64});
  module.define(twice, [](FunctionBuilder& f) { return add(f.param(0), f.param(0)); });
  const Program program = Program::from_module(module.finish());
  std::cout << "twice " << to_string(program.run({Value(1.5)}).values[0]) << '\n';
}

/// Values and types are compared by functions of the library.
void compare() {
  const Value number(int64_t{1});
  if (!(number == Value(int64_t{1})) || number.type() == Type(DType::F64))
    throw std::logic_error("not equal");
}

void learn(const char* directory) {
  compare();
  const Model model = Model::from_text("slope.hia",
                                       "param w: f32[1] = zeros\n"
                                       "fn square(x: f32) -> f32 = x * x\n"
                                       "fn loss(x: f32) -> f32 = square(sum(w) * x - 3.0 * x)\n");
  std::vector<train::ParameterValues> parameters = train::first_parameters(model, 1);
  train::Optimizer optimizer({.kind = train::OptimizerKind::Sgd}, parameters);
  const std::vector<std::vector<Value>> examples = {{Value(1.0F)}, {Value(0.5F)}};
  for (int step = 0; step < 100; ++step) {
    Gradients sums(model.parameters());
    const std::vector<Value> values = train::values_of(parameters);
    model.loss(examples, {.parameters = values, .gradients = &sums});
    optimizer.step(parameters, train::gradients_in(sums), 0.2, 1);
  }
  const std::filesystem::path file = std::filesystem::path(directory) / "slope.safetensors";
  std::filesystem::create_directories(directory);
  train::save_parameters(file, parameters);
  const train::SafetensorsFile saved(file);
  std::printf("slope %.2f\n", static_cast<double>(saved.values_of(*saved.find("w")).floats()[0]));
  std::filesystem::remove_all(directory);
}

void train_on_trees(const char* model, const char* directory) {
  const train::Treebank bank = train::read_trees(std::make_shared<Source>(
      "trees.txt", "(1 (0 (0 bad) (0 film)) (1 good))\n(0 (1 good) (0 bad))\n(1 (0 film) (1 good))\n"));
  const train::Vocabulary words = train::Vocabulary::of(bank);
  train::ModelTrainer trainer = train::make_trainer(
      {.model = model, .classes = 2, .vocabulary_size = words.size(), .sizes = {{"d", 8}}});
  const train::TreeExamples trees(trainer.model(), train::encode(bank.trees, bank.words, words), 2);
  int steps = 0;
  train::Callbacks callbacks;
  callbacks.on_step = [&](const train::StepReport&) { ++steps; };
  const train::TrainingResult result =
      trainer.train(trees, &trees, {.epochs = 60, .learning_rate = 0.05, .out = directory}, callbacks);
  std::cout << "trained " << steps << " steps, right " << result.history.back().dev->all_accuracy << '\n';
  train::load_parameters(std::filesystem::path(directory) / "best.safetensors", trainer);
}

void share() {
  const std::string text =
      "fn fib(n: i64) -> i64 = if n <= 1 then n else fib(n - 1) + fib(n - 2)\n"
      "fn main(n: i64) -> i64 = fib(n)\n";
  const Program program = Program::from_text("fib.hia", text);
  const auto act = [&](net::Processes& processes) {
    const RunResult result = program.run({Value(int64_t{22})}, {.processes = processes.transport()});
    if (processes.is_first())
      std::cout << to_string(result.values[0]) << " in " << processes.size() << " processes\n";
  };
  net::run_in_threads(2, act, {.program = text});
}

void fail() {
  try {
    Program::from_text("bad.hia", "fn main() -> i32 = x\n");
  } catch (const ProgramError& error) {
    std::cout << "caught " << error.what() << '\n';
  }
  try {
    Program::from_text("zero.hia", "fn main(n: i32) -> i32 = 1 / n\n").run({Value(int32_t{0})});
  } catch (const RunError& error) {
    std::cout << "caught " << error.what() << '\n';
  }
}

}  // namespace

int main(int count, char** words) {
  if (count != 4) return 2;
  run_file(words[1]);
  pass_values();
  build();
  learn(words[3]);
  train_on_trees(words[2], words[3]);
  share();
  fail();
}
