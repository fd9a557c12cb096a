// What must hold for every operation on tensors and in batches.
#include <gtest/gtest.h>

#include <cmath>

#include "ops/cases.h"
#include "ops/run_op.h"

namespace hiaton {
namespace {

class TensorOperation : public testing::TestWithParam<const OpDef*> {
 protected:
  const OpDef& op() const { return *GetParam(); }
  /// Calls f(case) for all cases of all element types.
  template <class F>
  void for_all_cases(F f) const {
    std::size_t count = 0;
    for (DType dtype : kDTypes) {
      for (const OpCase& of : cases_of(op(), dtype)) {
        f(of);
        ++count;
      }
    }
    EXPECT_GT(count, 0u) << "tests/ops/cases.h has to learn '" << op().name.value << "'";
  }
};

std::string types_of(const OpCase& of) {
  std::string text(of.op);
  for (const Type& type : of.operands) text += " " + to_string(type);
  return text;
}

TEST_P(TensorOperation, ABatchGivesTheBitsOfOneByOne) {
  constexpr std::size_t kBatch = 7;
  for_all_cases([&](const OpCase& of) {
    Draw draw;
    std::vector<std::vector<Value>> operands;
    for (std::size_t i = 0; i < kBatch; ++i) operands.push_back(draw.operands(of));
    const std::size_t count = of.operands.size();
    for (std::size_t mask = 0; mask < (std::size_t{1} << count); ++mask) {
      std::vector<bool> shared;
      for (std::size_t k = 0; k < count; ++k) shared.push_back((mask >> k & 1) != 0);
      std::vector<std::vector<Value>> used = operands;
      for (auto& instance : used) {
        for (std::size_t k = 0; k < count; ++k) {
          if (shared[k]) instance[k] = operands[0][k];
        }
      }
      const BatchOutcome batch = run_batch(op(), used, shared, of.attributes);
      Fault expected = Fault::None;
      for (std::size_t i = 0; i < kBatch; ++i) {
        const Outcome one = run_op(op(), used[i], of.attributes);
        if (one.fault != Fault::None) expected = one.fault;
        if (batch.fault == Fault::None) {
          ASSERT_EQ(batch.results[i], one.value) << types_of(of) << " shared " << mask << " instance " << i;
        }
      }
      ASSERT_EQ(batch.fault, expected) << types_of(of);
    }
  });
}

/// As they are, with integers that are no index, and with no elements along the dimensions of the first.
std::vector<OpCase> cases_that_may_fail(const OpCase& of) {
  std::vector<OpCase> cases{of, of, of};
  cases[1].limit = -1'000'000;
  for (Dim& dim : cases[2].operands[0].shape) dim.size = 0;
  return cases;
}

TEST_P(TensorOperation, SaysTruthfullyWhetherItFailsOnElements) {
  bool failed = false;
  bool scalars_fail = false;
  for_all_cases([&](const OpCase& of) {
    for (const OpCase& one : cases_that_may_fail(of)) {
      if (one.operands.empty() || !accepts(op(), one.operands, one.attributes)) continue;
      const Fault fault = run_op(op(), Draw().operands(one), one.attributes).fault;
      failed = failed || fault != Fault::None;
      scalars_fail = scalars_fail || op().can_fail(one.operands[0].dtype, OverflowMode::Wrap);
    }
  });
  if (!scalars_fail) {
    EXPECT_EQ(op().fails_on_elements, failed);
  }
}

/// The element of a tensor that stands at an element of a result of these dimensions.
Value element_at(const Value& value, std::span<const int64_t> result, int64_t index) {
  if (value.is_scalar()) return value;
  const Tensor tensor = value.tensor();
  const std::size_t skipped = result.size() - tensor.dims().size();
  int64_t at = 0;
  int64_t step = 1;
  for (std::size_t i = result.size(); i-- > skipped;) {
    const int64_t size = tensor.dims()[i - skipped];
    if (size > 1) at += index % result[i] * step;
    step *= size;
    index /= result[i];
  }
  Slot slot;
  const auto bytes = static_cast<int64_t>(size_of(tensor.dtype()));
  std::copy_n(tensor.data<std::byte>() + at * bytes, bytes, reinterpret_cast<std::byte*>(&slot));
  return Value(tensor.dtype(), slot);
}

bool nearly_equal(const Value& a, const Value& b) {
  if (a == b) return true;
  if (a.dtype() != b.dtype() || !is_float(a.dtype())) return false;
  const bool single = a.dtype() == DType::F32;
  const double x = single ? a.as<float>() : a.as<double>();
  const double y = single ? b.as<float>() : b.as<double>();
  return std::abs(x - y) <= (single ? 1e-5 : 1e-13) * std::max(1.0, std::abs(y));
}

TEST_P(TensorOperation, ElementsAreWhatTheScalarKernelGives) {
  if (op().fusion.value != Fusion::Elementwise) return;
  for_all_cases([&](const OpCase& of) {
    const std::vector<Value> operands = Draw().operands(of);
    const Outcome all = run_op(op(), operands);
    if (all.fault != Fault::None || all.value.is_scalar()) return;
    const Tensor tensor = all.value.tensor();
    for (int64_t i = 0; i < tensor.size(); ++i) {
      std::vector<Value> elements;
      for (const Value& operand : operands) elements.push_back(element_at(operand, tensor.dims(), i));
      const Value expected = run_op(op(), elements).value;
      const Value found = element_at(all.value, tensor.dims(), i);
      ASSERT_TRUE(nearly_equal(found, expected)) << text_of(op(), elements) << " gave " << to_string(found)
                                                 << " in a tensor, expected " << to_string(expected);
    }
  });
}

TEST_P(TensorOperation, LinesHaveTheBitsOfTheTensorKernel) {
  if (op().line_kernel == nullptr) return;
  ASSERT_EQ(op().fusion.value, Fusion::Elementwise);
  std::size_t lines = 0;
  for_all_cases([&](const OpCase& of) {
    const std::vector<Value> operands = Draw().operands(of);
    const LineKernel line = op().line_kernel(operands[0].dtype());
    const Outcome expected = run_op(op(), operands);
    if (line == nullptr || expected.value.is_scalar()) return;
    for (const Value& operand : operands) {
      if (operand.is_scalar() || operand.type() != expected.value.type()) return;
    }
    ++lines;
    Tensor found(operands[0].dtype(), expected.value.tensor().dims());
    const auto elements = [](const Value& of_value) { return of_value.tensor().data<std::byte>(); };
    line(found.size(), elements(operands[0]), operands.size() > 1 ? elements(operands[1]) : nullptr,
         found.mutable_data<std::byte>());
    EXPECT_EQ(Value(found), expected.value) << types_of(of);
  });
  EXPECT_GE(lines, 2) << "of f32 and f64";
}

TEST_P(TensorOperation, EmptyBatchesAndTensorsAreNoTrouble) {
  const std::string_view name = op().name.value;
  if (name == "argmax" || name == "check_rows" || name == "drop_last_row") return;  // they fail
  for (DType dtype : kDTypes) {
    const std::vector<Type> empty(op().arity(), tensor_type(dtype, {0}));
    const std::vector<int64_t> attributes(op().attributes.size());
    if (!accepts(op(), empty, attributes)) continue;
    std::vector<Value> operands(op().arity(), Tensor(dtype, {0}));
    EXPECT_EQ(run_op(op(), operands, attributes).fault, Fault::None);
  }
}

/// Dimensions that only the run knows in place of some that are known.
std::vector<Type> with_unknown_dims(std::vector<Type> types, std::size_t mask) {
  for (Type& type : types) {
    for (Dim& dim : type.shape) {
      if ((mask & 1) != 0) dim = {.size = -1, .symbol = "_"};
      mask = mask >> 1 | (mask & 1) << 7;
    }
  }
  return types;
}

TEST_P(TensorOperation, WhatIsInferredOfUnknownDimensionsIsTrue) {
  for_all_cases([&](const OpCase& of) {
    const Type known = op().type_rule.value({.operands = of.operands, .attributes = of.attributes});
    for (std::size_t mask : {0xFFu, 0x55u, 0xAAu, 0x01u}) {
      const std::vector<Type> types = with_unknown_dims(of.operands, mask);
      const Type inferred = op().type_rule.value({.operands = types, .attributes = of.attributes});
      EXPECT_EQ(inferred.dtype, known.dtype) << types_of(of);
      ASSERT_EQ(inferred.shape.size(), known.shape.size()) << types_of(of);
      for (std::size_t i = 0; i < known.shape.size(); ++i) {
        EXPECT_TRUE(inferred.shape[i].size < 0 || inferred.shape[i] == known.shape[i]) << types_of(of);
      }
    }
  });
}

/// Every operand in turn gets a type that no operation of the case takes beside the others.
TEST_P(TensorOperation, RefusesWrongTypesAndShapesByName) {
  for_all_cases([&](const OpCase& of) {
    for (std::size_t k = 0; k < of.operands.size(); ++k) {
      for (const Type& wrong :
           {tensor_type(DType::I32, {7, 11, 13}), tensor_type(DType::F64, {7, 11, 13}), Type(DType::Bool)}) {
        std::vector<Type> types = of.operands;
        types[k] = wrong;
        try {
          op().type_rule.value({.operands = types, .attributes = of.attributes});
        } catch (const ProgramError& error) {
          const std::string message = error.what();
          EXPECT_TRUE(message.starts_with("expected ")) << message;
          EXPECT_NE(message.find(", found "), std::string::npos) << message;
        }
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Catalog, TensorOperation, testing::ValuesIn(computing_operations()),
                         [](const testing::TestParamInfo<const OpDef*>& info) {
                           return std::string(info.param->name.value);
                         });

TEST(TensorOperation, NegativePlacesCountFromTheEnd) {
  Tensor numbers(DType::I64, {3});
  for (int64_t i = 0; i < 3; ++i) numbers.mutable_data<int64_t>()[i] = 10 * i;
  const Value x = numbers;
  const OpDef& at = *catalog().find("at");
  const OpDef& set_at = *catalog().find("set_at");
  for (int64_t place = -3; place < 3; ++place) {
    const int64_t from_begin = place < 0 ? place + 3 : place;
    EXPECT_EQ(run_op(at, {x, place}, {1}).value.as<int64_t>(), 10 * from_begin);
    const Value changed = run_op(set_at, {x, int64_t{7}, place}, {1}).value;
    for (int64_t i = 0; i < 3; ++i)
      EXPECT_EQ(changed.tensor().data<int64_t>()[i], i == from_begin ? 7 : 10 * i);
  }
  for (int64_t place : {int64_t{-4}, int64_t{3}}) {
    EXPECT_EQ(run_op(at, {x, place}, {1}).fault, Fault::Index);
    EXPECT_EQ(run_op(set_at, {x, int64_t{7}, place}, {1}).fault, Fault::Index);
  }
}

TEST(TensorOperation, RowsOutOfRangeAreFaults) {
  const Value table = Tensor(DType::F32, {2, 2});
  for (int64_t row : {int64_t{-1}, int64_t{2}}) {
    EXPECT_EQ(run_op(*catalog().find("gather"), {table, row}).fault, Fault::Index);
    EXPECT_EQ(run_op(*catalog().find("scatter_add"), {table, row, Tensor(DType::F32, {2})}).fault,
              Fault::Index);
    EXPECT_EQ(run_op(*catalog().find("set_at"), {table, Tensor(DType::F32, {2}), row}, {0}).fault,
              Fault::Index);
    EXPECT_EQ(run_op(*catalog().find("at"), {table, row}, {0}).fault, Fault::Index);
    EXPECT_EQ(run_op(*catalog().find("cross_entropy"), {Tensor(DType::F32, {2}), row}).fault, Fault::Index);
  }
  EXPECT_EQ(run_op(*catalog().find("argmax"), {Tensor(DType::F32, {2, 0})}, {-1}).fault, Fault::Index);
  EXPECT_EQ(run_op(*catalog().find("check_rows"), {Tensor(DType::F32, {0, 2})}).fault, Fault::NoRows);
  EXPECT_EQ(run_op(*catalog().find("check_rows"), {Tensor(DType::F32, {2, 0})}).fault, Fault::None);
}

TEST(TensorOperation, BadAttributesAreRefused) {
  const std::vector<Type> matrix{tensor_type(DType::F32, {2, 3})};
  const auto refuses = [&](std::string_view name, const std::vector<int64_t>& attributes) {
    return !accepts(*catalog().find(name), matrix, attributes);
  };
  EXPECT_TRUE(refuses("sum", {2}));
  EXPECT_TRUE(refuses("sum", {-3}));
  EXPECT_TRUE(refuses("sum", {0, -2}));
  EXPECT_TRUE(refuses("slice", {0, 1, 2}));
  EXPECT_TRUE(refuses("slice", {0, -1, 1}));
  EXPECT_TRUE(refuses("slice", {0, 0, -1}));
  EXPECT_TRUE(refuses("slice", {0, INT64_MAX, INT64_MAX}));
  EXPECT_TRUE(refuses("slice_half", {0, 2}));
  EXPECT_TRUE(refuses("take", {0, 2}));
  EXPECT_TRUE(refuses("take", {0, -1}));
  EXPECT_TRUE(refuses("pad", {0, -1, 0}));
  EXPECT_TRUE(refuses("reshape", {4, 2}));
  EXPECT_TRUE(refuses("reshape", {-1, -1}));
  EXPECT_TRUE(refuses("reshape", {-1, 4}));
  EXPECT_TRUE(refuses("reshape", {-1, 0}));
  EXPECT_TRUE(refuses("reshape", {-2, 3}));
  EXPECT_TRUE(refuses("transpose", {0}));
  EXPECT_TRUE(refuses("transpose", {0, 0}));
  EXPECT_TRUE(refuses("transpose", {0, 2}));
  EXPECT_TRUE(refuses("broadcast_to", {3, 2}));
  EXPECT_TRUE(refuses("broadcast_to", {3}));
}

}  // namespace
}  // namespace hiaton
