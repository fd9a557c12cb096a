#include "units.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "output.h"

namespace hiaton::cli {
namespace {

using Units = std::vector<std::pair<std::string_view, double>>;

/// A number that is not negative, times its unit; negative where the text is something else.
double parse_with_unit(std::string_view text, const Units& units) {
  double number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || !std::isfinite(number) || std::signbit(number)) return -1;
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  for (const auto& [name, factor] : units) {
    if (unit == name) return number * factor;
  }
  return -1;
}

constexpr double kKibi = 1024;
constexpr double kMebi = kKibi * 1024;
constexpr double kGibi = kMebi * 1024;
constexpr double kTebi = kGibi * 1024;

}  // namespace

uint64_t parse_bytes(const std::string& text) {
  const double bytes =
      parse_with_unit(text, {{"", 1}, {"K", kKibi}, {"M", kMebi}, {"G", kGibi}, {"T", kTebi}});
  if (bytes < 0 || bytes > 0x1p63) {
    throw UsageError(
        fmt::format("expected a number of bytes such as 4096, 64K, 100M or 2G, found '{}'", text));
  }
  return static_cast<uint64_t>(bytes);
}

std::chrono::nanoseconds parse_duration(const std::string& text) {
  constexpr double kLongest = 9e18;
  const double nanoseconds =
      parse_with_unit(text, {{"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"m", 60e9}, {"h", 3600e9}});
  if (nanoseconds < 0 || nanoseconds > kLongest) {
    throw UsageError(
        fmt::format("expected a time such as 10 (seconds), 0.5, 500ms, 2s or 3m, found '{}'", text));
  }
  return std::chrono::nanoseconds(static_cast<int64_t>(nanoseconds));
}

std::string show_bytes(uint64_t bytes) {
  const auto number = static_cast<double>(bytes);
  if (number < kKibi) return fmt::format("{} bytes", bytes);
  if (number < kMebi) return fmt::format("{:.1f} KiB", number / kKibi);
  if (number < kGibi) return fmt::format("{:.1f} MiB", number / kMebi);
  return fmt::format("{:.1f} GiB", number / kGibi);
}

std::string show_seconds(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.1f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.1f} ms", seconds * 1e3);
  return fmt::format("{:.3f} s", seconds);
}

}  // namespace hiaton::cli
