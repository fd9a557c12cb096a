#include "base/borrowed_pool.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <mutex>
#include <new>
#include <tuple>
#include <utility>

#include "base/one_of_process.h"

namespace hiaton {
namespace {

/// The pools that nobody uses now.
class IdlePools : public OneOfProcess<IdlePools> {
 public:
  /// Null: there is none of so many threads. Tells the number of this process, too.
  std::pair<uint64_t, std::unique_ptr<ThreadPool>> take(int threads) {
    const std::lock_guard lock(mutex_);
    const auto is_as_large = [threads](const auto& pool) {
      return pool != nullptr && pool->threads() == threads;
    };
    const auto found = std::find_if(pools_.rbegin(), pools_.rend(), is_as_large);
    if (found == pools_.rend()) return {process_, nullptr};
    return {process_, std::move(*found)};
  }

  void give_back(uint64_t process, std::unique_ptr<ThreadPool> pool) {
    std::unique_ptr<ThreadPool> oldest;  // which ends without the lock, as `pool` does
    const std::lock_guard lock(mutex_);
    if (process != process_) {
      static_cast<void>(pool.release());  // its threads are in the process that was forked
      return;
    }
    if (ended_) return;
    auto place = std::find(pools_.begin(), pools_.end(), nullptr);
    if (place == pools_.end()) place = pools_.begin();
    oldest = std::move(*place);
    std::move(std::next(place), pools_.end(), place);
    pools_.back() = std::move(pool);
  }

  void end_all() {
    Pools last;  // which end without the lock
    const std::lock_guard lock(mutex_);
    last.swap(pools_);
  }

 private:
  using Pools = std::array<std::unique_ptr<ThreadPool>, 4>;

  friend class OneOfProcess<IdlePools>;

  void forget_threads() {
    new (&pools_) Pools;  // no destructor: there are no such threads here
  }

  void end_threads() { end_all(); }

  Pools pools_;  ///< null, where there is none; those that were used last stand at the end
};

}  // namespace

BorrowedPool::BorrowedPool(int threads) {
  std::tie(process_, pool_) = IdlePools::instance().take(threads);
  if (pool_ == nullptr) pool_ = std::make_unique<ThreadPool>(threads);
}

BorrowedPool::~BorrowedPool() {
  IdlePools::instance().give_back(process_, std::move(pool_));
}

void Helpers::begin(ThreadPool* pool, std::size_t count, std::function<void(std::size_t)> work) {
  if (pool == nullptr) pool = own_.emplace(static_cast<int>(count) + 1).get();
  work_ = std::move(work);
  if (pool->begin_help(count, work_)) busy_ = pool;
}

void Helpers::end() {
  if (busy_ != nullptr) std::exchange(busy_, nullptr)->end_help();
}

void end_idle_pools() {
  IdlePools::instance().end_all();
}

}  // namespace hiaton
