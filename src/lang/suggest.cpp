#include "lang/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "lang/library.h"

namespace hiaton::lang {
namespace {

constexpr std::size_t kLongestCompared = 60;

/// Insertions, deletions, replacements and swaps of neighbours that turn one into the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        now[j] = std::min(now[j], before_last[j - 2] + 1);
      }
    }
    std::swap(before_last, last);
    std::swap(last, now);
  }
  return last[b.size()];
}

}  // namespace

Suggestion::Suggestion(std::string_view unknown)
    : unknown_(unknown), best_distance_(std::min<std::size_t>(2, (unknown.size() + 1) / 3) + 1) {}

void Suggestion::offer(std::string_view known) {
  const std::size_t longer = std::max(known.size(), unknown_.size());
  const std::size_t shorter = std::min(known.size(), unknown_.size());
  if (longer > kLongestCompared || longer - shorter >= best_distance_) return;
  const std::size_t distance = edit_distance(unknown_, known);
  if (distance >= best_distance_) return;
  best_ = known;
  best_distance_ = distance;
}

std::string Suggestion::text() const {
  return best_.empty() ? "" : fmt::format("; did you mean '{}'?", best_);
}

std::string known_elsewhere(std::string_view name) {
  for (const LibraryFile& file : library()) {
    for (const char behind : {'(', '['}) {
      if (file.text.find(fmt::format("\nfn {}{}", name, behind)) != std::string_view::npos)
        return fmt::format("; import \"{}\" brings one", file.name);
    }
  }
  if (name == "len")
    return "; length(xs) of \"std/list\" counts the elements of a list, length(s) those of a string; size(x) "
           "is that of a tensor";
  if (name == "println" || name == "printf") return "; print(x) prints a value and gives it on";
  return "";
}

std::string declared_elsewhere(std::string_view word) {
  if (word == "def" || word == "func" || word == "function" || word == "fun")
    return "; a function begins with 'fn'";
  if (word == "import" || word == "from" || word == "include" || word == "use")
    return "; the name of a file stands in quotes: import \"std/list\"";
  return "";
}

}  // namespace hiaton::lang
