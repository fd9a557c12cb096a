// A batch whose shapes only the run knows is cut into batches of equal shapes.
#include <algorithm>

#include "exec/flow/run/flow_worker.h"

namespace hiaton::exec::flow {

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
