#include "exec/flow/run/received_values.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

namespace hiaton::exec::flow {

ReceivedValues::ReceivedValues(const net::ValueCodec& codec, std::vector<SlotKind> kinds, std::size_t calls,
                               BlockPool& blocks, net::ByteReader& in)
    : codec_(codec),
      kinds_(std::move(kinds)),
      in_(in),
      slots_(kinds_.size()),
      rows_(kinds_.size()),
      row_bytes_(kinds_.size()),
      blocks_(kinds_.size()) {
  if (calls < 2) return;  // a value of its own is gone with its frame
  try {
    make_blocks(calls, blocks);
  } catch (...) {
    release_blocks();
    throw;
  }
}

void ReceivedValues::make_blocks(std::size_t calls, BlockPool& blocks) {
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    const std::optional<net::ValueCodec::KnownSize> known = codec_.known_size(i);
    if (!known) continue;
    if (known->bytes > in_.left() / calls)
      in_.fail(fmt::format("expected the values of {} calls, found {} bytes", calls, in_.left()));
    blocks_[i] = blocks.make(known->dtype, static_cast<int64_t>(calls), known->dims);
    rows_[i] = blocks_[i]->elements;
    row_bytes_[i] = known->bytes;
  }
}

void ReceivedValues::read(std::vector<SentValue>& values) {
  codec_.read_slots(in_, slots_, rows_);
  values.clear();
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    if (blocks_[i] == nullptr) {
      values.emplace_back(kinds_[i], borrow(kinds_[i], slots_[i]));
      continue;
    }
    Cell cell;
    cell.owner = blocks_[i];
    cell.set_elements(rows_[i]);
    Tensor::retain(cell.owner);
    values.emplace_back(kinds_[i], cell);
    rows_[i] += row_bytes_[i];
  }
}

void ReceivedValues::release_blocks() {
  for (TensorObject*& block : blocks_) Tensor::release(std::exchange(block, nullptr));
}

}  // namespace hiaton::exec::flow
