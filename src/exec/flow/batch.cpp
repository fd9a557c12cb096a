// A batch, in the order of its steps: operands that do not stand one behind the other are gathered, each step
// is one call of a kernel, and what frames need later stays in a slab that they refer to.
#include "exec/flow/batch.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "base/check.h"
#include "kernels/elementwise.h"
#include "kernels/reduce.h"
#include "kernels/rows.h"
#include "tensor/memory.h"

namespace hiaton::exec::flow {
namespace {

constexpr std::size_t kAlignment = 64;

/// Elements of a tensor; none: more than any memory has. Of a size the bytes of a batch can be counted.
std::optional<int64_t> possible_size(std::span<const int64_t> dims) {
  constexpr int64_t kMost = int64_t{1} << 50;
  int64_t size = 1;
  for (int64_t dim : dims) {
    if (__builtin_mul_overflow(size, dim, &size) || size > kMost) return std::nullopt;
  }
  return size;
}

int64_t size_of_dims(std::span<const int64_t> dims) {
  const std::optional<int64_t> size = possible_size(dims);
  if (!size) throw OverBudget();
  return *size;
}

/// Gradient of parameters: dense contributions of a batch.
template <class T>
void add_instances(const TensorArgument& part, int64_t batch, T* sum) {
  kernels::add_rows<T>(batch, part.size(), part.at<T>(0), part.stride, sum);
}

template <class T>
void add_rows(const TensorArgument& rows, const TensorArgument& parts, int64_t batch, std::size_t parameter,
              Gradients& gradients) {
  T* sum = gradients.values(parameter).mutable_data<T>();
  const int64_t width = parts.size();
  const kernels::BinaryKernel<T> add = kernels::binary_kernel<T>(kernels::BinaryFunction::Add);
  for (int64_t instance = 0; instance < batch; ++instance) {
    const int64_t row = *rows.at<int64_t>(instance);
    gradients.touch(parameter, row);
    add(width, sum + row * width, parts.at<T>(instance), sum + row * width);
  }
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

/// Of data values, which no kernel reads, nothing.
void set_constants(std::vector<TensorArgument>& constants, std::span<const Value> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    constants[i] = values[i].is_data() ? TensorArgument() : constant(values[i]);
  }
}

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

BatchRunner::BatchRunner(const graph::Graph& graph, const Plan& plan, const std::vector<FramePool>& pools)
    : graph_(&graph),
      plan_(plan),
      pools_(pools),
      constants_(plan.constants.size()),
      parameters_(graph.parameters().size()),
      products_(graph.parameters().size()),
      bound_(plan.regions.size()) {
  set_constants(constants_, plan.constants);
  for (int transposed = 0; transposed < 2; ++transposed) {
    packed32_[transposed].resize(parameters_.size());
    packed64_[transposed].resize(parameters_.size());
  }
  std::size_t slots = 0;
  for (const Function& function : plan.functions) slots = std::max(slots, function.slots.size());
  slots_.resize(slots);
  std::size_t steps = 0;
  for (const Region& region : plan.regions) steps = std::max(steps, region.steps.size());
  steps_.resize(steps);
  for (const Region& region : plan.regions) {
    if (region.batched) bind(region);
  }
}

void BatchRunner::bind(const Region& region) {
  std::vector<BoundStep>& bound = bound_[static_cast<std::size_t>(&region - plan_.regions.data())];
  for (const Step& step : region.steps) {
    const Type& type = (*graph_)[step.node].type;
    BoundStep& made = bound.emplace_back(BoundStep{&step, {}, type.dtype, {}, std::nullopt});
    for (const Source& operand : step.operands) made.operands.push_back(place_of(operand));
    for (const Dim& dim : type.shape) made.dims.push_back(dim.size);
    if (step.fixed_shapes) made.size = possible_size(made.dims);
  }
}

void BatchRunner::begin(const graph::Graph& graph, const RunOptions& options, Gradients* gradients) {
  graph_ = &graph;
  options_ = &options;
  gradients_ = gradients;
  kernel_seconds_ = 0;
  set_constants(parameters_, options.parameters);
  release_slabs();
  has_failed_ = false;
  for (auto& products : products_) products.reset();
}

void BatchRunner::run_kernel(const auto& kernel) {
  if (!options_->time_kernels) return kernel();
  const auto start = std::chrono::steady_clock::now();
  kernel();
  kernel_seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

BatchFault BatchRunner::run(const Region& region, std::span<Frame* const> frames) {
  if (has_failed_) release_slabs();
  try {
    const BatchFault fault = run_chunks(region, frames);
    has_failed_ = fault.fault != Fault::None;
    if (!has_failed_) keep_tensors(region, frames);
    return fault;
  } catch (...) {
    release_slabs();
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

void BatchRunner::release_slabs() {
  for (Value& step : steps_) Tensor::release(std::exchange(step.slab, nullptr));
}

BatchFault BatchRunner::run_chunks(const Region& region, std::span<Frame* const> frames) {
  for (std::size_t begin = 0; begin < frames.size(); begin += region.chunk) {
    const Chunk chunk{begin, std::min(region.chunk, frames.size() - begin), frames.size()};
    const BatchFault fault = run_chunk(region, chunk, frames.subspan(chunk.begin, chunk.size));
    if (fault.fault != Fault::None) return fault;
  }
  return {};
}

BatchFault BatchRunner::run_chunk(const Region& region, const Chunk& chunk, std::span<Frame* const> frames) {
  scratch_.reset();
  make_buffers(region, frames.size());
  const Function& function = plan_.functions[region.function];
  Value* made = steps_.data();
  for (const BoundStep& bound : bound_[static_cast<std::size_t>(&region - plan_.regions.data())]) {
    for (const Gather& input : bound.step->gathers) slots_[input.slot] = gather(function, input, frames);
    const Fault fault = run_step(bound, *made++, chunk);
    if (fault != Fault::None) return {fault, bound.step};
  }
  keep_scalars(region, frames);
  return {};
}

void BatchRunner::make_buffers(const Region& region, std::size_t batch) {
  buffers_.clear();
  for (std::size_t bytes : region.buffers) buffers_.push_back(scratch_.take(bytes * batch));
}

/// Where the instances stand one behind the other already, nothing is copied.
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
  rows_.resize(count);
  bool contiguous = true;
  for (std::size_t i = 0; i < count; ++i) {
    if (i + kFramesAhead < count) place.prefetch(frames[i + kFramesAhead]);
    const std::byte* row = place.load(frames[i]).elements();
    contiguous = contiguous && row == first.elements() + i * bytes;
    rows_[i] = row;
  }
  if (contiguous) return {first.elements(), dims, type.dtype, size};
  std::byte* gathered = room(bytes);
  kernels::gather_rows(rows_, static_cast<int64_t>(bytes), gathered, static_cast<int64_t>(bytes));
  return {gathered, dims, type.dtype, size};
}

const TensorArgument* BatchRunner::place_of(const Source& source) const {
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
  return &steps_[source.index].argument;
}

Fault BatchRunner::run_step(const BoundStep& bound, Value& made, const Chunk& chunk) {
  const auto batch = static_cast<int64_t>(chunk.size);
  const Step& step = *bound.step;
  if (step.code == Step::Code::Nothing) return Fault::None;
  if (step.code == Step::Code::Accumulate) {
    run_kernel([&] { accumulate(bound, batch); });
    return Fault::None;
  }
  if (step.code == Step::Code::View) {
    const TensorArgument& whole = *bound.operands[0];
    const auto offset = static_cast<std::size_t>(step.offset) * size_of(whole.dtype);
    made.argument = {whole.elements + offset, bound.dims, whole.dtype, whole.stride};
    return Fault::None;
  }
  if (step.line != nullptr) {
    run_line(bound, made, chunk);
    return Fault::None;
  }
  operands_.clear();
  for (const TensorArgument* operand : bound.operands) operands_.push_back(*operand);
  if (!step.fixed_shapes) {
    const Fault fault = find_dims(step, made);
    if (fault != Fault::None) return fault;
  }
  const graph::Node& node = (*graph_)[step.node];
  const std::span<const int64_t> dims = step.fixed_shapes ? bound.dims : made.dims;
  const int64_t size = bound.size ? *bound.size : size_of_dims(dims);
  const int64_t instances = step.shared ? 1 : batch;
  std::byte* elements = nullptr;
  // Each use makes its own: a copy would wait until the fields that it reads together are written.
  const auto out = [&] { return TensorArgument{elements, dims, bound.dtype, size}; };
  elements = room_for(step, made, out(), chunk);
  Fault fault = Fault::None;
  run_kernel([&] {
    if (step.code == Step::Code::Product) {
      multiply(step, out(), instances);
    } else {
      fault = node.op->tensor_kernel.value(
          {node.op, operands_, out(), node.attributes, instances, options_->overflow});
    }
  });
  made.argument = out();
  if (step.shared) made.argument.stride = 0;
  return fault;
}

/// Where all instances of all operands stand one behind the other, one line; else one for each instance.
void BatchRunner::run_line(const BoundStep& bound, Value& made, const Chunk& chunk) {
  const Step& step = *bound.step;
  const int64_t size = bound.size ? *bound.size : size_of_dims(bound.dims);
  const TensorArgument& a = *bound.operands[0];
  const TensorArgument* b = bound.operands.size() > 1 ? bound.operands[1] : nullptr;
  std::byte* const out = room_for(step, made, {nullptr, bound.dims, bound.dtype, size}, chunk);
  const auto batch = static_cast<int64_t>(chunk.size);
  run_kernel([&] {
    if (batch == 1 || (a.stride == size && (b == nullptr || b->stride == size)))
      return step.line(batch * size, a.elements, b != nullptr ? b->elements : nullptr, out);
    const auto bytes = static_cast<int64_t>(size_of(bound.dtype));
    for (int64_t i = 0; i < batch; ++i) {
      step.line(size, a.elements + i * a.stride * bytes,
                b != nullptr ? b->elements + i * b->stride * bytes : nullptr, out + i * size * bytes);
    }
  });
  made.argument = {out, bound.dims, bound.dtype, size};
}

/// Where the result of a step is to stand. `result` knows all but that.
std::byte* BatchRunner::room_for(const Step& step, Value& made, const TensorArgument& result,
                                 const Chunk& chunk) {
  const std::size_t bytes = static_cast<std::size_t>(result.stride) * size_of(result.dtype);
  if (step.slot && step.kind == SlotKind::Tensor) {
    const auto all = static_cast<int64_t>(step.shared ? 1 : chunk.of);
    if (made.slab == nullptr) made.slab = slabs_.make(result.dtype, all, result.dims);
    return made.slab->elements + chunk.begin * bytes;
  }
  if (step.buffer) return buffers_[*step.buffer];
  return scratch_.take(bytes * (step.shared ? 1 : chunk.size));
}

/// The dimensions of a result that only the run knows.
Fault BatchRunner::find_dims(const Step& step, Value& made) {
  const graph::Node& node = (*graph_)[step.node];
  std::vector<Type> types;
  for (const TensorArgument& operand : operands_) {
    types.push_back(tensor_type(operand.dtype, {operand.dims.begin(), operand.dims.end()}));
  }
  try {
    const Type type = node.op->type_rule.value({types, node.attributes, &node.type});
    made.dims.clear();
    for (const Dim& dim : type.shape) {
      if (dim.size < 0) return Fault::Shape;
      made.dims.push_back(dim.size);
    }
  } catch (const ProgramError&) {
    return Fault::Shape;
  }
  return Fault::None;
}

template <class T>
const kernels::PackedMatrix<T>& BatchRunner::packed(std::size_t parameter, bool transposed) {
  auto& all = [&]() -> auto& {
    if constexpr (std::is_same_v<T, float>) {
      return packed32_[transposed ? 1 : 0];
    } else {
      return packed64_[transposed ? 1 : 0];
    }
  }
  ();
  Packed<T>& kept = all[parameter];
  const hiaton::Value& value = options_->parameters[parameter];
  if (kept.of.object() != value.slot().tensor) {
    kept.of = Tensor();  // of none, should there be no memory for it
    const TensorArgument& w = parameters_[parameter];
    const int64_t rows = w.dims[0];
    const int64_t columns = w.dims[1];
    kept.matrix.pack(transposed ? kernels::Transpose::Yes : kernels::Transpose::No, w.at<T>(0),
                     transposed ? columns : rows, transposed ? rows : columns, columns);
    kept.of = value.tensor();
  }
  return kept.matrix;
}

void BatchRunner::multiply(const Step& step, const TensorArgument& out, int64_t batch) {
  const TensorArgument& x = operands_[0];
  const std::size_t parameter = step.operands[1].index;
  const int64_t depth = x.dims.back();
  const int64_t columns = out.dims.back();
  const int64_t rows_each = x.size() / depth;
  const auto product = [&]<class T>(T) {
    const kernels::PackedMatrix<T>& w = packed<T>(parameter, step.transposed);
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

OuterProducts& BatchRunner::products(std::size_t parameter) {
  if (products_[parameter] == nullptr) {
    products_[parameter] = std::make_unique<OuterProducts>(gradients_->dense(parameter));
  }
  return *products_[parameter];
}

void BatchRunner::accumulate(const BoundStep& bound, int64_t batch) {
  if (gradients_ == nullptr) return;
  const graph::Node& node = (*graph_)[bound.step->node];
  const auto parameter = static_cast<std::size_t>(node.parameter);
  const TensorArgument& first = *bound.operands[0];
  const bool is_double = node.type.dtype == DType::F64;
  switch (static_cast<Accumulation>(node.attributes[0])) {
    case Accumulation::Dense:
      if (is_double) return add_instances(first, batch, gradients_->dense(parameter).mutable_data<double>());
      return add_instances(first, batch, gradients_->dense(parameter).mutable_data<float>());
    case Accumulation::Rows: {
      const TensorArgument& parts = *bound.operands[1];
      if (is_double) return add_rows<double>(first, parts, batch, parameter, *gradients_);
      return add_rows<float>(first, parts, batch, parameter, *gradients_);
    }
    case Accumulation::Outer:
      return products(parameter).add(first, *bound.operands[1], batch);
  }
}

void BatchRunner::keep_scalars(const Region& region, std::span<Frame* const> frames) {
  const FrameLayout& layout = pools_[frames[0]->function].layout();
  for (const uint32_t i : region.kept) {
    if (region.steps[i].kind == SlotKind::Tensor) continue;
    const TensorArgument& made = steps_[i].argument;
    const std::size_t element = size_of(made.dtype);
    const std::size_t bytes = static_cast<std::size_t>(made.stride) * element;
    for (std::size_t k = 0; k < frames.size(); ++k) {
      Cell cell;
      std::memcpy(&cell.slot, made.elements + k * bytes, element);
      layout.store(frames[k], *region.steps[i].slot, cell);
    }
  }
}

/// The frames refer to their instances.
void BatchRunner::keep_tensors(const Region& region, std::span<Frame* const> frames) {
  const FrameLayout& layout = pools_[frames[0]->function].layout();
  for (const uint32_t i : region.kept) {
    if (region.steps[i].kind != SlotKind::Tensor) continue;
    TensorObject* slab = std::exchange(steps_[i].slab, nullptr);
    const TensorArgument& made = steps_[i].argument;
    const std::size_t bytes = static_cast<std::size_t>(made.stride) * size_of(made.dtype);
    slab->references.store(static_cast<int32_t>(frames.size()), std::memory_order_relaxed);
    const FrameLayout::TensorPlace place = layout.tensor_place(*region.steps[i].slot);
    for (std::size_t k = 0; k < frames.size(); ++k) {
      Cell cell;
      cell.set_elements(slab->elements + k * bytes);
      cell.owner = slab;
      place.store(frames[k], cell);
    }
  }
}

void BatchRunner::finish() {
  for (const auto& products : products_) {
    if (products != nullptr) run_kernel([&] { products->flush(); });
  }
}

}  // namespace hiaton::exec::flow
