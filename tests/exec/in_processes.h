// Runs that several processes share, as threads of this one.
#pragma once

#include <algorithm>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "exec/plan_cache.h"
#include "exec/programs.h"
#include "net/disordered.h"

namespace hiaton::exec::testing {

/// What the first process gets.
struct Shared {
  std::vector<Value> values;
  RunStats stats;
  std::string error;
};

/// What each process runs by itself. The one that fails in a way that is no RunError ends the others.
inline Shared run_in_process(const graph::Graph& graph, const std::vector<Value>& arguments,
                             RunOptions options, net::Transport& transport) {
  Shared own;
  options.processes = &transport;
  options.stats = &own.stats;
  options.checks_counts = true;
  PlanCache plans;
  try {
    own.values = exec::run(graph, arguments, options, plans).values;
  } catch (const RunError& error) {
    own.error = error.what();
  }
  EXPECT_EQ(own.stats.frames_live_at_end, 0u) << "process " << transport.self();
  EXPECT_EQ(own.stats.values_live_at_end, 0u) << "process " << transport.self();
  return own;
}

inline Shared run_shared(const graph::Graph& graph, const std::vector<Value>& arguments, int processes,
                         net::Delivery delivery, const RunOptions& options = {}, uint32_t seed = 7) {
  Shared first;
  net::act_in_processes(net::disordered_links(processes, delivery, seed), [&](net::Transport& transport) {
    Shared own = run_in_process(graph, arguments, options, transport);
    if (transport.self() == 0) {
      first = std::move(own);
    } else {
      EXPECT_TRUE(own.values.empty() && own.error.empty()) << "process " << transport.self();
    }
  });
  return first;
}

inline Shared run_shared(std::string_view text, const std::vector<Value>& arguments, int processes,
                         net::Delivery delivery, const RunOptions& options = {}) {
  return run_shared(graph_of(text), arguments, processes, delivery, options);
}

/// Whether one process gives another fewer than `most` calls, in one of up to ten runs that must all end with
/// `expected`. Whether a call pays is decided by times, and a process that waits for a core measures long
/// ones.
inline bool gives_fewer_calls(std::string_view text, const Value& argument, const Value& expected,
                              net::Delivery delivery, uint64_t most) {
  for (int run = 0; run < 10; ++run) {
    const Shared found = run_shared(text, {argument}, 2, delivery);
    EXPECT_EQ(found.values, std::vector<Value>{expected}) << found.error;
    if (found.stats.remote_calls < most) return true;
  }
  return false;
}

/// The error without the process, on this machine, that it names; empty where it names none.
inline std::string without_process(const std::string& error) {
  const std::regex name(R"( \(process \d+ on )" + net::name_of_this_machine() + R"(\))");
  std::smatch found;
  if (!std::regex_search(error, found, name)) return {};
  return found.prefix().str() + found.suffix().str();
}

inline constexpr net::Delivery kDeliveries[] = {net::Delivery::InOrder, net::Delivery::LastFirst,
                                                net::Delivery::Random, net::Delivery::StarvedOne,
                                                net::Delivery::Bursts};

inline std::string name_of(net::Delivery delivery) {
  switch (delivery) {
    case net::Delivery::InOrder:
      return "in_order";
    case net::Delivery::LastFirst:
      return "last_first";
    case net::Delivery::Random:
      return "at_random";
    case net::Delivery::StarvedOne:
      return "starved";
    case net::Delivery::Bursts:
      return "in_bursts";
  }
  return "";
}

}  // namespace hiaton::exec::testing
