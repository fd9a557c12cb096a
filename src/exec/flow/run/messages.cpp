#include "exec/flow/run/messages.h"

#include <algorithm>

namespace hiaton::exec::flow {
namespace {

Cell own_tensor(const Cell& cell) {
  Tensor copy = Tensor::uninitialized(cell.owner->dtype, cell.dims());
  std::copy_n(cell.elements(), static_cast<std::size_t>(copy.size()) * size_of(copy.dtype()),
              copy.mutable_data<std::byte>());
  Cell own;
  own.owner = copy.detach();
  own.set_elements(own.owner->elements);
  return own;
}

}  // namespace

Cell for_another_thread(const Cell& cell) {
  if (cell.owner == nullptr || cell.owner->pool == nullptr) return cell;
  Cell block = cell;
  try {
    const Cell own = own_tensor(cell);
    release(SlotKind::Tensor, block);
    return own;
  } catch (...) {
    release(SlotKind::Tensor, block);
    throw;
  }
}

}  // namespace hiaton::exec::flow
