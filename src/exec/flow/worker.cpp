#include "exec/flow/worker.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "exec/fault.h"

namespace hiaton::exec::flow {
namespace {

/// So many frames may be alive before batches run although something else could: what is created first must
/// not fill the memory.
constexpr uint64_t kManyFrames = 2'000'000;
/// A larger batch gains nothing and leaves the caches.
constexpr std::size_t kLargestBatch = 256;

std::vector<FramePool> make_pools(const Plan& plan) {
  std::vector<FramePool> pools;
  pools.reserve(plan.functions.size());
  for (const Function& function : plan.functions) pools.emplace_back(function);
  return pools;
}

}  // namespace

Worker::Worker(const graph::Graph& graph, std::shared_ptr<const Plan> plan)
    : shared_plan_(std::move(plan)),
      plan_(*shared_plan_),
      graph_(&graph),
      batches_(graph, plan_, pools_),
      pools_(make_pools(plan_)),
      waiting_(plan_.regions.size()),
      firings_(plan_.regions.size()),
      launches_(plan_.regions.size()) {
  for (uint32_t i = 0; i < plan_.regions.size(); ++i) {
    if (plan_.regions[i].batched) batched_.push_back(i);
  }
  std::stable_sort(batched_.begin(), batched_.end(),
                   [&](uint32_t a, uint32_t b) { return plan_.regions[a].rank < plan_.regions[b].rank; });
}

std::vector<std::vector<Value>> Worker::run(const graph::Graph& graph,
                                            std::span<const std::vector<Value>> arguments,
                                            const RunOptions& options, Gradients* gradients,
                                            Trace::Track* track) {
  clear();
  graph_ = &graph;
  options_ = &options;
  watch_.emplace(options);
  batches_.begin(graph, options, gradients);
  arguments_ = arguments;
  results_.assign(arguments.size(), std::vector<Value>(graph.outputs().size()));
  results_to_come_.assign(arguments.size(), graph.outputs().size());
  if (track != nullptr) begin_trace(track);
  for (std::size_t i = arguments.size(); i-- > 0;) start(arguments[i], static_cast<uint32_t>(i));
  drain();
  batches_.finish();
  if (track_ != nullptr) end_trace();
  for (std::size_t to_come : results_to_come_) {
    if (to_come > 0) throw no_result_error(graph, graph.outputs()[0], false, {});
  }
  return std::move(results_);
}

/// What a run before left: everything after an error, frames that wait for a phase that never came.
void Worker::clear() {
  track_ = nullptr;
  for (FramePool& pool : pools_) pool.clear();
  ready_.clear();
  for (Waiting& waiting : waiting_) waiting.clear();
  calls_ = frames_ = most_frames_ = 0;
  firings_.assign(firings_.size(), 0);
  launches_.assign(launches_.size(), 0);
}

void Worker::start(std::span<const Value> arguments, uint32_t root) {
  const auto main = static_cast<uint32_t>(graph_->main().index());
  Frame* frame = pools_[main].make();
  frame->parent = nullptr;
  frame->function = main;
  frame->site = frame->label = 0;
  frame->root = root;
  ++frames_;
  const Function& program = plan_.functions[main];
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    layout(frame).store(frame, program.params[i], cell_of(arguments[i]));
  }
  wake(frame, program.items[program.param_items[0]]);
}

void Worker::drain() {
  while (true) {
    if (track_ != nullptr) begin_items();
    while (!ready_.empty() && frames_ < kManyFrames) {
      const Ready next = ready_.back();
      ready_.pop_back();
      fire(next.frame, next.item);
    }
    if (track_ != nullptr) end_items();
    const Region* region = choose();
    if (region != nullptr) {
      Waiting& waiting = waiting_[static_cast<std::size_t>(region - plan_.regions.data())];
      if (waiting.fresh() > 0) {
        waiting.take(*region, pools_[region->function].layout(), batch_);
      } else {
        waiting.take_all(batch_);
      }
      run_batch(*region, batch_);
    } else if (!ready_.empty()) {
      const Ready next = ready_.back();
      ready_.pop_back();
      fire(next.frame, next.item);
    } else {
      return;
    }
  }
}

/// Ranks first; among regions of one rank, the one that most frames wait for which came since it ran; where
/// there is none, the one that most frames wait for.
const Region* Worker::choose() const {
  const Region* best = nullptr;
  std::pair<std::size_t, std::size_t> most;
  for (uint32_t index : batched_) {
    const Region& region = plan_.regions[index];
    if (best != nullptr && region.rank != best->rank) break;
    const std::pair frames(waiting_[index].fresh(), waiting_[index].size());
    if (frames <= most) continue;
    most = frames;
    best = &region;
  }
  return best;
}

void Worker::wake(Frame* frame, const Item& item) {
  const FrameLayout& layout = this->layout(frame);
  for (std::size_t i = item.wakes.size(); i-- > 0;) {
    const uint32_t reader = item.wakes[i];
    if (layout.count_down(frame, reader)) ready_.push_back({frame, reader});
  }
}

void Worker::finish_item(Frame* frame, uint32_t index) {
  const Item& item = function(frame).items[index];
  wake(frame, item);
  const FrameLayout& layout = this->layout(frame);
  for (uint32_t slot : item.releases) {
    Tensor::release(layout.load(frame, slot).owner);
    layout.store(frame, slot, Cell());
  }
  --frame->unfinished;
  maybe_free(frame);
}

/// A frame goes when nothing of it can fire any more and all it called are gone; then perhaps its caller.
void Worker::maybe_free(Frame* frame) {
  while (frame != nullptr && frame->unfinished == 0 && frame->children == 0) {
    Frame* parent = frame->parent;
    pools_[frame->function].free(frame);
    --frames_;
    if (parent != nullptr) --parent->children;
    frame = parent;
  }
}

void Worker::fire(Frame* frame, uint32_t index) {
  const Function& body = function(frame);
  const Item& item = body.items[index];
  switch (item.kind) {
    case ItemKind::Params:
    case ItemKind::Returned:
      return wake(frame, item);
    case ItemKind::Side:
      frame->unfinished += body.sides[item.index].items;
      return wake(frame, item);
    case ItemKind::Region: {
      const Region& region = plan_.regions[item.index];
      if (region.batched) {
        if (!options_->batching) {
          batch_.assign(1, frame);
          return run_batch(region, batch_);
        }
        waiting_[item.index].push(frame);
        return;
      }
      run_scalars(frame, region);
      break;
    }
    case ItemKind::Branch:
      decide(frame, body.branches[item.index]);
      break;
    case ItemKind::Call:
      call(frame, body.calls[item.index]);
      break;
    case ItemKind::Join:
      join(frame, body.joins[item.index]);
      break;
    case ItemKind::Return:
      give_back(frame, body.returns[item.index]);
      break;
  }
  finish_item(frame, index);
}

// Values ----------------------------------------------------------------------------------------------------

Cell Worker::cell_of(const Value& value) const {
  Cell cell;
  Value copy = value;
  if (value.is_tensor()) {
    cell.owner = copy.detach().tensor;
    cell.set_elements(cell.owner->elements);
  } else {
    cell.slot = copy.detach();
  }
  return cell;
}

Cell Worker::fetch(Frame* frame, const Source& source, SlotKind kind) const {
  switch (source.from) {
    case Source::From::Slot: {
      const Cell cell = layout(frame).load(frame, source.index);
      retain(kind, cell);
      return cell;
    }
    case Source::From::Constant:
      return cell_of(plan_.constants[source.index]);
    case Source::From::Parameter:
      return cell_of(options_->parameters[source.index]);
    case Source::From::Step:
      break;
  }
  HIATON_CHECK(!"a source outside of a region");
}

// Scalar regions --------------------------------------------------------------------------------------------

namespace {

/// Without a reference of its own.
Cell cell_of_tensor(const Value& value) {
  Cell cell;
  cell.owner = value.slot().tensor;
  cell.set_elements(cell.owner->elements);
  return cell;
}

}  // namespace

/// Without a reference of its own.
Cell Worker::borrow(const Frame* frame, const Source& source) const {
  switch (source.from) {
    case Source::From::Slot:
      return layout(frame).load(frame, source.index);
    case Source::From::Step:
      return made_[source.index];
    case Source::From::Constant: {
      const Value& constant = plan_.constants[source.index];
      if (constant.is_tensor()) return cell_of_tensor(constant);
      Cell cell;
      cell.slot = constant.slot();
      return cell;
    }
    case Source::From::Parameter:
      return cell_of_tensor(options_->parameters[source.index]);
  }
  return {};
}

SlotKind Worker::kind_of(const Step& step) const {
  const Type& type = (*graph_)[step.node].type;
  if (type.is_data()) return SlotKind::Data;
  return type.is_tensor() ? SlotKind::Tensor : SlotKind::Scalar;
}

/// The results of its steps are kept until its end; those that the frame keeps get a reference more.
void Worker::run_scalars(Frame* frame, const Region& region) {
  ++firings_[static_cast<std::size_t>(&region - plan_.regions.data())];
  made_.resize(std::max(made_.size(), region.steps.size()));
  std::size_t made = 0;
  const auto let_go = [&] {
    for (std::size_t i = 0; i < made; ++i) release(kind_of(region.steps[i]), made_[i]);
  };
  try {
    for (; made < region.steps.size(); ++made) {
      const Step& step = region.steps[made];
      made_[made] = run_step(frame, step);
      if (!step.slot) continue;
      layout(frame).store(frame, *step.slot, made_[made]);
      retain(kind_of(step), made_[made]);
    }
  } catch (...) {
    let_go();
    throw;
  }
  let_go();
}

Cell Worker::run_step(Frame* frame, const Step& step) {
  Cell out;
  switch (step.code) {
    case Step::Code::Kernel: {
      constexpr std::size_t kMostOperands = 8;
      Slot slots[kMostOperands];
      for (std::size_t i = 0; i < step.operands.size(); ++i) slots[i] = borrow(frame, step.operands[i]).slot;
      const Fault fault = step.kernel(slots, &out.slot);
      if (fault != Fault::None) fail(frame, step, fault);
      break;
    }
    case Step::Code::Variant:
      out.slot = make_slot(int64_t{borrow(frame, step.operands[0]).slot.data->variant});
      break;
    case Step::Code::Field: {
      const Attributes& place = (*graph_)[step.node].attributes;  // variant and field
      const DataObject& data = *borrow(frame, step.operands[0]).slot.data;
      if (data.variant != place[0]) fail(frame, step, Fault::Index);
      return cell_of(data.fields()[static_cast<std::size_t>(place[1])]);
    }
    case Step::Code::FieldOrZero:
      return field_or_zero(frame, step);
    case Step::Code::Copy:
      out = borrow(frame, step.operands[0]);
      retain(kind_of(step), out);
      break;
    case Step::Code::Make: {
      const std::vector<Value> fields = operands_of(frame, step);
      out.slot.data = Data(static_cast<uint32_t>((*graph_)[step.node].attributes[0]), fields).detach();
      break;
    }
    case Step::Code::Tensor:
    case Step::Code::View:
    case Step::Code::Product:
    case Step::Code::Nothing:
    case Step::Code::Accumulate:
      HIATON_CHECK(!"a step of a scalar region");
  }
  return out;
}

/// Of the operand `like` it needs the shape alone.
Cell Worker::field_or_zero(Frame* frame, const Step& step) {
  const graph::Node& node = (*graph_)[step.node];
  const DataObject* data = borrow(frame, step.operands[0]).slot.data;
  if (data->variant != 0) {
    if (data->variant != node.attributes[0]) fail(frame, step, Fault::Index);
    const Value& field = data->fields()[static_cast<std::size_t>(node.attributes[1])];
    if (!node.type.is_tensor()) return cell_of(field);
    data = field.slot().data;
    if (data->variant != 0) return cell_of(data->fields()[0]);
  }
  if (node.type.is_data()) return cell_of(Data(0, {}));
  if (node.type.is_scalar()) return cell_of(zero_of(node.type.dtype));
  return cell_of(Tensor(node.type.dtype, borrow(frame, step.operands[1]).dims()));
}

std::vector<Value> Worker::operands_of(Frame* frame, const Step& step) const {
  std::vector<Value> values;
  const graph::Node& node = (*graph_)[step.node];
  for (std::size_t i = 0; i < step.operands.size(); ++i) {
    const Source& source = step.operands[i];
    if (source.from == Source::From::Constant) {
      values.push_back(plan_.constants[source.index]);
    } else {
      values.push_back(to_value(borrow(frame, source), type_of(node.inputs[i])));
    }
  }
  return values;
}

const Type& Worker::type_of(graph::OutPort port) const {
  return (*graph_)[port.node].type;
}

// Branches, calls, returns ----------------------------------------------------------------------------------

void Worker::decide(Frame* frame, const Branch& branch) {
  const bool taken = borrow(frame, branch.predicate).slot.boolean;
  const std::optional<uint32_t>& side = branch.sides[taken ? 0 : 1];
  if (side) fire(frame, *side);
}

void Worker::call(Frame* frame, const Call& call) {
  Frame*& child = layout(frame).child(frame, call.site);
  const Function& callee = plan_.functions[call.callee];
  if (call.phase == 0) {
    child = pools_[call.callee].make();
    child->function = call.callee;
    child->label = static_cast<uint32_t>(function(frame).sites[call.site].site.index());
    child->root = frame->root;
    const bool is_tail = call.forwarded > 0;
    child->parent = is_tail ? frame->parent : frame;
    child->site = is_tail ? frame->site : call.site;
    ++child->parent->children;
    frame->unfinished -= call.forwarded;
    ++frames_;
    ++calls_;
    watch(child);
  }
  const FrameLayout& to = layout(child);
  for (const Move& move : call.arguments) {
    to.store(child, move.to, fetch(frame, move.from, callee.slots[move.to]));
  }
  wake(child, callee.items[call.params]);
  if (call.phase > 0) {
    --child->unfinished;
    maybe_free(child);
  }
}

void Worker::join(Frame* frame, const Join& join) {
  const FrameLayout& own = layout(frame);
  for (const Move& move : join.moves) {
    own.store(frame, move.to, fetch(frame, move.from, function(frame).slots[move.to]));
  }
}

/// The results of the program are those of the run.
void Worker::give_back(Frame* frame, const Return& result) {
  if (frame->parent == nullptr) {
    std::vector<Value>& results = results_[frame->root];
    for (std::size_t i = 0; i < result.results.size(); ++i) {
      const Source& source = result.results[i];
      results[i] = source.from == Source::From::Constant
                       ? plan_.constants[source.index]
                       : to_value(borrow(frame, source), (*graph_)[graph_->outputs()[i]].type);
    }
    results_to_come_[frame->root] -= result.results.size();
    return;
  }
  Frame* caller = frame->parent;
  const Function& body = function(caller);
  const SitePhase& phase = body.sites[frame->site].phases[result.phase];
  const FrameLayout& to = layout(caller);
  for (std::size_t i = 0; i < phase.slots.size(); ++i) {
    if (!phase.slots[i]) continue;
    to.store(caller, *phase.slots[i], fetch(frame, result.results[i], body.slots[*phase.slots[i]]));
  }
  if (phase.returned) wake(caller, body.items[*phase.returned]);
}

// Batches ---------------------------------------------------------------------------------------------------

void Worker::run_batch(const Region& region, std::vector<Frame*>& frames) {
  if (!region.fixed_shapes) sort_by_shapes(region, frames);
  for (std::size_t begin = 0; begin < frames.size();) {
    std::size_t end = std::min(frames.size(), begin + kLargestBatch);
    if (!region.fixed_shapes) end = end_of_same_shapes(region, frames, begin, end);
    run_batch_of(region, std::span(frames).subspan(begin, end - begin));
    begin = end;
  }
  for (Frame* frame : frames) finish_item(frame, region.item);
}

void Worker::run_batch_of(const Region& region, std::span<Frame* const> frames) {
  const auto index = static_cast<std::size_t>(&region - plan_.regions.data());
  watch(frames[0]);
  firings_[index] += frames.size();
  ++launches_[index];
  if (track_ != nullptr) begin_launch(index, frames.size());
  const BatchFault fault = batches_.run(region, frames);
  if (track_ != nullptr) end_launch();
  if (fault.fault == Fault::None) return;
  if (frames.size() == 1) fail(frames[0], *fault.step, fault.fault);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const BatchFault single = batches_.run(region, frames.subspan(i, 1));
    if (single.fault != Fault::None) fail(frames[i], *single.step, single.fault);
  }
  HIATON_CHECK(!"a batch fails where each of its instances does not");
}

/// -1, 0 or 1: how the shapes of what the region reads compare.
int Worker::compare_shapes(const Region& region, Frame* a, Frame* b) const {
  for (uint32_t slot : region.inputs) {
    if (plan_.functions[region.function].slots[slot] != SlotKind::Tensor) continue;
    const std::span<const int64_t> x = layout(a).load(a, slot).dims();
    const std::span<const int64_t> y = layout(b).load(b, slot).dims();
    if (std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end())) return -1;
    if (std::lexicographical_compare(y.begin(), y.end(), x.begin(), x.end())) return 1;
  }
  return 0;
}

void Worker::sort_by_shapes(const Region& region, std::vector<Frame*>& frames) const {
  std::stable_sort(frames.begin(), frames.end(),
                   [&](Frame* a, Frame* b) { return compare_shapes(region, a, b) < 0; });
}

std::size_t Worker::end_of_same_shapes(const Region& region, const std::vector<Frame*>& frames,
                                       std::size_t begin, std::size_t end) const {
  std::size_t same = begin + 1;
  while (same < end && compare_shapes(region, frames[begin], frames[same]) == 0) ++same;
  return same;
}

}  // namespace hiaton::exec::flow
