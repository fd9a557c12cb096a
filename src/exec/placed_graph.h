// What outline_placed() reads off a graph whose nodes stand on `process:K`.
#pragma once

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "exec/graph_names.h"

namespace hiaton::exec {

inline constexpr std::string_view kProcessPlace = "process:";

/// The K of `process:K`; nothing for no placement.
inline std::optional<int> process_in(std::string_view placement) {
  if (!placement.starts_with(kProcessPlace)) return std::nullopt;
  int process = 0;
  const char* const begin = placement.data() + kProcessPlace.size();
  const auto [end, error] = std::from_chars(begin, placement.data() + placement.size(), process);
  HIATON_CHECK(error == std::errc() && end == placement.data() + placement.size());
  return process;
}

inline void add_once(std::vector<OutPort>& ports, OutPort port) {
  if (std::ranges::find(ports, port) == ports.end()) ports.push_back(port);
}

}  // namespace hiaton::exec
