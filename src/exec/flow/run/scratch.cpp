#include "exec/flow/run/scratch.h"

#include <algorithm>

#include "tensor/memory.h"

namespace hiaton::exec::flow {

/// The next one of at least so many bytes.
void Scratch::begin_block(std::size_t bytes) {
  while (blocks_begun_ < blocks_.size() && blocks_[blocks_begun_].size < bytes) ++blocks_begun_;
  if (blocks_begun_ == blocks_.size()) {
    constexpr std::size_t kSmallestBlock = std::size_t{1} << 20;
    const std::size_t size = std::max(bytes, blocks_.empty() ? kSmallestBlock : 2 * blocks_.back().size);
    take_memory(size + kAlignment);
    blocks_.push_back({std::make_unique_for_overwrite<std::byte[]>(size + kAlignment), size});
    bytes_ += size + kAlignment;
  }
  const Block& block = blocks_[blocks_begun_++];
  const auto begin = reinterpret_cast<uintptr_t>(block.memory.get());
  next_ = block.memory.get() + (kAlignment - begin % kAlignment) % kAlignment;
  left_ = block.size;
}

void Scratch::reset() {
  blocks_begun_ = 0;
  left_ = 0;
}

}  // namespace hiaton::exec::flow
