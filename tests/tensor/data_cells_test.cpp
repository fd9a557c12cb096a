// The cells of data values: where they stand.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "base/shared_loop.h"
#include "tensor/data_chunk.h"
#include "tensor/data_heap.h"

namespace hiaton {
namespace {

class DataCellsTest : public ::testing::Test {
 protected:
  /// A value with these fields, of which it takes over one reference each.
  DataObject* make(const std::vector<DataObject*>& fields) {
    DataObject* made = cells_.make(fields.size());
    made->layout = FieldLayout(std::vector(fields.size(), FieldKind::Data)).code();
    made->variant_bits = 1;
    made->references = 1;
    for (std::size_t i = 0; i < fields.size(); ++i) made->slots()[i].data = fields[i];
    return made;
  }
  static DataObject* leaf() { return reinterpret_cast<DataObject*>(Data::bits_of_variant(0)); }

  std::unique_ptr<DataHeap, LeaveHeap> heap_{DataHeap::make([](std::size_t) { return true; })};
  DataCells cells_{*heap_};
};

TEST_F(DataCellsTest, LargeHeapsGiveEachWorkerPagesOfItsOwn) {
  constexpr std::size_t kMany = 800'000;
  constexpr std::uintptr_t kHugePage = 2 << 20;
  DataCells others(*heap_);
  DataObject* mine = nullptr;
  DataObject* theirs = nullptr;
  for (std::size_t i = 0; i < kMany; ++i) {
    mine = make({mine == nullptr ? leaf() : mine});
    DataObject* made = others.make(1);
    *made = *mine;
    made->slots()[0].data = theirs == nullptr ? leaf() : theirs;
    theirs = made;
  }
  const auto page = [&](DataObject* object) { return reinterpret_cast<std::uintptr_t>(object) / kHugePage; };
  EXPECT_NE(page(mine), page(theirs));
  cells_.release(mine);
  others.release(theirs);
  EXPECT_EQ(heap_->count_values(), 0u);
}

/// What another worker gets in place of the only reference to a value.
class HandOver : public DataCellsTest {
 protected:
  static constexpr std::size_t kLarge = 4 * DataCells::kMostCopied;

  DataObject* list(std::size_t count, DataObject* end) {
    for (std::size_t i = 0; i < count; ++i) end = make({end});
    return end;
  }
  /// A complete tree; at each of its leaves stands a value of its own above one that all leaves have.
  DataObject* tree(int depth, DataObject* common) {
    if (depth > 0) return make({tree(depth - 1, common), tree(depth - 1, common)});
    DataCells::retain(common);
    return make({common});
  }
  /// How many values of the tree are counted by the worker alone. None stands below one that is shared.
  static std::size_t own_values(DataObject* object) {
    if (!Data::has_object(object) || object->references < 0) return 0;
    std::size_t count = 1;
    for (std::size_t i = 0; i < object->fields_layout().count(); ++i) {
      count += own_values(object->slots()[i].data);
    }
    return count;
  }

  std::size_t steps_ = 1 << 20;
};

TEST_F(HandOver, WhatNobodyElseRefersToGoesAsItIs) {
  for (const std::size_t count : {std::size_t{1}, std::size_t{100}, kLarge}) {
    DataObject* values = list(count, leaf());
    EXPECT_EQ(cells_.hand_over(values, cells_, steps_), values);
    EXPECT_EQ(own_values(values), count);
    cells_.release(values);
  }
  EXPECT_EQ(heap_->count_values(), 0u);
}

TEST_F(HandOver, OfALargeValueTheOthersPartIsShared) {
  DataObject* part = list(10, leaf());
  DataCells::retain(part);
  DataObject* values = list(kLarge, part);
  EXPECT_EQ(cells_.hand_over(values, cells_, steps_), values);
  EXPECT_EQ(own_values(values), kLarge);
  EXPECT_EQ(part->references, -2);
  EXPECT_EQ(part->slots()[0].data->references, -1);
  cells_.release(values);
  EXPECT_EQ(part->references, -1);
  cells_.release(part);
  EXPECT_EQ(heap_->count_values(), 0u);
}

TEST_F(HandOver, ASmallValueWithSuchAPartIsCopied) {
  DataObject* part = list(10, leaf());
  DataCells::retain(part);
  DataObject* values = list(10, part);
  DataCells taker(*heap_);
  DataObject* copied = cells_.hand_over(values, taker, steps_);
  EXPECT_NE(copied, values);
  const auto chunk = [](const DataObject* value) { return reinterpret_cast<uintptr_t>(value) / kChunkBytes; };
  EXPECT_NE(chunk(copied), chunk(values)) << "what both workers count would share lines of the cache";
  EXPECT_EQ(own_values(copied), 20u);
  EXPECT_EQ(part->references, 1);
  EXPECT_EQ(heap_->count_values(), 30u);
}

TEST_F(HandOver, WhatThereAreNoStepsForIsShared) {
  steps_ = 100;
  DataObject* values = list(kLarge, leaf());
  EXPECT_EQ(cells_.hand_over(values, cells_, steps_), values);
  EXPECT_EQ(steps_, 0u);
  EXPECT_GE(own_values(values), 100u);
  EXPECT_LE(own_values(values), 100u + DataCells::kMostCopied);
  cells_.release(values);
  EXPECT_EQ(heap_->count_values(), 0u);
}

TEST_F(HandOver, ThoseWhoHelpShareTheSame) {
  constexpr int kDepth = 14;
  SharedLoop loop(3);
  std::atomic<bool> is_over = false;
  const auto help = [&] {
    while (!is_over) loop.help();
  };
  std::vector<std::thread> helpers;
  for (int i = 0; i < 2; ++i) helpers.emplace_back(help);
  for (int round = 0; round < 5; ++round) {
    DataObject* common = list(1000, leaf());
    DataObject* values = tree(kDepth, common);
    cells_.release(common);
    EXPECT_EQ(cells_.hand_over(values, cells_, steps_, &loop), values);
    EXPECT_EQ(common->references, -(1 << kDepth));
    EXPECT_LT(common->slots()[0].data->references, 0);
    EXPECT_EQ(own_values(values), (std::size_t{1} << (kDepth + 1)) - 1);
    cells_.release(values);
    EXPECT_EQ(heap_->count_values(), 0u);
  }
  is_over = true;
  for (std::thread& helper : helpers) helper.join();
}

class ValuesOutside : public ::testing::Test {
 protected:
  /// A list of the numbers from 1 on, the first of which is the largest.
  Data numbers(int64_t count) {
    Data list = Data::adopt(reinterpret_cast<DataObject*>(Data::bits_of_variant(0)));
    for (int64_t n = 1; n <= count; ++n) {
      std::array<Slot, 2> fields;
      fields[0].i64 = n;
      fields[1].data = list.detach();
      list =
          cells_->make_outside(1, FieldLayout(std::array{field_kind(DType::I64), FieldKind::Data}), fields);
    }
    return list;
  }
  static DataObject* behind(DataObject* cell) { return cell->slots()[1].data; }

  std::unique_ptr<DataHeap, LeaveHeap> heap_{DataHeap::make([](std::size_t) { return true; })};
  std::unique_ptr<DataCells> cells_ = std::make_unique<DataCells>(*heap_);
};

TEST_F(ValuesOutside, StandSideBySideAndOutliveTheirCells) {
  const Data list = numbers(100);
  EXPECT_EQ(heap_->count_values(), 0U);  // of runs
  cells_.reset();
  heap_.reset();
  int64_t n = 100;
  for (DataObject* at = list.object(); Data::has_object(at); at = behind(at), --n) {
    EXPECT_EQ(at->variant(), 1U);
    EXPECT_EQ(at->slots()[0].i64, n);
    if (n == 1) continue;
    EXPECT_EQ(reinterpret_cast<std::byte*>(at) - reinterpret_cast<std::byte*>(behind(at)),
              static_cast<std::ptrdiff_t>(sizeof(DataObject) + 2 * sizeof(Slot)));
  }
  EXPECT_EQ(n, 0);
}

TEST_F(ValuesOutside, LeaveTheirCellsToTheNext) {
  constexpr int64_t kMany = 20'000;
  numbers(kMany);
  const uint64_t bytes = heap_->bytes();
  for (int i = 0; i < 20; ++i) numbers(kMany / 2);
  EXPECT_EQ(heap_->bytes(), bytes);
}

/// Segments grow by doubling, where the budget has as much left.
TEST(DataCells, AHeapTakesAllThatABudgetHas) {
  constexpr std::size_t kChunk = std::size_t{64} << 10;
  for (const std::size_t budget : {std::size_t{300'000}, std::size_t{1'500'000}, std::size_t{3'000'000}}) {
    std::size_t taken = 0;
    const std::unique_ptr<DataHeap, LeaveHeap> heap(DataHeap::make([&](std::size_t bytes) {
      if (taken + bytes > budget) return false;
      taken += bytes;
      return true;
    }));
    DataCells cells(*heap);
    std::size_t made = 0;
    for (DataObject* cell = cells.make(2); cell != nullptr; cell = cells.make(2)) {
      cell->references = 0;
      ++made;
    }
    EXPECT_GT(taken + kChunk, budget);
    EXPECT_GT(made * (sizeof(DataObject) + 2 * sizeof(Slot)) + 3 * kChunk, budget);
  }
}

}  // namespace
}  // namespace hiaton
