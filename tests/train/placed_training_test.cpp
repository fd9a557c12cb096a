// Training by several processes of which one holds a table: the numbers of one process, for all placements.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <mutex>
#include <random>

#include "directory.h"
#include "hiaton/error.h"
#include "hiaton/net.h"
#include "hiaton/trees.h"
#include "net/disordered.h"
#include "train/random_labelled_trees.h"
#include "train/shared_batches.h"
#include "tree_model.h"

namespace hiaton::train {
namespace {

using ::testing::HasSubstr;

/// All of `W` is read, of the others rows alone; `F` is read in a function that is placed itself.
constexpr std::string_view kPlacedModel = R"(
size vocab = 50
size classes = 2
size d = 8
data Tree = Leaf(label: i64, word: i64) | Node(label: i64, left: Tree, right: Tree)
param E: f32[vocab, d]AT_E = normal(1.0)
param F: f32[vocab, d]AT_F = normal(1.0)
param W: f32[d, d]AT_W = normal(0.3)
param V: f32[d, classes]AT_V = normal(0.3)
param c: f32[vocab]AT_c
param s: f32AT_s = ones
fn row(word: i64) -> f32[d]AT_row = F[word]
fn encode(t: Tree) -> f32[d]AT_encode =
  match t
    Leaf(label, word) -> tanh((E[word] + row(label)) @ W + c[word])
    Node(_, l, r) -> tanh((s * (encode(l) + encode(r))) @ W)
fn cost(t: Tree, seed: i64) -> f32AT_cost =
  match t
    Leaf(label, word) -> cross_entropy(dropout(encode(t), 0.1, seed) @ V, label)
    Node(label, l, r) -> cost(l, 2 * seed) + cost(r, 2 * seed + 1) + cross_entropy(encode(t) @ V, label)
fn loss(t: Tree, seed: i64) -> f32 = cost(t, seed)
fn predict(t: Tree) -> f32[classes] = softmax(encode(t) @ V)
)";

/// `places`: by name of what is placed, where; what is not named is placed nowhere.
std::string placed_model(const std::map<std::string, std::string>& places) {
  std::string text(kPlacedModel);
  for (const char* name : {"E", "F", "W", "V", "c", "s", "row", "encode", "cost"}) {
    const std::string mark = std::string("AT_") + name;
    const auto place = places.find(name);
    text.replace(text.find(mark), mark.size(), place == places.end() ? "" : " on \"" + place->second + "\"");
  }
  return text;
}

bool are_same(const std::vector<ParameterValues>& a, const std::vector<ParameterValues>& b) {
  return std::ranges::equal(a, b, [](const ParameterValues& x, const ParameterValues& y) {
    return x.name == y.name && x.values == y.values;
  });
}

class PlacedTrainingTest : public ::testing::Test {
 protected:
  TrainerOptions options_for(const std::map<std::string, std::string>& places, int replicas,
                             int workers = 1) const {
    const std::string text = placed_model(places);
    const std::string file = "model" + std::to_string(std::hash<std::string>()(text)) + ".hia";
    write_file(directory_ / file, text);
    TrainerOptions options;
    options.model = directory_ / file;
    options.classes = 2;
    options.vocabulary_size = 50;
    options.batching = "deterministic";
    options.parts = 4;
    options.replicas = replicas;
    options.workers = workers;
    return options;
  }

  Settings settings(int64_t epochs, const std::string& out, bool resume = false) const {
    Settings settings;
    settings.epochs = epochs;
    settings.batch = 7;
    settings.optimizer.clip = 0.5;
    settings.checkpoint_every_steps = 2;
    settings.out = directory_ / out;
    settings.resume = resume;
    return settings;
  }

  /// In one process, where placements change nothing but which functions are inlined.
  std::vector<ParameterValues> train_alone(const Settings& settings,
                                           const std::map<std::string, std::string>& places = {}) const {
    TreeModel alone(options_for(places, 0));
    alone.train(trees_, dev_, settings);
    return alone.parameters();
  }

  /// How many parameters each process holds.
  std::vector<int> train_in(int processes, const TrainerOptions& options, const Settings& settings,
                            net::Delivery delivery = net::Delivery::InOrder, uint32_t seed = 1) const {
    std::vector<int> held(static_cast<std::size_t>(processes));
    net::act_in_processes(net::disordered_links(processes, delivery, seed), [&](net::Transport& transport) {
      SharedBatches sharing(transport, nullptr);
      TreeModel own(options);
      own.share(sharing);
      Settings of_this = settings;
      of_this.read_only = transport.self() != 0;
      own.train(trees_, dev_, of_this, {.cancel = &sharing.cancelled()});
      for (const ParameterValues& parameter : own.parameters())
        held[static_cast<std::size_t>(transport.self())] += parameter.is_here && parameter.values.size() > 0;
    });
    return held;
  }

  std::vector<ParameterValues> last_of(const std::string& out) const {
    TreeModel model(options_for({}, 0));
    std::vector<ParameterValues> parameters = model.parameters();
    Optimizer optimizer(settings(1, out).optimizer, parameters);
    load_parameters(directory_ / out / "last.safetensors", parameters);
    return parameters;
  }

  const Directory directory_;
  const std::vector<Tree> trees_ = random_labelled_trees(24, 1);
  const std::vector<Tree> dev_ = random_labelled_trees(9, 2);
};

TEST_F(PlacedTrainingTest, ATableOfAnotherProcessGivesTheBitsOfOneProcess) {
  const auto alone = train_alone(settings(2, "alone"));
  const auto held = train_in(2, options_for({{"E", "process:1"}}, 0), settings(2, "placed"));
  EXPECT_EQ(held, (std::vector<int>{5, 1}));
  EXPECT_TRUE(are_same(last_of("placed"), alone));
}

TEST_F(PlacedTrainingTest, WhatOnlyReadsRowsPlacesTheTable) {
  const std::map<std::string, std::string> places{{"row", "table"}, {"E", "words"}};
  const auto alone = train_alone(settings(2, "alone"), places);
  const auto held = train_in(3, options_for(places, 0), settings(2, "placed"));
  EXPECT_EQ(held, (std::vector<int>{5, 1, 0}));  // 'table' is process 0, 'words' process 1
  EXPECT_TRUE(are_same(last_of("placed"), alone));
}

TEST_F(PlacedTrainingTest, ReplicasShareBatches) {
  const auto alone = train_alone(settings(2, "alone"));
  const auto held = train_in(4, options_for({{"E", "process:1"}, {"V", "process:1"}}, 2),
                             settings(2, "replicas"), net::Delivery::Random);
  EXPECT_EQ(held, (std::vector<int>{4, 2, 4, 2}));
  EXPECT_TRUE(are_same(last_of("replicas"), alone));
}

TEST_F(PlacedTrainingTest, CheckpointsDoNotKnowThePlaces) {
  const auto alone = train_alone(settings(3, "alone"));
  train_in(2, options_for({{"E", "process:1"}}, 0), settings(1, "parts"));
  train_in(4, options_for({{"c", "process:1"}, {"W", "process:1"}}, 2), settings(2, "parts", true));
  TreeModel last(options_for({}, 0));
  last.train(trees_, dev_, settings(3, "parts", true));
  EXPECT_TRUE(are_same(last.parameters(), alone));
}

TEST_F(PlacedTrainingTest, RandomPlacementsGiveTheBitsOfOneProcess) {
  std::mt19937 random(5);
  for (int round = 0; round < 40; ++round) {
    std::map<std::string, std::string> places;
    for (const char* name : {"E", "F", "W", "V", "c", "s"}) {
      if (random() % 2 == 0) places[name] = "process:" + std::to_string(random() % 3);
    }
    if (places.empty()) places["E"] = "table";
    // A function is placed where its table is.
    if (places.contains("F") && random() % 2 == 0) places["row"] = places["F"];
    const int replicas = 1 + static_cast<int>(random() % 3);
    const int group = 1 + static_cast<int>(random() % 3);
    if (replicas * group == 1) continue;
    const auto delivery = static_cast<net::Delivery>(random() % 5);
    const std::string out = "round" + std::to_string(round);
    const auto alone = train_alone(settings(1, out + "alone"), places);
    train_in(replicas * group, options_for(places, replicas, 1 + static_cast<int>(random() % 2)),
             settings(1, out), delivery, random());
    EXPECT_TRUE(are_same(last_of(out), alone))
        << "round " << round << ", " << replicas << " replicas of " << group << " processes";
  }
}

TEST_F(PlacedTrainingTest, PredictionsAndStepsOfTheLibraryAreThoseOfOneProcess) {
  const TrainerOptions written = options_for({{"E", "process:1"}}, 0);  // the file, before there are threads
  const auto make = [&](net::Transport* processes) {
    TrainerOptions options = written;
    options.processes = processes;
    return make_trainer(options);
  };
  ModelTrainer alone = make(nullptr);
  const TreeExamples examples(alone.model(), trees_, 2);
  std::vector<std::vector<Value>> lists;
  for (std::size_t i = 0; i < 6; ++i) {
    lists.push_back(examples.arguments(i));
    lists.back().emplace_back(int64_t{3});
  }
  std::vector<double> losses;
  for (int step = 0; step < 3; ++step) losses.push_back(alone.step(lists));
  const Evaluation evaluation = alone.evaluate(examples, 5);
  for (auto& list : lists) list.pop_back();
  const auto predicted = alone.predict(lists);
  net::run_in_threads(4, [&](net::Processes& processes) {
    ModelTrainer shared = make(processes.transport());
    auto own = lists;
    for (auto& list : own) list.emplace_back(int64_t{3});
    for (int step = 0; step < 3; ++step) EXPECT_EQ(shared.step(own), losses[static_cast<std::size_t>(step)]);
    EXPECT_EQ(shared.evaluate(examples, 5).loss, evaluation.loss);
    const auto found = shared.predict(lists);
    const auto all = shared.all_parameters();
    if (!processes.is_first()) {
      EXPECT_TRUE(found[0].empty());
      return;
    }
    EXPECT_EQ(found, predicted);
    EXPECT_TRUE(are_same(all, alone.parameters()));
  });
}

/// The largest difference between two values, as a share of one more than the largest value.
double difference(const std::vector<ParameterValues>& a, const std::vector<ParameterValues>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::vector<float>& x = a[i].values.floats();
    const std::vector<float>& y = b[i].values.floats();
    EXPECT_EQ(x.size(), y.size());
    for (std::size_t k = 0; k < x.size(); ++k)
      largest = std::max(largest, std::abs(double{x[k]} - double{y[k]}) / (1 + std::abs(x[k])));
  }
  return largest;
}

TEST_F(PlacedTrainingTest, BodiesRunWhereTheyArePlacedInEachStep) {
  const std::map<std::string, std::string> all_places[] = {
      {{"encode", "process:1"}},
      {{"cost", "process:1"}, {"encode", "process:2"}},
      {{"cost", "process:1"}, {"row", "process:2"}, {"E", "process:2"}},
  };
  int runs = 0;
  for (const auto& places : all_places) {
    for (const auto delivery : {net::Delivery::InOrder, net::Delivery::Random, net::Delivery::LastFirst}) {
      const std::string out = "bodies" + std::to_string(runs++);
      const auto alone = train_alone(settings(2, out + "alone"), places);
      const auto held = train_in(3, options_for(places, 0), settings(2, out), delivery);
      EXPECT_EQ(held, (std::vector<int>{6, 6, 6}));  // all hold all
      EXPECT_LT(difference(last_of(out), alone), 1e-4);
    }
  }
}

TEST_F(PlacedTrainingTest, ReplicasRunPlacedBodiesEachByItself) {
  const std::map<std::string, std::string> places{{"encode", "process:1"}};
  const auto alone = train_alone(settings(2, "alone"), places);
  int runs = 0;
  for (const auto delivery : {net::Delivery::InOrder, net::Delivery::Random, net::Delivery::LastFirst}) {
    const std::string out = "replicas" + std::to_string(runs++);
    const auto held = train_in(6, options_for(places, 3), settings(2, out), delivery);
    EXPECT_EQ(held, (std::vector<int>{6, 6, 6, 6, 6, 6}));
    EXPECT_LT(difference(last_of(out), alone), 1e-4);
  }
}

TEST_F(PlacedTrainingTest, AnErrorInAnotherReplicaNamesTheExample) {
  const std::map<std::string, std::string> places{{"encode", "process:1"}};
  TrainerOptions options = options_for(places, 2);
  std::string text = placed_model(places);
  const std::string tanh = "-> tanh((E[word]";
  // The smaller trees are those of the second replica, one of which fails there.
  text.replace(text.find(tanh), tanh.size(), "-> f32(1 / (word - 7)) * tanh((E[word]");
  write_file(directory_ / "failing.hia", text);
  options.model = directory_ / "failing.hia";
  const std::vector<Tree> trees =
      read_trees(std::make_shared<const Source>("trees.txt", "(1 (0 a) (0 a))\n(1 b)\n")).trees;
  std::vector<Tree> with_word = trees;
  with_word[0].nodes[1].word = with_word[0].nodes[2].word = 3;
  with_word[1].nodes[0].word = 7;
  EXPECT_THAT(error_of<Error>([&] {
                net::act_in_processes(net::disordered_links(4, net::Delivery::InOrder, 1),
                                      [&](net::Transport& transport) {
                                        SharedBatches sharing(transport, nullptr);
                                        TreeModel own(options);
                                        own.share(sharing);
                                        own.step(with_word, 7);
                                      });
              }),
              testing::AllOf(HasSubstr("division by zero"), HasSubstr("for the tree in line 2 of the data")));
}

TEST_F(PlacedTrainingTest, PredictionsRunBodiesWhereTheyArePlaced) {
  const TrainerOptions written = options_for({{"encode", "process:1"}}, 0);
  const auto make = [&](net::Transport* processes, RunStats* stats) {
    RunOptions run;
    run.processes = processes;
    run.stats = stats;
    return ModelTrainer(Model::from_file(written.model), OptimizerSettings(), 1, run);
  };
  ModelTrainer alone = make(nullptr, nullptr);
  const TreeExamples examples(alone.model(), trees_, 2);
  std::vector<std::vector<Value>> lists;
  for (std::size_t i = 0; i < trees_.size(); ++i) lists.push_back(examples.arguments(i));
  const auto predicted = alone.predict(lists);
  const Evaluation evaluation = alone.evaluate(examples, 5);
  net::run_in_threads(2, [&](net::Processes& processes) {
    RunStats stats;
    ModelTrainer shared = make(processes.transport(), &stats);
    const auto found = shared.predict(lists);
    if (processes.is_first()) {
      EXPECT_EQ(found, predicted);
      EXPECT_EQ(stats.remote_calls, lists.size());
    } else {
      EXPECT_TRUE(found[0].empty());
    }
    EXPECT_EQ(shared.evaluate(examples, 5).loss, evaluation.loss);
  });
}

TEST_F(PlacedTrainingTest, WhatCannotGoIsAnErrorWithItsPlace) {
  const auto error_in = [&](int processes, const TrainerOptions& options) {
    return error_of<Error>([&] {
      net::act_in_processes(net::disordered_links(processes, net::Delivery::InOrder, 1),
                            [&](net::Transport& transport) {
                              SharedBatches sharing(transport, nullptr);
                              TreeModel(options).share(sharing);
                            });
    });
  };
  EXPECT_THAT(error_in(3, options_for({{"E", "table"}}, 2)),
              HasSubstr("expected a number of processes that is a multiple of the replicas, 2, found 3"));
  EXPECT_THAT(error_in(4, options_for({}, 2)), HasSubstr("where the program places nothing, found 2"));
  EXPECT_THAT(error_in(5, options_for({{"E", "table"}}, 5)), HasSubstr("expected at most 4 processes"));
  TrainerOptions other = options_for({}, 1);
  std::string text = placed_model({});
  const std::string tanh = "-> tanh((E[word]";
  text.replace(text.find(tanh), tanh.size(), "-> on \"process:1\" tanh((E[word]");
  write_file(directory_ / "other.hia", text);
  other.model = directory_ / "other.hia";
  other.replicas = 2;
  EXPECT_THAT(error_in(5, other),
              HasSubstr("expected a number of processes that is a multiple of the replicas, 2, found 5"));
  TrainerOptions unknown = options_for({{"E", "table"}}, 0);
  unknown.places["tabel"] = {1};
  EXPECT_THAT(error_in(2, unknown), HasSubstr("place 'tabel': expected a place of the program ('table')"));
}

}  // namespace
}  // namespace hiaton::train
