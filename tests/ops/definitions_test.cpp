// Operations on tensors beside their definitions.
#include "ops/definitions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "ops/cases.h"
#include "ops/run_op.h"

namespace hiaton {
namespace {

void expect_defined(const OpDef& op, const Definition& definition, const std::vector<Value>& operands,
                    const Index& attributes) {
  const Outcome outcome = run_op(op, operands, attributes);
  ASSERT_EQ(outcome.fault, Fault::None) << text_of(op, operands);
  const Array found = array_of(outcome.value);
  std::vector<Array> in;
  for (const Value& operand : operands) in.push_back(array_of(operand));
  const double rounding = operands[0].dtype() == DType::F32 ? 1e-5 : 1e-12;
  for_each_index(found.dims, [&](const Index& index) {
    const double expected = definition({in, attributes, index});
    const double element = found.at(index);
    const bool agrees = element == expected || (std::isnan(element) && std::isnan(expected)) ||
                        std::abs(element - expected) <= rounding * std::max(1.0, std::abs(expected));
    EXPECT_TRUE(agrees) << text_of(op, operands) << " gave " << to_string(outcome.value) << "; expected "
                        << expected << " there";
  });
}

class Defined : public testing::TestWithParam<std::string_view> {};

TEST_P(Defined, IsWhatItsDefinitionGivesAtEachPlace) {
  const OpDef& op = *catalog().find(GetParam());
  const Definition& definition = definitions().at(GetParam());
  std::size_t count = 0;
  for (const DType dtype : {DType::F64, DType::F32}) {
    for (const OpCase& of : cases_of(op, dtype)) {
      for (uint64_t seed = 1; seed <= 20; ++seed, ++count)
        expect_defined(op, definition, Draw(seed).operands(of), of.attributes);
    }
  }
  EXPECT_GT(count, 0u);
}

INSTANTIATE_TEST_SUITE_P(Operations, Defined, testing::ValuesIn([] {
                           std::vector<std::string_view> names;
                           for (const auto& definition : definitions()) names.push_back(definition.first);
                           return names;
                         }()),
                         [](const testing::TestParamInfo<std::string_view>& info) {
                           return std::string(info.param);
                         });

/// Lines in which elements are equal, infinite or no numbers.
TEST(Ordering, TakesEqualElementsInTheirOrderAndPutsNanLast) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<double> few = {2, nan, -inf, 1, 2, 1, inf, -0.0, 0.0};
  uint64_t state = 1;
  for (int round = 0; round < 200; ++round) {
    Tensor line(DType::F64, {8});
    for (int64_t i = 0; i < line.size(); ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      line.mutable_data<double>()[i] = few[(state >> 33) % few.size()];
    }
    for (const std::string_view name : {"sort", "argsort"}) {
      for (const int64_t descending : {0, 1})
        expect_defined(*catalog().find(name), definitions().at(name), {line}, {descending, -1});
    }
  }
}

/// How often each number was drawn, beside how often it should be: a chi-squared test, which random numbers
/// of such a distribution pass but once in a million times.
void expect_drawn(const std::vector<int64_t>& counts, const std::vector<double>& probabilities) {
  const double draws = static_cast<double>(std::accumulate(counts.begin(), counts.end(), int64_t{0}));
  double distance = 0;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    const double expected = draws * probabilities[k];
    distance +=
        (static_cast<double>(counts[k]) - expected) * (static_cast<double>(counts[k]) - expected) / expected;
  }
  const double freedom = static_cast<double>(counts.size() - 1);
  EXPECT_LT(distance, freedom + 5 * std::sqrt(2 * freedom) + 12);
}

TEST(Drawn, CategoriesHaveTheProbabilitiesOfTheirLogits) {
  constexpr int64_t kRows = 20000;
  const std::vector<double> logits = {0.5, -1, 2, 0};
  Tensor rows(DType::F64, {kRows, 4});
  for (int64_t i = 0; i < rows.size(); ++i)
    rows.mutable_data<double>()[i] = logits[static_cast<std::size_t>(i % 4)];
  const Array drawn = array_of(run_op(*catalog().find("categorical"), {rows, Value(int64_t{7})}).value);
  ASSERT_EQ(drawn.dims, Index{kRows});
  std::vector<int64_t> counts(4);
  for (const double k : drawn.elements) ++counts.at(static_cast<std::size_t>(k));
  std::vector<double> probabilities;
  for (const double logit : logits) probabilities.push_back(std::exp(logit - logsumexp(logits)));
  expect_drawn(counts, probabilities);
}

TEST(Drawn, LogUniformNumbersHaveTheProbabilitiesOfTheirRanks) {
  constexpr int64_t kLimit = 9;
  const Array drawn =
      array_of(run_op(*catalog().find("log_uniform"), {Value(int64_t{3})}, {kLimit, 200, 100}).value);
  ASSERT_EQ(drawn.dims, (Index{200, 100}));
  std::vector<int64_t> counts(kLimit);
  for (const double k : drawn.elements) ++counts.at(static_cast<std::size_t>(k));
  std::vector<double> probabilities;
  for (double k = 0; k < kLimit; ++k)
    probabilities.push_back(std::log((k + 2) / (k + 1)) / std::log(static_cast<double>(kLimit) + 1));
  expect_drawn(counts, probabilities);
}

}  // namespace
}  // namespace hiaton
