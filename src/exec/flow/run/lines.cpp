// The rule: so few instances at a time that what one line hands to the next stays in the smallest cache; and
// where those of a line stand one behind the other, they are one longer line.
#include "exec/flow/run/lines.h"

#include <algorithm>
#include <cstdlib>

#include "kernels/launch.h"

namespace hiaton::exec::flow {
namespace {

// Sanitizers run small tensors: they are to go through the lines a few at a time too.
#if defined(HIATON_SANITIZED)
constexpr int64_t kCacheBytes = 64;
#else
constexpr int64_t kCacheBytes = int64_t{16} << 10;
#endif
constexpr int64_t kCacheLine = 64;

/// The memory that a line reads or writes.
struct Extent {
  const std::byte* begin;
  int64_t step;
  int64_t instance;  ///< bytes
  int64_t bytes;     ///< of all instances
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

/// Whether the elements may be computed in any order: lines may write where operands stood, also in part.
bool is_any_order(std::span<const Line> lines, int64_t batch, int64_t size, int64_t bytes) {
  const auto extent = [&](const Line::Place& place) {
    return Extent{place.first, place.step, size * bytes, (batch - 1) * place.step + size * bytes};
  };
  for (const Line& writer : lines) {
    for (const Line& reader : lines) {
      for (const Line::Place* place : {&reader.a, &reader.b, &reader.out}) {
        if (disturbs(extent(writer.out), extent(*place))) return false;
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

void run(const Line& line, const Range& range, int64_t bytes) {
  const auto at = [&](const Line::Place& place, int64_t i) {
    return place.first == nullptr ? nullptr : place.first + i * place.step + range.first * bytes;
  };
  const auto is_dense = [&](const Line::Place& place) {
    return place.first == nullptr || (place.step == range.whole * bytes && range.size == range.whole);
  };
  if (range.count == 1 || (is_dense(line.a) && is_dense(line.b) && is_dense(line.out))) {
    return line.kernel(range.count * range.size, at(line.a, range.begin), at(line.b, range.begin),
                       at(line.out, range.begin));
  }
  for (int64_t i = range.begin; i < range.begin + range.count; ++i) {
    line.kernel(range.size, at(line.a, i), at(line.b, i), at(line.out, i));
  }
}

/// Instances [begin, end), as many at a time as stay in the cache.
void run_instances(std::span<const Line> lines, int64_t begin, int64_t end, int64_t size, int64_t bytes) {
  const int64_t bytes_of_results = std::max<int64_t>(1, static_cast<int64_t>(lines.size()) * size * bytes);
  const int64_t at_once =
      lines.size() == 1 ? end - begin : std::max<int64_t>(1, kCacheBytes / bytes_of_results);
  for (; begin < end; begin += at_once) {
    for (const Line& line : lines) run(line, {begin, std::min(at_once, end - begin), 0, size, size}, bytes);
  }
}

}  // namespace

void run_lines(std::span<const Line> lines, int64_t batch, int64_t size, int64_t bytes) {
  const int64_t work = kernels::kWorkOfElement * static_cast<int64_t>(lines.size()) * batch * size;
  if (!kernels::is_worth_cutting(work) || !is_any_order(lines, batch, size, bytes)) {
    return run_instances(lines, 0, batch, size, bytes);
  }
  if (batch > 1) {
    return kernels::in_ranges(
        batch, 1, work, [&](int64_t begin, int64_t end) { run_instances(lines, begin, end, size, bytes); });
  }
  kernels::in_ranges(size, kCacheLine / bytes, work, [&](int64_t begin, int64_t end) {
    for (const Line& line : lines) run(line, {0, 1, begin, end - begin, size}, bytes);
  });
}

}  // namespace hiaton::exec::flow
