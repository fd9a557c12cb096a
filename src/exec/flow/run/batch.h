// One region for many frames at once.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "exec/flow/flow_plan.h"
#include "exec/flow/run/block_pool.h"
#include "exec/flow/run/elementwise_steps.h"
#include "exec/flow/run/flow_frame.h"
#include "exec/flow/run/gradient_sums.h"
#include "exec/flow/run/packed_parameters.h"
#include "exec/flow/run/scratch.h"
#include "hiaton/run.h"

namespace hiaton::exec::flow {

/// What went wrong in a batch, and where.
struct BatchFault {
  Fault fault = Fault::None;
  const Step* step = nullptr;
};

/// Runs batches. One for each worker.
class BatchRunner {
 public:
  BatchRunner(const graph::Graph& graph, const Plan& plan, const std::vector<FramePool>& pools);
  BatchRunner(const BatchRunner&) = delete;
  ~BatchRunner() { release_blocks(); }

  /// From now on parameters are those of `options`, as `packed` has them, and their gradients are added to
  /// `gradients`. All must live until the end of the run.
  void begin(const graph::Graph& graph, const RunOptions& options, const PackedParameters& packed,
             Gradients* gradients);

  /// Runs the steps of a region for frames whose operands have the same shapes.
  BatchFault run(const Region& region, std::span<Frame* const> frames);
  /// The operands of the step that failed, in the first frame. Their memory is valid until the next run.
  std::vector<hiaton::Value> failed_operands() const;
  /// Adds what is left to the gradients, or to that of one parameter.
  void finish();
  void finish(std::size_t parameter);
  /// Where the tensors of frames that run together stand.
  BlockPool& blocks() { return blocks_; }
  /// The size of its blocks and its scratch memory, which it keeps from run to run.
  uint64_t bytes() const { return blocks_.bytes() + scratch_.bytes(); }
  /// Since begin, if the options want to know.
  double kernel_seconds() const { return kernel_seconds_; }

 private:
  /// A step with what all its batches share, and its result in the batch that runs.
  struct BoundStep {
    const Step* step;
    std::vector<const TensorArgument*> operands{};  ///< where they are when it runs
    const TensorArgument* whole = nullptr;          ///< what the result is a part of: a view, or one of a row
    std::size_t offset = 0;                         ///< bytes, of the first element in the whole
    std::vector<int64_t> dims{};                    ///< the dimensions of an instance of the result
    std::size_t bytes = 0;                          ///< the bytes of an instance of the result
    bool is_sized = false;                          ///< these two are known before the run
    TensorArgument result{};
    TensorObject* block = nullptr;  ///< where its elements stand, if the frames are to keep them
  };

  /// Instances of a batch that run all steps before the next ones run any.
  struct Chunk {
    std::size_t begin;
    std::size_t size;
    std::size_t of;  ///< the whole batch
  };

  bool asks_for_rows(const Region& region) const;
  BatchFault run_chunks(const Region& region, std::span<Frame* const> frames);
  void release_blocks();
  BatchFault run_chunk(const Region& region, const Chunk& chunk, std::span<Frame* const> frames);
  std::span<BoundStep> bound(const Region& region) {
    return bound_[static_cast<std::size_t>(&region - plan_.regions.data())];
  }
  void bind(const Region& region);
  void set_size(BoundStep& bound) const;
  /// Runs a kernel, and counts its time if the options want to know.
  void run_kernel(const auto& kernel);
  void make_buffers(const Region& region, std::size_t batch);
  TensorArgument gather(const Function& function, const Gather& input, std::span<Frame* const> frames);
  bool find_rows(const FrameLayout::TensorPlace& place, std::size_t bytes, std::span<Frame* const> frames);
  void gather_together(BoundStep& bound, const Chunk& chunk, std::span<Frame* const> frames);
  const TensorArgument* place_of(const Source& source, std::span<const BoundStep> steps) const;
  Fault run_step(BoundStep& bound, const Chunk& chunk, std::span<Frame* const> frames);
  TensorObject* take_first(const Step& step, std::span<Frame* const> frames);
  void run_together(std::span<BoundStep> steps, const Chunk& chunk);
  TensorObject* make_owner(const Step& step, int64_t instances, const TensorArgument& result);
  void place_result(BoundStep& bound, const Chunk& chunk);
  Fault find_dims(BoundStep& bound);
  void multiply(const Step& step, const TensorArgument& out, int64_t batch);
  void keep_scalars(const Region& region, std::span<Frame* const> frames);
  void keep_tensors(const Region& region, std::span<Frame* const> frames);
  void keep_tensor(BoundStep& bound, uint32_t slot, std::span<Frame* const> frames);

  const graph::Graph* graph_;
  const Plan& plan_;
  const std::vector<FramePool>& pools_;
  const RunOptions* options_ = nullptr;
  const PackedParameters* packed_ = nullptr;  ///< packed parameters of the options
  double kernel_seconds_ = 0;
  BlockPool blocks_;
  Scratch scratch_;
  // Steps are bound to the elements of these three, and to each other.
  std::vector<TensorArgument> constants_;   ///< constants of the plan
  std::vector<TensorArgument> parameters_;  ///< parameters of the options
  std::vector<TensorArgument> slots_;       ///< by slot of the function whose region runs
  std::vector<TensorArgument> operands_;
  std::vector<ElementwiseStep> elementwise_;  ///< steps that run together
  std::vector<const void*> rows_;             ///< rows that are gathered
  std::vector<std::byte*> buffers_;           ///< the buffers of the region that runs
  GradientSums sums_;
  std::vector<std::vector<BoundStep>> bound_;  ///< by region
  std::span<BoundStep> running_;               ///< the steps of the region that runs
  bool has_failed_ = false;                    ///< the last batch did: what it made is still there
};

}  // namespace hiaton::exec::flow
