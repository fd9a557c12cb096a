#include "net/simulated.h"

#include <fmt/format.h>

#include <algorithm>

namespace hiaton::net {

class SimulatedLink : public Link {
 public:
  SimulatedLink(SimulatedNetwork& network, int self) : network_(network), self_(self) {}

  int self() const override { return self_; }
  int size() const override { return network_.processes_; }
  std::string host(int process) const override { return fmt::format("node{}", process); }
  void send(int to, Packet packet) override { network_.send(self_, to, std::move(packet)); }
  bool receive(Arrival& arrival) override {
    std::deque<Arrival>& arrived = network_.arrived_[static_cast<std::size_t>(self_)];
    if (arrived.empty()) return false;
    arrival = std::move(arrived.front());
    arrived.pop_front();
    return true;
  }
  bool all_sent() override { return true; }
  void wait(const Wait& wait) override { network_.pass(wait.most); }
  std::chrono::nanoseconds now() const override { return network_.now_; }
  void close() override {}
  void abort(int /*status*/) override {}

 private:
  SimulatedNetwork& network_;
  int self_;
};

SimulatedNetwork::SimulatedNetwork(int processes, Delivery delivery, uint64_t seed)
    : processes_(processes),
      delivery_(delivery),
      state_(seed),
      chosen_process_(static_cast<int>(random(static_cast<uint64_t>(processes)))),
      arrived_(static_cast<std::size_t>(processes)),
      is_lost_(static_cast<std::size_t>(processes)) {}

std::unique_ptr<Link> SimulatedNetwork::link(int process) {
  return std::make_unique<SimulatedLink>(*this, process);
}

/// SplitMix64.
uint64_t SimulatedNetwork::random(uint64_t below) {
  state_ += 0x9E3779B97F4A7C15;
  uint64_t bits = state_;
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9;
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB;
  return (bits ^ (bits >> 31)) % below;
}

void SimulatedNetwork::send(int from, int to, Packet packet) {
  const std::pair<int, int> way(std::min(from, to), std::max(from, to));
  if (is_lost_[static_cast<std::size_t>(from)] != 0 || is_lost_[static_cast<std::size_t>(to)] != 0 ||
      std::find(cuts_.begin(), cuts_.end(), way) != cuts_.end()) {
    return;
  }
  under_way_.push_back({to, {from, std::move(packet)}});
}

std::size_t SimulatedNetwork::choose() {
  const std::size_t count = under_way_.size();
  if (delivery_ == Delivery::InOrder) return 0;
  if (delivery_ == Delivery::LastFirst) return count - 1;
  const std::size_t any = random(count);
  if (delivery_ == Delivery::Random) return any;
  if (delivery_ == Delivery::Bursts && random(16) == 0)
    chosen_process_ = static_cast<int>(random(static_cast<uint64_t>(processes_)));
  const bool wants_chosen = delivery_ == Delivery::Bursts;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t index = (any + i) % count;
    if ((under_way_[index].to == chosen_process_) == wants_chosen) return index;
  }
  return any;
}

std::optional<int> SimulatedNetwork::deliver() {
  if (under_way_.empty()) return std::nullopt;
  const auto chosen = under_way_.begin() + static_cast<std::ptrdiff_t>(choose());
  const int to = chosen->to;
  arrived_[static_cast<std::size_t>(to)].push_back(std::move(chosen->arrival));
  under_way_.erase(chosen);
  now_ += std::chrono::microseconds(1);
  return to;
}

void SimulatedNetwork::lose(int process) {
  is_lost_[static_cast<std::size_t>(process)] = 1;
  std::erase_if(under_way_,
                [process](const UnderWay& one) { return one.to == process || one.arrival.from == process; });
}

void SimulatedNetwork::cut(int a, int b) {
  cuts_.emplace_back(std::min(a, b), std::max(a, b));
  std::erase_if(under_way_, [a, b](const UnderWay& one) {
    return (one.to == a && one.arrival.from == b) || (one.to == b && one.arrival.from == a);
  });
}

}  // namespace hiaton::net
