// Memory for large tensors: blocks stand apart from each other, come back, and outlive who made them.
#include "tensor/large_blocks.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

#include "tensor/tensor_heap.h"

namespace hiaton {
namespace {

constexpr std::size_t kBlock = std::size_t{40} << 10;

TEST(LargeBlocks, StandApart) {
  const auto blocks = std::make_shared<LargeBlocks>();
  std::vector<std::pair<std::byte*, std::size_t>> taken;
  for (std::size_t i = 0; i < 300; ++i) {
    const std::size_t bytes = kBlock + i % 7 * 100'000 + (i % 50 == 0 ? std::size_t{6} << 20 : 0);
    std::byte* block = blocks->take(bytes);
    ASSERT_NE(block, nullptr);
    std::memset(block, static_cast<int>(i % 251), bytes);
    taken.emplace_back(block, bytes);
  }
  for (std::size_t i = 0; i < taken.size(); ++i) {
    const auto [block, bytes] = taken[i];
    for (const std::size_t at : {std::size_t{0}, bytes / 2, bytes - 1})
      EXPECT_EQ(block[at], static_cast<std::byte>(i % 251));
    blocks->give(block, bytes);
  }
}

TEST(LargeBlocks, AreTakenAgain) {
  const auto blocks = std::make_shared<LargeBlocks>();
  for (const std::size_t bytes : {kBlock, std::size_t{6} << 20}) {
    std::byte* const first = blocks->take(bytes);
    blocks->give(first, bytes);
    EXPECT_EQ(blocks->take(bytes), first);
    blocks->give(first, bytes);
  }
}

TEST(LargeBlocks, ThatTakeNoMemoryAnyMoreAreTakenAgain) {
  const auto blocks = std::make_shared<LargeBlocks>();
  constexpr std::size_t kBytes = std::size_t{2} << 20;
  std::vector<std::byte*> taken;
  for (int i = 0; i < 40; ++i) {
    taken.push_back(blocks->take(kBytes));
    std::memset(taken.back(), 1, kBytes);
  }
  for (std::byte* block : taken) blocks->give(block, kBytes);
  std::vector<std::byte*> again;
  for (int i = 0; i < 40; ++i) again.push_back(blocks->take(kBytes));
  std::ranges::sort(taken);
  std::ranges::sort(again);
  EXPECT_EQ(again, taken);
}

TEST(LargeBlocks, LiveAsLongAsTheirOwners) {
  auto blocks = std::make_shared<LargeBlocks>();
  std::byte* const kept = blocks->take(kBlock);
  std::byte* const other = blocks->take(kBlock);
  std::memset(kept, 7, kBlock);
  std::shared_ptr<const void> owner = blocks->counted_owner(kept, kBlock);
  blocks->give(other, kBlock);
  blocks->end();
  blocks.reset();
  EXPECT_EQ(kept[kBlock - 1], std::byte{7});
  std::thread([last = std::move(owner)]() mutable { last.reset(); }).join();
}

/// A tensor that leaves a run keeps its elements, and the heap of the run goes.
TEST(LargeBlocks, OfTensorsOutliveTheirRun) {
  Tensor kept;
  {
    uint64_t held = 0;
    TensorHeap heap(
        [&](std::size_t bytes) {
          held += bytes;
          return true;
        },
        [&](std::size_t bytes) { held -= bytes; });
    TensorCells cells(heap);
    const std::array<int64_t, 1> dims{100'000};
    RunTensor* const made = cells.make(DType::F64, dims, 800'000);
    RunTensor* const dropped = cells.make(DType::F64, dims, 800'000);
    ASSERT_NE(made, nullptr);
    auto* elements = reinterpret_cast<double*>(made->elements);
    for (int i = 0; i < 100'000; ++i) elements[i] = i;
    TensorHeap::give_out(made);
    kept = Tensor::adopt(made);
    cells.release(dropped);
    EXPECT_EQ(heap.count_tensors(), 0u);
  }
  EXPECT_EQ(kept.data<double>()[99'999], 99'999);
  const Tensor copy = kept;
  kept = Tensor();
  EXPECT_EQ(copy.data<double>()[1], 1);
}

TEST(LargeBlocks, HaveOneOwnerInEachThread) {
  const auto blocks = std::make_shared<LargeBlocks>();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < 200; ++i) {
        const std::size_t bytes = kBlock + i % 5 * 300'000;
        std::byte* block = blocks->take(bytes);
        std::memset(block, t, bytes);
        EXPECT_EQ(block[bytes - 1], static_cast<std::byte>(t));
        blocks->give(block, bytes);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace hiaton
