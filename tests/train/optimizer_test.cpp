#include "hiaton/optimizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "directory.h"
#include "hiaton/error.h"
#include "hiaton/thread_pool.h"
#include "train/gradient.h"
#include "train/random_stream.h"
#include "train/update_loops.h"

namespace hiaton::train {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::size_t kRows = 7;
constexpr std::size_t kWidth = 5;

std::vector<float> random_values(std::size_t count, uint64_t seed) {
  Random random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.below(2001)) / 1000 - 1;
  return values;
}

std::vector<ParameterValues> parameters() {
  return {{"E", {kRows, kWidth}, random_values(kRows * kWidth, 1)}};
}

/// A gradient with its memory.
struct Given : Gradient {
  explicit Given(std::vector<float> of) : memory(std::move(of)) { values = memory; }
  Given(std::vector<float> of, std::vector<int64_t> which) : Given(std::move(of)) {
    sparse = true;
    rows = std::move(which);
  }
  Given(const Given&) = delete;
  std::span<const Gradient> alone() const { return {static_cast<const Gradient*>(this), 1}; }

  std::vector<float> memory;
};

Given dense(uint64_t seed) {
  return Given(random_values(kRows * kWidth, seed));
}

/// The rules as the literature writes them, one element at a time in double precision.
struct Naive {
  OptimizerSettings settings;
  std::vector<double> w, a, b;
  int t = 0;

  template <class T>
  Naive(const OptimizerSettings& of, const std::vector<T>& values)
      : settings(of), w(values.begin(), values.end()), a(w.size()), b(w.size()) {}

  template <class T>
  void step(std::span<const T> gradient, double rate, double scale) {
    ++t;
    for (std::size_t i = 0; i < w.size(); ++i) {
      if (settings.kind == OptimizerKind::AdamW) w[i] *= 1 - rate * settings.weight_decay;
      const double g = scale * gradient[i] + settings.l2 * w[i];
      if (settings.kind == OptimizerKind::Sgd) {
        a[i] = settings.momentum * a[i] + g;
        w[i] -= rate * a[i];
      } else if (settings.kind == OptimizerKind::Adagrad) {
        a[i] += g * g;
        w[i] -= rate * g / (std::sqrt(a[i]) + settings.epsilon);
      } else if (settings.kind == OptimizerKind::RmsProp) {
        a[i] = settings.rho * a[i] + (1 - settings.rho) * g * g;
        b[i] = settings.momentum * b[i] + g / (std::sqrt(a[i]) + settings.epsilon);
        w[i] -= rate * b[i];
      } else {
        a[i] = settings.beta1 * a[i] + (1 - settings.beta1) * g;
        b[i] = settings.beta2 * b[i] + (1 - settings.beta2) * g * g;
        const double mean = a[i] / (1 - std::pow(settings.beta1, t));
        const double square = b[i] / (1 - std::pow(settings.beta2, t));
        w[i] -= rate * mean / (std::sqrt(square) + settings.epsilon);
      }
    }
  }
};

const std::vector<OptimizerSettings>& all_rules() {
  static const std::vector<OptimizerSettings> rules = {
      {.kind = OptimizerKind::Sgd},
      {.kind = OptimizerKind::Sgd, .l2 = 0.01},
      {.kind = OptimizerKind::Sgd, .momentum = 0.9},
      {.kind = OptimizerKind::Adagrad, .l2 = 0.001},
      {.kind = OptimizerKind::Adam},
      {.kind = OptimizerKind::Adam, .beta1 = 0.8, .beta2 = 0.99, .epsilon = 1e-6, .l2 = 0.1},
      {.kind = OptimizerKind::RmsProp},
      {.kind = OptimizerKind::RmsProp, .momentum = 0.9, .rho = 0.99, .epsilon = 1e-6, .l2 = 0.01},
      {.kind = OptimizerKind::AdamW},
      {.kind = OptimizerKind::AdamW, .beta1 = 0.8, .epsilon = 1e-6, .weight_decay = 0.3},
  };
  return rules;
}

TEST(OptimizerTest, FollowsTheRulesOfTheLiterature) {
  for (const OptimizerSettings& settings : all_rules()) {
    std::vector<ParameterValues> learned = parameters();
    Optimizer optimizer(settings, learned);
    Naive naive(settings, learned[0].values.floats());
    for (uint64_t step = 0; step < 20; ++step) {
      const Given gradient = dense(step + 10);
      optimizer.step(learned, gradient.alone(), 0.05, 0.5);
      naive.step<float>(gradient.memory, 0.05, 0.5);
    }
    for (std::size_t i = 0; i < naive.w.size(); ++i)
      EXPECT_NEAR(learned[0].values.floats()[i], naive.w[i], 2e-5) << i;
  }
}

TEST(OptimizerTest, ParametersOfF64AreUpdatedInDoublePrecision) {
  for (const OptimizerSettings& settings : all_rules()) {
    const std::vector<float> first = random_values(kRows * kWidth, 1);
    std::vector<ParameterValues> learned = {
        {"E", {kRows, kWidth}, std::vector<double>(first.begin(), first.end())}};
    Optimizer optimizer(settings, learned);
    Naive naive(settings, learned[0].values.doubles());
    for (uint64_t step = 0; step < 20; ++step) {
      const std::vector<float> numbers = random_values(kRows * kWidth, step + 10);
      std::vector<double> elements(numbers.begin(), numbers.end());
      const Gradient gradient{false, std::span(elements), {}};
      optimizer.step(learned, {&gradient, 1}, 0.05, 0.5);
      naive.step<double>(elements, 0.05, 0.5);
    }
    for (std::size_t i = 0; i < naive.w.size(); ++i)
      EXPECT_NEAR(learned[0].values.doubles()[i], naive.w[i], 1e-13) << i;
  }
}

TEST(OptimizerTest, RowsAreUpdatedAsInADenseStepAndOthersStayAsTheyAre) {
  for (const OptimizerSettings& settings : all_rules()) {
    std::vector<ParameterValues> with_rows = parameters();
    std::vector<ParameterValues> with_all = parameters();
    const std::vector<float> before = with_rows[0].values.floats();
    Optimizer rows_optimizer(settings, with_rows);
    Optimizer all_optimizer(settings, with_all);
    for (uint64_t step = 0; step < 3; ++step) {
      const Given all = dense(step + 10);
      const Given rows(all.memory, {1, 4});
      rows_optimizer.step(with_rows, rows.alone(), 0.05, 1);
      all_optimizer.step(with_all, all.alone(), 0.05, 1);
    }
    for (std::size_t i = 0; i < before.size(); ++i) {
      const bool touched = i / kWidth == 1 || i / kWidth == 4;
      EXPECT_EQ(with_rows[0].values.floats()[i], touched ? with_all[0].values.floats()[i] : before[i]);
      for (const OptimizerSlot& slot : rows_optimizer.slots()) {
        if (touched) continue;
        EXPECT_EQ(slot.values[0].floats()[i], 0) << slot.name;
      }
    }
  }
}

TEST(OptimizerTest, RefusesWhatItWasNotMadeFor) {
  std::vector<ParameterValues> trained = parameters();
  Optimizer optimizer({}, trained);
  const Given given = dense(2);
  const Given small({1, 2, 3});
  const auto error = [&](std::vector<ParameterValues> of, std::span<const Gradient> gradients) {
    return error_of<ProgramError>([&] { optimizer.step(of, gradients, 0.1, 1); });
  };
  EXPECT_EQ(error(trained, {}), "expected a gradient for each of 1 parameters, found 0");
  EXPECT_EQ(error(trained, small.alone()),
            "expected a gradient of the 35 elements of parameter 'E', found 3");
  EXPECT_EQ(error({{"E", {3}, {1, 2, 3}}}, small.alone()),
            "expected a state of the 3 elements of parameter 'E', found 35");
  EXPECT_EQ(optimizer.steps(), 0u);
  EXPECT_THAT(
      error_of<ProgramError>([&] { Optimizer({.beta1 = 2, .epsilon = -1}, trained); }),
      AllOf(HasSubstr("beta1: expected a number from 0 to below 1, found 2"), HasSubstr("epsilon: ")));
}

TEST(OptimizerTest, AThreadPoolGivesTheSameBits) {
  ThreadPool pool(3);
  const std::vector<int64_t> shape = {1000, 101};
  const Given all(random_values(101'000, 5));
  const Given rows(all.memory, {0, 3, 500, 501, 999});
  for (const OptimizerSettings& settings : all_rules()) {
    for (const Given* gradient : {&all, &rows}) {
      std::vector<ParameterValues> alone = {{"E", shape, random_values(101'000, 1)}};
      std::vector<ParameterValues> shared = alone;
      Optimizer one(settings, alone);
      Optimizer several(settings, shared);
      for (int step = 0; step < 3; ++step) {
        one.step(alone, gradient->alone(), 0.05, 1);
        several.step(shared, gradient->alone(), 0.05, 1, &pool);
      }
      EXPECT_EQ(alone[0].values, shared[0].values);
    }
  }
}

TEST(OptimizerTest, GoesOnFromASavedStateWithTheSameBits) {
  for (const OptimizerSettings& settings : all_rules()) {
    std::vector<ParameterValues> learned = parameters();
    Optimizer first(settings, learned);
    const auto steps = [&](Optimizer& optimizer, std::vector<ParameterValues>& of, uint64_t begin,
                           uint64_t end) {
      for (uint64_t step = begin; step < end; ++step) {
        const Given gradient = dense(step);
        optimizer.step(of, gradient.alone(), 0.1, 1);
      }
    };
    steps(first, learned, 0, 5);
    std::vector<ParameterValues> resumed = learned;
    Optimizer second(settings, resumed);
    second.restore(first.slots(), first.steps());
    steps(first, learned, 5, 10);
    steps(second, resumed, 5, 10);
    EXPECT_EQ(learned[0].values, resumed[0].values);
  }
}

TEST(GradientTest, TheNormCountsAllGradients) {
  const std::vector<ParameterValues> two = {{"W", {2}, {0, 0}}, {"E", {4, 1}, std::vector<float>(4)}};
  const Given all({3, 0});
  const Given rows({7, 7, 4, 7}, {2});
  EXPECT_DOUBLE_EQ(norm_of(std::vector<Gradient>{all, rows}, two), 5);
  EXPECT_DOUBLE_EQ(clip_factor(5, 2), 0.4);
  EXPECT_DOUBLE_EQ(clip_factor(5, 6), 1);
  EXPECT_DOUBLE_EQ(clip_factor(5, 0), 1);
}

TEST(GradientTest, TheNormOfHugeGradientsIsFinite) {
  const Given huge({1e38f, 1e38f});
  EXPECT_NEAR(norm_of(huge.alone(), {{"W", {2}, {0, 0}}}) / 1.41421356e38, 1, 1e-6);
}

TEST(GradientTest, NamesTheFirstThatIsNotFinite) {
  const std::vector<ParameterValues> two = {{"W", {2}, {0, 0}}, {"b", {9}, std::vector<float>(9)}};
  const Given first({1, 2});
  Given second(std::vector<float>(9));
  const std::vector<Gradient> gradients = {first, second};
  EXPECT_EQ(first_not_finite(squares_of(gradients, two), two), "");
  for (const std::size_t place : {0u, 8u}) {
    for (const float bad :
         {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
      second.memory.assign(9, 0);
      second.memory[place] = bad;
      EXPECT_EQ(first_not_finite(squares_of(gradients, two), two), "b");
      EXPECT_FALSE(std::isfinite(norm_of(gradients, two)));
    }
  }
}

TEST(GradientTest, RefusesAnotherForm) {
  const std::vector<ParameterValues> learned = parameters();
  const auto error_with = [&](const Gradient& gradient) {
    return error_of<ProgramError>([&] { check_form({&gradient, 1}, learned); });
  };
  EXPECT_EQ(error_with(dense(1)), "");
  const std::vector<float> whole(kRows * kWidth);
  EXPECT_EQ(error_with(Given(whole, {0, kRows - 1})), "");
  EXPECT_EQ(error_with(Given(whole, {})), "");
  EXPECT_THAT(error_with(Given({1, 2})), HasSubstr("gradient of 'E': expected 35 elements, found 2"));
  EXPECT_THAT(error_with(Given({1, 2}, {0})), HasSubstr("gradient of 'E': expected 35 elements, found 2"));
  for (const std::vector<int64_t>& rows : {std::vector<int64_t>{1, 1}, {2, 1}, {-1, 1}, {1, kRows}}) {
    EXPECT_THAT(error_with(Given(whole, rows)), HasSubstr("increasing order"));
  }
}

TEST(ScheduleTest, FollowsItsKind) {
  const auto rates = [](const Schedule& schedule) {
    std::vector<double> at;
    for (const uint64_t step : {0, 5, 10, 15, 20, 25, 39})
      at.push_back(learning_rate_at(schedule, 1, step, 10, 4));
    return at;
  };
  const auto near = [](const std::vector<double>& values) {
    return ::testing::Pointwise(::testing::DoubleNear(1e-6), values);
  };
  EXPECT_THAT(rates({}), near({1, 1, 1, 1, 1, 1, 1}));
  EXPECT_THAT(rates({ScheduleKind::Linear}), near({1, 0.875, 0.75, 0.625, 0.5, 0.375, 0.025}));
  EXPECT_THAT(rates({ScheduleKind::Cosine}),
              near({1, 0.9619398, 0.8535534, 0.6913417, 0.5, 0.3086583, 0.0015413}));
  EXPECT_THAT(rates({ScheduleKind::Step, 0.5, 1}), near({1, 1, 0.5, 0.5, 0.25, 0.25, 0.125}));
  EXPECT_THAT(rates({ScheduleKind::Step, 0.5, 2}), near({1, 1, 1, 1, 0.5, 0.5, 0.5}));
  EXPECT_THAT(rates({ScheduleKind::Exponential, 0.25, 1}),
              near({1, 0.5, 0.25, 0.125, 0.0625, 0.03125, 0.0044871}));
  EXPECT_THAT(rates({ScheduleKind::Exponential, 0.25, 2})[2], ::testing::DoubleNear(0.5, 1e-9));
}

TEST(ScheduleTest, BeginsWithAWarmUp) {
  const auto rates = [](Schedule schedule) {
    schedule.warmup = 4;
    std::vector<double> at;
    for (const uint64_t step : {0, 1, 2, 3, 4, 8, 11, 12})
      at.push_back(learning_rate_at(schedule, 2, step, 6, 2));
    return at;
  };
  const auto near = [](const std::vector<double>& values) {
    return ::testing::Pointwise(::testing::DoubleNear(1e-6), values);
  };
  EXPECT_THAT(rates({}), near({0.5, 1, 1.5, 2, 2, 2, 2, 2}));
  EXPECT_THAT(rates({ScheduleKind::Linear}), near({0.5, 1, 1.5, 2, 2, 1, 0.25, 0}));
  EXPECT_THAT(rates({ScheduleKind::Cosine}), near({0.5, 1, 1.5, 2, 2, 1, 0.0761205, 0}));
  EXPECT_THAT(rates({ScheduleKind::Step, 0.5, 1}), near({0.5, 1, 1.5, 2, 2, 1, 1, 0.5}));
  EXPECT_THAT(rates({ScheduleKind::Exponential, 0.25, 1}),
              near({0.5, 0.793701, 0.944941, 1, 0.793701, 0.31498, 0.157490, 0.125}));
  const Schedule longer{.kind = ScheduleKind::Linear, .warmup = 100};
  EXPECT_DOUBLE_EQ(learning_rate_at(longer, 1, 11, 6, 2), 0.12) << "a warm-up that training never ends";
}

}  // namespace
}  // namespace hiaton::train
