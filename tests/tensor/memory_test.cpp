// What a thread takes for tensors and data values is counted, and ends where the limit is.
#include "tensor/memory.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "hiaton/value.h"

namespace hiaton {
namespace {

TEST(MemoryMeter, CountsTensorsUntilTheyGo) {
  const MemoryMeter meter;
  {
    const Tensor tensor(DType::F32, {1000});
    EXPECT_GE(meter.bytes(), 4000u);
    EXPECT_LE(meter.bytes(), 4400u);
    const Tensor& same = tensor;
    EXPECT_LE(meter.bytes(), 4400u) << same.size();
  }
  EXPECT_EQ(meter.bytes(), 0u);
}

TEST(MemoryMeter, CountsElementsThatStandElsewhereAsNobodys) {
  std::vector<float> elements(1000);
  const MemoryMeter meter;
  {
    const Tensor view(DType::F32, std::vector<int64_t>{1000}, reinterpret_cast<std::byte*>(elements.data()),
                      nullptr);
    EXPECT_LE(meter.bytes(), 400u);
    EXPECT_GT(meter.bytes(), 0u);
  }
  EXPECT_EQ(meter.bytes(), 0u);
}

TEST(MemoryMeter, CountsElementsThatStandBehindTheHeaderByChanceAsNobodys) {
  constexpr uint64_t kBefore = 1000;
  const MemoryMeter meter(kBefore);
  {
    const Tensor view(DType::F32, std::vector<int64_t>{16}, nullptr, nullptr);
    const auto behind = reinterpret_cast<uintptr_t>(view.object() + 1);
    view.object()->elements = reinterpret_cast<std::byte*>((behind + 63) / 64 * 64);
  }
  EXPECT_EQ(meter.bytes(), kBefore);
}

TEST(MemoryMeter, CountsTheCellsOfALongList) {
  constexpr uint64_t kCells = 10'000;
  const MemoryMeter meter;
  {
    Value list = Data(0, {});
    for (uint64_t i = 0; i < kCells; ++i) {
      const Value cell[] = {Value(static_cast<int64_t>(i)), std::move(list)};
      list = Data(1, cell);
    }
    EXPECT_GE(meter.bytes(), kCells * 24);
    EXPECT_LE(meter.bytes(), kCells * 40);
  }
  EXPECT_EQ(meter.bytes(), 0u);
}

TEST(MemoryMeter, RefusesWhatIsBeyondTheLimitAndTakesNothing) {
  MemoryMeter meter;
  meter.set_limit(10'000);
  const Tensor fits(DType::Bool, {8000});
  const uint64_t before = meter.bytes();
  EXPECT_THROW(Tensor(DType::F64, {int64_t{1} << 40}), OverBudget);
  EXPECT_THROW(Tensor(DType::Bool, {3000}), OverBudget);
  EXPECT_EQ(meter.bytes(), before);
  meter.set_limit(20'000);
  EXPECT_NO_THROW(Tensor(DType::Bool, {3000}));
}

TEST(MemoryMeter, CountsForItselfInsideOfAnotherAndOfItsThreadAlone) {
  const MemoryMeter outer(100);
  const Tensor one(DType::Bool, {1000});
  const uint64_t before = outer.bytes();
  EXPECT_GT(before, 1100u);
  {
    const MemoryMeter inner;
    const Tensor two(DType::Bool, {5000});
    EXPECT_LT(inner.bytes(), 5400u);
    std::thread([] { const Tensor three(DType::Bool, {7000}); }).join();
    EXPECT_LT(inner.bytes(), 5400u);
  }
  EXPECT_EQ(outer.bytes(), before);
}

}  // namespace
}  // namespace hiaton
