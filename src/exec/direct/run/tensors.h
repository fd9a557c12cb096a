// Runs instructions on tensors, for one worker.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "exec/direct/tensor_operation.h"
#include "hiaton/error.h"
#include "tensor/data_heap.h"
#include "tensor/tensor_heap.h"

namespace hiaton {
class RowSource;
}

namespace hiaton::exec::direct {

class TensorMachine {
 public:
  explicit TensorMachine(TensorHeap& heap) : cells(heap) {}

  /// Fault::OutOfMemory stands for a used up budget as well. Writes no result, and lets go of nothing, where
  /// it gives a fault.
  Fault run(const TensorOperation& operation, const Slot* slots, Slot& result);

  TensorCells cells;
  DataCells* strings =
      nullptr;  ///< the data cells of the same worker; null where the run makes no data values
  bool times_kernels = false;
  RowSource* rows = nullptr;  ///< rows of the run
  double kernel_seconds = 0;

 private:
  using Dims = std::span<const int64_t>;

  /// The dimensions that a result had for operands of these dimensions: type rules take longer than most
  /// operations on small tensors.
  struct KnownShape {
    static constexpr std::size_t kMostDims = 8;
    uint32_t operation = UINT32_MAX;
    uint8_t count = 0;  ///< how many dimensions the operands have, all together
    uint8_t rank = 0;   ///< the rank of the result
    std::array<int64_t, kMostDims> operands{};
    std::array<int64_t, kMaxRank> dims{};
  };
  /// Shapes whose hashes begin in the same way. The whole hashes stand side by side, so that a search touches
  /// no shape but the one that it finds.
  struct alignas(64) ShapeSet {
    static constexpr std::size_t kSize = 4;
    std::array<uint64_t, kSize> hashes{};
    std::array<KnownShape, kSize> shapes;
    uint32_t next = 0;  ///< the place of the next shape
  };

  Fault run_code(const TensorOperation& operation, const Slot* slots, Slot& result);
  Fault run_line(const TensorOperation& operation, const Slot* slots, Slot& result);
  void run_large_line(const TensorOperation& operation, int64_t size,
                      const std::array<std::byte*, 3>& elements);
  Fault run_element(const TensorOperation& operation, const Slot* slots, Slot& result);
  Fault run_size(const TensorOperation& operation, const Slot* slots, Slot& result);
  Fault run_set_element(const TensorOperation& operation, const Slot* slots, Slot& result);
  Fault run_append(const TensorOperation& operation, const Slot* slots, Slot& result);
  Fault run_drop_last(const TensorOperation& operation, const Slot* slots, Slot& result);
  /// The first operand, where the result may be written over it; else null.
  static TensorObject* updated(const TensorOperation& operation, const Slot* slots);
  Fault run_view(const TensorOperation& operation, const Slot* slots, Slot& result);
  /// Strings (strings.cpp).
  class Strings;
  Fault run_string(const TensorOperation& operation, const Slot* slots, Slot& result);
  Fault run_kernel(const TensorOperation& operation, const Slot* slots, Slot& result);
  bool find_dims(const TensorOperation& operation, const Slot* slots, Dims& dims);
  /// Whether it is what the operation gives for its operands in `slots`, which have `count` dimensions.
  static bool is_of(const KnownShape& known, const TensorOperation& operation, const Slot* slots,
                    std::size_t count);
  /// Lets go of the operands that the operation takes, but for one that has become the result.
  void let_go(const TensorOperation& operation, const Slot* slots, const TensorObject* kept = nullptr);
  Fault timed(const KernelCall& call);

  using KnownShapes = std::array<ShapeSet, 128>;
  std::unique_ptr<KnownShapes> shapes_;  ///< made when one is first needed
  KnownShape not_kept_{};                ///< the latest shape of more dimensions than are kept
};

}  // namespace hiaton::exec::direct
