#include <unistd.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>

#include "net/processes.h"

namespace hiaton::net {

std::string name_of_this_machine() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "localhost";
  return name.data();
}

namespace {

struct Mailbox {
  std::mutex mutex;
  std::condition_variable filled;
  std::deque<Arrival> packets;
  std::atomic<std::size_t> count{0};  ///< of packets: who looks again and again does not hold up who sends
  bool is_woken = false;
};

using Mailboxes = std::vector<Mailbox>;

class InProcessLink : public Link {
 public:
  InProcessLink(int self, std::shared_ptr<Mailboxes> boxes) : self_(self), boxes_(std::move(boxes)) {}

  int self() const override { return self_; }
  int size() const override { return static_cast<int>(boxes_->size()); }
  std::string host(int /*process*/) const override { return name_of_this_machine(); }
  bool is_near(int /*process*/) const override { return true; }
  void send(int to, Packet packet) override {
    Mailbox& box = box_of(to);
    {
      const std::lock_guard lock(box.mutex);
      box.packets.push_back({self_, std::move(packet)});
      box.count.store(box.packets.size(), std::memory_order_release);
    }
    box.filled.notify_one();
  }
  bool receive(Arrival& arrival) override {
    Mailbox& box = box_of(self_);
    if (box.count.load(std::memory_order_acquire) == 0) return false;
    const std::lock_guard lock(box.mutex);
    arrival = std::move(box.packets.front());
    box.packets.pop_front();
    box.count.store(box.packets.size(), std::memory_order_release);
    return true;
  }
  bool all_sent() override { return true; }
  void wait(const Wait& wait) override {
    Mailbox& box = box_of(self_);
    std::unique_lock lock(box.mutex);
    box.filled.wait_for(lock, wait.most, [&box] { return !box.packets.empty() || box.is_woken; });
    box.is_woken = false;
  }
  bool wake() override {
    Mailbox& box = box_of(self_);
    {
      const std::lock_guard lock(box.mutex);
      box.is_woken = true;
    }
    box.filled.notify_one();
    return true;
  }
  std::chrono::nanoseconds now() const override {
    return std::chrono::steady_clock::now().time_since_epoch();
  }
  void close() override {}
  void abort(int /*status*/) override {}

 private:
  Mailbox& box_of(int process) { return (*boxes_)[static_cast<std::size_t>(process)]; }

  int self_;
  std::shared_ptr<Mailboxes> boxes_;
};

}  // namespace

std::vector<std::unique_ptr<Link>> in_process_links(int processes) {
  auto boxes = std::make_shared<Mailboxes>(static_cast<std::size_t>(processes));
  std::vector<std::unique_ptr<Link>> links;
  for (int i = 0; i < processes; ++i) links.push_back(std::make_unique<InProcessLink>(i, boxes));
  return links;
}

}  // namespace hiaton::net
