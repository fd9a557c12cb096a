// What a worker draws of its run: each launch of a batch, and the stretches between in which items fire one
// by one. That is where recording costs next to nothing; the firing of a single item is not told.
#include <fmt/format.h>

#include "exec/flow/run/flow_worker.h"

namespace hiaton::exec::flow {
namespace {

int64_t as_integer(uint64_t count) {
  return static_cast<int64_t>(count);
}

}  // namespace

void Worker::begin_trace(Trace::Track* track, std::string_view unit, std::size_t count) {
  track_ = track;
  Trace& trace = *options_->trace;
  kinds_.part = trace.kind({"part", "run", {{std::string(unit), DType::I64}, {"calls", DType::I64}}});
  kinds_.items = trace.kind(
      {"items", "items", {{"scalar firings", DType::I64}, {"calls", DType::I64}, {"frames", DType::I64}}});
  kinds_.batch.assign(plan_.regions.size(), 0);
  for (uint32_t index : batched_) {
    const Region& region = plan_.regions[index];
    const std::string name = fmt::format("{}: {}", graph_->functions()[region.function].name, region.name);
    const std::vector<Trace::Field> fields{
        {"firings", DType::I64}, {"priority", DType::I64}, {"operations", DType::I64}};
    kinds_.batch[index] = trace.kind({name, "batch", fields});
  }
  kinds_.gift.clear();
  for (const graph::Function& function : graph_->functions()) {
    kinds_.gift.push_back(trace.kind({function.name, "stolen call"}));
  }
  Slot* fields = track_->begin(kinds_.part);
  fields[0].i64 = as_integer(count);
  fields[1].i64 = as_integer(calls_);
}

void Worker::end_trace() {
  sample();
  Slot* fields = track_->end();
  fields[1].i64 = as_integer(calls_) - fields[1].i64;
}

void Worker::sample() {
  track_->count(frames_, watch_->bytes());
}

uint64_t Worker::scalar_firings() const {
  uint64_t sum = 0;
  for (std::size_t i = 0; i < firings_.size(); ++i) {
    if (!plan_.regions[i].batched) sum += firings_[i];
  }
  return sum;
}

void Worker::begin_items() {
  Slot* fields = track_->begin(kinds_.items);
  fields[0].i64 = as_integer(scalar_firings());
  fields[1].i64 = as_integer(calls_);
}

void Worker::end_items() {
  Slot* fields = track_->end();
  fields[0].i64 = as_integer(scalar_firings()) - fields[0].i64;
  fields[1].i64 = as_integer(calls_) - fields[1].i64;
  fields[2].i64 = as_integer(frames_);
  sample();
}

void Worker::begin_launch(std::size_t region, std::size_t firings) {
  Slot* fields = track_->begin(kinds_.batch[region]);
  fields[0].i64 = as_integer(firings);
  fields[1].i64 = plan_.regions[region].priority;
  fields[2].i64 = as_integer(plan_.regions[region].steps.size());
}

void Worker::end_launch() {
  track_->end();
  sample();
}

/// A call of another worker arrives.
void Worker::draw_gift(uint32_t function, uint64_t arrow) {
  track_->begin(kinds_.gift[function]);
  track_->finish_arrow(arrow);
  track_->end();
}

}  // namespace hiaton::exec::flow
