// Names and program text in saved graphs.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace hiaton::graph {

/// JSON holds only UTF-8; other bytes are kept as {"hex": ...}.
nlohmann::ordered_json text_json(std::string_view text);

}  // namespace hiaton::graph
