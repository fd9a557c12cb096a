// Operations applied at once, outside of any program.
#include "hiaton/apply.h"

#include <gmock/gmock.h>

#include <vector>

namespace hiaton {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

bool applies(const OpDef& op) {
  return op.fusion.value != Fusion::Data && !op.takes_type;
}

TEST(ApplyOperation, GivesWhatTheSamplesOfTheCatalogueSay) {
  int tried = 0;
  for (const OpDef* op : catalog().all()) {
    if (!applies(*op)) continue;
    for (const Sample& sample : op->samples.value) {
      const Value result = apply_operation(*op, sample.operands, sample.attributes);
      EXPECT_EQ(result, sample.result)
          << op->name.value << ": expected " << to_string(sample.result) << ", found " << to_string(result);
      ++tried;
    }
  }
  EXPECT_GT(tried, 100);
}

TEST(ApplyOperation, SaysWhichOperationRefusesWhat) {
  const auto apply = [](std::string_view name, const std::vector<Value>& operands,
                        const std::vector<int64_t>& attributes = {}) {
    return apply_operation(*catalog().find(name), operands, attributes);
  };
  const Tensor row(DType::F32, {3});
  const Tensor matrix(DType::F32, {2, 2});
  EXPECT_THAT([&] { apply("add", {row, matrix}); }, ThrowsMessage<ProgramError>(HasSubstr("add: expected")));
  EXPECT_THAT([&] { apply("add", {row}); }, ThrowsMessage<ProgramError>("add: expected 2 operands, found 1"));
  EXPECT_THAT(
      [&] {
        apply("softmax", {row}, {0, 1});
      },
      ThrowsMessage<ProgramError>("softmax: expected 1 attributes, found 2"));
  EXPECT_THAT([&] { apply("variant", {row}); },
              ThrowsMessage<ProgramError>(HasSubstr("numbers and tensors")));
}

TEST(ApplyOperation, FailsAsARunDoes) {
  const OpDef& div = *catalog().find("div");
  const OpDef& mul = *catalog().find("mul");
  const std::vector<Value> by_zero = {Value(int64_t{7}), Value(int64_t{0})};
  const std::vector<Value> large = {Value(int64_t{1} << 62), Value(int64_t{4})};
  EXPECT_THAT([&] { apply_operation(div, by_zero); }, ThrowsMessage<RunError>("division by zero: 7 / 0"));
  EXPECT_EQ(apply_operation(mul, large), Value(int64_t{0}));
  const std::array strings{Value("a"), Value("b")};
  EXPECT_THAT([&] { apply_operation(mul, strings); },
              ThrowsMessage<ProgramError>("mul: expected numbers or tensors, found a data value"));
  EXPECT_THAT([&] { apply_operation(mul, large, {}, OverflowMode::Trap); },
              ThrowsMessage<RunError>(HasSubstr("does not fit i64")));
  EXPECT_THAT(
      [&] {
        apply_operation(*catalog().find("gather"),
                        std::vector<Value>{Tensor(DType::F32, {2, 2}), Value(int64_t{2})});
      },
      ThrowsMessage<RunError>(HasSubstr("index out of range")));
}

}  // namespace
}  // namespace hiaton
