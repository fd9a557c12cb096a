// A batch, in the order of its steps: operands that are not contiguous are gathered, each step
// is one call of a kernel, elementwise ones run together (elementwise_steps.h), and what frames need later
// stays in a block that they refer to.
#include "exec/flow/run/batch.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/product_of_sizes.h"
#include "exec/rows_elsewhere.h"
#include "kernels/rows.h"
#include "tensor/memory.h"

namespace hiaton::exec::flow {
namespace {

/// Elements of a tensor; none: more than any memory has. Of a size the bytes of a batch can be counted.
std::optional<uint64_t> possible_size(std::span<const int64_t> dims) {
  return product_of_sizes(1, dims, uint64_t{1} << 50);
}

int64_t size_of_dims(std::span<const int64_t> dims) {
  const std::optional<uint64_t> size = possible_size(dims);
  if (!size) throw OverBudget();
  return static_cast<int64_t>(*size);
}

/// The same for all instances of a batch.
TensorArgument constant(const Value& value) {
  if (value.is_scalar()) {
    auto* slot = const_cast<Slot*>(&value.slot());
    return {reinterpret_cast<std::byte*>(slot), {}, value.dtype(), 0};
  }
  const TensorObject& object = *value.slot().tensor;
  return {object.elements, {object.dims.data(), object.rank}, object.dtype, 0};
}

/// Data values, which no kernel reads, have no argument.
void set_constants(std::vector<TensorArgument>& constants, std::span<const Value> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    constants[i] = values[i].is_data() ? TensorArgument() : constant(values[i]);
  }
}

}  // namespace

BatchRunner::BatchRunner(const graph::Graph& graph, const Plan& plan, const std::vector<FramePool>& pools)
    : graph_(&graph),
      plan_(plan),
      pools_(pools),
      constants_(plan.constants.size()),
      parameters_(graph.parameters().size()),
      sums_(graph.parameters().size()),
      bound_(plan.regions.size()) {
  set_constants(constants_, plan.constants);
  std::size_t slots = 0;
  for (const Function& function : plan.functions) slots = std::max(slots, function.slots.size());
  slots_.resize(slots);
  for (const Region& region : plan.regions) {
    if (region.batched) bind(region);
  }
}

void BatchRunner::bind(const Region& region) {
  std::vector<BoundStep>& steps = bound_[static_cast<std::size_t>(&region - plan_.regions.data())];
  for (const Step& step : region.steps) steps.push_back({.step = &step});
  for (BoundStep& bound : steps) {
    const Step& step = *bound.step;
    const Type& type = (*graph_)[step.node].type;
    bound.result.dtype = type.dtype;
    for (const Source& operand : step.operands) bound.operands.push_back(place_of(operand, steps));
    for (const Dim& dim : type.shape) bound.dims.push_back(dim.size);
    bound.is_sized = step.fixed_shapes && possible_size(bound.dims);
    if (!bound.is_sized) continue;
    set_size(bound);
    if (step.code == Step::Code::View) bound.whole = bound.operands[0];
    if (step.row) bound.whole = &steps[*step.row].result;
    const std::size_t unit = step.row ? bound.bytes : size_of(type.dtype);
    bound.offset = static_cast<std::size_t>(step.offset) * unit;
  }
}

/// By the dimensions.
void BatchRunner::set_size(BoundStep& bound) const {
  const int64_t size = size_of_dims(bound.dims);
  bound.bytes = static_cast<std::size_t>(size) * size_of(bound.result.dtype);
  bound.result.dims = bound.dims;
  bound.result.stride = bound.step->shared ? 0 : size;
}

void BatchRunner::begin(const graph::Graph& graph, const RunOptions& options, const PackedParameters& packed,
                        Gradients* gradients) {
  graph_ = &graph;
  options_ = &options;
  packed_ = &packed;
  sums_.begin(gradients);
  kernel_seconds_ = 0;
  set_constants(parameters_, options.parameters);
  release_blocks();
  has_failed_ = false;
}

void BatchRunner::run_kernel(const auto& kernel) {
  if (!options_->time_kernels) return kernel();
  const auto start = std::chrono::steady_clock::now();
  kernel();
  kernel_seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

BatchFault BatchRunner::run(const Region& region, std::span<Frame* const> frames) {
  if (has_failed_) release_blocks();
  running_ = bound(region);
  try {
    const BatchFault fault = run_chunks(region, frames);
    has_failed_ = fault.fault != Fault::None;
    if (!has_failed_) keep_tensors(region, frames);
    return fault;
  } catch (...) {
    release_blocks();
    throw;
  }
}

std::vector<hiaton::Value> BatchRunner::failed_operands() const {
  std::vector<hiaton::Value> values;
  for (const TensorArgument& operand : operands_) {
    if (operand.dims.empty()) {
      Slot slot;
      std::memcpy(&slot, operand.elements, size_of(operand.dtype));
      values.emplace_back(operand.dtype, slot);
    } else {
      values.emplace_back(Tensor(operand.dtype, operand.dims, operand.elements, nullptr));
    }
  }
  return values;
}

void BatchRunner::release_blocks() {
  for (BoundStep& step : running_) Tensor::release(std::exchange(step.block, nullptr));
}

/// Another process is asked once for all rows of a batch.
bool BatchRunner::asks_for_rows(const Region& region) const {
  if (options_->rows == nullptr) return false;
  return std::ranges::any_of(region.steps, [&](const Step& step) {
    const graph::Node& node = (*graph_)[step.node];
    return step.code == Step::Code::Tensor && node.op->role == Role::Gather &&
           step.operands[0].from == Source::From::Parameter &&
           options_->rows->is_elsewhere(parameters_[step.operands[0].index].elements);
  });
}

BatchFault BatchRunner::run_chunks(const Region& region, std::span<Frame* const> frames) {
  const std::size_t most = asks_for_rows(region) ? frames.size() : region.chunk;
  for (std::size_t begin = 0; begin < frames.size(); begin += most) {
    const Chunk chunk{begin, std::min(most, frames.size() - begin), frames.size()};
    const BatchFault fault = run_chunk(region, chunk, frames.subspan(chunk.begin, chunk.size));
    if (fault.fault != Fault::None) return fault;
  }
  return {};
}

BatchFault BatchRunner::run_chunk(const Region& region, const Chunk& chunk, std::span<Frame* const> frames) {
  scratch_.reset();
  make_buffers(region, frames.size());
  const Function& function = plan_.functions[region.function];
  for (std::size_t i = 0; i < running_.size();) {
    const Step& step = *running_[i].step;
    if (step.code == Step::Code::GatherTogether) {
      gather_together(running_[i], chunk, frames);
    } else {
      for (const Gather& input : step.gathers) slots_[input.slot] = gather(function, input, frames);
      if (step.elementwise != nullptr) {
        run_together(running_.subspan(i, step.together), chunk);
      } else if (const Fault fault = run_step(running_[i], chunk, frames); fault != Fault::None) {
        return {fault, &step};
      }
    }
    i += step.together;
  }
  keep_scalars(region, frames);
  return {};
}

void BatchRunner::make_buffers(const Region& region, std::size_t batch) {
  buffers_.clear();
  for (std::size_t bytes : region.buffers) buffers_.push_back(scratch_.take(bytes * batch));
}

/// Where the instances are contiguous already, nothing is copied.
TensorArgument BatchRunner::gather(const Function& function, const Gather& input,
                                   std::span<Frame* const> frames) {
  const uint32_t slot = input.slot;
  const FrameLayout& layout = pools_[frames[0]->function].layout();
  const Type& type = function.slot_types[slot];
  const std::size_t element = size_of(type.dtype);
  const std::size_t count = frames.size();
  const auto room = [&](std::size_t bytes) {
    return input.buffer ? buffers_[*input.buffer] : scratch_.take(count * bytes);
  };
  if (function.slots[slot] == SlotKind::Scalar) {
    std::byte* gathered = room(element);
    for (std::size_t i = 0; i < count; ++i) {
      std::memcpy(gathered + i * element, layout.address(frames[i], slot), element);
    }
    return {gathered, {}, type.dtype, 1};
  }
  const FrameLayout::TensorPlace place = layout.tensor_place(slot);
  const Cell first = place.load(frames[0]);
  const std::span<const int64_t> dims = first.dims();
  const int64_t size = size_of_dims(dims);
  const std::size_t bytes = static_cast<std::size_t>(size) * element;
  if (find_rows(place, bytes, frames)) return {first.elements(), dims, type.dtype, size};
  std::byte* gathered = room(bytes);
  kernels::gather_rows(rows_, static_cast<int64_t>(bytes), gathered, static_cast<int64_t>(bytes));
  return {gathered, dims, type.dtype, size};
}

/// Puts the addresses of the instances into rows_ and says whether they are contiguous.
bool BatchRunner::find_rows(const FrameLayout::TensorPlace& place, std::size_t bytes,
                            std::span<Frame* const> frames) {
  rows_.resize(frames.size());
  const std::byte* const first = place.load(frames[0]).elements();
  bool contiguous = true;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (i + kFramesAhead < frames.size()) place.prefetch(frames[i + kFramesAhead]);
    const std::byte* row = place.load(frames[i]).elements();
    contiguous = contiguous && row == first + i * bytes;
    rows_[i] = row;
  }
  return contiguous;
}

/// What reads an input by itself finds it in the result.
void BatchRunner::gather_together(BoundStep& bound, const Chunk& chunk, std::span<Frame* const> frames) {
  const FrameLayout& layout = pools_[frames[0]->function].layout();
  place_result(bound, chunk);
  const DType dtype = bound.result.dtype;
  const std::size_t element = size_of(dtype);
  const int64_t size = bound.result.stride;
  std::byte* part = bound.result.elements;
  for (const Gather& input : bound.step->gathers) {
    const FrameLayout::TensorPlace place = layout.tensor_place(input.slot);
    const std::span<const int64_t> dims = place.load(frames[0]).dims();
    const std::size_t bytes = static_cast<std::size_t>(size_of_dims(dims)) * element;
    find_rows(place, bytes, frames);
    kernels::gather_rows(rows_, static_cast<int64_t>(bytes), part, static_cast<int64_t>(bound.bytes));
    slots_[input.slot] = {part, dims, dtype, size};
    part += bytes;
  }
}

const TensorArgument* BatchRunner::place_of(const Source& source, std::span<const BoundStep> steps) const {
  switch (source.from) {
    case Source::From::Slot:
      return &slots_[source.index];
    case Source::From::Constant:
      return &constants_[source.index];
    case Source::From::Parameter:
      return &parameters_[source.index];
    case Source::From::Step:
      break;
  }
  return &steps[source.index].result;
}

Fault BatchRunner::run_step(BoundStep& bound, const Chunk& chunk, std::span<Frame* const> frames) {
  const auto batch = static_cast<int64_t>(chunk.size);
  const Step& step = *bound.step;
  if (step.code == Step::Code::Nothing) return Fault::None;
  if (step.code == Step::Code::Accumulate) {
    run_kernel([&] { sums_.add((*graph_)[step.node], bound.operands, batch); });
    return Fault::None;
  }
  if (step.code == Step::Code::View) {
    place_result(bound, chunk);
    return Fault::None;
  }
  operands_.clear();
  for (const TensorArgument* operand : bound.operands) operands_.push_back(*operand);
  if (!step.fixed_shapes) {
    const Fault fault = find_dims(bound);
    if (fault != Fault::None) return fault;
  }
  // Where a batch has failed, its instances run again: no step behind one that has changed an operand may
  // fail.
  const bool is_last = &step == running_.back().step;
  const bool may_take = step.takes && chunk.size == chunk.of && (batch == 1 || is_last);
  if (may_take) bound.block = take_first(step, frames);
  const bool has_taken = bound.block != nullptr && may_take;
  place_result(bound, chunk);
  const graph::Node& node = (*graph_)[step.node];
  const int64_t instances = step.shared ? 1 : batch;
  Fault fault = Fault::None;
  run_kernel([&] {
    if (step.code == Step::Code::Product) {
      multiply(step, bound.result, instances);
    } else {
      fault = run_tensor_kernel(
          {node.op, operands_, bound.result, node.attributes, instances, options_->overflow}, options_->rows);
    }
  });
  // A kernel that fails has changed nothing.
  if (fault != Fault::None && has_taken) keep_tensor(bound, step.operands[0].index, frames);
  return fault;
}

/// Returns the tensors of the slot that the first operand stands in, for the result to stand there: where
/// these frames hold all of a block in its order, and nobody else does. Null: they do not.
TensorObject* BatchRunner::take_first(const Step& step, std::span<Frame* const> frames) {
  const uint32_t slot = step.operands[0].index;
  const FrameLayout::TensorPlace place = pools_[frames[0]->function].layout().tensor_place(slot);
  TensorObject* const block = place.load(frames[0]).owner;
  const auto count = static_cast<int64_t>(frames.size());
  const int64_t instances = block->is_batch ? block->dims[0] : 1;
  if (block->is_view || instances != count || block->references.load(std::memory_order_acquire) != count)
    return nullptr;
  const TensorArgument& first = slots_[slot];
  const std::size_t bytes = static_cast<std::size_t>(first.stride) * size_of(first.dtype);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const Cell cell = place.load(frames[i]);
    if (cell.owner != block || cell.elements() != block->elements + i * bytes) return nullptr;
  }
  for (Frame* frame : frames) place.store(frame, Cell());
  block->references.store(1, std::memory_order_relaxed);
  return block;
}

/// Lines, the views between them and the rows that they write to.
void BatchRunner::run_together(std::span<BoundStep> steps, const Chunk& chunk) {
  const std::size_t element = size_of(steps[0].result.dtype);
  const auto place = [&](const TensorArgument& of) {
    return ElementwiseStep::Operand{of.elements, of.stride * static_cast<int64_t>(element)};
  };
  for (BoundStep& bound : steps) {
    if (bound.step->code == Step::Code::Row) place_result(bound, chunk);
  }
  elementwise_.clear();
  for (BoundStep& bound : steps) {
    if (bound.step->code == Step::Code::Row) continue;
    place_result(bound, chunk);
    if (bound.step->elementwise == nullptr) continue;
    elementwise_.push_back(
        {bound.step->elementwise, place(*bound.operands[0]),
         bound.operands.size() > 1 ? place(*bound.operands[1]) : ElementwiseStep::Operand(),
         place(bound.result)});
  }
  run_kernel([&] {
    run_elementwise_steps(elementwise_, static_cast<int64_t>(chunk.size),
                          static_cast<int64_t>(steps[0].bytes / element), static_cast<int64_t>(element));
  });
}

/// Returns a block for so many instances; one instance that the program gives as its result gets a tensor of
/// its own, which then need not be copied.
TensorObject* BatchRunner::make_owner(const Step& step, int64_t instances, const TensorArgument& result) {
  if (step.is_result && instances == 1) return Tensor::uninitialized(result.dtype, result.dims).detach();
  return blocks_.make(result.dtype, instances, result.dims);
}

/// Sets where the result of a step is to stand.
void BatchRunner::place_result(BoundStep& bound, const Chunk& chunk) {
  if (!bound.is_sized) set_size(bound);
  TensorArgument& result = bound.result;
  const Step& step = *bound.step;
  if (bound.whole != nullptr) {
    result.elements = bound.whole->elements + bound.offset;
    result.stride = bound.whole->stride;
  } else if (step.slot && step.kind == SlotKind::Tensor) {
    const auto all = static_cast<int64_t>(step.shared ? 1 : chunk.of);
    if (bound.block == nullptr) bound.block = make_owner(step, all, result);
    result.elements = bound.block->elements + chunk.begin * bound.bytes;
  } else if (step.buffer) {
    result.elements = buffers_[*step.buffer];
  } else {
    result.elements = scratch_.take(bound.bytes * (step.shared ? 1 : chunk.size));
  }
}

/// The dimensions of a result that only the run knows.
Fault BatchRunner::find_dims(BoundStep& bound) {
  const graph::Node& node = (*graph_)[bound.step->node];
  std::vector<Type> types;
  for (const TensorArgument& operand : operands_) {
    types.push_back(tensor_type(operand.dtype, {operand.dims.begin(), operand.dims.end()}));
  }
  try {
    const Type type = node.op->type_rule.value({types, node.attributes, &node.type});
    bound.dims.clear();
    for (const Dim& dim : type.shape) {
      if (dim.size < 0) return Fault::Shape;
      bound.dims.push_back(dim.size);
    }
  } catch (const ProgramError&) {
    return Fault::Shape;
  }
  return Fault::None;
}

void BatchRunner::multiply(const Step& step, const TensorArgument& out, int64_t batch) {
  const TensorArgument& x = operands_[0];
  const std::size_t parameter = step.operands[1].index;
  const int64_t depth = x.dims.back();
  const int64_t columns = out.dims.back();
  const int64_t rows_each = x.rows();
  const auto product = [&]<class T>(T) {
    const kernels::PackedMatrix<T>& w = packed_->get<T>(parameter, step.transposed);
    const auto rows = [&](int64_t first, int64_t count, int64_t stride) {
      if (operands_.size() == 3) {
        kernels::multiply_bias<T>(x.at<T>(first), count, stride, w, operands_[2].at<T>(0), out.at<T>(first),
                                  columns);
      } else {
        kernels::multiply<T>(x.at<T>(first), count, stride, w, out.at<T>(first), columns, false);
      }
    };
    if (x.stride == x.size() || batch == 1) return rows(0, batch * rows_each, depth);
    if (rows_each == 1) return rows(0, batch, x.stride);
    for (int64_t i = 0; i < batch; ++i) rows(i, rows_each, depth);
  };
  if (out.dtype == DType::F64) {
    product(double{});
  } else {
    product(float{});
  }
}

void BatchRunner::keep_scalars(const Region& region, std::span<Frame* const> frames) {
  const FrameLayout& layout = pools_[frames[0]->function].layout();
  for (const uint32_t i : region.kept) {
    if (region.steps[i].kind == SlotKind::Tensor) continue;
    const TensorArgument& made = running_[i].result;
    const std::size_t element = size_of(made.dtype);
    const std::size_t step = static_cast<std::size_t>(made.stride) * element;
    for (std::size_t k = 0; k < frames.size(); ++k) {
      Cell cell;
      std::memcpy(&cell.slot, made.elements + k * step, element);
      layout.store(frames[k], *region.steps[i].slot, cell);
    }
  }
}

void BatchRunner::keep_tensors(const Region& region, std::span<Frame* const> frames) {
  for (const uint32_t i : region.kept) {
    BoundStep& bound = running_[i];
    if (bound.step->kind != SlotKind::Tensor) continue;
    keep_tensor(bound, *bound.step->slot, frames);
  }
}

/// The slots of the frames refer to the instances of the result.
void BatchRunner::keep_tensor(BoundStep& bound, uint32_t slot, std::span<Frame* const> frames) {
  TensorObject* const block = std::exchange(bound.block, nullptr);
  const std::size_t step = bound.step->shared ? 0 : bound.bytes;
  block->references.store(static_cast<int32_t>(frames.size()), std::memory_order_relaxed);
  const FrameLayout::TensorPlace place = pools_[frames[0]->function].layout().tensor_place(slot);
  std::byte* elements = block->elements;
  for (Frame* frame : frames) {
    Cell cell;
    cell.set_elements(elements);
    cell.owner = block;
    place.store(frame, cell);
    elements += step;
  }
}

void BatchRunner::finish() {
  run_kernel([&] { sums_.flush(); });
}

void BatchRunner::finish(std::size_t parameter) {
  run_kernel([&] { sums_.flush(parameter); });
}

}  // namespace hiaton::exec::flow
