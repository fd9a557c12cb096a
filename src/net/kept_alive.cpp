#include <condition_variable>
#include <thread>

#include "net/transport.h"

namespace hiaton::net {

namespace {

/// MPI moves what is larger than a few packets only while both sides call it, so signs of life alone are too
/// rare.
constexpr std::chrono::milliseconds kPeriod(1);

}  // namespace

struct KeptAlive::Parts {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_over = false;
  std::thread thread;
};

KeptAlive::KeptAlive(Transport& transport) : parts_(std::make_unique<Parts>()) {
  parts_->thread = std::thread([&transport, &parts = *parts_] {
    std::unique_lock lock(parts.mutex);
    while (!parts.changed.wait_for(lock, kPeriod, [&parts] { return parts.is_over; })) {
      try {
        transport.keep_alive();
      } catch (const std::exception& error) {
        transport.fail(error.what());
      }
    }
  });
}

KeptAlive::~KeptAlive() {
  {
    const std::lock_guard lock(parts_->mutex);
    parts_->is_over = true;
  }
  parts_->changed.notify_one();
  parts_->thread.join();
}

}  // namespace hiaton::net
