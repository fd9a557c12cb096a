// Elementwise steps of a batch give for any places of their operands what they give instance by instance.
#include "exec/flow/run/elementwise_steps.h"

#include <gtest/gtest.h>

#include <cstring>
#include <utility>
#include <vector>

#include "kernels/idle_pool.h"

namespace hiaton::exec::flow {
namespace {

float at(const std::byte* elements, int64_t i) {
  float value;
  std::memcpy(&value, elements + i * static_cast<int64_t>(sizeof(float)), sizeof(float));
  return value;
}

/// out = 2 a + b; without b, 2 a + 1.
void twice(int64_t n, const std::byte* a, const std::byte* b, std::byte* out) {
  for (int64_t i = 0; i < n; ++i) {
    const float value = 2 * at(a, i) + (b != nullptr ? at(b, i) : 1);
    std::memcpy(out + i * static_cast<int64_t>(sizeof(float)), &value, sizeof(float));
  }
}

ElementwiseStep::Operand place(std::vector<float>& elements, int64_t offset, int64_t stride) {
  return {reinterpret_cast<std::byte*>(elements.data() + offset),
          stride * static_cast<int64_t>(sizeof(float))};
}

/// c = 2 a + 1, where a is a view of wider instances; d = 2 c + a, part of a row. c stands in a buffer.
TEST(ElementwiseSteps, ReadAndWriteInstancesThatStandApart) {
  constexpr int64_t kSize = 100, kWidth = 3 * kSize;
  for (const int64_t batch : {1, 2, 7, 50}) {
    std::vector<float> whole(static_cast<std::size_t>(batch * kWidth));
    for (std::size_t i = 0; i < whole.size(); ++i) whole[i] = static_cast<float>(i % 1000);
    std::vector<float> c(static_cast<std::size_t>(batch * kSize)), row(whole.size(), -1);
    const ElementwiseStep::Operand a = place(whole, kSize, kWidth);
    const ElementwiseStep steps[] = {{twice, a, {}, place(c, 0, kSize)},
                                     {twice, place(c, 0, kSize), a, place(row, 2 * kSize, kWidth)}};
    run_elementwise_steps(steps, batch, kSize, sizeof(float));
    for (int64_t i = 0; i < batch * kWidth; ++i) {
      const int64_t column = i % kWidth;
      const float from = column < 2 * kSize ? 0 : whole[static_cast<std::size_t>(i - kSize)];
      EXPECT_EQ(row[static_cast<std::size_t>(i)], column < 2 * kSize ? -1 : 5 * from + 2)
          << batch << " " << i;
    }
  }
}

/// The later step may write where the earlier one has read a wider instance.
TEST(ElementwiseSteps, MayReuseTheRoomOfWhatIsRead) {
  constexpr int64_t kSize = 100, kWidth = 2 * kSize, kBatch = 64;
  std::vector<float> room(kBatch * kWidth), c(kBatch * kSize);
  for (std::size_t i = 0; i < room.size(); ++i) room[i] = static_cast<float>(i % 1000);
  const std::vector<float> before = room;
  const ElementwiseStep steps[] = {{twice, place(room, kSize, kWidth), {}, place(c, 0, kSize)},
                                   {twice, place(c, 0, kSize), {}, place(room, 0, kSize)}};
  run_elementwise_steps(steps, kBatch, kSize, sizeof(float));
  for (int64_t i = 0; i < kBatch * kSize; ++i) {
    const float from = before[static_cast<std::size_t>(i / kSize * kWidth + kSize + i % kSize)];
    EXPECT_EQ(room[static_cast<std::size_t>(i)], 4 * from + 3) << i;
  }
}

/// A chain of steps over one large instance, and over many: idle threads compute ranges of it.
TEST(ElementwiseSteps, AreCutForIdleThreads) {
  for (const auto& [batch, size] : {std::pair<int64_t, int64_t>{1, 300'001}, {64, 5'003}}) {
    std::vector<float> x(static_cast<std::size_t>(batch * size));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 1000);
    std::vector<float> y(x.size()), z(x.size());
    const ElementwiseStep steps[] = {{twice, place(x, 0, size), {}, place(y, 0, size)},
                                     {twice, place(y, 0, size), place(x, 0, size), place(z, 0, size)}};
    kernels::IdlePool pool(3);
    const kernels::HelpedLaunches helped(&pool);
    run_elementwise_steps(steps, batch, size, sizeof(float));
    EXPECT_EQ(pool.launches, 1);
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(z[i], 5 * x[i] + 2) << batch << " " << i;
  }
}

/// Where a step writes over what another range still reads, nothing is cut.
TEST(ElementwiseSteps, StayWholeWhereRangesWouldDisturbEachOther) {
  constexpr int64_t kSize = 200'000;
  std::vector<float> room(2 * kSize), c(kSize);
  for (std::size_t i = 0; i < room.size(); ++i) room[i] = static_cast<float>(i % 1000);
  const std::vector<float> before = room;
  const ElementwiseStep steps[] = {{twice, place(room, kSize / 2, 2 * kSize), {}, place(c, 0, kSize)},
                                   {twice, place(c, 0, kSize), {}, place(room, 0, kSize)}};
  kernels::IdlePool pool(3);
  const kernels::HelpedLaunches helped(&pool);
  run_elementwise_steps(steps, 1, kSize, sizeof(float));
  EXPECT_EQ(pool.launches, 0);
  for (std::size_t i = 0; i < kSize; ++i) ASSERT_EQ(room[i], 4 * before[i + kSize / 2] + 3) << i;
}

}  // namespace
}  // namespace hiaton::exec::flow
