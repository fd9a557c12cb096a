#include <condition_variable>
#include <optional>
#include <thread>
#include <utility>

#include "net/transport.h"

namespace hiaton::net {
namespace {

/// How long what this process computes gets to notice that another one is lost.
constexpr std::chrono::seconds kTimeToNotice(2);

}  // namespace

struct KeptAlive::Parts {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_over = false;
  std::thread thread;
};

KeptAlive::KeptAlive(Transport& transport, GiveUp give_up) : parts_(std::make_unique<Parts>()) {
  parts_->thread = std::thread([&transport, &parts = *parts_, give_up = std::move(give_up)] {
    std::unique_lock lock(parts.mutex);
    std::chrono::nanoseconds pause{0};
    while (!parts.changed.wait_for(lock, pause, [&parts] { return parts.is_over; })) {
      try {
        pause = transport.keep_alive();
        if (!give_up) continue;
        const std::optional<ProcessFailure> failure = transport.take_over_failure(kTimeToNotice);
        if (failure) give_up(*failure);
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
