// The memory of data values that a run leaves for the next one.
#include "tensor/kept_heap.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

namespace hiaton {
namespace {

class KeptHeapTest : public ::testing::Test {
 protected:
  /// A list cell of this number, the only one that refers to `rest`.
  static DataObject* cons(DataCells& cells, int64_t number, DataObject* rest) {
    DataObject* made = cells.make(2);
    made->layout = FieldLayout(std::array{field_kind(DType::I64), FieldKind::Data}).code();
    made->variant_bits = 1 << 1 | 1;
    made->references = 1;
    made->slots()[0].i64 = number;
    made->slots()[1].data = rest;
    return made;
  }
  static DataObject* nil() { return reinterpret_cast<DataObject*>(Data::bits_of_variant(0)); }
  static DataObject* list(DataCells& cells, int64_t count) {
    DataObject* made = nil();
    for (int64_t i = 0; i < count; ++i) made = cons(cells, i, made);
    return made;
  }

  KeptHeap::Lent take() {
    return kept_.take([this](std::size_t bytes) {
      taken_ += bytes;
      return true;
    });
  }
  /// The end of a run that has succeeded.
  void keep(KeptHeap::Lent heap) {
    heap.get_deleter().keeper = &kept_;
    heap.reset();
  }

  KeptHeap kept_;
  std::size_t taken_ = 0;
};

TEST_F(KeptHeapTest, ServesTheNextRunAsANewOneWould) {
  KeptHeap::Lent heap = take();
  const DataHeap* const first = heap.get();
  {
    DataCells cells(*heap);
    cells.release(list(cells, 1000));
  }
  const std::size_t taken = taken_;
  EXPECT_EQ(taken, heap->bytes());
  keep(std::move(heap));

  heap = take();
  EXPECT_EQ(heap.get(), first);
  EXPECT_EQ(heap->bytes(), 0u);
  DataCells cells(*heap);
  DataObject* const made = cells.make(1);  // of another size, in the memory of the cells before
  EXPECT_EQ(taken_, 2 * taken);
  EXPECT_EQ(heap->count_values(), 0u);
  cells.free_cell(made, 1);
}

TEST_F(KeptHeapTest, ValuesThatOutliveTheirRunStayAsTheyAre) {
  KeptHeap::Lent heap = take();
  const DataHeap* const first = heap.get();
  Slot result;
  {
    DataCells cells(*heap);
    result.data = list(cells, 10);
    heap->give_out(std::array{result});
  }
  Data value = Data::adopt(result.data);
  keep(std::move(heap));
  heap = take();
  EXPECT_NE(heap.get(), first);
  {
    DataCells cells(*heap);
    cells.release(list(cells, 1000));
  }
  keep(std::move(heap));
  EXPECT_EQ(value.field(0).as<int64_t>(), 9);

  heap = take();
  keep(std::move(heap));
  value = Data();
}

TEST_F(KeptHeapTest, OfARunThatMadeManyValuesNothingIsKept) {
  KeptHeap::Lent heap = take();
  {
    DataCells cells(*heap);
    cells.release(list(cells, 100'000));
  }
  keep(std::move(heap));
  const std::size_t taken = taken_;
  heap = take();
  EXPECT_EQ(heap->bytes(), 0u);
  DataCells cells(*heap);
  cells.release(list(cells, 1));
  EXPECT_LT(taken_ - taken, taken);
}

}  // namespace
}  // namespace hiaton
