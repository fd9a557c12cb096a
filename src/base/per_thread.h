// What each thread has of its own.
#pragma once

#include <pthread.h>

#include <memory>
#include <new>

#include "base/borrowed_pool.h"

namespace hiaton {

/// A T for each thread that asks for one, until the thread ends. As a thread_local, but without memory for it
/// is std::bad_alloc: the C library ends the process where it cannot register the destructor of a
/// thread_local.
template <class T>
class PerThread {
 public:
  PerThread() {
    if (pthread_key_create(&key_, [](void* made) { delete static_cast<T*>(made); }) != 0)
      throw std::bad_alloc();
  }
  PerThread(const PerThread&) = delete;
  PerThread& operator=(const PerThread&) = delete;
  /// Threads that the process keeps for runs end, with theirs. Others keep theirs.
  ~PerThread() {
    end_idle_pools();
    delete static_cast<T*>(pthread_getspecific(key_));
    pthread_key_delete(key_);
  }

  /// The calling thread's. Throws std::bad_alloc.
  T& get() {
    void* found = pthread_getspecific(key_);
    if (found != nullptr) return *static_cast<T*>(found);
    auto made = std::make_unique<T>();
    if (pthread_setspecific(key_, made.get()) != 0) throw std::bad_alloc();
    return *made.release();
  }

 private:
  pthread_key_t key_{};
};

}  // namespace hiaton
