// What must hold for every operation of the catalogue.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "hiaton/op.h"
#include "ops/run_op.h"

namespace hiaton {
namespace {

/// nullopt where the type rule refuses the operands.
std::optional<Type> result_type(const OpDef& op, const std::vector<Type>& operands,
                                const std::vector<int64_t>& attributes = {}) {
  try {
    return op.type_rule.value({.operands = operands, .attributes = attributes});
  } catch (const ProgramError&) {
    return std::nullopt;
  }
}

/// Attributes that go with operands of any shape that the operation takes.
std::vector<int64_t> attributes_of(const OpDef& op) {
  return op.samples.value.empty() ? std::vector<int64_t>() : op.samples.value[0].attributes;
}

Outcome run_kernel(const OpDef& op, const std::vector<Value>& operands, OverflowMode mode) {
  return run_op(op, operands, {}, mode);
}

class AnyOperation : public testing::TestWithParam<const OpDef*> {
 protected:
  const OpDef& op() const { return *GetParam(); }
};

/// One that computes, and does not only make or take apart data values.
class Operation : public AnyOperation {};

TEST_P(AnyOperation, IsDescribed) {
  EXPECT_FALSE(op().doc.value.empty());
  EXPECT_TRUE(op().doc.value.ends_with("."));
  EXPECT_GE(op().arity(), 1u);
  EXPECT_EQ(op().gradient.value.passes(), op().gradient.value.why_none.empty());
  const bool is_data = op().fusion.value == Fusion::Data;
  EXPECT_EQ(op().samples.value.empty(), is_data);
  EXPECT_EQ(op().tensor_kernel.value == nullptr, is_data);
  EXPECT_EQ(op().value_kernel != nullptr, is_data);
}

TEST_P(Operation, SamplesHold) {
  for (const Sample& sample : op().samples.value) {
    const Outcome outcome = run_op(op(), sample.operands, sample.attributes);
    EXPECT_EQ(outcome.fault, Fault::None) << text_of(op(), sample.operands);
    EXPECT_EQ(outcome.value, sample.result)
        << text_of(op(), sample.operands) << " gave " << to_string(outcome.value);
  }
}

TEST_P(Operation, HasAKernelExactlyForTheTypesItsRuleAccepts) {
  for (DType type : kDTypes) {
    const bool takes_scalars = op().takes_attributes(0) || !op().kernels.empty();
    const bool accepted =
        takes_scalars && result_type(op(), std::vector<Type>(op().arity(), type)).has_value();
    EXPECT_EQ(op().find_kernel(type) != nullptr, accepted) << name_of(type);
  }
}

TEST_P(Operation, RefusesOperandsOfDifferentTypes) {
  if (op().arity() != 2 || op().kernels.empty()) return;
  for (DType first : kDTypes) {
    for (DType second : kDTypes) {
      if (first == second) continue;
      const std::vector<Type> types = {first, second};
      EXPECT_FALSE(result_type(op(), types)) << name_of(first) << " and " << name_of(second);
    }
  }
}

TEST_P(Operation, RefusalsSayWhatWasExpectedAndFound) {
  for (DType type : kDTypes) {
    const std::vector<Type> types(op().arity(), type);
    try {
      op().type_rule.value({.operands = types, .attributes = attributes_of(op())});
    } catch (const ProgramError& error) {
      const std::string message = error.what();
      EXPECT_TRUE(message.starts_with("expected ")) << message;
      EXPECT_NE(message.find("found " + to_string(Type(type))), std::string::npos) << message;
    }
  }
}

// The operands on which kernels are compared with another way to compute.

std::vector<Value> interesting(DType type) {
  std::vector<Value> values;
  const auto add = [&]<class T>(std::initializer_list<T> numbers) {
    values.insert(values.end(), numbers.begin(), numbers.end());
  };
  switch (type) {
    case DType::Bool:
      add({false, true});
      break;
    case DType::U8:
      for (int n : {0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 127, 128, 129, 254, 255}) {
        values.emplace_back(static_cast<uint8_t>(n));
      }
      break;
    case DType::I32:
      for (int64_t n : {0l, 1l, -1l, 2l, -2l, 7l, -7l, 46341l, 65536l, 2147483647l, 2147483646l, -2147483648l,
                        -2147483647l}) {
        values.emplace_back(static_cast<int32_t>(n));
      }
      break;
    case DType::I64:
      for (int64_t n : {0l, 1l, -1l, 2l, -2l, 7l, -7l, 2147483647l, 2147483648l, -2147483648l, -2147483649l,
                        4294967296l, 3037000500l, 9007199254740993l, std::numeric_limits<int64_t>::max(),
                        std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::min() + 1}) {
        values.emplace_back(n);
      }
      break;
    case DType::F32:
    case DType::F64:
      for (double x : {0.0,
                       -0.0,
                       0.5,
                       -0.5,
                       1.0,
                       -1.0,
                       1.5,
                       2.0,
                       2.5,
                       -2.5,
                       3.0,
                       0.1,
                       1e-30,
                       1e30,
                       16777216.0,
                       2147483647.0,
                       2147483648.0,
                       -2147483648.0,
                       -2147483649.0,
                       9223372036854775807.0,
                       -9223372036854775808.0,
                       std::numeric_limits<double>::infinity(),
                       -std::numeric_limits<double>::infinity(),
                       std::numeric_limits<double>::quiet_NaN()}) {
        values.push_back(type == DType::F32 ? Value(static_cast<float>(x)) : Value(x));
      }
      break;
  }
  return values;
}

class Random {
 public:
  /// Bits of all kinds for integers; floats of moderate and of extreme size.
  Value value(DType type) {
    switch (type) {
      case DType::Bool:
        return Value(next() % 2 == 0);
      case DType::U8:
        return Value(static_cast<uint8_t>(next() >> 40));
      case DType::I32:
        return Value(static_cast<int32_t>(next() >> (next() % 32 + 32)));
      case DType::I64:
        return Value(static_cast<int64_t>(next() >> (next() % 64)) * (next() % 2 == 0 ? 1 : -1));
      case DType::F32:
        return Value(static_cast<float>(real()));
      case DType::F64:
        return Value(real());
    }
    return Value();
  }

 private:
  uint64_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_ >> 1 | state_ << 63;
  }
  double real() {
    const double unit = static_cast<double>(static_cast<int64_t>(next())) / 9223372036854775808.0;
    constexpr double kScales[] = {1, 10, 1000, 1e6, 1e-6, 1e12};
    return unit * kScales[next() % std::size(kScales)];
  }
  uint64_t state_ = 0x2545F4914F6CDD1Du;
};

std::vector<std::vector<Value>> operand_lists(const OpDef& op, DType type) {
  std::vector<std::vector<Value>> lists;
  for (const Value& a : interesting(type)) {
    if (op.arity() == 1) lists.push_back({a});
    for (const Value& b : interesting(type)) {
      if (op.arity() == 2) lists.push_back({a, b});
    }
  }
  Random random;
  for (int i = 0; i < 2000; ++i) {
    std::vector<Value> operands;
    for (std::size_t k = 0; k < op.arity(); ++k) operands.push_back(random.value(type));
    lists.push_back(operands);
  }
  return lists;
}

TEST_P(Operation, KernelsAgreeWithAnotherWayToCompute) {
  for (const KernelVariant& variant : op().kernels) {
    for (const std::vector<Value>& operands : operand_lists(op(), variant.operand)) {
      for (OverflowMode mode : {OverflowMode::Wrap, OverflowMode::Trap}) {
        const Outcome outcome = run_kernel(op(), operands, mode);
        const std::optional<Outcome> expected = naive(op().name.value, operands, mode);
        ASSERT_TRUE(expected) << "tests/ops/naive.cpp has to learn '" << op().name.value << "'";
        ASSERT_EQ(outcome.fault, expected->fault) << text_of(op(), operands);
        if (outcome.fault != Fault::None) continue;
        ASSERT_TRUE(agree(op().name.value, outcome.value, expected->value))
            << text_of(op(), operands) << " gave " << to_string(outcome.value) << ", expected "
            << to_string(expected->value);
      }
    }
  }
}

TEST_P(Operation, SaysTruthfullyWhetherItCanFail) {
  for (const KernelVariant& variant : op().kernels) {
    for (OverflowMode mode : {OverflowMode::Wrap, OverflowMode::Trap}) {
      bool failed = false;
      for (const std::vector<Value>& operands : operand_lists(op(), variant.operand)) {
        failed = failed || run_kernel(op(), operands, mode).fault != Fault::None;
      }
      EXPECT_EQ(op().can_fail(variant.operand, mode), failed) << name_of(variant.operand);
    }
  }
}

TEST_P(Operation, UnusedBytesOfTheResultAreZero) {
  for (const KernelVariant& variant : op().kernels) {
    for (const std::vector<Value>& operands : operand_lists(op(), variant.operand)) {
      const Outcome outcome = run_kernel(op(), operands, OverflowMode::Wrap);
      if (outcome.fault != Fault::None) continue;
      const uint64_t bits = outcome.value.slot().bits;
      if (outcome.value.dtype() == DType::Bool) {
        ASSERT_LE(bits, 1u) << text_of(op(), operands);
      } else if (const std::size_t width = 8 * size_of(outcome.value.dtype()); width < 64) {
        ASSERT_EQ(bits >> width, 0u) << text_of(op(), operands);
      }
    }
  }
}

TEST_P(Operation, MayWriteItsResultOverAnOperand) {
  Random random;
  for (const KernelVariant& variant : op().kernels) {
    for (int i = 0; i < 200; ++i) {
      std::vector<Value> operands;
      for (std::size_t k = 0; k < op().arity(); ++k) operands.push_back(random.value(variant.operand));
      const Outcome expected = run_kernel(op(), operands, OverflowMode::Wrap);
      if (expected.fault != Fault::None) continue;
      for (std::size_t over = 0; over < operands.size(); ++over) {
        std::vector<Slot> slots;
        for (const Value& operand : operands) slots.push_back(operand.slot());
        variant.wrap(slots.data(), &slots[over]);
        ASSERT_EQ(slots[over].bits, expected.value.slot().bits) << text_of(op(), operands);
      }
    }
  }
}

TEST_P(Operation, IsCommutativeWhereItSaysSo) {
  if (!op().is_commutative) return;
  for (const KernelVariant& variant : op().kernels) {
    for (const std::vector<Value>& operands : operand_lists(op(), variant.operand)) {
      const Outcome one = run_kernel(op(), operands, OverflowMode::Trap);
      const Outcome other = run_kernel(op(), {operands[1], operands[0]}, OverflowMode::Trap);
      ASSERT_EQ(one.fault, other.fault) << text_of(op(), operands);
      if (one.fault != Fault::None) continue;
      ASSERT_EQ(to_string(one.value), to_string(other.value)) << text_of(op(), operands);
    }
  }
}

Value number_of(DType dtype, int number) {
  const Value one = Value(int32_t{number});
  return dtype == DType::I32 ? one
                             : run_kernel(*catalog().find(name_of(dtype)), {one}, OverflowMode::Wrap).value;
}

/// What the left side of the equation gives, each way that it can be written.
std::vector<Outcome> left_sides(const OpDef& op, const Equation& equation, const Value& x) {
  const auto run = [&](const std::vector<Value>& operands) {
    return run_kernel(op, operands, OverflowMode::Wrap);
  };
  switch (equation.form) {
    case Equation::Form::Alone:
      return {run({x})};
    case Equation::Form::Twice:
      return {run({run({x}).value})};
    case Equation::Form::WithItself:
      return {run({x, x})};
    case Equation::Form::WithNumber:
      break;
  }
  const Value number = number_of(x.dtype(), equation.number);
  if (!op.is_commutative) return {run({x, number})};
  return {run({x, number}), run({number, x})};
}

TEST_P(Operation, ItsEquationsHoldBitForBit) {
  for (const Equation& equation : op().equations) {
    for (const KernelVariant& variant : op().kernels) {
      if (equation.holds_for != nullptr && !equation.holds_for(variant.operand)) continue;
      for (const std::vector<Value>& operands : operand_lists(op(), variant.operand)) {
        const Value& x = operands[0];
        for (const Outcome& left : left_sides(op(), equation, x)) {
          ASSERT_EQ(left.fault, Fault::None) << text_of(op(), {x});
          Value right = x;
          if (equation.result == Equation::Result::NotX) right = Value(!x.as<bool>());
          if (equation.result == Equation::Result::Number) {
            right = number_of(left.value.dtype(), equation.result_number);
          }
          ASSERT_EQ(left.value.dtype(), right.dtype());
          ASSERT_EQ(to_string(left.value), to_string(right)) << text_of(op(), {x});
        }
      }
    }
  }
}

TEST_P(Operation, FailsOnlyForTheOperandsOfWhichItSaysSo) {
  const std::vector<int64_t>& failing = op().fails_only_for;
  if (failing.empty()) return;
  for (const KernelVariant& variant : op().kernels) {
    if (!is_integer(variant.operand)) continue;
    for (const std::vector<Value>& operands : operand_lists(op(), variant.operand)) {
      if (run_kernel(op(), operands, OverflowMode::Trap).fault == Fault::None) continue;
      const Value& last = operands.back();
      const int64_t number = last.dtype() == DType::U8    ? last.as<uint8_t>()
                             : last.dtype() == DType::I32 ? last.as<int32_t>()
                                                          : last.as<int64_t>();
      EXPECT_THAT(failing, testing::Contains(number)) << text_of(op(), operands);
    }
  }
}

std::string name_of_param(const testing::TestParamInfo<const OpDef*>& info) {
  return std::string(info.param->name.value);
}

INSTANTIATE_TEST_SUITE_P(Catalog, AnyOperation, testing::ValuesIn(catalog().all()), name_of_param);
INSTANTIATE_TEST_SUITE_P(Catalog, Operation, testing::ValuesIn(computing_operations()), name_of_param);

TEST(Catalog, NamesAreUnique) {
  std::set<std::string_view> names;
  for (const OpDef* op : catalog().all()) EXPECT_TRUE(names.insert(op->name.value).second) << op->name.value;
}

TEST(Catalog, FindsByName) {
  for (const OpDef* op : catalog().all()) EXPECT_EQ(catalog().find(op->name.value), op);
  EXPECT_EQ(catalog().find("nothing"), nullptr);
  EXPECT_EQ(catalog().find(""), nullptr);
}

TEST(Catalog, FindsBySymbolAndArity) {
  EXPECT_EQ(catalog().find_symbol("-", 2)->name.value, "sub");
  EXPECT_EQ(catalog().find_symbol("-", 1)->name.value, "neg");
  EXPECT_EQ(catalog().find_symbol("-", 3), nullptr);
  EXPECT_EQ(catalog().find_symbol("", 2), nullptr);
}

TEST(Catalog, EveryTypeHasItsCast) {
  for (DType type : kDTypes) {
    const OpDef* cast = catalog().find(name_of(type));
    ASSERT_NE(cast, nullptr) << name_of(type);
    for (DType from : kDTypes) EXPECT_EQ(result_type(*cast, {Type(from)}), Type(type));
  }
}

}  // namespace
}  // namespace hiaton
