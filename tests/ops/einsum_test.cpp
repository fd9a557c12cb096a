// einsum beside one loop over every element of every axis.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <random>

#include "hiaton/op.h"
#include "hiaton/tensor.h"
#include "ops/run_op.h"

namespace hiaton {
namespace {

constexpr std::array<int64_t, 5> kSizes{2, 3, 1, 4, 2};
constexpr int64_t kSeparator = -1;

using Labels = std::vector<int64_t>;

Value random_tensor(const Labels& labels, std::mt19937& random) {
  std::vector<int64_t> dims;
  for (const int64_t label : labels) dims.push_back(kSizes[static_cast<std::size_t>(label)]);
  Tensor made(DType::F64, dims);
  for (int64_t i = 0; i < made.size(); ++i)
    made.mutable_data<double>()[i] = static_cast<double>(random() % 7) - 3;
  return made;
}

/// Where in a tensor of these axes the element stands that `index` names by label.
std::size_t place(const Labels& labels, const std::array<int64_t, 5>& index) {
  int64_t at = 0;
  for (const int64_t label : labels)
    at = at * kSizes[static_cast<std::size_t>(label)] + index[static_cast<std::size_t>(label)];
  return static_cast<std::size_t>(at);
}

/// Sums over all labels that an operand has.
std::vector<double> looped(const std::vector<Labels>& operands, const std::vector<Value>& values,
                           const Labels& result) {
  int64_t size = 1;
  for (const int64_t label : result) size *= kSizes[static_cast<std::size_t>(label)];
  std::vector<double> out(static_cast<std::size_t>(size), 0);
  std::array<bool, 5> is_used{};
  for (const Labels& labels : operands) {
    for (const int64_t label : labels) is_used[static_cast<std::size_t>(label)] = true;
  }
  std::array<int64_t, 5> index{};
  const std::function<void(std::size_t)> loop = [&](std::size_t label) {
    if (label == kSizes.size()) {
      double product = 1;
      for (std::size_t i = 0; i < operands.size(); ++i)
        product *= values[i].tensor().data<double>()[place(operands[i], index)];
      out[place(result, index)] += product;
      return;
    }
    for (index[label] = 0; index[label] < (is_used[label] ? kSizes[label] : 1); ++index[label])
      loop(label + 1);
    index[label] = 0;
  };
  loop(0);
  return out;
}

TEST(Einsum, IsTheSumOverEveryElementOfEveryAxis) {
  const OpDef& einsum = *catalog().find("einsum");
  for (unsigned seed = 0; seed < 500; ++seed) {
    std::mt19937 random(seed);
    std::vector<Labels> operands(1 + random() % 3);
    Labels all;
    Labels subscripts;
    for (Labels& labels : operands) {
      labels.resize(1 + random() % 3);
      for (int64_t& label : labels) label = static_cast<int64_t>(random() % kSizes.size());
      all.insert(all.end(), labels.begin(), labels.end());
      subscripts.insert(subscripts.end(), labels.begin(), labels.end());
      subscripts.push_back(kSeparator);
    }
    Labels result(1 + random() % 3);
    for (int64_t& label : result) label = all[random() % all.size()];
    subscripts.insert(subscripts.end(), result.begin(), result.end());
    std::vector<Value> values;
    for (const Labels& labels : operands) values.push_back(random_tensor(labels, random));
    const Outcome outcome = run_op(einsum, values, subscripts);
    ASSERT_EQ(outcome.fault, Fault::None);
    const Tensor found = outcome.value.tensor();
    const std::vector<double> expected = looped(operands, values, result);
    ASSERT_EQ(std::vector<double>(found.data<double>(), found.data<double>() + found.size()), expected)
        << "seed " << seed;
  }
}

TEST(Einsum, SubscriptsAreReadFromLetters) {
  const auto read = [](std::string_view text) {
    const Attributes attributes = einsum_subscripts(text);
    return Labels(attributes.begin(), attributes.end());
  };
  EXPECT_EQ(read("bij, bjk -> bik"), (Labels{0, 1, 2, -1, 0, 2, 3, -1, 0, 1, 3}));
  EXPECT_EQ(read("ba,cb"), (Labels{0, 1, -1, 2, 0, -1, 1, 2}));
  EXPECT_EQ(read("ii"), (Labels{0, 0, -1}));
  EXPECT_THROW(read("i1,i->"), ProgramError);
  EXPECT_THROW(read("i>"), ProgramError);
}

}  // namespace
}  // namespace hiaton
