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
  for (const graph::Function& function : graph.functions()) add(function.placement, places);
  const auto add_single = [&](std::string_view name) {
    add(name, places);
    if (name.empty() || processes_.find(name)->second.size() == 1) return;
    throw ProgramError(fmt::format("place '{}': expected one process for what is not a function, found {}",
                                   name, fmt::join(processes_.find(name)->second, "+")));
  };
  for (const graph::Parameter& parameter : graph.parameters()) add_single(parameter.placement);
  for (const graph::Node& node : graph.nodes()) add_single(node.placement);
  for (const auto& [name, processes] : places.named) {
    if (!processes_.contains(name)) {
      throw ProgramError(
          fmt::format("place '{}': expected a place of the program ({}), found none of this name", name,
                      processes_.empty() ? "it has none" : names()));
    }
    for (const int process : processes) {
      if (process < 0 || process >= places.processes)
        throw ProgramError(fmt::format("place '{}': expected a process from 0 to {}, found {}", name,
                                       places.processes - 1, process));
    }
  }
}

/// All of them, for a message.
std::string PlaceMap::names() const {
  std::string text;
  for (const auto& [name, processes] : processes_)
    text += fmt::format("{}'{}'", text.empty() ? "" : ", ", name);
  return text;
}

void PlaceMap::add(std::string_view name, const Places& places) {
  if (name.empty() || processes_.contains(name)) return;
  const auto named = places.named.find(std::string(name));
  if (named == places.named.end() && name.starts_with("host:")) {
    throw ProgramError(
        fmt::format("place '{}': expected 'process:K', or a name that --place=NAME=K gives a process, found "
                    "a host: which processes are there, only the launcher decides",
                    name));
  }
  std::vector<int> processes;
  if (named != places.named.end()) {
    processes = named->second;
  } else {
    const std::optional<int> process = numbered_process(name, places.processes);
    processes = {process ? *process : next_++ % places.processes};
  }
  processes_.emplace(name, std::move(processes));
}

int PlaceMap::process_of(std::string_view placement, int home) const {
  if (placement.empty()) return home;
  return processes_.find(placement)->second.front();
}

int PlaceMap::process_of_callee(std::string_view placement, int home, graph::CallSite site) const {
  if (placement.empty()) return home;
  const std::vector<int>& processes = processes_.find(placement)->second;
  return processes[(site.index() + static_cast<std::size_t>(home)) % processes.size()];
}

}  // namespace hiaton::partition
