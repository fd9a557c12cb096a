#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "hiaton/graph.h"

namespace hiaton::graph {

/// What a validator found: one message for each broken rule, which begins with where.
class Findings {
 public:
  explicit Findings(const Graph& graph) : graph_(graph) {}

  template <class... Args>
  void at(NodeId node, fmt::format_string<Args...> message, Args&&... args) {
    add(describe(node), fmt::format(message, std::forward<Args>(args)...));
  }
  template <class... Args>
  void at(FunctionId function, fmt::format_string<Args...> message, Args&&... args) {
    add(describe(function), fmt::format(message, std::forward<Args>(args)...));
  }
  template <class... Args>
  void at(CallSite site, fmt::format_string<Args...> message, Args&&... args) {
    add(describe(site), fmt::format(message, std::forward<Args>(args)...));
  }
  template <class... Args>
  void at(LoopId loop, fmt::format_string<Args...> message, Args&&... args) {
    add(fmt::format("loop {}", loop.index()), fmt::format(message, std::forward<Args>(args)...));
  }
  template <class... Args>
  void overall(fmt::format_string<Args...> message, Args&&... args) {
    add("the graph", fmt::format(message, std::forward<Args>(args)...));
  }

  const std::vector<std::string>& all() const { return all_; }
  std::vector<std::string> take() { return std::move(all_); }

  /// "%3 Switch 'n' in 'fact' (fact.hia:1:23)".
  std::string describe(NodeId id) const;
  std::string describe(FunctionId id) const;
  std::string describe(CallSite id) const;

 private:
  void add(const std::string& where, const std::string& message) { all_.push_back(where + ": " + message); }
  std::string place(Span span) const;

  const Graph& graph_;
  std::vector<std::string> all_;
};

}  // namespace hiaton::graph
