#include "exec/flow/run/messages.h"

#include <algorithm>

namespace hiaton::exec::flow {
namespace {

Cell own_tensor(Cell cell) {
  Tensor copy = Tensor::uninitialized(cell.owner->dtype, cell.dims());
  std::copy_n(cell.elements(), static_cast<std::size_t>(copy.size()) * size_of(copy.dtype()),
              copy.mutable_data<std::byte>());
  Tensor::release(cell.owner);
  cell.owner = copy.detach();
  cell.set_elements(cell.owner->elements);
  return cell;
}

}  // namespace

SentValue::SentValue(SlotKind kind, const Cell& cell) : kind_(kind), cell_(cell) {
  if (kind == SlotKind::Tensor && cell.owner != nullptr && cell.owner->pool != nullptr) {
    try {
      cell_ = own_tensor(cell);
    } catch (...) {
      release(kind_, cell_);
      throw;
    }
  }
}

}  // namespace hiaton::exec::flow
