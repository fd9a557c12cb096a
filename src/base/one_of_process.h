// An object that a process has once and that has threads: what becomes of them at a fork and at the end.
#pragma once

#include <pthread.h>

#include <cstdint>
#include <mutex>

namespace hiaton {

/// Base of a class `Self` that has one object in a process. The object is never destroyed: runs may go on
/// while the process ends. Self, whose friend this class is, says with `forget_threads()` what to do in a
/// process that was forked, which has the memory of all threads but only the one that forked; `mutex_` is
/// held. `end_threads()` is called at the end of the process, or where the library is unloaded, without the
/// mutex and after `ended_` is true: without the threads no code of the library runs any more.
template <class Self>
class OneOfProcess {
 public:
  OneOfProcess(const OneOfProcess&) = delete;
  OneOfProcess& operator=(const OneOfProcess&) = delete;

  static Self& instance() {
    static Self* const self = make();
    static const End end;
    return *self;
  }

 protected:
  OneOfProcess() = default;
  ~OneOfProcess() = default;

  std::mutex mutex_;      ///< guards what Self has, and the following
  uint64_t process_ = 0;  ///< how many forks have led to this process
  bool ended_ = false;    ///< no thread may start any more

 private:
  struct End {
    ~End() { instance().end(); }
  };

  static Self* make() {
    pthread_atfork([] { instance().mutex_.lock(); }, [] { instance().mutex_.unlock(); },
                   [] { instance().begin_in_child(); });
    return new Self;
  }

  void begin_in_child() {
    static_cast<Self*>(this)->forget_threads();
    ++process_;
    mutex_.unlock();
  }

  void end() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    static_cast<Self*>(this)->end_threads();
  }
};

}  // namespace hiaton
