#include "partition/places.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>
#include <set>

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

PlaceMap::PlaceMap(const graph::Graph& graph, const Places& places)
    : graph_(graph), put_(graph.parameters().size()) {
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
    if (processes_.empty()) {
      throw ProgramError(
          fmt::format("place '{}': expected a program that places something, as by on \"{}\", found one that "
                      "has no places",
                      name, name));
    }
    if (!processes_.contains(name)) {
      throw ProgramError(fmt::format(
          "place '{}': expected a place of the program ({}), found none of this name", name, names()));
    }
    if (std::set<int>(processes.begin(), processes.end()).size() < processes.size())
      throw ProgramError(
          fmt::format("place '{}': expected each process once, found {}", name, fmt::join(processes, "+")));
    for (const int process : processes) {
      if (process < 0 || process >= places.processes)
        throw ProgramError(fmt::format("place '{}': expected a process from 0 to {}, found {}", name,
                                       places.processes - 1, process));
    }
  }
  if (places.most_bytes) put_parameters(places);
}

namespace {

uint64_t bytes_of(const graph::Parameter& parameter) {
  uint64_t bytes = size_of(parameter.type.dtype);
  for (const Dim& dim : parameter.type.shape) bytes *= static_cast<uint64_t>(dim.size);
  return bytes;
}

}  // namespace

/// The largest go first, each to the process that has the most room then.
void PlaceMap::put_parameters(const Places& places) {
  const std::vector<graph::Parameter>& parameters = graph_.parameters();
  std::vector<uint64_t> held(static_cast<std::size_t>(places.processes), 0);
  uint64_t everywhere = 0;
  std::vector<std::size_t> left;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].placement.empty()) {
      everywhere += bytes_of(parameters[i]);
      left.push_back(i);
    } else {
      held[static_cast<std::size_t>(process_of(parameters[i].placement, 0))] += bytes_of(parameters[i]);
    }
  }
  std::ranges::stable_sort(left, std::greater(), [&](std::size_t i) { return bytes_of(parameters[i]); });
  for (const std::size_t i : left) {
    if (everywhere + std::ranges::max(held) <= *places.most_bytes) return;
    const auto least = std::ranges::min_element(held);
    *least += bytes_of(parameters[i]);
    everywhere -= bytes_of(parameters[i]);
    put_[i] = static_cast<int>(least - held.begin());
  }
  if (everywhere + std::ranges::max(held) <= *places.most_bytes) return;
  throw ProgramError(fmt::format(
      "place 'auto': expected learned parameters that {} processes of {} bytes each hold, found {} bytes for "
      "process {}",
      places.processes, *places.most_bytes, everywhere + std::ranges::max(held),
      std::ranges::max_element(held) - held.begin()));
}

std::vector<NamedPlace> PlaceMap::named() const {
  std::vector<NamedPlace> all;
  for (const auto& [name, processes] : processes_) {
    if (!name.starts_with(kProcess))
      all.push_back(
          {fmt::format("place '{}'", name),
           fmt::format("process{} {}", processes.size() > 1 ? "es" : "", fmt::join(processes, ", "))});
  }
  for (std::size_t i = 0; i < put_.size(); ++i) {
    const graph::Parameter& parameter = graph_.parameters()[i];
    if (put_[i])
      all.push_back({fmt::format("param '{}' of {} bytes", parameter.name, bytes_of(parameter)),
                     fmt::format("process {}", *put_[i])});
  }
  return all;
}

std::vector<NamedPlace> named_places(const graph::Graph& graph, const Places& places) {
  return PlaceMap(graph, places).named();
}

std::vector<std::optional<int>> placed_parameters(const graph::Graph& graph, const Places& places) {
  return PlaceMap(graph, places).put();
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

std::optional<int> PlaceMap::process_of(graph::ParameterId parameter, int home) const {
  const std::string& placement = graph_.parameters()[parameter.index()].placement;
  return placement.empty() ? put_[parameter.index()] : process_of(placement, home);
}

std::span<const int> PlaceMap::copies_of(std::string_view placement) const {
  if (placement.empty()) return {};
  const std::vector<int>& processes = processes_.find(placement)->second;
  return processes.size() > 1 ? std::span<const int>(processes) : std::span<const int>();
}

}  // namespace hiaton::partition
