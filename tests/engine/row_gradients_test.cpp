// Gradients of tables whose rows a program reads by a tensor of numbers, or whose elements it reads: those of
// a table that is read as a whole, and no more than the rows that were read is touched.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/all_ways.h"
#include "hiaton/model.h"

namespace hiaton {
namespace {

using Lists = std::vector<std::vector<Value>>;

/// Reads rows and elements of `table` and of `numbers`, some of them twice, in a recursion.
Model model_over(const std::string& table, const std::string& numbers) {
  return Model::from_text("model.hia",
                          "param E: f64[9, 2, 3] = normal(1.0)\n"
                          "param b: f64[9] = normal(1.0)\n"
                          "fn cost(x: f64[2, 2, 2, 3], y: f64[2, 2]) -> f64 = sum(sin(x) * x) + sum(y * y)\n"
                          "fn loss(n: i64) -> f64 =\n"
                          "  let ids = [[n % 3, 7], [(n * n) % 3, n % 3]]\n"
                          "  if n <= 0 then sum(gather(" +
                              table + ", [8])) else cost(gather(" + table + ", ids), gather(" + numbers +
                              ", ids)) + at(" + table + ", n % 3, 1, 2) * at(" + table +
                              ", 7, n % 2)[0] * at(" + numbers + ", 7) + loss(n - 3)\n");
}
const Model& by_rows() {
  static const Model model = model_over("E", "b");
  return model;
}
/// What is gathered from is no parameter, so that the gradients are dense.
const Model& by_tables() {
  static const Model model = model_over("(0.5 * (E + E))", "(0.5 * (b + b))");
  return model;
}

const Lists kExamples = {{int64_t{0}}, {int64_t{3}}, {int64_t{8}}, {int64_t{5}}, {int64_t{11}}};

Gradients gradients_of(const Model& model, const Lists& examples, RunOptions options) {
  const std::vector<Value> parameters = model.initial_parameters(1);
  Gradients gradients(model.parameters());
  options.parameters = parameters;
  options.gradients = &gradients;
  RunStats stats;
  options.stats = &stats;
  model.loss(examples, options);
  EXPECT_EQ(stats.fallback, "");
  return gradients;
}

double sum_of_losses(const Model& model, const std::vector<Value>& parameters) {
  double sum = 0;
  for (const std::vector<Value>& results : model.loss(kExamples, {.parameters = parameters}))
    sum += results[0].as<double>();
  return sum;
}

std::vector<double> elements_of(const Tensor& tensor) {
  return {tensor.data<double>(), tensor.data<double>() + tensor.size()};
}

std::vector<int64_t> sorted(std::vector<int64_t> rows) {
  std::ranges::sort(rows);
  return rows;
}

TEST(RowGradients, AreThoseOfDenseTablesInAllWays) {
  const Gradients expected = gradients_of(by_tables(), kExamples, {.executor = Executor::Reference});
  for (const RunOptions& way : all_ways()) {
    const Gradients found = gradients_of(by_rows(), kExamples, way);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_TRUE(expected[i].dense);
      EXPECT_FALSE(found[i].dense);
      EXPECT_THAT(elements_of(found[i].values),
                  testing::Pointwise(testing::DoubleNear(1e-12), elements_of(expected[i].values)));
    }
    EXPECT_THAT(sorted(found[0].rows), testing::ElementsAre(0, 1, 2, 7, 8));
    EXPECT_THAT(sorted(found[1].rows), testing::ElementsAre(0, 1, 2, 7));
  }
}

TEST(RowGradients, AreSlopes) {
  const Model& model = by_rows();
  const Gradients gradients = gradients_of(model, kExamples, {});
  const std::vector<Value> parameters = model.initial_parameters(1);
  constexpr double kStep = 1e-5;
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    const Tensor before = parameters[p].tensor();
    for (int64_t i = 0; i < before.size(); ++i) {
      const auto loss_with = [&](double step) {
        Tensor changed = Tensor::uninitialized(DType::F64, before.dims());
        std::copy_n(before.data<double>(), before.size(), changed.mutable_data<double>());
        changed.mutable_data<double>()[i] += step;
        std::vector<Value> moved = parameters;
        moved[p] = changed;
        return sum_of_losses(model, moved);
      };
      EXPECT_NEAR(gradients[p].values.data<double>()[i], (loss_with(kStep) - loss_with(-kStep)) / (2 * kStep),
                  1e-6)
          << "parameter " << p << ", element " << i;
    }
  }
}

TEST(RowGradients, OfSeveralWorkersHaveTheSameBits) {
  const Gradients expected = gradients_of(by_rows(), kExamples, {.parts = 2});
  for (const int workers : {2, 3}) {
    const Gradients found = gradients_of(by_rows(), kExamples, {.workers = workers, .parts = 2});
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_EQ(elements_of(found[i].values), elements_of(expected[i].values));
  }
}

TEST(RowGradients, TakeNoMemoryForRowsThatAreNotRead) {
  const Model model = Model::from_text("model.hia",
                                       "param E: f32[1000000, 8] = zeros\n"
                                       "fn loss(n: i64) -> f32 =\n"
                                       "  let x = gather(E, [n, 5, 999_999])\n"
                                       "  sum((x + 1) * (x + 1))\n");
  const std::vector<Value> parameters = model.initial_parameters(1);
  Gradients gradients(model.parameters());
  RunStats stats;
  const Lists examples = {{int64_t{7}}, {int64_t{400'000}}};
  model.loss(examples, {.stats = &stats, .parameters = parameters, .gradients = &gradients});
  EXPECT_FALSE(gradients[0].dense);
  EXPECT_THAT(sorted(gradients[0].rows), testing::ElementsAre(5, 7, 400'000, 999'999));
  EXPECT_EQ(gradients[0].values.data<float>()[5 * 8], 4.0F);
  EXPECT_LT(stats.bytes, 4'000'000u);  // the table takes 32 MB
}

/// The gradient of a sum depends on no row, so that nothing but the gather itself ends the run.
TEST(RowGradients, OfRowsThatTheTableHasNotFailAsTheGatherDoes) {
  for (const char* numbers : {"n", "[n]", "[0, n, 1]"}) {
    const Model model = Model::from_text("model.hia", std::string("param E: f64[4, 2] = ones\n"
                                                                  "fn loss(n: i64) -> f64 = sum(gather(E, ") +
                                                          numbers + "))\n");
    const std::vector<Value> parameters = model.initial_parameters(1);
    for (const int64_t row : {int64_t{-1}, int64_t{4}, int64_t{1} << 40}) {
      for (RunOptions way : all_ways()) {
        Gradients gradients(model.parameters());
        way.parameters = parameters;
        way.gradients = &gradients;
        const Lists examples = {{row}};
        try {
          model.loss(examples, way);
          ADD_FAILURE() << "row " << row << " was found by gather(E, " << numbers << ")";
        } catch (const RunError& error) {
          EXPECT_EQ(error.fault(), Fault::Index);
        }
      }
    }
  }
}

}  // namespace
}  // namespace hiaton
