// Memory of one batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace hiaton::exec::flow {

/// Memory that is handed out in parts and taken back at once.
class Scratch {
 public:
  std::byte* take(std::size_t bytes) {
    bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    if (bytes > left_) begin_block(bytes);
    left_ -= bytes;
    return std::exchange(next_, next_ + bytes);
  }
  void reset();
  uint64_t bytes() const { return bytes_; }

 private:
  static constexpr std::size_t kAlignment = 64;

  struct Block {
    std::unique_ptr<std::byte[]> memory;
    std::size_t size;  ///< from its first aligned byte on
  };

  void begin_block(std::size_t bytes);

  std::vector<Block> blocks_;
  std::size_t blocks_begun_ = 0;
  std::byte* next_ = nullptr;
  std::size_t left_ = 0;  ///< bytes of the last block that was begun
  uint64_t bytes_ = 0;
};

}  // namespace hiaton::exec::flow
