// The rule: so few instances at a time that what one line hands to the next stays in the smallest cache; and
// where those of a line stand one behind the other, they are one longer line.
#include "exec/flow/lines.h"

#include <algorithm>

namespace hiaton::exec::flow {
namespace {

// Sanitizers run small tensors: they are to go through the lines a few at a time too.
#if defined(HIATON_SANITIZED)
constexpr int64_t kCacheBytes = 64;
#else
constexpr int64_t kCacheBytes = int64_t{16} << 10;
#endif

void run(const Line& line, int64_t begin, int64_t count, int64_t size, int64_t bytes) {
  const auto at = [](const Line::Place& place, int64_t i) { return place.first + i * place.step; };
  const auto is_dense = [&](const Line::Place& place) {
    return place.first == nullptr || place.step == size * bytes;
  };
  if (count == 1 || (is_dense(line.a) && is_dense(line.b) && is_dense(line.out))) {
    return line.kernel(count * size, at(line.a, begin), at(line.b, begin), at(line.out, begin));
  }
  for (int64_t i = begin; i < begin + count; ++i) {
    line.kernel(size, at(line.a, i), at(line.b, i), at(line.out, i));
  }
}

}  // namespace

void run_lines(std::span<const Line> lines, int64_t batch, int64_t size, int64_t bytes) {
  const int64_t bytes_of_results = std::max<int64_t>(1, static_cast<int64_t>(lines.size()) * size * bytes);
  const int64_t at_once = lines.size() == 1 ? batch : std::max<int64_t>(1, kCacheBytes / bytes_of_results);
  for (int64_t begin = 0; begin < batch; begin += at_once) {
    const int64_t count = std::min(at_once, batch - begin);
    for (const Line& line : lines) run(line, begin, count, size, bytes);
  }
}

}  // namespace hiaton::exec::flow
