// The rule: an input is alive from the first to the last step that reads it, a result from its step to the
// last one that reads it, the ends included. What begins to live takes a buffer that is free then, the
// smallest of those large enough, else a new one. Inputs that are gathered together live as long as what they
// are gathered into. Steps that run together gather before the first of them, and write to their rows from
// then on. Elementwise steps, which take the instances some at a time, may write where an operand stands that
// no later one reads: an instance of it is as large as one of theirs, or larger, as what a view is taken
// from. But what is the same for all instances stays to the end.
#include <algorithm>
#include <map>

#include "exec/flow/compile/flow_passes.h"

namespace hiaton::exec::flow {
namespace {

class RegionBuffers {
 public:
  RegionBuffers(const graph::Graph& graph, const Function& function, Region& region)
      : graph_(graph), function_(function), region_(region), last_readers_(region.steps.size()) {
    for (std::size_t i = region.steps.size(); i-- > 0;) {
      const Step& step = region.steps[i];
      last_readers_[i] = std::max(last_readers_[i], step.shared ? region.steps.size() - 1 : i);
      if (step.code == Step::Code::GatherTogether) {
        for (const Source& operand : step.operands) {
          last_readers_[i] = std::max(last_readers_[i], last_readers_of_slots_[operand.index]);
        }
      }
      const std::size_t end = step.code == Step::Code::View ? last_readers_[i] : i;
      for (const Source& operand : step.operands) {
        if (operand.from != Source::From::Step && operand.from != Source::From::Slot) continue;
        std::size_t& last = operand.from == Source::From::Step ? last_readers_[operand.index]
                                                               : last_readers_of_slots_[operand.index];
        last = std::max(last, end);
      }
    }
  }

  void run() {
    std::vector<bool> gathered(function_.slots.size());
    std::size_t begin = 0;
    for (std::size_t i = 0; i < region_.steps.size(); ++i) {
      Step& step = region_.steps[i];
      if (i == begin + region_.steps[begin].together) begin = i;
      for (const Source& operand : step.operands) {
        if (operand.from != Source::From::Slot || gathered[operand.index]) continue;
        gathered[operand.index] = true;
        Gather& input = region_.steps[begin].gathers.emplace_back(Gather{operand.index, std::nullopt});
        if (step.code == Step::Code::GatherTogether) continue;
        input.buffer =
            buffer(function_.slot_types[operand.index], begin, last_readers_of_slots_[operand.index]);
      }
      if (!has_place(step)) continue;
      const std::size_t since = step.code == Step::Code::Row ? begin : i;
      step.buffer = buffer(graph_[step.node].type, since, last_readers_[i]);
    }
    choose_chunk();
  }

 private:
  /// For a result that the frame does not keep.
  static bool has_place(const Step& step) {
    switch (step.code) {
      case Step::Code::Tensor:
        return !step.slot && !step.row;
      case Step::Code::Product:
      case Step::Code::GatherTogether:
      case Step::Code::Row:
        return !step.slot;
      default:
        return false;
    }
  }

  /// As many frames as have all buffers and results in the cache that is a core's own, but enough rows for a
  /// product. What is the same for all frames is computed once, so such regions are not cut.
  void choose_chunk() {
    constexpr std::size_t kCacheBytes = std::size_t{512} << 10;
    constexpr std::size_t kEnoughRows = 40;
    const auto is_shared = [](const Step& step) { return step.shared; };
    if (!region_.fixed_shapes || std::any_of(region_.steps.begin(), region_.steps.end(), is_shared)) return;
    std::size_t bytes = 1;
    for (const std::size_t buffer : region_.buffers) bytes += buffer;
    for (const Step& step : region_.steps) {
      if (step.slot) bytes += bytes_of(graph_[step.node].type);
    }
    region_.chunk = std::max(kEnoughRows, kCacheBytes / bytes);
  }

  /// One that is free from the step `begin` on, until the step `last` has run.
  std::optional<uint32_t> buffer(const Type& type, std::size_t begin, std::size_t last) {
    if (!region_.fixed_shapes) return std::nullopt;
    const std::size_t bytes = bytes_of(type);
    std::size_t best = region_.buffers.size();
    for (std::size_t b = 0; b < region_.buffers.size(); ++b) {
      if (free_from_[b] > begin || region_.buffers[b] < bytes) continue;
      if (best == region_.buffers.size() || region_.buffers[b] < region_.buffers[best]) best = b;
    }
    if (best == region_.buffers.size()) {
      region_.buffers.push_back(bytes);
      free_from_.emplace_back();
    }
    free_from_[best] = last + 1;
    return static_cast<uint32_t>(best);
  }

  const graph::Graph& graph_;
  const Function& function_;
  Region& region_;
  std::vector<std::size_t> last_readers_;  ///< by step
  std::map<uint32_t, std::size_t> last_readers_of_slots_;
  std::vector<std::size_t> free_from_;  ///< by buffer: the first step that may take it
};

}  // namespace

std::size_t bytes_of(const Type& type) {
  std::size_t bytes = size_of(type.dtype);
  for (const Dim& dim : type.shape) bytes *= static_cast<std::size_t>(dim.size);
  return bytes;
}

void share_buffers(const graph::Graph& graph, Plan& plan) {
  for (Region& region : plan.regions) {
    if (region.batched) RegionBuffers(graph, plan.functions[region.function], region).run();
  }
}

}  // namespace hiaton::exec::flow
