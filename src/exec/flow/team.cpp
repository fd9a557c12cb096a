#include "exec/flow/team.h"

namespace hiaton::exec::flow {

void Team::end_part() {
  if (open_.fetch_sub(1) == 1) launches_.wake();
}

void Team::rest() {
  resting_.fetch_add(1);
  while (true) {
    const uint64_t round = launches_.round();
    if (open_.load() == 0) break;
    if (!launches_.help()) launches_.wait_for_other_than(round);
  }
  resting_.fetch_sub(1);
}

/// Relaxed: a hint, which guards nothing.
int Team::idle() const {
  return resting_.load(std::memory_order_relaxed);
}

void Team::run(std::size_t count, const std::function<void(std::size_t)>& work) {
  launches_.run(count, work, [] {});
}

}  // namespace hiaton::exec::flow
