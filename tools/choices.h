// What options may be: their help texts and their errors say it.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "output.h"

namespace hiaton::cli {

/// Throws UsageError where an option was given that changes nothing without `wanted`, which was not.
inline void require_effect(const CLI::Option& option, bool is_used, std::string_view wanted) {
  if (option.count() > 0 && !is_used)
    throw UsageError(fmt::format("{} changes nothing here: it goes with {}", option.get_name(), wanted));
}

inline bool has_leading_zero(std::string_view text) {
  return text.size() > 1 && text[0] == '0';
}

/// The number that all of a text is, in decimal digits. Conversions of CLI11 take 010 for eight, and numbers
/// that do not fit for the largest one.
template <class Number>
std::optional<Number> read_number(std::string_view text) {
  if (std::is_integral_v<Number> && has_leading_zero(text)) return std::nullopt;
  Number number{};
  const char* end = text.data() + text.size();
  const auto [read, code] = std::from_chars(text.data(), end, number);
  return code == std::errc() && read == end ? std::optional(number) : std::nullopt;
}

/// A number from `least` to `most`: "N:1..1024".
template <class Number>
CLI::Validator in_range(Number least, Number most) {
  const auto error_of = [=](const std::string& found) -> std::string {
    const std::optional<Number> number = read_number<Number>(found);
    if (number && *number >= least && *number <= most) return "";
    return fmt::format("expected a number from {} to {}, found '{}'", least, most, found);
  };
  return {error_of, fmt::format("{}..{}", least, most)};
}

/// Any number that the type can hold.
template <class Number>
CLI::Validator any_number() {
  const auto error_of = [](const std::string& found) -> std::string {
    if (read_number<Number>(found)) return "";
    if constexpr (std::is_integral_v<Number>) {
      using Limits = std::numeric_limits<Number>;
      if (found.find_first_not_of("-0123456789") != std::string::npos)
        return fmt::format("expected a whole number, found '{}'", found);
      if (has_leading_zero(found))
        return fmt::format("expected a number without leading zeros, found '{}'", found);
      return fmt::format("expected a number from {} to {}, found '{}'", Limits::min(), Limits::max(), found);
    } else {
      return fmt::format("expected a number, found '{}'", found);
    }
  };
  return {error_of, ""};
}

/// A number above 0.
inline CLI::Validator positive() {
  const auto error_of = [](const std::string& found) -> std::string {
    if (found == "0" || found.starts_with('-'))
      return fmt::format("expected a number above 0, found '{}'", found);
    std::string number = found;
    return any_number<uint64_t>()(number);
  };
  return {error_of, ""};
}

/// One of some words: "MODE:{wrap,trap}".
inline CLI::Validator one_of(std::vector<std::string> words) {
  const auto error_of = [words](const std::string& found) -> std::string {
    if (std::ranges::find(words, found) != words.end()) return "";
    return fmt::format("expected one of {}, found '{}'", fmt::join(words, ", "), found);
  };
  return {error_of, fmt::format("{{{}}}", fmt::join(words, ","))};
}

/// Turns the words on and off to what bool options take: "MODE:{on,off}".
inline CLI::Validator on_or_off() {
  const auto turn = [](std::string& word) -> std::string {
    if (word != "on" && word != "off") return fmt::format("expected on or off, found '{}'", word);
    word = word == "on" ? "true" : "false";
    return "";
  };
  return {turn, "{on,off}"};
}

}  // namespace hiaton::cli
