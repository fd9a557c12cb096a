#include "exec/flow/run/flow_worker.h"

#include <algorithm>

#include "base/check.h"
#include "exec/fault.h"
#include "exec/run_watch.h"

namespace hiaton::exec::flow {
namespace {

/// So many frames may be alive before batches run although something else could: what is created first must
/// not fill the memory.
constexpr uint64_t kManyFrames = 2'000'000;
/// So many frames make batches large enough; with more of them at once what they hold leaves the caches.
constexpr uint64_t kFullWave = 1000;
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
      complete_(graph, plan_),
      firings_(plan_.regions.size()),
      launches_(plan_.regions.size()) {
  if (plan_.direct != nullptr) direct_ = std::make_unique<direct::DirectCaller>(graph, plan_.direct);
  for (uint32_t i = 0; i < plan_.regions.size(); ++i) {
    const Region& region = plan_.regions[i];
    if (region.batched) {
      batched_.push_back(i);
    } else {
      made_.resize(std::max(made_.size(), region.steps.size()));
    }
  }
  std::stable_sort(batched_.begin(), batched_.end(), [&](uint32_t a, uint32_t b) {
    return plan_.regions[a].priority < plan_.regions[b].priority;
  });
}

void Worker::drain() {
  while (true) {
    if (track_ != nullptr) begin_items();
    while (frames_ < kManyFrames && (!ready_.empty() || start_next())) {
      fire_next();
      if (exchanges_ && --fires_to_exchange_ == 0) {
        exchange();
        if (others_wait_for_batch()) break;
      }
    }
    if (track_ != nullptr) end_items();
    if (exchanges_ && ready_.empty() && (exchange() || ask_for_calls())) continue;
    const Region* region = choose();
    if (region != nullptr) {
      if (tells_gradients_) tell_complete_gradients(*region);
      Waiting& waiting = waiting_[static_cast<std::size_t>(region - plan_.regions.data())];
      if (waiting.fresh() > 0) {
        waiting.take(*region, pools_[region->function].layout(), batch_);
      } else {
        waiting.take_all(batch_);
      }
      run_batch(*region, batch_);
    } else if (!ready_.empty()) {
      fire_next();
    } else if (started_.size() < examples_.size()) {
      full_wave_ = frames_ + kFullWave;
    } else {
      return;
    }
  }
}

/// Whether a batch runs although something is ready: what processes send each other for placed functions
/// comes for long, and they would take turns if each waited for all of it.
bool Worker::others_wait_for_batch() const {
  if (processes_ == nullptr || processes_->shares_calls()) return false;
  const Region* next = choose();
  if (next == nullptr) return false;
  return waiting_[static_cast<std::size_t>(next - plan_.regions.data())].size() >= kFullWave;
}

/// Before the batch of the region, which is of all that wait the first in order.
void Worker::tell_complete_gradients(const Region& next) {
  if (!ready_.empty() || started_.size() < examples_.size()) return;
  for (const std::size_t parameter : complete_.take(next.priority)) {
    batches_.finish(parameter);
    options_->on_gradient(parameter);
  }
}

/// Examples start in waves: so many that their frames fill one, the next when nothing is left of them.
bool Worker::start_next() {
  if (frames_ >= full_wave_) full_wave_ = 0;
  if (full_wave_ == 0 || started_.size() == examples_.size()) return false;
  start(static_cast<uint32_t>(started_.size()));
  return true;
}

/// Priorities first; among regions of one priority, the one that most frames wait for which came since it
/// ran; where there is none, the one that most frames wait for.
const Region* Worker::choose() const {
  const Region* best = nullptr;
  std::pair<std::size_t, std::size_t> most;
  for (uint32_t index : batched_) {
    const Region& region = plan_.regions[index];
    if (best != nullptr && region.priority != best->priority) break;
    const std::pair frames(waiting_[index].fresh(), waiting_[index].size());
    if (frames <= most) continue;
    most = frames;
    best = &region;
  }
  return best;
}

// Values ----------------------------------------------------------------------------------------------------

/// A cell with a reference of its own.
[[gnu::always_inline]] inline Cell Worker::fetch(Frame* frame, const Source& source) const {
  if (source.from == Source::From::Slot) {
    const FrameLayout& own = layout(frame);
    return source.last ? own.take(frame, source.index) : own.share(frame, source.index);
  }
  HIATON_CHECK(source.from != Source::From::Step);
  const bool is_constant = source.from == Source::From::Constant;
  return cell_of(is_constant ? plan_.constants[source.index] : options_->parameters[source.index]);
}

// Items -----------------------------------------------------------------------------------------------------
//
// All of it is inlined into fire_next: a call would take longer than most items do.

/// What waits for the item and for nothing else any more is ready, as is `next`, but for one of them, which
/// is given: the next to fire.
[[gnu::always_inline]] inline const Item* Worker::wake(Frame* frame, const Item& item, const Item* next) {
  const Item* const items = function(frame).items.data();
  for (const uint32_t* reader = item.wakes.data() + item.wakes.size(); reader != item.wakes.data();) {
    const Item& woken = items[*--reader];
    if (!count_down(frame, woken)) continue;
    if (next != nullptr) ready_.push({frame, next});
    next = &woken;
  }
  return next;
}

/// All that waits for the item.
[[gnu::always_inline]] inline void Worker::make_ready(Frame* frame, const Item& item) {
  const Item* next = wake(frame, item);
  if (next != nullptr) ready_.push({frame, next});
}

void Worker::become_ready(Frame* frame, const Item& item) {
  make_ready(frame, item);
}

/// Gives the next to fire. `next`: what is ready besides.
[[gnu::always_inline]] inline const Item* Worker::finish_item(Frame* frame, const Item& item,
                                                              const Item* next) {
  next = wake(frame, item, next);
  for (uint32_t slot : item.releases) {
    const FrameLayout::TensorPlace place = layout(frame).tensor_place(slot);
    Tensor::release(place.load(frame).owner);
    place.store(frame, Cell());
  }
  --frame->unfinished;
  if (next == nullptr && is_over(frame)) free(frame);
  return next;
}

/// Finishes the item of a call that went to another worker.
void Worker::finish_call(Frame* frame, const Item& item) {
  const Item* next = finish_item(frame, item);
  if (next != nullptr) ready_.push({frame, next});
}

/// Frees a frame that is over, and its caller where that is over then, and so on.
void Worker::free(Frame* frame) {
  do {
    if (frame->function == kElsewhere) return end_call_of_another(static_cast<RemoteCaller*>(frame));
    Frame* parent = frame->parent;
    if (parent != nullptr) {
      --parent->children;
    } else {
      started_[frame->root].arguments.clear();
    }
    pools_[frame->function].free(frame);
    --frames_;
    frame = parent;
  } while (frame != nullptr && is_over(frame));
}

[[gnu::always_inline]] inline const Item* Worker::decide(Frame* frame, const Branch& branch) {
  const bool taken = borrow_slot(frame, branch.predicate).boolean;
  const std::optional<uint32_t>& side = branch.sides[taken ? 0 : 1];
  if (!side) return nullptr;
  const Function& body = function(frame);
  const Item& item = body.items[*side];
  frame->unfinished += body.sides[item.index].items;
  return wake(frame, item);
}

/// The callee runs to its end, here and now.
void Worker::call_direct(Frame* frame, const Call& call) {
  const Function& body = function(frame);
  const graph::Function& callee = (*graph_)[graph::FunctionId(call.callee)];
  direct_slots_.clear();
  for (const Move& move : call.arguments) {
    const Type& type = (*graph_)[callee.params[move.to].node].type;
    direct_slots_.push_back(pass_direct(frame, move.from, type));
  }
  ++calls_;
  watch(frame);
  direct_results_.resize(callee.results.size());
  const Fault fault = direct_->call(graph::FunctionId(call.callee), direct_slots_, direct_results_);
  if (fault != Fault::None) {
    watch_->allow_all();
    Failure failure{frame, nullptr, fault, {}, &call};
    if (direct_->failed().valid()) failure.operands = direct_->operands();
    throw failure;
  }
  release_direct_arguments();
  const SitePhase& phase = body.sites[call.site].phases[0];
  const FrameLayout& own = layout(frame);
  for (std::size_t i = 0; i < phase.slots.size(); ++i) {
    const SlotKind kind = slot_kind((*graph_)[callee.results[i].node].type);
    Cell cell = flow::borrow(kind, direct_results_[i]);
    if (phase.slots[i]) {
      own.store(frame, *phase.slots[i], cell);
    } else {
      release(kind, cell);
    }
  }
  if (phase.returned) make_ready(frame, body.items[*phase.returned]);
}

/// Returns the argument as direct code reads it, which a reference in `direct_arguments_` keeps alive. Direct
/// code knows no blocks: of what stands in one, it gets a copy.
Slot Worker::pass_direct(Frame* frame, const Source& source, const Type& type) {
  const SlotKind kind = slot_kind(type);
  Cell& cell = direct_arguments_.emplace_back(kind, fetch(frame, source)).second;
  if (kind != SlotKind::Tensor) return cell.slot;
  if (cell.owner->is_batch) {
    Cell copy = cell_of(to_value(cell, type));
    std::swap(cell, copy);
    release(kind, copy);
  }
  Slot slot;
  slot.tensor = cell.owner;
  return slot;
}

void Worker::release_direct_arguments() {
  for (auto& [kind, cell] : direct_arguments_) release(kind, cell);
  direct_arguments_.clear();
}

[[gnu::always_inline]] inline void Worker::call(Frame* frame, const Call& call) {
  if (call.is_direct) return call_direct(frame, call);
  if (gives_every_call_ && call.phase == 0 && give_to_somebody(frame, call)) return;
  Frame*& child = layout(frame).child(frame, call.site);
  if (call.phase == 0) {
    uint32_t number = call.callee;
    if (call.is_sent) {
      number = choose_copy(call.callee);
      if (processes_->home_of(number) != processes_->self()) return send_call(frame, call, number);
    }
    child = pools_[number].make();
    child->function = number;
    child->label = static_cast<uint32_t>(function(frame).sites[call.site].site.index());
    child->root = frame->root;
    const bool is_tail = call.forwarded > 0;
    child->parent = is_tail ? frame->parent : frame;
    child->site = is_tail ? frame->site : call.site;
    ++child->parent->children;
    frame->unfinished -= call.forwarded;
    ++frames_;
    ++calls_;
  } else if (child->function == kElsewhere) {
    return send_arguments(frame, call, *static_cast<RemoteCall*>(child));
  }
  const Function& callee = plan_.functions[child->function];
  const FrameLayout& to = layout(child);
  for (const Move& move : call.arguments) {
    to.store(child, move.to, fetch(frame, move.from));
  }
  if (call.phase == 0) watch(child);  // an error tells its arguments
  make_ready(child, callee.items[call.params]);
  if (call.phase > 0) {
    --child->unfinished;
    if (is_over(child)) free(child);
  }
}

void Worker::join(Frame* frame, const Join& join) {
  const FrameLayout& own = layout(frame);
  for (const Move& move : join.moves) {
    own.store(frame, move.to, fetch(frame, move.from));
  }
}

/// The results of the program are those of the run.
void Worker::give_results(Frame* frame, const Return& result) {
  Example& example = started_[frame->root];
  std::size_t number = 0;
  for (std::size_t phase = 0; phase < result.phase; ++phase)
    number += (*graph_)[graph_->main()].phases[phase].results;
  for (const Source& source : result.results) {
    example.results[number] =
        source.from == Source::From::Constant
            ? plan_.constants[source.index]
            : to_value(borrow(frame, source), (*graph_)[graph_->outputs()[number]].type);
    ++number;
  }
  example.results_to_come -= result.results.size();
  if (example.results_to_come == 0 && examples_.all != nullptr)
    examples_.all->take_results(examples_.begin + frame->root, std::move(example.results));
}

[[gnu::always_inline]] inline void Worker::give_back(Frame* frame, const Return& result) {
  if (frame->parent == nullptr) return give_results(frame, result);
  Frame* caller = frame->parent;
  if (caller->function == kElsewhere) return send_results(frame, result);
  const Function& body = function(caller);
  const SitePhase& phase = body.sites[frame->site].phases[result.phase];
  const FrameLayout& to = layout(caller);
  for (std::size_t i = 0; i < phase.slots.size(); ++i) {
    if (!phase.slots[i]) continue;
    to.store(caller, *phase.slots[i], fetch(frame, result.results[i]));
  }
  if (phase.returned) make_ready(caller, body.items[*phase.returned]);
}

/// Gives the next to fire in this frame; null: none.
[[gnu::always_inline]] inline const Item* Worker::fire(Frame* frame, const Item& item) {
  const Function& body = function(frame);
  const Item* next = nullptr;
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
          run_batch(region, batch_);
        } else {
          waiting_[item.index].push(frame);
        }
        return nullptr;
      }
      run_scalars(frame, region);
      break;
    }
    case ItemKind::Branch:
      next = decide(frame, body.branches[item.index]);
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
  return finish_item(frame, item, next);
}

void Worker::fire_next() {
  const Ready next = ready_.pop();
  if (ready_.size() >= kFramesAhead) __builtin_prefetch(ready_[ready_.size() - kFramesAhead].frame, 1);
  try {
    for (const Item* item = next.item; item != nullptr;) item = fire(next.frame, *item);
  } catch (const OverBudget&) {
    end(next.frame, Fault::MaxBytes);
  }
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
  const Item& item = plan_.functions[region.function].items[region.item];
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (i + kFramesAhead < frames.size()) __builtin_prefetch(frames[i + kFramesAhead], 1);
    const Item* next = finish_item(frames[i], item);
    if (next != nullptr) ready_.push({frames[i], next});
  }
}

void Worker::run_batch_of(const Region& region, std::span<Frame* const> frames) {
  const auto index = static_cast<std::size_t>(&region - plan_.regions.data());
  watch(frames[0]);
  firings_[index] += frames.size();
  ++launches_[index];
  if (track_ != nullptr) begin_launch(index, frames.size());
  const BatchFault fault = run_or_end(region, frames);
  if (track_ != nullptr) end_launch();
  if (fault.fault == Fault::None) return;
  if (frames.size() == 1) fail(frames[0], *fault.step, fault.fault);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const BatchFault single = run_or_end(region, frames.subspan(i, 1));
    if (single.fault != Fault::None) fail(frames[i], *single.step, single.fault);
  }
  HIATON_CHECK(!"a batch fails where each of its instances does not");
}

BatchFault Worker::run_or_end(const Region& region, std::span<Frame* const> frames) {
  try {
    return batches_.run(region, frames);
  } catch (const OverBudget&) {
    end(frames[0], Fault::MaxBytes);
  }
}

}  // namespace hiaton::exec::flow
