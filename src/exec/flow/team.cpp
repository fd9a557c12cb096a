#include "exec/flow/team.h"

#include <algorithm>

namespace hiaton::exec::flow {

Team::Team(int workers, std::size_t parts)
    : open_(parts), idle_(std::max(0, workers - static_cast<int>(std::min<std::size_t>(parts, 1 << 20)))) {}

void Team::become_idle() {
  idle_.fetch_add(1, std::memory_order_relaxed);
}

void Team::end_part() {
  if (open_.fetch_sub(1) == 1) launches_.wake();
}

void Team::rest() {
  while (true) {
    const uint64_t round = launches_.round();
    if (open_.load() == 0) break;
    if (!launches_.help()) launches_.wait_for_other_than(round);
  }
}

/// Relaxed: a hint, which guards nothing.
int Team::idle() const {
  return idle_.load(std::memory_order_relaxed);
}

void Team::run(std::size_t count, const std::function<void(std::size_t)>& work) {
  launches_.run(count, work, [] {});
}

}  // namespace hiaton::exec::flow
