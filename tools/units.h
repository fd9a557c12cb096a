// Numbers with units, as options take them.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace hiaton::cli {

/// "4096", "64K", "1.5G": K, M, G and T are powers of 1024. Throws UsageError.
uint64_t parse_bytes(const std::string& text);

/// "10", "0.5", "2s", "500ms", "3m"; seconds where no unit is given. Throws UsageError.
std::chrono::nanoseconds parse_duration(const std::string& text);

/// For people: "512 bytes", "1.5 MiB".
std::string show_bytes(uint64_t bytes);

/// For people: "12.3 ms".
std::string show_seconds(double seconds);

}  // namespace hiaton::cli
