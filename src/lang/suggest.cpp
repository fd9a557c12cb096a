#include "lang/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <vector>

#include "lang/library.h"

namespace hiaton::lang {
namespace {

constexpr std::size_t kLongestCompared = 60;

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool differ_in_case_alone(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, lower, lower);
}

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
  const std::size_t distance = differ_in_case_alone(unknown_, known) ? 0 : edit_distance(unknown_, known);
  if (distance >= best_distance_) return;
  best_ = known;
  best_distance_ = distance;
}

std::string Suggestion::text() const {
  return best_.empty() ? "" : fmt::format("; did you mean '{}'?", best_);
}

namespace {

struct Word {
  std::string_view other, hint;
};

std::string hint_for(std::string_view word, std::span<const Word> words) {
  const auto known = std::ranges::find(words, word, &Word::other);
  return known == words.end() ? "" : fmt::format("; {}", known->hint);
}

/// Whether the file declares a function, a data type or a variant of this name.
bool declares(const LibraryFile& file, std::string_view name) {
  for (const char behind : {'(', '['}) {
    if (file.text.find(fmt::format("\nfn {}{}", name, behind)) != std::string_view::npos) return true;
  }
  std::size_t data = file.text.find("\ndata ");
  for (; data != std::string_view::npos; data = file.text.find("\ndata ", data + 1)) {
    const std::string line(file.text.substr(data + 1, file.text.find('\n', data + 1) - data - 1));
    for (const char behind : {' ', '['}) {
      if (line.starts_with(fmt::format("data {}{}", name, behind))) return true;
    }
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
      {"tensor", "a tensor of three floats is f64[3], one of any size f64[_]"},
      {"Tensor", "a tensor of three floats is f64[3], one of any size f64[_]"},
      {"array", "a tensor of three floats is f64[3], one of any size f64[_]"},
      {"case", "'match' tells values apart: match x 1 -> 2 _ -> 3"},
      {"switch", "'match' tells values apart: match x 1 -> 2 _ -> 3"},
      {"lambda", "a function without a name is written fn(x) -> x + 1"},
      {"var", "a value gets a name by 'let'"},
      {"val", "a value gets a name by 'let'"},
      {"auto", "a value gets a name by 'let'"},
      {"mut", "nothing is assigned: a loop has variables that get next values"},
      {"rec", "a function that calls itself is written let fn f(n: i64) -> i64 = ..."},
      {"where", "values that an expression needs get names before it, by 'let'"},
      {"assert", "a condition that must hold is written let _ = assume(condition, id=1)"},
      {"pi", "const pi: f64 = 3.141592653589793 declares it"},
      {"np", "operations have no prefix: tanh(x)"},
      {"math", "operations have no prefix: tanh(x)"},
      {"torch", "operations have no prefix: tanh(x)"},
      {"hia", "operations have no prefix: tanh(x)"},
      {"F", "operations have no prefix: tanh(x)"},
      {"jnp", "operations have no prefix: tanh(x)"},
      {"tf", "operations have no prefix: tanh(x)"},
      {"as", "a cast is written as the type: f64(x)"},
      {"Vec", "a list of integers is List[i64], a tensor of three floats f64[3]"},
  };
  return hint_for(word, kWords);
}

std::string known_elsewhere(std::string_view name) {
  for (const LibraryFile& file : library()) {
    if (declares(file, name)) return fmt::format("; import \"{}\" brings one", file.name);
  }
  constexpr std::string_view kElements = "a tensor is written as its elements: [1.0, 2.0]";
  constexpr std::string_view kShape = "reshape(x, shape=[2, -1]) gives a tensor another shape";
  constexpr std::string_view kFirst = "a list is taken apart by match xs [] -> 0 [x, ..rest] -> x";
  constexpr std::string_view kPair = "a tuple is taken apart by let (a, b) = pair";
  static constexpr Word kWords[] = {
      {"len",
       "length(xs) of \"std/list\" counts the elements of a list, length(s) those of a string; size(x) is "
       "that of a tensor"},
      {"println", "print(x) prints a value and gives it on"},
      {"printf", "print(x) prints a value and gives it on"},
      {"assert", "assume(condition, id=1) ends a run where the condition does not hold"},
      {"mod", "the remainder is a % b"},
      {"int", "a cast is written as the type: i64(x)"},
      {"float", "a cast is written as the type: f64(x)"},
      {"string", "str(x) is the text of a value"},
      {"to_string", "str(x) is the text of a value"},
      {"cat", "tensors are joined by concat(a, b, axis=0)"},
      {"arange", "range(n) gives the integers below n"},
      {"shape", "size(x, axis=0) is the size of a tensor along an axis"},
      {"reduce", "fold(f, initial, xs) goes along a list or the rows of a tensor"},
      {"foldl", "fold(f, initial, xs) goes along a list or the rows of a tensor"},
      {"tensor", kElements},
      {"array", kElements},
      {"rand", "uniform(seed, shape=[2, 3]) gives random numbers"},
      {"random", "uniform(seed, shape=[2, 3]) gives random numbers"},
      {"randn", "normal(seed, shape=[2, 3]) gives random numbers"},
      {"view", kShape},
      {"squeeze", kShape},
      {"unsqueeze", kShape},
      {"permute", "transpose(x, permutation=[1, 0]) gives the axes in another order"},
      {"mm", "the product of two matrices is a @ b"},
      {"square", "a square is x * x"},
      {"detach", "stop_gradient(x) lets no gradient pass"},
      {"backward", "the gradient of a function is that of a call: grad(f)(x)"},
      {"item", "a tensor of one element gives it by an index: x[0]"},
      {"cond", "a choice is written if c then a else b"},
      {"while_loop", "a loop is written with sum = 0 while sum < n do sum + 2"},
      {"head", kFirst},
      {"hd", kFirst},
      {"first", kFirst},
      {"tail", kFirst},
      {"tl", kFirst},
      {"fst", kPair},
      {"snd", kPair},
  };
  return hint_for(name, kWords);
}

std::string without_dot(std::string_view name) {
  static constexpr Word kWords[] = {
      {"shape", "size(x, axis=0) is the size of a tensor along an axis"},
      {"size", "size(x, axis=0) is the size of a tensor along an axis"},
      {"T", "transpose(x) is the matrix the other way round"},
      {"length", "length(xs) of \"std/list\" counts the elements of a list"},
      {"len", "length(xs) of \"std/list\" counts the elements of a list"},
      {"append", "append(xs, ys) of \"std/list\" joins two lists"},
      {"item", "a tensor of one element gives it by an index: x[0]"},
  };
  return hint_for(name, kWords);
}

std::string declared_elsewhere(std::string_view word) {
  if (word == "def" || word == "func" || word == "function" || word == "fun")
    return "; a function begins with 'fn'";
  if (word == "import" || word == "from" || word == "include" || word == "use")
    return "; the name of a file stands in quotes: import \"std/list\"";
  if (word == "struct" || word == "class" || word == "record" || word == "enum")
    return "; a data type is written data Point = Point(x: f64, y: f64), or data Side = Left | Right";
  return "";
}

}  // namespace hiaton::lang
