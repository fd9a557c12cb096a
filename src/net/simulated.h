// Processes of a test: one thread runs all of them, and a seed decides when which packet arrives.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "net/link.h"

namespace hiaton::net {

/// Which of the packets under way arrives next.
enum class Delivery : uint8_t {
  InOrder,     ///< the oldest
  LastFirst,   ///< the youngest
  Random,      ///< any
  StarvedOne,  ///< any but those to one process, while there are others
  Bursts,      ///< many to the same process, one after the other
};

/// Time is simulated as well: it goes on where the test says so, and by a microsecond with each packet.
class SimulatedNetwork {
 public:
  SimulatedNetwork(int processes, Delivery delivery, uint64_t seed);
  /// By number; each once. The network must outlive them.
  std::unique_ptr<Link> link(int process);

  /// Lets one packet arrive. Returns the process that it goes to; nothing where none is under way.
  std::optional<int> deliver();
  /// From now on nothing comes from this process nor arrives there.
  void lose(int process);
  /// From now on packets between the two are lost, in both directions.
  void cut(int a, int b);
  void pass(std::chrono::nanoseconds time) { now_ += time; }
  std::size_t packets_under_way() const { return under_way_.size(); }

 private:
  friend class SimulatedLink;
  struct UnderWay {
    int to;
    Arrival arrival;
  };

  uint64_t random(uint64_t below);
  std::size_t choose();
  void send(int from, int to, Packet packet);

  int processes_;
  Delivery delivery_;
  uint64_t state_;
  int chosen_process_;  ///< the process that is starved, or gets a burst
  std::chrono::nanoseconds now_{0};
  std::vector<UnderWay> under_way_;
  std::vector<std::deque<Arrival>> arrived_;
  std::vector<uint8_t> is_lost_;
  std::vector<std::pair<int, int>> cuts_;
};

}  // namespace hiaton::net
