#include "exec/run_watch.h"

#include <condition_variable>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include "base/one_of_process.h"

namespace hiaton::exec {

/// The thread that looks, and what it looks at.
class Watcher : public OneOfProcess<Watcher> {
 public:
  void add(RunWatch& watch) {
    const std::lock_guard lock(mutex_);
    if (!thread_.joinable() && !ended_) {
      thread_ = std::thread([this] { look_on(); });
    } else if (rests_) {
      wakes_.notify_one();
    }
    watch.process_ = process_;
    watch.behind_ = first_;
    if (first_ != nullptr) first_->before_ = &watch;
    first_ = &watch;
  }

  void remove(RunWatch& watch) {
    const std::lock_guard lock(mutex_);
    if (watch.process_ != process_) return;  // it was made before a fork
    if (watch.behind_ != nullptr) watch.behind_->before_ = watch.before_;
    (watch.before_ != nullptr ? watch.before_->behind_ : first_) = watch.behind_;
  }

 private:
  friend class OneOfProcess<Watcher>;

  void forget_threads() {
    new (&thread_) std::thread;             // no destructor: there is no such thread here
    new (&wakes_) std::condition_variable;  // likewise: that thread may have waited
    first_ = nullptr;                       // the runs are none of this process
    rests_ = false;
  }

  void end_threads() {
    std::unique_lock lock(mutex_);
    wakes_.notify_one();
    std::thread thread = std::exchange(thread_, {});
    lock.unlock();
    if (thread.joinable()) thread.join();
  }

  /// Looks for as long as there are watches, and for a while after the last one, so that short runs which
  /// follow each other need not wake it.
  void look_on() {
    constexpr std::chrono::milliseconds kLook{2};
    constexpr int kLooksToRest = 50;
    std::unique_lock lock(mutex_);
    for (int idle = 0; !ended_;) {
      if (idle < kLooksToRest) {
        wakes_.wait_for(lock, kLook);
      } else {
        rests_ = true;
        wakes_.wait(lock, [this] { return first_ != nullptr || ended_; });
        rests_ = false;
      }
      idle = first_ == nullptr ? idle + 1 : 0;
      const RunWatch::Clock::time_point now = RunWatch::Clock::now();
      for (RunWatch* watch = first_; watch != nullptr; watch = watch->behind_)
        watch->stopped_ = watch->stopped_ || watch->look(now);
    }
  }

  std::condition_variable wakes_;
  std::thread thread_;
  RunWatch* first_ = nullptr;
  bool rests_ = false;  ///< waits until there is a watch
};

RunWatch::RunWatch(const RunOptions& options, Clock::time_point start, std::function<void(Fault)> stop)
    : options_(options), start_(start), stop_(std::move(stop)) {
  Watcher::instance().add(*this);
}

RunWatch::~RunWatch() {
  Watcher::instance().remove(*this);
}

bool RunWatch::look(Clock::time_point now) const {
  const bool cancelled = options_.cancel != nullptr && options_.cancel->load(std::memory_order_relaxed);
  if (!cancelled && now - start_ <= options_.timeout) return false;
  stop_(cancelled ? Fault::Interrupted : Fault::Timeout);
  return true;
}

}  // namespace hiaton::exec
