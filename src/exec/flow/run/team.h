// The workers of a run, as they know of each other: who has nothing to do, what they send each other, and
// when the run is over.
//
// The run is over when nothing is open: parts that have not begun, workers that are at work, messages that
// have not been taken. Who makes something open counts it before, and who ends something counts it down
// after, what came of it is counted; so the count reaches 0 once.
//
// All operations on atomics are sequentially consistent but where said. Who goes to rest counts himself as
// idle and then looks for mail; who sends writes the mail and then looks whether someone is idle. So either
// the one sees the mail or the other wakes him.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/shared_loop.h"
#include "exec/flow/run/messages.h"
#include "kernels/launch_helpers.h"

namespace hiaton::exec::flow {

class Worker;

/// How the workers of a run share its calls.
enum class Sharing : uint8_t {
  Launches,   ///< not at all: those that are idle help with large launches
  Calls,      ///< they help with launches, and get calls of those that are busy
  EveryCall,  ///< each call goes to another worker: for tests
};

class Team : public kernels::LaunchHelpers {
 public:
  /// Workers that get no part count as idle from the beginning: they come when there is something to do.
  Team(int workers, std::size_t parts, Sharing sharing);
  ~Team() override;

  // Parts: of whoever comes first.
  /// None: all are taken. Who gets one is at work until he rests or ends it.
  std::optional<std::size_t> take_part();
  bool are_parts_taken() const { return next_part_.load(std::memory_order_relaxed) >= parts_; }
  /// Ends a part where others are left, or before it has begun.
  void end_part();

  // Rest.
  /// A number for the worker of the calling thread, from 0.
  uint32_t join();
  /// Waits for mail, and helps with launches meanwhile. Empty: the run is over. `at_work`: until now.
  std::vector<Message> rest(uint32_t number, bool at_work);
  bool is_over() const { return open_.load() == 0; }
  /// Ends the run early.
  void stop();
  /// Relaxed, as all that is asked often: seeing it late costs time, nothing else.
  bool is_stopping() const { return is_stopping_.load(std::memory_order_relaxed); }

  // Calls.
  bool shares_calls() const { return sharing_ != Sharing::Launches; }
  bool shares_every_call() const { return sharing_ == Sharing::EveryCall; }
  /// Whether someone wants calls: a hint.
  bool is_asked() const { return asking_count_.load(std::memory_order_relaxed) > 0; }
  /// One who does, who gets a call now.
  std::optional<uint32_t> take_asking();
  void ask(uint32_t number);
  void withdraw(uint32_t number);
  /// For tests: somebody else, once all have come.
  std::optional<uint32_t> somebody_else(uint32_t number);
  /// What the others may know of a worker that is at work.
  void show(uint32_t number, uint64_t frames, bool has_calls);
  /// Whether another worker still begins calls, many of them, and has not much less to do than one with so
  /// many frames: then it is worth to wait for one of them. A hint.
  bool has_more(uint32_t number, uint64_t frames) const;

  // Mail.
  void send(uint32_t to, std::span<Message> messages);
  bool has_mail(uint32_t number) const { return seats_[number].has_mail.load(std::memory_order_relaxed); }
  /// For a worker that is at work.
  std::vector<Message> take_mail(uint32_t number);

  /// Who runs as this number; not while somebody runs.
  Worker* worker(uint32_t number) const { return seats_[number].worker; }
  void set_worker(uint32_t number, Worker* worker) { seats_[number].worker = worker; }

  // LaunchHelpers.
  int idle(int64_t work) override {
    return work < kernels::kWorthWaking ? 0 : idle_.load(std::memory_order_relaxed);
  }
  void run(std::size_t count, const std::function<void(std::size_t)>& work) override;

 private:
  struct alignas(64) Seat {
    std::mutex mutex;
    std::vector<Message> mail;
    std::atomic<bool> has_mail{false};  ///< written under the mutex
    std::atomic<uint64_t> frames{0};    ///< hints, as is the next
    std::atomic<bool> has_calls{false};
    Worker* worker = nullptr;
  };

  void close(std::size_t count);
  std::vector<Message> take_from(Seat& seat);

  SharedLoop launches_;
  const Sharing sharing_;
  const std::size_t parts_;
  const std::size_t workers_;
  std::unique_ptr<Seat[]> seats_;
  std::atomic<std::size_t> next_part_{0};
  std::atomic<std::size_t> open_;
  std::atomic<int> idle_;                      ///< a hint
  std::atomic<std::size_t> resting_early_{0};  ///< workers that got no part
  std::atomic<uint32_t> joined_{0};
  std::atomic<bool> is_stopping_{false};
  std::mutex asking_mutex_;
  std::vector<uint32_t> asking_;
  std::atomic<std::size_t> asking_count_{0};  ///< written under the mutex
  std::atomic<uint32_t> next_other_{0};
};

}  // namespace hiaton::exec::flow
