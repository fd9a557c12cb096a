// Rows that direct code adds to tensors and takes from them: in place, where nobody else refers to these.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "exec/direct/run/tensors.h"
#include "hiaton/op.h"

namespace hiaton::exec::direct {
namespace {

class GrowingTensors : public ::testing::Test {
 protected:
  ~GrowingTensors() override { EXPECT_EQ(heap_.count_tensors(), 0u); }

  TensorObject* numbers(std::vector<int64_t> dims) {
    int64_t size = 1;
    for (const int64_t dim : dims) size *= dim;
    RunTensor* made = machine_.cells.make(DType::I64, dims, static_cast<std::size_t>(size) * sizeof(int64_t));
    for (int64_t i = 0; i < size; ++i) elements(made)[i] = i;
    return made;
  }
  static int64_t* elements(TensorObject* tensor) { return reinterpret_cast<int64_t*>(tensor->elements); }
  static std::vector<int64_t> all(TensorObject* tensor) {
    int64_t size = 1;
    for (std::size_t axis = 0; axis < tensor->rank; ++axis) size *= tensor->dims[axis];
    return {elements(tensor), elements(tensor) + size};
  }

  /// What the operation gives for the tensor, which it takes.
  Fault run(std::string_view name, TensorOperation::Code code, TensorObject* tensor, Slot row,
            bool is_tensor) {
    TensorOperation operation{.code = code, .op = catalog().find(name)};
    operation.type = Type(DType::I64, std::vector<Dim>(tensor->rank));
    operation.operands = {{0, DType::I64, true, true}};
    if (code == TensorOperation::Code::Append)
      operation.operands.push_back({1, DType::I64, is_tensor, is_tensor});
    Slot slots[2];
    slots[0].tensor = tensor;
    slots[1] = row;
    return machine_.run(operation, slots, result_);
  }
  Fault append(TensorObject* tensor, int64_t number) {
    Slot row;
    row.i64 = number;
    return run("append_row", TensorOperation::Code::Append, tensor, row, false);
  }
  Fault append(TensorObject* tensor, TensorObject* numbers) {
    Slot row;
    row.tensor = numbers;
    return run("append_row", TensorOperation::Code::Append, tensor, row, true);
  }
  Fault drop(TensorObject* tensor) {
    return run("drop_last_row", TensorOperation::Code::DropLast, tensor, {}, false);
  }
  void release(TensorObject* tensor) { machine_.cells.release(tensor); }

  uint64_t taken_ = 0;           ///< how often memory was taken from the system
  std::size_t most_ = SIZE_MAX;  ///< bytes that the system gives at once
  TensorHeap heap_{[this](std::size_t bytes) { return ++taken_, bytes <= most_; }, [](std::size_t) {}};
  TensorMachine machine_{heap_};
  Slot result_{};
};

TEST_F(GrowingTensors, MoveTheirRowsSeldom) {
  TensorObject* x = numbers({0});
  uint64_t moves = 0;
  for (int64_t i = 0; i < 100'000; ++i) {
    ASSERT_EQ(append(x, i), Fault::None);
    moves += result_.tensor != x;
    x = result_.tensor;
    ASSERT_EQ(x->dims[0], i + 1);
  }
  for (int64_t i = 0; i < 100'000; ++i) ASSERT_EQ(elements(x)[i], i);
  EXPECT_LE(moves, 20u);
  EXPECT_LE(taken_, 25u);
  release(x);
}

TEST_F(GrowingTensors, ShrinkAndGrowWhereTheyLie) {
  TensorObject* x = numbers({1000});
  ASSERT_EQ(append(x, 7), Fault::None);
  TensorObject* grown = result_.tensor;
  for (int64_t i = 0; i < 1000; ++i) {
    ASSERT_EQ(drop(grown), Fault::None);
    ASSERT_EQ(result_.tensor, grown);
  }
  for (int64_t i = 0; i < 1000; ++i) {
    ASSERT_EQ(append(grown, -i), Fault::None);
    ASSERT_EQ(result_.tensor, grown);
  }
  EXPECT_EQ(elements(grown)[1000], -999);
  EXPECT_EQ(elements(grown)[0], 0);
  release(grown);
}

TEST_F(GrowingTensors, GetRoomForOneRowWhereThereIsNoMore) {
  TensorObject* x = numbers({100'000});
  most_ = 1'000'000;
  ASSERT_EQ(append(x, 7), Fault::None);
  x = result_.tensor;
  EXPECT_EQ(x->dims[0], 100'001);
  EXPECT_EQ(elements(x)[99'999], 99'999);
  EXPECT_EQ(elements(x)[100'000], 7);
  release(x);
}

TEST_F(GrowingTensors, StayAsTheyAreForOthers) {
  TensorObject* x = numbers({3});
  TensorCells::retain(x);
  ASSERT_EQ(append(x, 9), Fault::None);
  TensorObject* longer = result_.tensor;
  TensorCells::retain(x);
  ASSERT_EQ(drop(x), Fault::None);
  TensorObject* shorter = result_.tensor;
  TensorCells::retain(shorter);
  ASSERT_EQ(append(shorter, 8), Fault::None);
  TensorObject* other = result_.tensor;
  EXPECT_EQ(all(x), (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(all(longer), (std::vector<int64_t>{0, 1, 2, 9}));
  EXPECT_EQ(all(shorter), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(all(other), (std::vector<int64_t>{0, 1, 8}));
  for (TensorObject* tensor : {x, longer, shorter, other}) release(tensor);
}

TEST_F(GrowingTensors, TakeRowsOfTensors) {
  ASSERT_EQ(append(numbers({2, 3}), numbers({3})), Fault::None);
  TensorObject* x = result_.tensor;
  EXPECT_EQ(all(x), (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 0, 1, 2}));
  EXPECT_EQ(x->dims[0], 3);
  ASSERT_EQ(drop(x), Fault::None);
  EXPECT_EQ(all(result_.tensor), (std::vector<int64_t>{0, 1, 2, 3, 4, 5}));
  release(result_.tensor);
}

TEST_F(GrowingTensors, RefuseWhatIsNoRowAndWhatIsNotThere) {
  TensorObject* x = numbers({2, 3});
  TensorObject* row = numbers({2});
  EXPECT_EQ(append(x, row), Fault::Shape);
  TensorObject* none = numbers({0, 3});
  EXPECT_EQ(drop(none), Fault::Index);
  for (TensorObject* tensor : {x, row, none}) release(tensor);
}

}  // namespace
}  // namespace hiaton::exec::direct
