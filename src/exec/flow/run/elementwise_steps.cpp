// The rule: so few instances run at a time that what one step hands to the next stays in the smallest cache;
// where the instances of a step are contiguous, one call of its kernel computes them all.
#include "exec/flow/run/elementwise_steps.h"

#include <algorithm>
#include <cstdlib>

#include "kernels/launch_helpers.h"

namespace hiaton::exec::flow {
namespace {

// Sanitizers run small tensors: they are to go through the steps a few at a time too.
#if defined(HIATON_SANITIZED)
constexpr int64_t kCacheBytes = 64;
#else
constexpr int64_t kCacheBytes = int64_t{16} << 10;
#endif
constexpr int64_t kCacheLine = 64;

/// The memory that a step reads or writes.
struct Extent {
  const std::byte* begin;
  int64_t step;
  int64_t instance;  ///< bytes
  int64_t bytes;     ///< the size of all instances
};

/// Whether writing the one disturbs who reads the other: they overlap, and not instance by instance.
bool disturbs(const Extent& written, const Extent& read) {
  if (read.begin == nullptr || (written.begin == read.begin && written.step == read.step)) return false;
  if (written.step == read.step && written.step > 0) {  // perhaps columns of one whole
    const int64_t apart = std::abs(written.begin - read.begin) % written.step;
    if (apart >= written.instance && written.step - apart >= written.instance) return false;
  }
  return written.begin < read.begin + read.bytes && read.begin < written.begin + written.bytes;
}

/// Whether the elements may be computed in any order: steps may write where operands stood, also in part.
bool is_any_order(std::span<const ElementwiseStep> steps, int64_t batch, int64_t size, int64_t bytes) {
  const auto extent = [&](const ElementwiseStep::Operand& operand) {
    return Extent{operand.first, operand.stride, size * bytes, (batch - 1) * operand.stride + size * bytes};
  };
  for (const ElementwiseStep& writer : steps) {
    for (const ElementwiseStep& reader : steps) {
      for (const ElementwiseStep::Operand* operand : {&reader.a, &reader.b, &reader.out}) {
        if (disturbs(extent(writer.out), extent(*operand))) return false;
      }
    }
  }
  return true;
}

/// The elements [first, first + size) of the instances [begin, begin + count); `whole`: elements of an
/// instance.
struct Range {
  int64_t begin;
  int64_t count;
  int64_t first;
  int64_t size;
  int64_t whole;
};

void run(const ElementwiseStep& step, const Range& range, int64_t bytes) {
  const auto at = [&](const ElementwiseStep::Operand& operand, int64_t i) {
    return operand.first == nullptr ? nullptr : operand.first + i * operand.stride + range.first * bytes;
  };
  const auto is_dense = [&](const ElementwiseStep::Operand& operand) {
    return operand.first == nullptr || (operand.stride == range.whole * bytes && range.size == range.whole);
  };
  if (range.count == 1 || (is_dense(step.a) && is_dense(step.b) && is_dense(step.out))) {
    return step.kernel(range.count * range.size, at(step.a, range.begin), at(step.b, range.begin),
                       at(step.out, range.begin));
  }
  for (int64_t i = range.begin; i < range.begin + range.count; ++i) {
    step.kernel(range.size, at(step.a, i), at(step.b, i), at(step.out, i));
  }
}

/// Instances [begin, end), as many at a time as stay in the cache.
void run_instances(std::span<const ElementwiseStep> steps, int64_t begin, int64_t end, int64_t size,
                   int64_t bytes) {
  const int64_t bytes_of_results = std::max<int64_t>(1, static_cast<int64_t>(steps.size()) * size * bytes);
  const int64_t at_once =
      steps.size() == 1 ? end - begin : std::max<int64_t>(1, kCacheBytes / bytes_of_results);
  for (; begin < end; begin += at_once) {
    for (const ElementwiseStep& step : steps)
      run(step, {begin, std::min(at_once, end - begin), 0, size, size}, bytes);
  }
}

}  // namespace

void run_elementwise_steps(std::span<const ElementwiseStep> steps, int64_t batch, int64_t size,
                           int64_t bytes) {
  const int64_t work = kernels::kWorkOfElement * static_cast<int64_t>(steps.size()) * batch * size;
  if (!kernels::is_worth_cutting(work) || !is_any_order(steps, batch, size, bytes)) {
    return run_instances(steps, 0, batch, size, bytes);
  }
  if (batch > 1) {
    return kernels::in_ranges(
        batch, 1, work, [&](int64_t begin, int64_t end) { run_instances(steps, begin, end, size, bytes); });
  }
  kernels::in_ranges(size, kCacheLine / bytes, work, [&](int64_t begin, int64_t end) {
    for (const ElementwiseStep& step : steps) run(step, {0, 1, begin, end - begin, size}, bytes);
  });
}

}  // namespace hiaton::exec::flow
