// What the check of counts after a failed run finds, and what it must not take for a mistake.
#include "tensor/reference_check.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <vector>

namespace hiaton {
namespace {

Slot slot_of(const void* reference) {
  Slot slot;
  slot.bits = reinterpret_cast<uint64_t>(reference);
  return slot;
}

class ReferenceCheckTest : public ::testing::Test {
 protected:
  /// A value with these fields, of which it takes over one reference each.
  DataObject* make(std::vector<DataObject*> fields) {
    const std::vector<FieldKind> kinds(fields.size(), FieldKind::Data);
    DataObject* made = begin(kinds);
    for (std::size_t i = 0; i < fields.size(); ++i) made->slots()[i].data = fields[i];
    return made;
  }
  DataObject* make_with_tensor(TensorObject* tensor) {
    DataObject* made = begin({FieldKind::Tensor});
    made->slots()[0].tensor = tensor;
    return made;
  }
  RunTensor* make_tensor() {
    const std::array<int64_t, 1> dims{2};
    return tensor_cells_.make(DType::F32, dims, 8);
  }
  static DataObject* leaf() { return reinterpret_cast<DataObject*>(Data::bits_of_variant(0)); }

  uint64_t unexplained(const std::vector<Slot>& slots) {
    return count_unexplained(heap_.get(), &tensors_, [&](const auto& visit) { visit(slots); });
  }

  std::unique_ptr<DataHeap, LeaveHeap> heap_{DataHeap::make([](std::size_t) { return true; })};
  TensorHeap tensors_{[](std::size_t) { return true; }, [](std::size_t) {}};
  TensorCells tensor_cells_{tensors_};
  DataCells cells_{*heap_, &tensor_cells_};

 private:
  DataObject* begin(const std::vector<FieldKind>& kinds) {
    DataObject* made = cells_.make(kinds.size());
    made->layout = FieldLayout(kinds).code();
    made->variant_bits = 1;
    made->references = 1;
    return made;
  }
};

TEST_F(ReferenceCheckTest, AValueThatASlotHoldsIsExplainedWithAllBelowIt) {
  DataObject* shared = make({leaf()});
  DataCells::retain(shared);
  DataObject* both = make({make({shared}), shared});
  EXPECT_EQ(unexplained({slot_of(both)}), 0u);
}

TEST_F(ReferenceCheckTest, SlotsMayBorrowAndHoldWhatIsOld) {
  DataObject* held = make({leaf()});
  DataObject* freed = make({leaf(), leaf()});
  cells_.release(freed);
  EXPECT_EQ(unexplained({slot_of(held), slot_of(held), slot_of(freed), slot_of(leaf()), Slot{}}), 0u);
}

TEST_F(ReferenceCheckTest, AValueThatWasNeverLetGoOfIsFound) {
  make({make({leaf()})});
  DataObject* below = make({leaf()});
  DataCells::retain(below);
  EXPECT_EQ(unexplained({slot_of(make({below}))}), 2u);
}

TEST_F(ReferenceCheckTest, AValueThatWasLetGoOfTwiceIsFound) {
  DataObject* shared = make({leaf()});
  DataObject* both = make({make({shared}), shared});  // without a second reference
  EXPECT_EQ(unexplained({slot_of(both)}), 1u);
}

TEST_F(ReferenceCheckTest, AFieldThatRefersToAFreeCellIsFound) {
  DataObject* below = make({leaf()});
  DataObject* above = make({below, leaf()});
  cells_.release(below);
  EXPECT_EQ(unexplained({slot_of(above)}), 1u);
}

TEST_F(ReferenceCheckTest, AFieldWhoseAddressIsInASlotMayBeUnfilledOrNot) {
  DataObject* below = make({leaf()});
  DataObject* unfilled = make({leaf(), below});
  cells_.release(below);
  EXPECT_EQ(unexplained({slot_of(unfilled), slot_of(&unfilled->slots()[1])}), 0u);
  heap_->forget_values();
  DataObject* filled = make({make({leaf()}), leaf()});
  EXPECT_EQ(unexplained({slot_of(filled), slot_of(&filled->slots()[0])}), 0u);
}

TEST_F(ReferenceCheckTest, CountsOfSharedValuesAreLookedAt) {
  DataObject* below = make({leaf()});
  DataObject* shared = make({below});
  DataCells::retain(shared);
  DataCells::share(shared);
  EXPECT_EQ(unexplained({slot_of(shared)}), 0u);
  heap_->forget_values();
  below = make({leaf()});
  shared = make({below});
  DataCells::share(shared);
  DataCells::retain(below);
  EXPECT_EQ(unexplained({slot_of(shared)}), 1u);
}

TEST_F(ReferenceCheckTest, WhatIsOutsideOfRunsIsNotLookedAt) {
  DataObject* result = make({leaf()});
  const Slot slot = slot_of(result);
  heap_->give_out({&slot, 1});
  const Data held = Data::adopt(result);
  DataObject* above = make({result, result});
  EXPECT_EQ(unexplained({slot_of(above)}), 0u);
}

TEST_F(ReferenceCheckTest, TensorsAreExplainedByFieldsViewsAndSlots) {
  RunTensor* tensor = make_tensor();
  const std::array<int64_t, 2> dims{2, 1};
  RunTensor* view = tensor_cells_.make_view(tensor, dims);
  RunTensor* alone = make_tensor();
  DataObject* value = make_with_tensor(view);
  EXPECT_EQ(unexplained({slot_of(value), slot_of(tensor), slot_of(alone)}), 0u);
}

TEST_F(ReferenceCheckTest, TensorsThatWereNeverLetGoOfAreFound) {
  make_tensor();
  RunTensor* tensor = make_tensor();
  TensorCells::retain(tensor);
  EXPECT_EQ(unexplained({slot_of(make_with_tensor(tensor))}), 2u);
}

}  // namespace
}  // namespace hiaton
