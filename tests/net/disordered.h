// Processes as threads whose packets arrive in an order that a seed decides.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "net/processes.h"
#include "net/simulated.h"

namespace hiaton::net {

/// Holds back what has arrived, and hands it on as the delivery says.
class DisorderedLink : public Link {
 public:
  DisorderedLink(std::unique_ptr<Link> link, Delivery delivery, uint32_t seed)
      : link_(std::move(link)), delivery_(delivery), random_(seed) {}

  int self() const override { return link_->self(); }
  int size() const override { return link_->size(); }
  std::string host(int process) const override { return link_->host(process); }
  void send(int to, Packet packet) override { link_->send(to, std::move(packet)); }
  bool receive(Arrival& arrival) override {
    const std::size_t known = held_.size();
    for (Arrival next; link_->receive(next); next = Arrival()) held_.push_back(std::move(next));
    holds_any_.store(!held_.empty());
    // A thread that waits at the link would not find them there any more.
    if (held_.size() > known) link_->wake();
    if (held_.empty() || keeps_back()) return false;
    const auto chosen = held_.begin() + static_cast<std::ptrdiff_t>(choose());
    arrival = std::move(*chosen);
    held_.erase(chosen);
    holds_any_.store(!held_.empty());
    return true;
  }
  bool all_sent() override { return link_->all_sent(); }
  void wait(const Wait& wait) override {
    if (!holds_any_.load()) link_->wait(wait);
  }
  bool wake() override { return link_->wake(); }
  std::chrono::nanoseconds now() const override { return link_->now(); }
  void close() override { link_->close(); }
  void abort(int status) override { link_->abort(status); }

 private:
  /// For a while, so that more comes together.
  bool keeps_back() {
    switch (delivery_) {
      case Delivery::InOrder:
        return false;
      case Delivery::StarvedOne:
        return self() == 0 && random_() % 16 != 0;
      case Delivery::Bursts:
        return random_() % 64 != 0 && held_.size() < 4;
      default:
        return random_() % 4 != 0;
    }
  }
  std::size_t choose() {
    if (delivery_ == Delivery::LastFirst) return held_.size() - 1;
    return delivery_ == Delivery::Random ? random_() % held_.size() : 0;
  }

  std::unique_ptr<Link> link_;
  Delivery delivery_;
  std::mt19937 random_;
  std::vector<Arrival> held_;
  std::atomic<bool> holds_any_{false};  ///< read by who waits while another thread receives
};

inline std::vector<std::unique_ptr<Link>> disordered_links(int processes, Delivery delivery, uint32_t seed) {
  std::vector<std::unique_ptr<Link>> links;
  for (std::unique_ptr<Link>& link : in_process_links(processes))
    links.push_back(std::make_unique<DisorderedLink>(std::move(link), delivery, seed + links.size()));
  return links;
}

/// What each process does.
class ActWork : public Work {
 public:
  using Act = std::function<void(Transport&)>;

  explicit ActWork(Act act) : act_(std::move(act)) {}
  std::string prepare(int /*self*/) override { return "a test"; }
  void work(Transport& transport) override {
    act_(transport);
    transport.end([](int, const Header&, std::span<const std::byte>) {});
  }

 private:
  Act act_;
};

inline void act_in_processes(const std::vector<std::unique_ptr<Link>>& links, const ActWork::Act& act) {
  work_in_threads(links, {}, [&act] { return std::make_unique<ActWork>(act); });
}

}  // namespace hiaton::net
