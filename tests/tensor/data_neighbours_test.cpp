// Where the cells of lists stand: near each other once the lists are long.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "tensor/data_chunk.h"
#include "tensor/data_heap.h"

namespace hiaton {
namespace {

constexpr std::size_t kFields = 2;
constexpr std::size_t kCellBytes = sizeof(DataObject) + kFields * sizeof(Slot);

/// A value whose first field is a number, and the second one no reference.
void fill(DataObject* cell, int64_t number) {
  cell->layout = FieldLayout(std::vector{FieldKind::I64, FieldKind::Data}).code();
  cell->variant_bits = 1;
  cell->references = 1;
  cell->slots()[0].i64 = number;
  cell->slots()[1].bits = Data::bits_of_variant(0);
}

std::vector<DataObject*> made(DataCells& cells, std::size_t count) {
  std::vector<DataObject*> values;
  for (std::size_t i = 0; i < count; ++i) {
    values.push_back(cells.make_near(kFields));
    fill(values.back(), static_cast<int64_t>(i));
  }
  return values;
}

/// Takes each value apart and makes one like it, which gets its place among the values.
void rebuild(DataCells& cells, std::vector<DataObject*>& values) {
  for (DataObject*& value : values) {
    const int64_t number = value->slots()[0].i64;
    cells.free_cell(value, kFields);
    value = cells.make_near(kFields);
    fill(value, number);
  }
}

std::size_t count_far(const std::vector<DataObject*>& values) {
  std::size_t count = 0;
  for (std::size_t i = 1; i < values.size(); ++i) {
    const auto distance = reinterpret_cast<intptr_t>(values[i]) - reinterpret_cast<intptr_t>(values[i - 1]);
    if (std::abs(distance) > (64 << 10)) ++count;
  }
  return count;
}

/// Cells of one number are carved from the same piece of memory.
uintptr_t chunk_of(const DataObject* value) {
  return reinterpret_cast<uintptr_t>(value) / kChunkBytes;
}

void shuffle(std::vector<DataObject*>& values) {
  std::ranges::shuffle(values, std::mt19937_64(1));
}

/// Each number is that of one value, so no cell was given twice.
void expect_all_numbers(const std::vector<DataObject*>& values) {
  std::vector<bool> seen(values.size());
  for (const DataObject* value : values) {
    const auto number = static_cast<std::size_t>(value->slots()[0].i64);
    ASSERT_LT(number, seen.size());
    EXPECT_FALSE(seen[number]);
    seen[number] = true;
  }
}

class DataNeighboursTest : public ::testing::Test {
 protected:
  static std::unique_ptr<DataHeap, LeaveHeap> make_heap(DataHeap::Nearness nearness) {
    return std::unique_ptr<DataHeap, LeaveHeap>(DataHeap::make([](std::size_t) { return true; }, nearness));
  }
  static constexpr std::size_t kMany = 60'000;
  static constexpr DataHeap::Nearness kSmall{uint64_t{1} << 20, uintptr_t{64} << 10};

  std::unique_ptr<DataHeap, LeaveHeap> heap_ = make_heap(kSmall);
  DataCells cells_{*heap_};
};

TEST_F(DataNeighboursTest, AScatteredListThatIsRebuiltStandsTogether) {
  const auto heap = make_heap({uint64_t{1} << 20, uintptr_t{4} << 10});
  DataCells cells(*heap);
  std::vector<DataObject*> values = made(cells, kMany);
  shuffle(values);
  EXPECT_GT(count_far(values), kMany / 2);
  rebuild(cells, values);
  EXPECT_LT(count_far(values), kMany / 20);
  expect_all_numbers(values);
  EXPECT_EQ(heap->count_values(), kMany);
}

TEST_F(DataNeighboursTest, ListsThatStandTogetherStayWhereTheyAre) {
  constexpr std::size_t kLength = 8;
  std::vector<DataObject*> values = made(cells_, kMany);
  std::vector<std::size_t> lists(kMany / kLength);
  std::iota(lists.begin(), lists.end(), 0);
  std::ranges::shuffle(lists, std::mt19937_64(1));
  const std::vector<DataObject*> before = values;
  for (const std::size_t list : lists) {
    std::vector<DataObject*> one(values.begin() + list * kLength, values.begin() + (list + 1) * kLength);
    rebuild(cells_, one);
    std::ranges::copy(one, values.begin() + list * kLength);
  }
  EXPECT_EQ(values, before);
}

TEST_F(DataNeighboursTest, ANearCellStaysWhereItIs) {
  std::vector<DataObject*> values = made(cells_, kMany);
  const std::vector<DataObject*> before = values;
  rebuild(cells_, values);
  EXPECT_LT(std::ranges::count_if(
                values, [&](DataObject*& value) { return value != before[&value - values.data()]; }),
            static_cast<std::ptrdiff_t>(kMany / 100));
}

TEST_F(DataNeighboursTest, ASmallHeapIsRebuiltInPlace) {
  const auto heap = make_heap({uint64_t{1} << 30, 0});
  DataCells cells(*heap);
  std::vector<DataObject*> values = made(cells, kMany);
  shuffle(values);
  const std::vector<DataObject*> before = values;
  rebuild(cells, values);
  EXPECT_EQ(values, before);
}

TEST_F(DataNeighboursTest, RebuildingTakesAFewMoreBytesThanTheListHas) {
  std::vector<DataObject*> values = made(cells_, kMany);
  for (int i = 0; i < 10; ++i) {
    shuffle(values);
    rebuild(cells_, values);
  }
  std::size_t used = 0;  // segments double
  const auto heap = make_heap(kSmall);
  DataCells cells(*heap);
  for (; heap->bytes() < heap_->bytes(); ++used) fill(cells.make(kFields), 0);
  EXPECT_LT(used * kCellBytes, kMany * kCellBytes * 5 / 4);
}

TEST_F(DataNeighboursTest, WhatIsMadeNextTakesTheCellsThatWerePutBack) {
  std::vector<DataObject*> values = made(cells_, kMany);
  shuffle(values);
  rebuild(cells_, values);
  const uint64_t bytes = heap_->bytes();
  for (DataObject* value : values) cells_.release(value);
  for (int i = 0; i < 10; ++i) {
    values.clear();
    for (std::size_t n = 0; n < kMany / 2; ++n) {
      values.push_back(cells_.make_near(kFields));
      fill(values.back(), 0);
    }
    for (DataObject* value : values) cells_.release(value);
  }
  EXPECT_EQ(heap_->bytes(), bytes);
}

/// A worker keeps as many chunks for itself as there are in this heap, but for some.
TEST_F(DataNeighboursTest, CellsThatOneWorkerPutBackServeAnother) {
  std::vector<DataObject*> values = made(cells_, 4 * kMany);
  shuffle(values);
  std::vector<DataObject*> rest(values.begin() + kMany, values.end());
  values.resize(kMany);
  DataCells others(*heap_);
  rebuild(others, values);  // of each chunk a quarter
  values.insert(values.end(), rest.begin(), rest.end());
  std::set<uintptr_t> chunks;
  for (const DataObject* value : values) chunks.insert(chunk_of(value));
  std::vector<DataObject*> more = made(cells_, kMany / 16);
  for (const DataObject* value : more) ASSERT_TRUE(chunks.contains(chunk_of(value)));
  more.insert(more.end(), values.begin(), values.end());
  std::ranges::sort(more);
  EXPECT_EQ(std::ranges::adjacent_find(more), more.end());
}

TEST_F(DataNeighboursTest, WithoutMoreMemoryEachFreeCellIsUsed) {
  std::size_t left = std::size_t{2} << 20;
  const std::unique_ptr<DataHeap, LeaveHeap> heap(DataHeap::make(
      [&](std::size_t bytes) {
        if (bytes > left) return false;
        left -= bytes;
        return true;
      },
      {0, 0}));
  DataCells cells(*heap);
  std::vector<DataObject*> values;
  const auto fill_heap = [&] {
    while (DataObject* cell = cells.make_near(kFields)) {
      values.push_back(cell);
      fill(cell, static_cast<int64_t>(values.size()) - 1);
    }
  };
  fill_heap();
  const std::size_t all = values.size();
  EXPECT_GT(all * kCellBytes, std::size_t{2'000'000});
  for (int i = 0; i < 5; ++i) {
    shuffle(values);
    rebuild(cells, values);
    for (std::size_t n = 0; n < all / 20; ++n) {
      cells.release(values.back());
      values.pop_back();
    }
    rebuild(cells, values);
    fill_heap();
    EXPECT_EQ(values.size(), all);
    for (std::size_t n = 0; n < values.size(); ++n) values[n]->slots()[0].i64 = static_cast<int64_t>(n);
    expect_all_numbers(values);
  }
}

TEST_F(DataNeighboursTest, WorkersRebuildWhatOthersHaveMade) {
  constexpr std::size_t kWorkers = 3;
  const auto heap = make_heap({0, 0});
  std::vector<std::unique_ptr<DataCells>> cells;
  std::vector<DataObject*> values;
  for (std::size_t i = 0; i < kWorkers; ++i) {
    cells.push_back(std::make_unique<DataCells>(*heap));
    const std::vector<DataObject*> more = made(*cells.back(), kMany / 10);
    values.insert(values.end(), more.begin(), more.end());
  }
  for (std::size_t i = 0; i < values.size(); ++i) values[i]->slots()[0].i64 = static_cast<int64_t>(i);
  for (int round = 0; round < 10; ++round) {
    shuffle(values);
    std::vector<std::vector<DataObject*>> parts(kWorkers);
    for (std::size_t i = 0; i < values.size(); ++i) parts[i % kWorkers].push_back(values[i]);
    {
      std::vector<std::jthread> threads;
      for (std::size_t i = 0; i < kWorkers; ++i) {
        threads.emplace_back([&, i] { rebuild(*cells[i], parts[i]); });
      }
    }
    values.clear();
    for (const std::vector<DataObject*>& part : parts) values.insert(values.end(), part.begin(), part.end());
    expect_all_numbers(values);
    EXPECT_EQ(heap->count_values(), values.size());
  }
}

}  // namespace
}  // namespace hiaton
