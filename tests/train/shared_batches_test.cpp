// Training by several processes: the bits of one process, one set of files, and ends that all share.
#include "train/shared_batches.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <mutex>
#include <random>

#include "directory.h"
#include "hiaton/error.h"
#include "hiaton/trees.h"
#include "net/collect.h"
#include "net/disordered.h"
#include "net/processes.h"
#include "train/random_labelled_trees.h"
#include "tree_model.h"

namespace hiaton::train {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// `E` has rows alone in most trees; those with the word 3 use all of it. `R` is large enough to be divided
/// by rows, and `W` to be sent by itself; trees with the word 5 alone do not use it.
constexpr std::string_view kSharedModel =
    "size vocab = 50\n"
    "size classes = 2\n"
    "size d = 8\n"
    "data Tree = Leaf(label: i64, word: i64) | Node(label: i64, left: Tree, right: Tree)\n"
    "param E: f32[vocab, d] = normal(1.0)\n"
    "param R: f32[600, d] = normal(1.0)\n"
    "param V: f32[d, classes]\n"
    "param W: f32[d, 600] = normal(0.1)\n"
    "param s: f32 = ones\n"
    "fn cost(t: Tree, seed: i64) -> f32 =\n"
    "  match t\n"
    "    Leaf(label, word) -> (if word == 3 then 0.1 * sum(E) else 0.0) + \n"
    "      (if word == 5 then 0.0 else 0.01 * sum(tanh(E[word] @ W))) + LEAF\n"
    "    Node(label, l, r) -> cost(l, 2 * seed) + s * cost(r, 2 * seed + 1)\n"
    "fn kept(x: f32[d], seed: i64) -> f32[d] = dropout(x, 0.3, seed)\n"
    "fn loss(t: Tree, seed: i64) -> f32 = cost(t, seed)\n"
    "fn predict(t: Tree) -> f32[classes] =\n"
    "  match t\n"
    "    Leaf(_, word) -> softmax(E[word] @ V)\n"
    "    Node(_, l, _) -> predict(l)\n";

std::string model(
    const std::string& leaf =
        "cross_entropy(kept(E[word] + sum(gather(R, [11 * word, 11 * word + label]), axes=0), seed) @ V, "
        "label)") {
  std::string text(kSharedModel);
  return text.replace(text.find("LEAF"), 4, leaf);
}

class InProcesses : public net::Work {
 public:
  using Act = std::function<void(net::Transport&)>;

  explicit InProcesses(Act act) : act_(std::move(act)) {}
  std::string prepare(int /*self*/) override { return "a test"; }
  void work(net::Transport& transport) override { act_(transport); }

 private:
  Act act_;
};

void in_processes(int count, const InProcesses::Act& act) {
  net::work_in_threads(count, {}, [&act] { return std::make_unique<InProcesses>(act); });
}

constexpr uint64_t kStep = 7;

class SharedBatchesTest : public ::testing::Test {
 protected:
  SharedBatchesTest() { write_file(directory_ / "model.hia", model()); }

  TreeModel model_of(int parts, int workers = 1, const std::string& batching = "deterministic") const {
    TrainerOptions options;
    options.model = directory_ / "model.hia";
    options.classes = 2;
    options.vocabulary_size = 50;
    options.batching = batching;
    options.parts = parts;
    options.workers = workers;
    return TreeModel(options);
  }

  Settings settings(int64_t epochs, const std::string& out, bool resume) const {
    Settings settings;
    settings.epochs = epochs;
    settings.batch = 7;
    settings.checkpoint_every_steps = 2;
    settings.out = directory_ / out;
    settings.resume = resume;
    return settings;
  }

  /// Trains in so many processes. Gives the parameters that each ends with.
  std::vector<std::vector<ParameterValues>> train_in(int processes, const Settings& settings,
                                                     const std::atomic<bool>* cancel = nullptr) const {
    std::vector<std::vector<ParameterValues>> parameters(static_cast<std::size_t>(processes));
    in_processes(processes, [&](net::Transport& transport) {
      SharedBatches sharing(transport, transport.self() == 0 ? cancel : nullptr);
      TreeModel own = model_of(4);
      own.share(sharing);
      Settings of_this = settings;
      of_this.read_only = transport.self() != 0;
      const TrainingResult result = own.train(trees_, dev_, of_this, {.cancel = &sharing.cancelled()});
      EXPECT_EQ(result.ending, cancel != nullptr ? Ending::Cancelled : Ending::AllEpochs);
      parameters[static_cast<std::size_t>(transport.self())] = own.parameters();
    });
    return parameters;
  }

  const Directory directory_;
  const std::vector<Tree> trees_ = random_labelled_trees(40, 1);
  const std::vector<Tree> dev_ = random_labelled_trees(9, 2);
};

bool are_equal(const std::vector<ParameterValues>& a, const std::vector<ParameterValues>& b) {
  return std::ranges::equal(a, b, [](const ParameterValues& x, const ParameterValues& y) {
    return x.name == y.name && x.values == y.values;
  });
}

TEST(LastRound, MayComeAfterQuestionsOfWhatFollows) {
  for (const net::Delivery delivery : {net::Delivery::LastFirst, net::Delivery::Random}) {
    for (uint32_t seed = 0; seed < 20; ++seed) {
      net::act_in_processes(net::disordered_links(3, delivery, seed), [](net::Transport& transport) {
        SharedBatches sharing(transport, nullptr);
        const double own = transport.self();
        EXPECT_EQ(sharing.gather({&own, 1}), (std::vector<double>{0, 1, 2}));
        const auto made = net::collect(transport, {}, [](auto) { return std::vector<std::byte>(1); });
        EXPECT_EQ(made.size(), transport.self() == 0 ? 3u : 0u);
      });
    }
  }
}

TEST_F(SharedBatchesTest, GradientsHaveTheBitsOfOneProcess) {
  for (const int parts : {2, 3, 4, 7}) {
    TreeModel alone = model_of(parts);
    for (int processes = 2; processes <= std::min(parts, 4); ++processes) {
      in_processes(processes, [&](net::Transport& transport) {
        SharedBatches sharing(transport, nullptr);
        TreeModel own = model_of(parts, 1 + transport.self() % 2);
        own.share(sharing);
        for (const std::size_t trees : {1, 2, 5, 40, 3, 40, 1}) {
          const std::span<const Tree> batch = std::span(trees_).first(trees);
          const StepResult found = own.step(batch, kStep);
          static std::mutex mutex;
          const std::lock_guard lock(mutex);
          EXPECT_TRUE(found.is_part_of(alone.step(batch, kStep), sharing.self(), sharing.processes()))
              << parts << " parts, " << processes << " processes, " << trees << " trees, process "
              << transport.self();
        }
      });
    }
  }
}

/// Once they have been dense, and never twice in memory that the other process may still read.
TEST_F(SharedBatchesTest, LargeGradientsAreSummedWhereTheyAreSentFrom) {
  const std::vector<graph::Parameter> parameters{{"W", Type(DType::F32, {{8, ""}, {600, ""}}), {}},
                                                 {"v", Type(DType::F32, {{5, ""}}), {}}};
  in_processes(2, [&](net::Transport& transport) {
    SharedBatches sharing(transport, nullptr);
    const std::size_t self = sharing.self();
    Gradients own(parameters);
    Gradients sums(parameters);
    const std::byte* last[] = {own[0].values.data<std::byte>(), own[1].values.data<std::byte>()};
    for (int batch = 0; batch < 5; ++batch) {
      sums.unmark();
      sharing.begin_sums(2, sums);
      sharing.make_sendable(own);
      own.clear();
      EXPECT_EQ(own[0].values.data<std::byte>() != last[0], batch > 0) << batch;
      EXPECT_EQ(own[1].values.data<std::byte>(), last[1]) << batch;
      last[0] = own[0].values.data<std::byte>();
      for (std::size_t i = 0; i < 2; ++i) {
        float* const values = own.dense(i).mutable_data<float>();
        EXPECT_EQ(values[own[i].values.size() - 1], 0);
        std::fill_n(values, own[i].values.size(), static_cast<float>(self + 1) * static_cast<float>(batch));
      }
      if (batch % 2 == 0) sharing.send_early(own, 0);
      std::vector<double> losses{static_cast<double>(self)};
      const SubtreeSum subtree{{self, self + 1}, &own};
      sharing.add_up({&subtree, 1}, losses);
      EXPECT_EQ(losses, (std::vector<double>{0, 1}));
      for (std::size_t i = 0; i < 2; ++i) {
        const std::span values(sums[i].values.data<float>(), static_cast<std::size_t>(sums[i].values.size()));
        EXPECT_TRUE(std::ranges::all_of(values, [&](float value) { return value == 3.0F * batch; })) << batch;
      }
    }
  });
}

TEST_F(SharedBatchesTest, RowsStayRows) {
  in_processes(2, [&](net::Transport& transport) {
    SharedBatches sharing(transport, nullptr);
    TreeModel own = model_of(2);
    own.share(sharing);
    const std::vector<bool> sparse = own.step(trees_, kStep).sparse;
    EXPECT_FALSE(sparse[0]);  // the word 3 is among them
    EXPECT_TRUE(sparse[1]);
    EXPECT_FALSE(sparse[2]);
    EXPECT_FALSE(sparse[3]);
  });
}

TEST_F(SharedBatchesTest, OtherwiseTheyAreTheSameWithinRounding) {
  const StepResult alone = model_of(2, 1, "on").step(trees_, kStep);
  in_processes(3, [&](net::Transport& transport) {
    SharedBatches sharing(transport, nullptr);
    TreeModel own = model_of(2, 2, "on");
    own.share(sharing);
    const StepResult found = own.step(trees_, kStep);
    EXPECT_NEAR(found.loss, alone.loss, 1e-4);
    for (std::size_t i = 0; i < alone.gradients.size(); ++i) {
      if (alone.sparse[i]) continue;
      for (std::size_t j = 0; j < found.gradients[i].size(); ++j)
        EXPECT_NEAR(found.gradients[i][j], alone.gradients[i][found.begins[i] + j], 1e-4);
    }
  });
}

TEST_F(SharedBatchesTest, CheckpointsDoNotKnowHowManyProcessesWroteThem) {
  const auto whole = train_in(1, settings(3, "whole", false));
  const auto two = train_in(2, settings(1, "parts", false));
  EXPECT_TRUE(are_equal(two[0], two[1]));
  train_in(3, settings(2, "parts", true));
  const auto last = train_in(1, settings(3, "parts", true));
  EXPECT_TRUE(are_equal(last[0], whole[0]));
  for (const char* file : {"best.safetensors", "last.safetensors"})
    EXPECT_TRUE(std::filesystem::exists(directory_ / "parts" / file)) << file;
}

TEST_F(SharedBatchesTest, AllEndWhenTheFirstIsCancelled) {
  std::atomic<bool> cancel{true};
  const auto parameters = train_in(3, settings(2, "cancelled", false), &cancel);
  EXPECT_TRUE(are_equal(parameters[0], parameters[2]));
  cancel = false;
  const auto resumed = train_in(2, settings(2, "cancelled", true));
  EXPECT_TRUE(are_equal(resumed[0], train_in(1, settings(2, "whole", false))[0]));
}

TEST_F(SharedBatchesTest, AnErrorOfAnotherProcessNamesIt) {
  write_file(directory_ / "model.hia", model("f32(1 / (word - 1))"));
  // The larger tree is the first part's.
  const std::vector<Tree> trees =
      read_trees(std::make_shared<const Source>("trees.txt", "(1 (0 a) (0 a))\n(1 b)\n")).trees;
  const std::string message = error_of<net::ProcessFailure>([&] {
    in_processes(2, [&](net::Transport& transport) {
      SharedBatches sharing(transport, nullptr);
      TreeModel own = model_of(2);
      own.share(sharing);
      own.step(trees, kStep);
    });
  });
  EXPECT_THAT(message, AllOf(HasSubstr("division by zero"), HasSubstr("for the tree in line 2 of the data"),
                             HasSubstr("(process 1 (")));
}

/// Also by a process that has only other elements of it.
TEST_F(SharedBatchesTest, AGradientThatIsNotFiniteIsNamed) {
  write_file(directory_ / "model.hia", model("sum(sqrt(0.0 * W))"));
  for (const int processes : {1, 2, 3}) {
    std::atomic<int> named = 0;
    const std::string message = error_of<Error>([&] {
      in_processes(processes, [&](net::Transport& transport) {
        SharedBatches sharing(transport, nullptr);
        TreeModel own = model_of(4);
        own.share(sharing);
        try {
          Settings of_this = settings(1, fmt::format("out{}", processes), false);
          of_this.read_only = transport.self() != 0;
          own.train(trees_, dev_, of_this);
        } catch (const ProgramError& error) {
          EXPECT_THAT(
              error.what(),
              HasSubstr("the gradient of 'W' is not finite in step 1 (epoch 1), for the tree in line"));
          ++named;
          throw;
        }
      });
    });
    EXPECT_THAT(message, HasSubstr("the gradient of 'W' is not finite"));
    EXPECT_GE(named, 1);  // others may hear of the first one that ends before they find it themselves
  }
}

TEST_F(SharedBatchesTest, MoreProcessesThanPartsAreRefused) {
  EXPECT_THAT(error_of<Error>([&] {
                in_processes(3, [&](net::Transport& transport) {
                  SharedBatches sharing(transport, nullptr);
                  model_of(2).share(sharing);
                });
              }),
              HasSubstr("expected at most 2 processes, as many as a batch has parts (--parts), found 3"));
}

TEST_F(SharedBatchesTest, DamagedGradientsAreErrors) {
  const std::vector<graph::Parameter> parameters{{"E", Type(DType::F32, {{6, ""}, {2, ""}}), {}},
                                                 {"V", Type(DType::F32, {{3, ""}, {5, ""}}), {}}};
  Gradients sums(parameters);
  sums.touch(0, 4);
  sums.touch(0, 1);
  sums.dense(1);
  GradientExchange writer(2, 2, 1, sums);
  std::array<net::ByteWriter, 2> written;
  const net::ByteWriter& out = written[0];
  const SubtreeSum own{{1, 2}, &sums};
  writer.write_parts(std::span(&own, 1), written);
  std::vector<std::byte> good(out.size());
  out.copy_to(good.data());
  std::mt19937 random(1);
  int refused = 0;
  for (int i = 0; i < 2000; ++i) {
    std::vector<std::byte> bytes = good;
    bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    bytes.resize(bytes.size() - (i % 3 == 0 ? random() % bytes.size() : 0));
    Gradients into(parameters);
    GradientExchange exchange(2, 2, 0, into);
    net::ByteReader in(bytes, "a message");
    try {
      exchange.read_parts(1, in);
      in.require_end();
    } catch (const ProgramError& error) {
      ++refused;
      EXPECT_THAT(error.what(), HasSubstr("a message, byte"));
    }
  }
  EXPECT_GT(refused, 600);
}

/// The squares of parameters divided by elements and by rows, and their new values.
TEST_F(SharedBatchesTest, DamagedUpdatesAreErrors) {
  const std::vector<graph::Parameter> parameters{{"W", Type(DType::F32, {{40, ""}, {50, ""}}), {}},
                                                 {"E", Type(DType::F32, {{9, ""}, {2, ""}}), {}}};
  std::vector<ParameterValues> values{{"W", {40, 50}, std::vector<float>(2000, 1)},
                                      {"E", {9, 2}, std::vector<float>(18, 1)}};
  const std::vector<DividedBy> divided{DividedBy::Elements, DividedBy::Rows};
  Gradients own(parameters);
  std::fill_n(own.dense(0).mutable_data<float>(), 2000, 1.0F);
  for (const int64_t row : {5, 2, 3, 7}) {
    own.touch(1, row);
    std::fill_n(own.values(1).mutable_data<float>() + 2 * row, 2, static_cast<float>(row));
  }
  const auto exchange_of = [&](std::size_t self, Gradients& sums) {
    return GradientExchange(2, 2, self, sums, 1, {}, divided);
  };
  const auto give_parts = [&](GradientExchange& from, std::size_t self, GradientExchange& to) {
    const SubtreeSum subtree{{self, self + 1}, &own};
    std::array<net::ByteWriter, 2> out;
    from.write_parts(std::span(&subtree, 1), out);
    auto bytes = std::make_unique<std::vector<std::byte>>(out[1 - self].size());
    out[1 - self].copy_to(bytes->data());
    net::ByteReader in(*bytes, "a message");
    to.read_parts(self, in);
    return bytes;
  };
  Gradients sums_0(parameters);
  Gradients sums_1(parameters);
  GradientExchange first = exchange_of(0, sums_0);
  GradientExchange second = exchange_of(1, sums_1);
  const auto parts_0 = give_parts(first, 0, second);
  const auto parts_1 = give_parts(second, 1, first);
  const SubtreeSum subtrees[] = {{{0, 1}, &own}, {{1, 2}, &own}};
  first.take_own({&subtrees[0], 1});
  second.take_own({&subtrees[1], 1});
  first.add_up();
  second.add_up();
  EXPECT_EQ(first.own_elements(0), (PartRange{0, 1024}));
  EXPECT_EQ(second.own_elements(0), (PartRange{1024, 2000}));
  EXPECT_EQ(sums_0[1].rows, (std::vector<int64_t>{2}));
  EXPECT_EQ(sums_1[1].rows, (std::vector<int64_t>{3, 5, 7}));
  EXPECT_EQ(sums_1[1].values.data<float>()[11], 10);
  EXPECT_TRUE(first.are_small() && first.may_exchange_sums_later());
  net::ByteWriter sums;
  second.write_sums(0, sums);
  net::ByteWriter updates;
  second.write_updates(values, updates);
  for (const net::ByteWriter* written : {&sums, &updates}) {
    std::vector<std::byte> bytes(written->size());
    written->copy_to(bytes.data());
    for (std::size_t size = 0; size <= bytes.size(); ++size) {
      const std::span<const std::byte> some(bytes.data(), size);
      net::ByteReader in(some, "a message");
      GradientExchange copy = first;
      GradientExchange& into = size == bytes.size() ? first : copy;
      const auto read = [&] {
        written == &sums ? into.read_sums(1, in) : into.read_updates(1, values, in);
        in.require_end();
      };
      if (size == bytes.size()) {
        EXPECT_NO_THROW(read());
      } else {
        EXPECT_THAT(error_of<ProgramError>(read), HasSubstr("a message, byte"));
      }
    }
  }
  EXPECT_EQ(first.squares(0), 8000);  // each element is 2
  EXPECT_EQ(first.squares(1), 8 * (2 * 2 + 3 * 3 + 5 * 5 + 7 * 7));
}

/// What is so large that its sum might not be finite is told to all before any of them changes a parameter.
TEST_F(SharedBatchesTest, LargeGradientsAreToldOf) {
  const std::vector<graph::Parameter> parameters{{"W", Type(DType::F32, {{40, ""}, {50, ""}}), {}},
                                                 {"E", Type(DType::F32, {{9, ""}, {2, ""}}), {}}};
  const std::vector<DividedBy> divided{DividedBy::Elements, DividedBy::Rows};
  for (const float large : {1.0F, -1e29F, 1e31F, -1e31F, INFINITY, NAN}) {
    for (const std::size_t parameter : {0, 1}) {
      Gradients own(parameters);
      Gradients sums(parameters);
      own.dense(0);
      own.touch(1, 4);
      own.values(parameter).mutable_data<float>()[parameter == 0 ? 1999 : 9] = large;
      GradientExchange writer(2, 2, 1, sums, 1, {}, divided);
      GradientExchange reader(2, 2, 0, sums, 1, {}, divided);
      std::array<net::ByteWriter, 2> out;
      const SubtreeSum subtree{{1, 2}, &own};
      writer.write_parts(std::span(&subtree, 1), out);
      std::vector<std::byte> bytes(out[0].size());
      out[0].copy_to(bytes.data());
      net::ByteReader in(bytes, "a message");
      reader.read_parts(1, in);
      EXPECT_EQ(reader.are_small(), std::abs(large) < 1e30F) << large;
      EXPECT_EQ(writer.are_small(), reader.are_small());
    }
  }
}

TEST_F(SharedBatchesTest, DamagedGradientsThatGoAheadAreErrors) {
  const std::vector<graph::Parameter> parameters{{"E", Type(DType::F32, {{6, ""}, {2, ""}}), {}},
                                                 {"V", Type(DType::F32, {{3, ""}, {5, ""}}), {}}};
  Gradients sums(parameters);
  sums.touch(0, 4);
  sums.dense(1);
  GradientExchange writer(2, 2, 1, sums);
  for (const std::size_t parameter : {0, 1}) writer.set_early(parameter);
  const SubtreeSum own{{1, 2}, &sums};
  std::array<net::ByteWriter, 2> parts;
  writer.write_parts(std::span(&own, 1), parts);
  std::mt19937 random(1);
  int refused = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::size_t parameter = i % 2;
    std::array<net::ByteWriter, 2> out;
    writer.write_early(sums, parameter, out);
    std::vector<std::byte> bytes(out[0].size());
    out[0].copy_to(bytes.data());
    bytes[random() % 2 == 0 ? 0 : random() % bytes.size()] = static_cast<std::byte>(random());
    bytes.resize(bytes.size() - (i % 3 == 0 ? random() % bytes.size() : 0));
    Gradients into(parameters);
    GradientExchange exchange(2, 2, 0, into);
    net::ByteReader told(parts[0].bytes(), "a message");
    exchange.read_parts(1, told);
    EXPECT_EQ(exchange.early_to_come(), 2);
    net::ByteReader in(bytes, "a message");
    try {
      exchange.read_early(1, parameter, in);
    } catch (const ProgramError& error) {
      ++refused;
      EXPECT_THAT(error.what(), HasSubstr("a message, byte"));
    }
  }
  EXPECT_GT(refused, 600);
}

}  // namespace
}  // namespace hiaton::train
