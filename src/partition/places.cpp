#include "partition/places.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "hiaton/error.h"

namespace hiaton::partition {
namespace {

constexpr std::string_view kProcess = "process:";

/// The K of `process:K`, modulo `processes`; nothing for another name.
std::optional<int> numbered_process(std::string_view name, int processes) {
  if (!name.starts_with(kProcess)) return std::nullopt;
  const std::string_view digits = name.substr(kProcess.size());
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size())
    throw ProgramError(
        fmt::format("placement '{}': expected a number after '{}', found '{}'", name, kProcess, digits));
  return static_cast<int>(number % static_cast<uint32_t>(processes));
}

}  // namespace

PlaceMap::PlaceMap(const graph::Graph& graph, const Places& places) {
  for (const auto& [name, process] : places.named) {
    if (process < 0 || process >= places.processes)
      throw ProgramError(fmt::format("place '{}': expected a process from 0 to {}, found {}", name,
                                     places.processes - 1, process));
  }
  for (const graph::Function& function : graph.functions()) add(function.placement, places);
  for (const graph::Parameter& parameter : graph.parameters()) add(parameter.placement, places);
  for (const graph::Node& node : graph.nodes()) add(node.placement, places);
}

void PlaceMap::add(std::string_view name, const Places& places) {
  if (name.empty() || processes_.contains(name)) return;
  const auto named = places.named.find(std::string(name));
  std::optional<int> process;
  if (named != places.named.end()) process = named->second;
  if (!process) process = numbered_process(name, places.processes);
  processes_.emplace(name, process ? *process : next_++ % places.processes);
}

int PlaceMap::process_of(std::string_view placement, int home) const {
  if (placement.empty()) return home;
  return processes_.find(placement)->second;
}

}  // namespace hiaton::partition
