// The workers of a run, as they know of each other.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>

#include "base/shared_loop.h"
#include "kernels/launch.h"

namespace hiaton::exec::flow {

/// Those that have nothing to do rest, and help the others with large launches until the run is over.
class Team : public kernels::LaunchHelpers {
 public:
  /// The run is over when so many parts are. Workers that get none count as idle from the beginning: they
  /// come when there is something to do.
  Team(int workers, std::size_t parts);

  void end_part();
  /// A worker that had a part gets no other one.
  void become_idle();
  /// Returns when the run is over.
  void rest();

  int idle() const override;
  void run(std::size_t count, const std::function<void(std::size_t)>& work) override;

 private:
  SharedLoop launches_;
  std::atomic<std::size_t> open_;
  std::atomic<int> idle_;
};

}  // namespace hiaton::exec::flow
