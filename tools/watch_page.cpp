#include "watch_page.h"

#include <utility>
#include <vector>

namespace hiaton::cli {
namespace {

std::string escape(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '<') {
      escaped += "&lt;";
    } else if (c == '&') {
      escaped += "&amp;";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

/// JSON that stands in a script element: no text in it may end the element.
std::string script_json(const nlohmann::json& json) {
  std::string text;
  for (const char c : json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace

std::string watch_page(const std::string& title, const std::string& svg, const nlohmann::json& run) {
  const std::vector<std::pair<std::string_view, std::string>> parts{
      {"{{title}}", escape(title)},
      {"{{style}}", std::string(page::style)},
      {"{{graph}}", svg.substr(std::min(svg.find("<svg"), svg.size()))},  // without the head of an SVG file
      {"{{run}}", script_json(run)},
      {"{{script}}", std::string(page::script)},
  };
  std::string text;
  std::string_view rest = page::skeleton;
  for (const auto& [mark, part] : parts) {  // in the order of the skeleton
    const std::size_t at = rest.find(mark);
    text += std::string(rest.substr(0, at)) + part;
    rest.remove_prefix(at + mark.size());
  }
  return text + std::string(rest);
}

}  // namespace hiaton::cli
