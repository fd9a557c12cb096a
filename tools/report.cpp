#include "report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "ir/names.h"
#include "output.h"
#include "units.h"

namespace hiaton::cli {
namespace {

constexpr std::size_t kMaxRegionsShown = 40;

nlohmann::ordered_json scalar_to_json(const Value& value) {
  switch (value.dtype()) {
    case DType::Bool:
      return value.as<bool>();
    case DType::U8:
      return value.as<uint8_t>();
    case DType::I32:
      return value.as<int32_t>();
    case DType::I64:
      return value.as<int64_t>();
    case DType::F32:
      if (!std::isfinite(value.as<float>())) return to_string(value);
      return std::stod(to_string(value));  // 0.1f as 0.1, not as 0.10000000149011612
    case DType::F64:
      if (!std::isfinite(value.as<double>())) return to_string(value);
      return value.as<double>();
  }
  return nullptr;
}

nlohmann::ordered_json elements_to_json(const Tensor& tensor, std::size_t axis, int64_t& next) {
  if (axis == tensor.dims().size()) return scalar_to_json(element_of(tensor, next++));
  auto array = nlohmann::ordered_json::array();
  for (int64_t i = 0; i < tensor.dims()[axis]; ++i) array.push_back(elements_to_json(tensor, axis + 1, next));
  return array;
}

nlohmann::ordered_json flat_to_json(const Value& value) {
  if (value.is_scalar()) return scalar_to_json(value);
  int64_t next = 0;
  return elements_to_json(value.tensor(), 0, next);
}

/// Lists and tuples as arrays, other data values as their name, or as an array of their name and their
/// fields. Nothing where a value stands inside more than `levels` others.
std::optional<nlohmann::ordered_json> data_to_json(const Value& value, const Type& type, int levels) {
  if (levels == 0) return std::nullopt;
  if (is_string(type)) return value.string();
  auto array = nlohmann::ordered_json::array();
  const auto add_field = [&](const Data& data, std::size_t field) {
    const Type its_type = field_type(type, data.variant(), field);
    const Value its_value = data.field(field);
    if (!its_type.is_data()) {
      array.push_back(flat_to_json(its_value));
      return true;
    }
    std::optional<nlohmann::ordered_json> json = data_to_json(its_value, its_type, levels - 1);
    if (!json) return false;
    array.push_back(*std::move(json));
    return true;
  };
  Data data = value.data();
  if (ir::is_list(*type.data)) {
    for (; data.variant() == 1; data = data.field(1).data()) {
      if (!add_field(data, 0)) return std::nullopt;
    }
    return array;
  }
  const Variant& variant = type.data->variants[data.variant()];
  if (!is_tuple(type)) {
    if (variant.fields.empty()) return variant.name;
    array.push_back(variant.name);
  }
  for (std::size_t field = 0; field < variant.fields.size(); ++field) {
    if (!add_field(data, field)) return std::nullopt;
  }
  return array;
}

/// Tensors as lists of lists. A data value that is deeper than readers of JSON like stands as text.
nlohmann::ordered_json any_to_json(const Value& value, const Type& type) {
  constexpr int kMostLevels = 500;
  if (!value.is_data()) return flat_to_json(value);
  std::optional<nlohmann::ordered_json> json = data_to_json(value, type, kMostLevels);
  return json ? *std::move(json) : nlohmann::ordered_json(to_string(value, type));
}

/// "0: 3, 2: 5": which processes ran calls of others, and how many.
std::string calls_by_process(const RunStats& stats) {
  std::string text;
  for (std::size_t i = 0; i < stats.remote_calls_by_process.size(); ++i) {
    const uint64_t calls = stats.remote_calls_by_process[i];
    if (calls > 0) text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", i, calls);
  }
  return text.empty() ? "none" : text;
}

std::string show_totals(const RunStats& stats) {
  const auto line = [](const char* name, const std::string& value) {
    return fmt::format("{:<26}{:>16}\n", name, value);
  };
  return line("seconds", show_seconds(stats.seconds)) + line("calls", std::to_string(stats.calls)) +
         line("frames live at most", std::to_string(stats.frames_live_most)) +
         line("frames allocated", std::to_string(stats.frames_allocated)) +
         line("bytes held", show_bytes(stats.bytes)) + line("steals", std::to_string(stats.steals)) +
         line("atomic operations", std::to_string(stats.atomic_operations)) +
         (stats.remote_bytes == 0 ? ""
                                  : line("calls to processes", std::to_string(stats.remote_calls)) +
                                        line("  by process", calls_by_process(stats)) +
                                        line("tokens to processes", std::to_string(stats.remote_tokens)) +
                                        line("bytes to processes", show_bytes(stats.remote_bytes)));
}

std::string show_regions(const std::vector<RegionStats>& regions) {
  if (regions.empty()) return "";
  std::size_t width = std::string_view("function").size();
  for (const RegionStats& region : regions) width = std::max(width, region.function.size());
  const bool batched = std::any_of(regions.begin(), regions.end(),
                                   [](const RegionStats& region) { return region.launches > 0; });
  const auto line = [&](const auto& firings, const std::string& launches, const std::string& mean,
                        const std::string& function, const std::string& name) {
    const std::string batches = batched ? fmt::format("{:>12}{:>12}", launches, mean) : "";
    return fmt::format("{:>16}{}  {:<{}}  {}\n", firings, batches, function, width, name);
  };
  std::string text = line("firings", "launches", "mean batch", "function", "region");
  for (std::size_t i = 0; i < std::min(regions.size(), kMaxRegionsShown); ++i) {
    const RegionStats& region = regions[i];
    const bool in_batches = region.launches > 0;
    text += line(region.firings, in_batches ? std::to_string(region.launches) : "-",
                 in_batches ? fmt::format("{:.1f}", static_cast<double>(region.firings) /
                                                        static_cast<double>(region.launches))
                            : "-",
                 region.function, region.name);
  }
  if (regions.size() > kMaxRegionsShown) {
    text += fmt::format("{:>16}  and {} more; --json shows all\n", "...", regions.size() - kMaxRegionsShown);
  }
  return text;
}

}  // namespace

std::string show_results(const std::vector<Value>& values, const std::vector<Type>& types) {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i) text += to_string(values[i], types[i]) + "\n";
  return text;
}

void write_results(const std::vector<Value>& values, const std::vector<Type>& types) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    write_text(values[i], types[i], write_to_stdout);
    write_to_stdout("\n");
  }
}

std::string show_stats(const RunStats& stats) {
  return show_totals(stats) + show_regions(stats.regions);
}

nlohmann::ordered_json to_json(const std::vector<Value>& values, const std::vector<Type>& types) {
  auto array = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < values.size(); ++i) array.push_back(any_to_json(values[i], types[i]));
  return array;
}

nlohmann::ordered_json to_json(const RunStats& stats) {
  auto regions = nlohmann::ordered_json::array();
  for (const RegionStats& region : stats.regions) {
    regions.push_back({{"function", region.function},
                       {"region", region.name},
                       {"firings", region.firings},
                       {"launches", region.launches}});
  }
  return {{"seconds", stats.seconds},
          {"calls", stats.calls},
          {"frames_live_most", stats.frames_live_most},
          {"frames_live_at_end", stats.frames_live_at_end},
          {"frames_allocated", stats.frames_allocated},
          {"bytes", stats.bytes},
          {"steals", stats.steals},
          {"atomic_operations", stats.atomic_operations},
          {"remote_calls", stats.remote_calls},
          {"remote_calls_by_process", stats.remote_calls_by_process},
          {"remote_tokens", stats.remote_tokens},
          {"remote_bytes", stats.remote_bytes},
          {"regions", regions},
          {"fallback", stats.fallback}};
}

nlohmann::ordered_json to_json(const RunError& error) {
  auto chain = nlohmann::ordered_json::array();
  for (const CallRecord& call : error.chain()) {
    chain.push_back({{"function", call.function},
                     {"arguments", call.arguments},
                     {"called_at", call.call_place},
                     {"line", call.call_line},
                     {"tail_called_from", call.tail_called_from}});
  }
  return {{"fault", name_of(error.fault())},
          {"message", error.message()},
          {"chain_length", error.chain_length()},
          {"chain", chain}};
}

std::string dump(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace hiaton::cli
