// Threads that help with launches.
#pragma once

#include "hiaton/thread_pool.h"
#include "kernels/launch_helpers.h"

namespace hiaton::kernels {

/// The threads of a pool, all of which idle.
class IdlePool : public LaunchHelpers {
 public:
  explicit IdlePool(int threads) : pool_(threads) {}
  int idle(int64_t) override { return pool_.threads() - 1; }
  void run(std::size_t count, const std::function<void(std::size_t)>& work) override {
    ++launches;
    pool_.run(count, work);
  }
  int launches = 0;

 private:
  ThreadPool pool_;
};

}  // namespace hiaton::kernels
