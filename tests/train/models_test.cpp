// The models: the same losses and gradients in every executor, right by finite differences, and each
// operation of the forward path executed once.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>

#include "exec/flow/flow_plan.h"
#include "hiaton/model.h"
#include "hiaton/trees.h"
#include "tests_dir.h"
#include "train/tree_values.h"

namespace hiaton::train {
namespace {

const std::filesystem::path kModels = tests_dir() / ".." / "models";

std::string text_of(const std::string& name) {
  return file_text(kModels / name);
}

std::string with_doubles(std::string text) {
  for (std::size_t at = text.find("f32"); at != std::string::npos; at = text.find("f32", at))
    text.replace(at, 3, "f64");
  return text;
}

/// A model with small sizes, in double precision, and a few trees.
class ModelCase {
 public:
  explicit ModelCase(const std::string& name, std::size_t trees = 6, int64_t width = 3)
      : model_(
            Model::from_text(name, with_doubles(text_of(name)), {.sizes = sizes_of(text_of(name), width)})),
        values_(model_.initial_parameters(3)) {
    const ListOps data = generate_listops({.max_depth = 3, .max_arity = 3, .seed = 5}, trees, 1);
    const Vocabulary words = Vocabulary::of(data.train);
    trees_ = encode(data.train.trees, data.train.words, words);
    const TreeValues values(model_.loss_program(), name);
    for (const Tree& tree : trees_) examples_.push_back({values.value_of(tree)});
  }

  const Model& model() const { return model_; }
  std::vector<Value>& values() { return values_; }
  const std::vector<std::vector<Value>>& examples() const { return examples_; }
  const std::vector<Tree>& trees() const { return trees_; }

  double loss(RunOptions options = {}, Gradients* gradients = nullptr) const {
    options.parameters = values_;
    options.gradients = gradients;
    double sum = 0;
    for (const std::vector<Value>& results : model_.loss(examples_, options)) sum += results[0].as<double>();
    return sum;
  }

 private:
  static std::map<std::string, int64_t> sizes_of(const std::string& text, int64_t width) {
    std::map<std::string, int64_t> sizes{{"d", width}, {"vocab", 16}, {"classes", 10}};
    if (text.find("size e ") != std::string::npos) sizes["e"] = 2;
    return sizes;
  }

  Model model_;
  std::vector<Value> values_;
  std::vector<Tree> trees_;
  std::vector<std::vector<Value>> examples_;
};

class EveryModel : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Models, EveryModel,
                         ::testing::Values("treernn.hia", "rntn.hia", "treelstm.hia", "childsum.hia",
                                           "td_treelstm.hia", "lstm.hia"),
                         [](const auto& info) {
                           const std::string name = info.param;
                           return name.substr(0, name.find('.'));
                         });

void expect_close(const Gradients& expected, const Gradients& found, const std::string& where) {
  for (std::size_t p = 0; p < expected.size(); ++p) {
    const Tensor& a = expected[p].values;
    const Tensor& b = found[p].values;
    for (int64_t i = 0; i < a.size(); ++i) {
      ASSERT_NEAR(a.data<double>()[i], b.data<double>()[i], 1e-9)
          << where << ", parameter " << p << ", element " << i;
    }
  }
}

TEST_P(EveryModel, HasTheGradientsOfFiniteDifferences) {
  ModelCase test(GetParam(), 2);
  Gradients gradients(test.model().parameters());
  test.loss({}, &gradients);
  constexpr double kStep = 1e-5;
  for (std::size_t p = 0; p < gradients.size(); ++p) {
    const Tensor before = test.values()[p].tensor();
    const auto loss_with = [&](int64_t i, double element) {
      Tensor changed = Tensor::uninitialized(DType::F64, before.dims());
      std::copy_n(before.data<double>(), before.size(), changed.mutable_data<double>());
      changed.mutable_data<double>()[i] = element;
      test.values()[p] = changed;
      const double loss = test.loss();
      test.values()[p] = before;
      return loss;
    };
    const int64_t size = gradients[p].values.size();
    for (int64_t i = 0; i < size; i += std::max<int64_t>(1, size / 25)) {
      const double above = loss_with(i, before.data<double>()[i] + kStep);
      const double below = loss_with(i, before.data<double>()[i] - kStep);
      EXPECT_NEAR(gradients[p].values.data<double>()[i], (above - below) / (2 * kStep), 1e-6)
          << test.model().parameters()[p].name << "[" << i << "]";
    }
  }
}

void expect_agreement_in_every_way(const ModelCase& test) {
  Gradients expected(test.model().parameters());
  RunOptions reference;
  reference.executor = Executor::Reference;
  const double loss = test.loss(reference, &expected);
  for (bool batching : {true, false}) {
    for (int workers : {1, 2, 8}) {
      for (int parts : {0, 1, 3}) {
        const std::string where = "batching " + std::to_string(batching) + ", workers " +
                                  std::to_string(workers) + ", parts " + std::to_string(parts);
        Gradients found(test.model().parameters());
        RunOptions options;
        options.batching = batching;
        options.workers = workers;
        options.parts = parts;
        RunStats stats;
        options.stats = &stats;
        EXPECT_NEAR(test.loss(options, &found), loss, 1e-9) << where;
        EXPECT_EQ(stats.fallback, "") << where;
        expect_close(expected, found, where);
      }
    }
  }
}

TEST_P(EveryModel, AgreesInEveryWayToRun) {
  expect_agreement_in_every_way(ModelCase(GetParam()));
}

/// So wide that the backward path follows the batches of the forward path.
TEST_P(EveryModel, AgreesInEveryWayToRunWhereItIsWide) {
  expect_agreement_in_every_way(ModelCase(GetParam(), 8, 50));
}

TEST_P(EveryModel, GivesTheSameBitsForAnyNumberOfWorkersInTheSameParts) {
  ModelCase test(GetParam());
  RunOptions options;
  options.parts = 2;
  Gradients one(test.model().parameters());
  const double loss = test.loss(options, &one);
  options.workers = 2;
  for (int repeat = 0; repeat < 20; ++repeat) {
    Gradients two(test.model().parameters());
    EXPECT_EQ(test.loss(options, &two), loss);
    for (std::size_t p = 0; p < one.size(); ++p) EXPECT_EQ(one[p].values, two[p].values) << p;
  }
}

TEST_P(EveryModel, TellsWhichGradientsAreCompleteBeforeTheRunIsOver) {
  const ModelCase test(GetParam(), 20);
  Gradients gradients(test.model().parameters());
  std::map<std::size_t, std::vector<double>> told;
  const auto elements = [&](std::size_t parameter) {
    const Tensor& sum = gradients[parameter].values;
    return std::vector<double>(sum.data<double>(), sum.data<double>() + sum.size());
  };
  RunOptions options;
  options.on_gradient = [&](std::size_t parameter) {
    EXPECT_FALSE(told.contains(parameter));
    told[parameter] = elements(parameter);
  };
  test.loss(options, &gradients);
  EXPECT_GE(told.size(), 2u);
  EXPECT_LT(told.size(), gradients.size());  // the last batch adds to some
  for (const auto& [parameter, sum] : told) EXPECT_EQ(sum, elements(parameter)) << parameter;
  told.clear();
  options.parts = 2;
  test.loss(options, &gradients);
  EXPECT_TRUE(told.empty());  // each part has sums of its own
}

TEST_P(EveryModel, RunsManyTagsInOneBatch) {
  ModelCase test(GetParam());
  Gradients gradients(test.model().parameters());
  RunStats stats;
  RunOptions options;
  options.stats = &stats;
  test.loss(options, &gradients);
  uint64_t firings = 0;
  uint64_t launches = 0;
  for (const RegionStats& region : stats.regions) {
    if (region.launches == 0) continue;
    firings += region.firings;
    launches += region.launches;
  }
  EXPECT_GT(firings, 3 * launches);
  EXPECT_EQ(stats.frames_live_at_end, 0u);
}

/// The numbers of all tensors in a value, in their order.
void collect_numbers(const Value& value, std::vector<double>& numbers) {
  if (value.is_data()) {
    const Data data = value.data();
    for (const Value field : data.fields()) collect_numbers(field, numbers);
  } else if (value.is_tensor()) {
    const Tensor tensor = value.tensor();
    numbers.insert(numbers.end(), tensor.data<double>(), tensor.data<double>() + tensor.size());
  }
}

TEST_P(EveryModel, PredictsEveryNodeOrTheRootAsTheReferenceDoes) {
  ModelCase test(GetParam());
  RunOptions options;
  options.parameters = test.values();
  const auto found = test.model().predict(test.examples(), options);
  options.executor = Executor::Reference;
  const auto expected = test.model().predict(test.examples(), options);
  constexpr std::size_t kClasses = 10;
  for (std::size_t i = 0; i < test.trees().size(); ++i) {
    std::vector<double> numbers;
    std::vector<double> by_the_rules;
    collect_numbers(found[i][0], numbers);
    collect_numbers(expected[i][0], by_the_rules);
    ASSERT_EQ(numbers.size(), by_the_rules.size());
    const std::size_t nodes = numbers.size() / kClasses;
    EXPECT_TRUE(nodes == test.trees()[i].nodes.size() || nodes == 1) << nodes;
    for (std::size_t k = 0; k < numbers.size(); ++k) EXPECT_NEAR(numbers[k], by_the_rules[k], 1e-9);
  }
}

/// How often each operation is executed in a run.
std::map<std::string_view, uint64_t> executions_of(const ModelCase& test, Gradients* gradients) {
  RunStats stats;
  RunOptions options;
  options.stats = &stats;
  test.loss(options, gradients);
  const Program& program =
      gradients != nullptr ? test.model().training_program() : test.model().loss_program();
  const exec::flow::Plan plan = exec::flow::compile(program.graph(), OverflowMode::Wrap);
  std::map<std::string_view, uint64_t> executions;
  for (std::size_t i = 0; i < plan.regions.size(); ++i) {
    for (const exec::flow::Step& step : plan.regions[i].steps) {
      const graph::Node& node = program.graph()[step.node];
      if (node.op != nullptr) executions[node.op->name.value] += stats.regions[i].firings;
    }
  }
  return executions;
}

TEST(Gradients, ComputeNoForwardValueTwice) {
  ModelCase test("treelstm.hia");
  Gradients gradients(test.model().parameters());
  const std::map<std::string_view, uint64_t> forward = executions_of(test, nullptr);
  const std::map<std::string_view, uint64_t> both = executions_of(test, &gradients);
  for (const std::string_view name : {"sigmoid", "tanh", "matmul", "cross_entropy", "gather"}) {
    EXPECT_GT(forward.at(name), 0u) << name;
    EXPECT_EQ(both.at(name), forward.at(name)) << name;
  }
}

/// A chain: each inner node has a leaf on its left.
Tree chain(int32_t inner_nodes) {
  Tree tree;
  const int32_t count = 2 * inner_nodes + 1;
  for (int32_t i = 0; i < inner_nodes; ++i) {
    tree.nodes.push_back({.label = i % 5, .child_count = 2, .subtree_end = count});
    tree.nodes.push_back({.label = 1, .word = i % 7, .subtree_end = 2 * i + 2});
  }
  tree.nodes.push_back({.label = 1, .word = 1, .subtree_end = count});
  return tree;
}

TEST(DeepTrees, TrainInTimeAndMemoryThatGrowWithTheirNodes) {
  const Model model =
      Model::from_file(kModels / "treernn.hia", {.sizes = {{"d", 4}, {"vocab", 7}, {"classes", 5}}});
  const TreeValues trees(model.loss_program(), "treernn.hia");
  const std::vector<Value> parameters = model.initial_parameters(1);
  uint64_t bytes[2];
  for (int i = 0; i < 2; ++i) {
    const std::vector<Value> example{trees.value_of(chain(i == 0 ? 5'000 : 50'000))};
    Gradients gradients(model.parameters());
    RunStats stats;
    RunOptions options;
    options.parameters = parameters;
    options.gradients = &gradients;
    options.stats = &stats;
    const auto results = model.loss({&example, 1}, options);
    EXPECT_TRUE(std::isfinite(results[0][0].as<float>()));
    bytes[i] = stats.bytes;
  }
  EXPECT_LT(bytes[1], 12 * bytes[0]);
}

}  // namespace
}  // namespace hiaton::train
