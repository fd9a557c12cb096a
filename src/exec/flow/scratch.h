// Memory of one batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace hiaton::exec::flow {

/// Memory that is handed out piece by piece and taken back at once.
class Scratch {
 public:
  std::byte* take(std::size_t bytes);
  void reset();
  uint64_t bytes() const { return bytes_; }

 private:
  struct Block {
    std::unique_ptr<std::byte[]> memory;
    std::size_t size;
  };
  std::vector<Block> blocks_;
  std::size_t block_ = 0;
  std::size_t used_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace hiaton::exec::flow
