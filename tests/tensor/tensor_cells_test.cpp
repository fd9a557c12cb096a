// The blocks that a worker keeps of the tensors that it frees.
#include <gtest/gtest.h>

#include <vector>

#include "tensor/tensor_heap.h"

namespace hiaton {
namespace {

struct Cells {
  uint64_t taken = 0;  ///< bytes from the system
  TensorHeap heap{[this](std::size_t bytes) { return taken += bytes, true; },
                  [this](std::size_t bytes) { taken -= bytes; }};
  TensorCells cells{heap};

  RunTensor* make(int64_t elements) {
    const std::vector<int64_t> dims{elements};
    return cells.make(DType::F64, dims, static_cast<std::size_t>(elements) * sizeof(double));
  }
};

#if !defined(HIATON_SANITIZED)  // a sanitizer gets all that is freed
TEST(TensorCells, GiveAFreedBlockToTheNextTensorOfItsSize) {
  Cells all;
  RunTensor* first = all.make(3);
  const uint64_t taken = all.taken;
  all.cells.release(first);
  EXPECT_EQ(all.make(3), first);
  EXPECT_EQ(all.taken, taken);
}

TEST(TensorCells, KeepSmallBlocksInPlaceOfLargerOnes) {
  constexpr int64_t kElements = int64_t{1} << 17;  // of which eight blocks are all that is kept
  Cells all;
  RunTensor* small = all.make(3);
  std::vector<RunTensor*> large;
  for (int i = 0; i < 8; ++i) large.push_back(all.make(kElements));
  uint64_t taken = all.taken;
  for (RunTensor* tensor : large) all.cells.release(tensor);
  EXPECT_EQ(all.taken, taken);
  all.cells.release(small);
  EXPECT_LT(all.taken, taken - kElements * sizeof(double));
  taken = all.taken;
  EXPECT_EQ(all.make(3), small);
  for (int i = 0; i < 7; ++i) all.make(kElements);
  EXPECT_EQ(all.taken, taken) << "the other large blocks are kept";
}
#endif

TEST(TensorCells, KeepNoMoreThanTheirBound) {
  Cells all;
  std::vector<RunTensor*> tensors;
  for (int i = 0; i < 200'000; ++i) tensors.push_back(all.make(16));
  const uint64_t taken = all.taken;
  for (RunTensor* tensor : tensors) all.cells.release(tensor);
  EXPECT_LT(all.taken, taken);
  EXPECT_EQ(all.heap.count_tensors(), 0u);
}

}  // namespace
}  // namespace hiaton
