// The values of calls that another process has sent together.
#pragma once

#include <cstddef>
#include <vector>

#include "exec/flow/run/block_pool.h"
#include "exec/flow/run/messages.h"
#include "net/values.h"

namespace hiaton::exec::flow {

/// Reads the values of several calls, call by call. Tensors whose size their type knows stand in a block for
/// all calls, in their order: a batch of these calls reads them where they are.
class ReceivedValues {
 public:
  /// `kinds`: of the values of a call, as the codec has them. Throws ProgramError where the values of so many
  /// calls are more than there is to read, and OverBudget.
  ReceivedValues(const net::ValueCodec& codec, std::vector<SlotKind> kinds, std::size_t calls,
                 BlockPool& blocks, net::ByteReader& in);
  ReceivedValues(const ReceivedValues&) = delete;
  ReceivedValues& operator=(const ReceivedValues&) = delete;
  ~ReceivedValues() { release_blocks(); }

  /// The values of the next call, in the place of those that are there.
  void read(std::vector<SentValue>& values);

 private:
  void make_blocks(std::size_t calls, BlockPool& blocks);
  void release_blocks();

  const net::ValueCodec& codec_;
  const std::vector<SlotKind> kinds_;
  net::ByteReader& in_;
  std::vector<Slot> slots_;
  std::vector<std::byte*> rows_;        ///< by value: where it stands in the next call; null: in no block
  std::vector<std::size_t> row_bytes_;  ///< by value
  std::vector<TensorObject*> blocks_;   ///< by value
};

}  // namespace hiaton::exec::flow
