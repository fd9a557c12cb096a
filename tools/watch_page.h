// The page that replays a run. Its parts stand in tools/page; the build puts them into the program.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace hiaton::cli {

/// The parts, from page_files.cpp, which the build makes.
namespace page {
extern const std::string_view skeleton;
extern const std::string_view style;
extern const std::string_view script;
}  // namespace page

/// One page that needs nothing else: the drawn graph with the recorded run.
std::string watch_page(const std::string& title, const std::string& svg, const nlohmann::json& run);

}  // namespace hiaton::cli
