// The cells of data values: where they stand.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <vector>

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
