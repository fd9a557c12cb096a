// Plans and schedules as they are: the code of some programs, line by line, and what frames take. After a
// wanted change run this test with HIATON_UPDATE_GOLDEN=1 and look at the difference.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

#include "exec/direct/compile/direct_passes.h"
#include "exec/direct/compile/schedule.h"
#include "exec/direct/direct_plan.h"
#include "exec/programs.h"
#include "tests_dir.h"

namespace hiaton::exec::direct::testing {
using namespace exec::testing;

namespace {

const std::filesystem::path kTests = tests_dir();

std::shared_ptr<const Plan> plan_of(const graph::Graph& graph, const PlanOptions& options) {
  std::string reason;
  auto plan = compile(graph, options, reason);
  EXPECT_NE(plan, nullptr) << reason;
  return plan;
}

constexpr std::string_view kFibText =
    "fn fib(n: i64) -> i64 = if n <= 1 then 1 else fib(n - 1) + fib(n - 2)\n"
    "fn main(n: i64) -> i64 = fib(n)\n";
constexpr std::string_view kSumText =
    "fn total(n: i64) -> i64 = if n == 0 then 0 else n + total(n - 1)\n"
    "fn main(n: i64) -> i64 = total(n)\n";

struct Golden {
  std::string name;
  std::string_view text;
  PlanOptions options{.forking = true};

  friend std::ostream& operator<<(std::ostream& out, const Golden& golden) { return out << golden.name; }
};

std::vector<Golden> golden_plans() {
  return {
      {"fact",
       "fn fact(n: i64) -> i64 = if n == 1 then n else n * fact(n - 1)\n"
       "fn main(n: i64) -> i64 = fact(n) + 5\n",
       {}},
      {"fib", kFibText},
      {"loop",
       "fn main(n: i64) -> i64 = with acc = 0 for i in 0..n do if i % 2 == 0 then acc + i else acc\n",
       {}},
      {"window",
       "fn main(n: i64) -> i64 = with acc = 0 for i in 0..n do acc + f(i)\n"
       "fn f(n: i64) -> i64 = n * n\n",
       {.forking = true, .parallel_iterations = 2}},
      {"branches",
       "fn count(low: i64, high: i64) -> i64 =\n"
       "  let middle = (low + high) / 2\n"
       "  let left = if low < middle then count(low, middle) else 0\n"
       "  let right = if middle + 1 < high then count(middle + 1, high) else 0\n"
       "  left + right + 1\n"
       "fn main(n: i64) -> i64 = count(0, n)\n"},
      {"task",
       "fn main(n: i64) -> i64 = with acc = 0 for i in 0..n do if i % 2 == 0 then acc + f(i) else acc\n"
       "fn f(n: i64) -> i64 = n * n\n",
       {.forking = true, .parallel_iterations = 2}},
      {"tensors",
       "fn fib(n: i64, x: f32[2]) -> f32[2] = if n <= 1 then x else fib(n - 1, x) + fib(n - 2, x)\n"
       "fn main(n: i64) -> f32 = sum(fib(n, [1, 2]))\n"},
      {"tensor_loop",
       "fn main(n: i64, x: f32[_]) -> f32[_] = with h = x for _ in 0..n do tanh(h + 0.5) * h\n",
       {}},
      {"elements",
       "fn main(n: i64, s: bool[_], d: i64[_, _]) -> (bool[_], i64[_, _]) =\n"
       "  let (t, j) = with t: bool[_] = s, j: i64 = n while j < size(t) do (t with [j] = false, j + n)\n"
       "  let e = with d: i64[_, _] = d for i in 1..size(d) do d with [i, 0] = d[i - 1, j - n] + 1\n"
       "  (t, e)\n",
       {}},
      {"rows",
       "fn main(n: i64, x: i64[_]) -> i64[_] =\n"
       "  let (y, _) = with y: i64[_] = append_row(x, n), k: i64 = n while k < y[k] do\n"
       "    (append_row(drop_last_row(y), k), k + 1)\n"
       "  y\n",
       {}},
      {"append",
       "fn append(xs: List[i64], ys: List[i64]) -> List[i64] =\n"
       "  match xs\n"
       "    Nil -> ys\n"
       "    Cons(x, rest) -> Cons(x, append(rest, ys))\n"
       "fn main(x: i64) -> List[i64] = append(Cons(x, Nil), Cons(x, Nil))\n",
       {}},
      {"lent",
       "fn append(xs: List[i64], ys: List[i64]) -> List[i64] =\n"
       "  match xs\n"
       "    Nil -> ys\n"
       "    Cons(x, rest) -> Cons(x, append(rest, ys))\n"
       "fn length(xs: List[i64]) -> i64 = match xs Nil -> 0 Cons(_, rest) -> 1 + length(rest)\n"
       "fn main(x: i64) -> i64 =\n"
       "  let xs = Cons(x, Nil)\n"
       "  length(append(xs, Nil)) + length(xs)\n",
       {}},
      {"match",
       "data Shape = Point | Line(n: i64) | Box(a: i64, b: i64) | Group(a: Shape, b: Shape)\n"
       "fn size(s: Shape) -> i64 =\n"
       "  match s\n"
       "    Point -> 1\n"
       "    Line(n) -> n\n"
       "    Box(a, b) -> a * b\n"
       "    Group(a, b) -> size(a) + size(b)\n"
       "fn turned(s: Shape) -> Shape =\n"
       "  match s\n"
       "    Group(a, b) -> Group(turned(b), turned(a))\n"
       "    Box(a, b) -> Box(b, a)\n"
       "    _ -> s\n"
       "fn main(s: Shape) -> (i64, Shape) = (size(s), turned(s))\n",
       {}},
      {"safe",
       "fn safe(column: i64, distance: i64, placed: List[i64]) -> bool =\n"
       "  match placed\n"
       "    Nil -> true\n"
       "    Cons(other, rest) ->\n"
       "      other != column and abs(other - column) != distance and safe(column, distance + 1, rest)\n"
       "fn main(column: i64, placed: List[i64]) -> bool = safe(column, 1, placed)\n",
       {}},
      {"insert",
       "data Color = Red | Black\n"
       "data Tree = Leaf | Node(color: Color, left: Tree, key: i64, right: Tree)\n"
       "fn balance(left: Tree, key: i64, right: Tree) -> Tree =\n"
       "  match left\n"
       "    Node(Red, Node(Red, a, x, b), y, c) ->\n"
       "      Node(Red, Node(Black, a, x, b), y, Node(Black, c, key, right))\n"
       "    _ -> Node(Black, left, key, right)\n"
       "fn inserted(t: Tree, key: i64) -> Tree =\n"
       "  match t\n"
       "    Leaf -> Node(Red, Leaf, key, Leaf)\n"
       "    Node(Black, left, x, right) ->\n"
       "      if key < x then balance(inserted(left, key), x, right) else t\n"
       "    Node(Red, left, x, right) ->\n"
       "      if key < x then Node(Red, inserted(left, key), x, right) else t\n"
       "fn main(t: Tree, key: i64) -> Tree = inserted(t, key)\n",
       {}},
      {"unread",
       "data Two = Two(first: List[i64], second: List[i64])\n"
       "fn chosen(two: Two, n: i64) -> List[i64] =\n"
       "  match two\n"
       "    Two(first, second) -> if n > 0 then Cons(n, first) else if n == 0 then second else Nil\n"
       "fn sum(xs: List[i64]) -> i64 = match xs Nil -> 0 Cons(x, rest) -> x + sum(rest)\n"
       "fn main(xs: List[i64], n: i64) -> i64 = sum(chosen(Two(xs, xs), n)) + sum(chosen(Two(xs, Nil), 0))\n",
       {}},
      {"numbers",
       "fn days(month: i64, leap: i64) -> i64 =\n"
       "  match month\n"
       "    1 -> 31\n"
       "    2 -> 28 + leap\n"
       "    3 -> 31\n"
       "    4 -> 30\n"
       "    5 -> 31\n"
       "    6 -> 30\n"
       "    7 -> 31\n"
       "    8 -> 31\n"
       "    9 -> 30\n"
       "    10 -> 31\n"
       "    11 -> 30\n"
       "    12 -> 31\n"
       "    13 -> 365 + leap\n"
       "    _ -> 0\n"
       "fn main(month: i64) -> i64 = days(month, 0)\n",
       {}},
      {"window_with_data",
       "fn sum(xs: List[i64], k: i64) -> i64 = match xs Nil -> k Cons(x, rest) -> sum(rest, k + x)\n"
       "fn main(xs: List[i64], n: i64) -> List[i64] = with ys = Nil[i64] for i in 0..n do Cons(sum(xs, i), "
       "ys)\n",
       {.forking = true, .parallel_iterations = 2}},
  };
}

class PlanGolden : public ::testing::TestWithParam<Golden> {
 protected:
  static void expect_as_recorded(const std::string& folder, const std::string& text) {
    const std::filesystem::path recorded = kTests / "golden" / folder / (GetParam().name + ".txt");
    if (std::getenv("HIATON_UPDATE_GOLDEN") != nullptr) std::ofstream(recorded, std::ios::binary) << text;
    EXPECT_EQ(text, file_text(recorded));
  }
};

TEST_P(PlanGolden, CodeIsAsRecorded) {
  const graph::Graph graph = graph_of(GetParam().text);
  expect_as_recorded("plan", to_text(*plan_of(graph, GetParam().options), graph));
}

TEST_P(PlanGolden, ScheduleIsAsRecorded) {
  const graph::Graph graph = graph_of(GetParam().text);
  std::string reason;
  std::optional<Structure> structure = find_structure(graph, reason);
  ASSERT_TRUE(structure.has_value()) << reason;
  sink_fields(graph, *structure);
  const Schedule schedule = make_schedule(graph, *structure, measure(graph, *structure),
                                          Ownership(graph, *structure), GetParam().options);
  expect_as_recorded("schedule", to_text(schedule, graph, *structure));
}

INSTANTIATE_TEST_SUITE_P(Programs, PlanGolden, ::testing::ValuesIn(golden_plans()),
                         [](const auto& info) { return info.param.name; });

TEST(PlanForms, OfOneFunctionHaveTheSameSlots) {
  for (const ProgramCase& program : programs()) {
    const auto plan = plan_of(graph_of(program.text), {.forking = true, .parallel_iterations = 1});
    std::vector<uint16_t> slots;
    for (const Plan::Body& body : plan->bodies) {
      if (!body.forking) slots.resize(std::max<std::size_t>(slots.size(), body.function.index() + 1));
      if (!body.forking) slots[body.function.index()] = body.slots;
    }
    std::vector<bool> has_tasks(slots.size(), false);  // their results stand behind the common slots
    for (const Plan::Body& body : plan->bodies) {
      if (!body.is_whole()) has_tasks[body.function.index()] = true;
    }
    for (const Plan::Body& body : plan->bodies) {
      if (!body.is_whole()) continue;
      const uint16_t common = slots[body.function.index()];
      if (has_tasks[body.function.index()]) {
        EXPECT_GE(body.slots, common) << program.name;
      } else {
        EXPECT_EQ(body.slots, common) << program.name;
      }
    }
  }
}

TEST(PlanFrames, OfSumTakeAtMost64Bytes) {
  const graph::Graph graph = graph_of(kSumText);
  for (const bool forking : {false, true}) {
    const auto plan = plan_of(graph, {.forking = forking});
    for (const Plan::Body& body : plan->bodies) EXPECT_LE(frame_bytes(body.slots), 64u);
  }
}

/// The code of a plan by function and form, "merge (sequential)": each function by the name that `names` has
/// for it, each place by where it stands in its body.
std::map<std::string, std::string> code_of(const std::string& text,
                                           const std::map<std::string, std::string>& names) {
  std::string renamed = text;
  for (const auto& [name, other] : names)
    renamed = std::regex_replace(renamed, std::regex("\\b" + name + "\\b"), other);
  std::map<std::string, std::string> code;
  std::string body;
  int first = 0;
  std::istringstream lines(renamed);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(' ')) {
      body = line;
      first = 0;
      continue;
    }
    const int place = std::stoi(line);
    if (first == 0) first = place;
    line.erase(0, line.find_first_not_of(" 0123456789"));
    std::smatch jump;
    std::string shown;
    while (std::regex_search(line, jump, std::regex("\\bto (\\d+)"))) {
      const int target = std::stoi(jump[1]);
      shown += jump.prefix().str() +
               (target < first ? "to another body" : "to +" + std::to_string(target - first));
      line = jump.suffix();
    }
    code[body] += std::to_string(place - first) + " " + shown + line + "\n";
  }
  return code;
}

std::map<std::string, std::string> code_of_program(const std::string& file, bool forking,
                                                   const std::map<std::string, std::string>& names = {}) {
  const std::filesystem::path path = kTests / ".." / file;
  const auto source = lang::with_imports(std::make_shared<Source>(path.string(), file_text(path)));
  const graph::Graph graph = passes::lower(passes::simplify(lang::parse(source)));
  return code_of(to_text(*plan_of(graph, {.forking = forking}), graph), names);
}

TEST(PlanCode, OfGenericsFunctionsAsArgumentsAndImportsIsThatOfProgramsWrittenOut) {
  for (const bool forking : {false, true}) {
    const auto fib = code_of_program("examples/fib.hia", forking);
    EXPECT_GE(fib.size(), 2u);
    EXPECT_EQ(
        code_of_program("benchmarks/programs/abstract_fib.hia", forking, {{"split_in_two_\\w+", "fib"}}),
        fib);
    const auto mergesort = code_of_program("benchmarks/programs/mergesort.hia", forking);
    EXPECT_GE(mergesort.size(), 6u);
    EXPECT_EQ(
        code_of_program("benchmarks/programs/abstract_mergesort.hia", forking,
                        {{"merge_by_i64_le", "merge"}, {"sort_by_i64_le", "sort"}, {"deal_i64", "deal"}}),
        mergesort);
  }
}

}  // namespace
}  // namespace hiaton::exec::direct::testing
