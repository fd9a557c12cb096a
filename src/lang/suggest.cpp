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

namespace {

/// Whether the file declares a function or a variant of this name.
bool declares(const LibraryFile& file, std::string_view name) {
  for (const char behind : {'(', '['}) {
    if (file.text.find(fmt::format("\nfn {}{}", name, behind)) != std::string_view::npos) return true;
  }
  std::size_t data = file.text.find("\ndata ");
  for (; data != std::string_view::npos; data = file.text.find("\ndata ", data + 1)) {
    const std::string line(file.text.substr(data + 1, file.text.find('\n', data + 1) - data - 1));
    for (const std::string_view behind : {" ", "(", ""}) {
      for (const std::string_view before : {"= ", "| "}) {
        const std::string variant = fmt::format("{}{}{}", before, name, behind);
        const bool has_it =
            behind.empty() ? line.ends_with(variant) : line.find(variant) != std::string::npos;
        if (has_it) return true;
      }
    }
  }
  return false;
}

}  // namespace

std::string written_here(std::string_view word) {
  struct Word {
    std::string_view other, hint;
  };
  static constexpr Word kWords[] = {
      {"elif", "'else if' begins another branch"},
      {"elsif", "'else if' begins another branch"},
      {"elseif", "'else if' begins another branch"},
      {"True", "it is written true"},
      {"False", "it is written false"},
      {"null", "std/option has values that may be missing"},
      {"nil", "std/option has values that may be missing; an empty list is []"},
      {"int", "integers are i64 or i32"},
      {"Int", "integers are i64 or i32"},
      {"long", "integers are i64 or i32"},
      {"float", "floats are f64 or f32"},
      {"Float", "floats are f64 or f32"},
      {"double", "floats are f64 or f32"},
      {"string", "strings are str"},
      {"String", "strings are str"},
      {"boolean", "truth values are bool"},
      {"Bool", "truth values are bool"},
      {"list", "a list of integers is List[i64]"},
      {"case", "'match' tells values apart: match x 1 -> 2 _ -> 3"},
      {"switch", "'match' tells values apart: match x 1 -> 2 _ -> 3"},
      {"lambda", "a function without a name is written fn(x) -> x + 1"},
  };
  for (const Word& known : kWords) {
    if (known.other == word) return fmt::format("; {}", known.hint);
  }
  return "";
}

std::string known_elsewhere(std::string_view name) {
  for (const LibraryFile& file : library()) {
    if (declares(file, name)) return fmt::format("; import \"{}\" brings one", file.name);
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
