// What the writer and the reader of saved graphs share.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "hiaton/value.h"

namespace hiaton::graph {

inline constexpr std::string_view kFormatName = "hiaton graph";
inline constexpr int kFormatVersion = 1;

/// The shortest text that gives the same bits: "3", "0.1", "-inf", "nan"; "0x7ff0000000000001" for a NaN that
/// is not the usual one.
std::string save_value(const Value& value);
/// Throws ProgramError that says what was expected and found.
Value load_value(DType dtype, std::string_view text);

/// JSON holds only UTF-8; other bytes are kept as {"hex": ...}.
nlohmann::ordered_json text_json(std::string_view text);

}  // namespace hiaton::graph
