// Forks of a process whose threads run programs.
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "programs.h"

namespace hiaton::python {
namespace {

/// A run that prints to a stream which runs programs itself would wait for ever.
constexpr std::chrono::seconds kLongestWait{10};

struct Gate {
  std::mutex mutex;
  std::condition_variable changed;
  int running = 0;         ///< threads with a Running
  bool is_closed = false;  ///< a fork is near: no other thread may begin
};

/// A child has a new one, for a thread that it does not have may have held the lock of this one.
Gate* gate = new Gate;
thread_local int depth = 0;

void before_fork() {
  const nb::gil_scoped_release released;
  std::unique_lock lock(gate->mutex);
  gate->is_closed = true;
  gate->changed.wait_for(lock, kLongestWait, [] { return gate->running == (depth > 0 ? 1 : 0); });
}

void after_fork_in_parent() {
  const std::lock_guard lock(gate->mutex);
  gate->is_closed = false;
  gate->changed.notify_all();
}

void after_fork_in_child() {
  gate = new Gate;
  if (depth > 0) gate->running = 1;
}

}  // namespace

Running::Running() {
  if (depth++ > 0) return;
  std::unique_lock lock(gate->mutex);
  gate->changed.wait(lock, [] { return !gate->is_closed; });
  ++gate->running;
}

Running::~Running() {
  if (--depth > 0) return;
  const std::lock_guard lock(gate->mutex);
  if (--gate->running == 0 || gate->is_closed) gate->changed.notify_all();
}

void bind_forks(nb::module_& m) {
  m.def("before_fork", &before_fork, "Waits until no thread runs a program, and lets none begin.");
  m.def("after_fork_in_parent", &after_fork_in_parent);
  m.def("after_fork_in_child", &after_fork_in_child);
}

}  // namespace hiaton::python
