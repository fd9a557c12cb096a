#include <condition_variable>
#include <thread>

#include "net/transport.h"

namespace hiaton::net {

struct KeptAlive::Parts {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_over = false;
  std::thread thread;
};

KeptAlive::KeptAlive(Transport& transport) : parts_(std::make_unique<Parts>()) {
  parts_->thread = std::thread([&transport, &parts = *parts_] {
    std::unique_lock lock(parts.mutex);
    std::chrono::nanoseconds pause{0};
    while (!parts.changed.wait_for(lock, pause, [&parts] { return parts.is_over; })) {
      try {
        pause = transport.keep_alive();
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
