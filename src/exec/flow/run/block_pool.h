// Contiguous memory for the results of batches, used again from batch to batch and from run to run. A block
// holds the results of all instances of a batch; frames refer to it.
#pragma once

#include <array>
#include <span>

#include "hiaton/tensor.h"

namespace hiaton::exec::flow {

/// Blocks come from here and go back when no frame refers to them. Of one worker: all of it happens in its
/// thread.
class BlockPool : public TensorPool {
 public:
  ~BlockPool() override { free_all(); }

  /// A block of so many instances; elements of any value, with one reference.
  TensorObject* make(DType dtype, int64_t instances, std::span<const int64_t> dims);
  void take_back(TensorObject* object) override;
  /// The bytes of all blocks, also of those that are free.
  uint64_t bytes() const { return bytes_; }

 private:
  TensorObject* make_block(std::size_t bytes);
  /// Frees the blocks that nothing refers to.
  void free_all();

  /// Sizes are rounded up to four steps for each power of two.
  static constexpr std::size_t kClasses = 256;
  static std::size_t class_of(std::size_t bytes);
  static std::size_t bytes_of(std::size_t size_class);

  std::array<TensorObject*, kClasses> free_{};  ///< by size: the first of those that are free
  uint64_t bytes_ = 0;
};

}  // namespace hiaton::exec::flow
