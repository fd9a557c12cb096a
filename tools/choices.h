// What options may be: their help texts and their errors say it.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace hiaton::cli {

/// A number from `least` to `most`: "N:1..1024".
template <class Number>
CLI::Validator in_range(Number least, Number most) {
  const auto error_of = [=](const std::string& found) -> std::string {
    Number number{};
    if (CLI::detail::lexical_cast(found, number) && number >= least && number <= most) return "";
    return fmt::format("expected a number from {} to {}, found '{}'", least, most, found);
  };
  return {error_of, fmt::format("{}..{}", least, most)};
}

/// A number above 0.
inline CLI::Validator positive() {
  const auto error_of = [](const std::string& found) -> std::string {
    uint64_t number = 0;  // which -1 would be converted to as well
    if (found[0] != '-' && CLI::detail::lexical_cast(found, number) && number > 0) return "";
    return fmt::format("expected a number above 0, found '{}'", found);
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
