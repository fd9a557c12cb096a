#include "exec/flow/scratch.h"

#include <algorithm>

#include "tensor/memory.h"

namespace hiaton::exec::flow {
namespace {

constexpr std::size_t kAlignment = 64;

}  // namespace

std::byte* Scratch::take(std::size_t bytes) {
  bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  while (block_ < blocks_.size() && used_ + bytes > blocks_[block_].size) {
    ++block_;
    used_ = 0;
  }
  if (block_ == blocks_.size()) {
    constexpr std::size_t kSmallestBlock = std::size_t{1} << 20;
    const std::size_t size = std::max(bytes, blocks_.empty() ? kSmallestBlock : 2 * blocks_.back().size);
    take_memory(size + kAlignment);
    blocks_.push_back({std::make_unique_for_overwrite<std::byte[]>(size + kAlignment), size});
    bytes_ += size + kAlignment;
    used_ = 0;
  }
  const auto base = reinterpret_cast<uintptr_t>(blocks_[block_].memory.get());
  std::byte* start = blocks_[block_].memory.get() + (kAlignment - base % kAlignment) % kAlignment;
  std::byte* taken = start + used_;
  used_ += bytes;
  return taken;
}

void Scratch::reset() {
  block_ = 0;
  used_ = 0;
}

}  // namespace hiaton::exec::flow
