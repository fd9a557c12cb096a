// Processes without threads, for tests.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "net/simulated.h"
#include "net/transport.h"

namespace hiaton::net {

/// Transports of a simulated network, all run by the test.
struct Simulated {
  SimulatedNetwork network;
  std::vector<std::unique_ptr<Link>> links;
  std::vector<std::unique_ptr<Transport>> transports;

  Simulated(int processes, Delivery delivery, uint64_t seed, const Transport::Options& options = {})
      : network(processes, delivery, seed) {
    for (int i = 0; i < processes; ++i) {
      links.push_back(network.link(i));
      transports.push_back(std::make_unique<Transport>(*links.back(), options));
    }
  }
  Transport& operator[](int process) { return *transports[static_cast<std::size_t>(process)]; }
  int size() const { return static_cast<int>(transports.size()); }

  void introduce_all() {
    for (int i = 0; i < size(); ++i) (*this)[i].introduce({"1", "avx2", "a program", ""});
  }
  void join_all() {
    introduce_all();
    for (int joined = 0; joined < size();) {
      network.deliver();
      joined = 0;
      for (auto& transport : transports) joined += transport->try_join() ? 1 : 0;
    }
  }
};

}  // namespace hiaton::net
