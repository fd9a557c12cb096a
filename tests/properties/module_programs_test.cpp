// Random programs of several files, with generic data types, guards and patterns: results are those of the
// same functions in C++, in every executor.
//
// HIATON_PROGRAMS=100000 HIATON_SEED=7 test_properties --gtest_filter=*RandomModulePrograms.*
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "engine/all_ways.h"
#include "properties/random_choices.h"
#include "sized.h"

namespace hiaton::properties::modules {
namespace {

constexpr uint64_t kModulePrograms = sized_programs(150, 15);

using Known = std::vector<int64_t>;  ///< the values of the names around, in order
using Meaning = std::function<int64_t(const Known&)>;

struct Expression {
  std::string text;
  Meaning value;
};

int64_t wrapped(uint64_t number) {
  return static_cast<int64_t>(number);
}
int64_t sum(int64_t a, int64_t b) {
  return wrapped(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t times(int64_t a, int64_t b) {
  return wrapped(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

Known with(Known known, std::initializer_list<int64_t> next) {
  known.insert(known.end(), next);
  return known;
}

constexpr const char* kPair =
    "data Pair[A, B] = Pair(first: A, second: B)\n"
    "fn swap[A, B](p: Pair[A, B]) -> Pair[B, A] = (let Pair(a, b) = p in Pair(b, a))\n";

constexpr const char* kOption =
    "data Option[T] = None | Some(value: T)\n"
    "fn value_or[T](o: Option[T], other: T) -> T = match o None -> other Some(value) -> value\n";

/// Fewer values than were inserted, where some are equal.
constexpr const char* kTree =
    "import \"../pair.hia\"\n"
    "data Tree[T] = Tip | Fork(left: Tree[T], value: T, right: Tree[T])\n"
    "fn insert[T](t: Tree[T], x: T) -> Tree[T] =\n"
    "  match t\n"
    "    Tip -> Fork(Tip, x, Tip)\n"
    "    Fork(l, v, r) if x < v -> Fork(insert(l, x), v, r)\n"
    "    Fork(l, v, r) if v < x -> Fork(l, v, insert(r, x))\n"
    "    whole -> whole\n"
    "fn count_and_least[T](t: Tree[T], least: T) -> Pair[i64, T] =\n"
    "  match t\n"
    "    Tip -> Pair(0, least)\n"
    "    Fork(l, v, r) ->\n"
    "      let (Pair(a, first), Pair(b, _)) = (count_and_least(l, v), count_and_least(r, v))\n"
    "      Pair(a + b + 1, first)\n";

/// Functions of two numbers, each in a file of its own, which may call those that were written before.
class ModuleWriter {
 public:
  ModuleWriter(uint64_t seed, const std::filesystem::path& folder) : random_(seed), folder_(folder) {}

  /// The file that holds `main`.
  std::string write() {
    std::filesystem::create_directories(folder_ / "shapes");
    put("pair.hia", kPair);
    put("option.hia", kOption);
    put("shapes/tree.hia", kTree);
    const int count = random_.between(1, 4);
    for (int i = 0; i < count; ++i) write_function(i);
    const std::string last = std::to_string(count - 1);
    return put("main.hia", fmt::format("import \"part{0}.hia\"\nfn main(x: i64, y: i64) -> (i64, i64) =\n"
                                       "  (f{0}(x, y), f{0}(y - x, 3))\n",
                                       last));
  }

  const std::string& text() const { return text_; }
  int64_t call_last(int64_t x, int64_t y) const { return functions_.back()({x, y}); }

 private:
  std::string put(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    text_ += fmt::format("# {}\n{}", name, text);
    return (folder_ / name).string();
  }

  void write_function(int number) {
    names_ = {"x", "y"};
    used_.clear();
    const Expression body = expression(3);
    std::vector<std::string> imports(used_.begin(), used_.end());
    random_.shuffle(imports);
    std::string text;
    for (const std::string& file : imports) text += fmt::format("import \"{}\"\n", file);
    put(fmt::format("part{}.hia", number),
        fmt::format("{}fn f{}(x: i64, y: i64) -> i64 = {}\n", text, number, body.text));
    functions_.push_back(body.value);
  }

  Expression expression(int depth) {
    if (depth == 0 || random_.percent(10)) return leaf();
    switch (random_.below(functions_.empty() ? 8 : 10)) {
      case 0:
        return both(depth, "({} + {})", sum);
      case 1:
        return both(depth, "({} * {} + 1)", [](int64_t a, int64_t b) { return sum(times(a, b), 1); });
      case 2:
        return numbers(depth);
      case 3:
        return pairs(depth);
      case 4:
        used_.insert("pair.hia");
        return both(depth, "swap(Pair({}, {})).first", [](int64_t, int64_t b) { return b; });
      case 5:
        return taken_apart(depth);
      case 6:
        used_.insert("shapes/tree.hia");
        used_.insert("pair.hia");
        return both(
            depth,
            "(match count_and_least(insert(insert(Tip, {}), {}), 0) Pair(n, least) -> n * 100 + least)",
            [](int64_t a, int64_t b) { return sum(a == b ? 100 : 200, std::min(a, b)); });
      case 7:
        used_.insert("option.hia");
        return both(depth, "(let (a, b) = ({}, {}) in value_or(if a < b then None else Some(a - b), b))",
                    [](int64_t a, int64_t b) { return a < b ? b : sum(a, times(b, -1)); });
      default:
        return call(depth);
    }
  }

  Expression leaf() {
    if (random_.percent(30)) {
      const int64_t constant = random_.between(-9, 9);
      return {fmt::format("({})", constant), [=](const Known&) { return constant; }};
    }
    const std::size_t name = random_.below(names_.size());
    return {names_[name], [=](const Known& known) { return known[name]; }};
  }

  Expression both(int depth, const char* form, int64_t (*value)(int64_t, int64_t)) {
    const Expression a = expression(depth - 1);
    const Expression b = expression(depth - 1);
    return {fmt::format(fmt::runtime(form), a.text, b.text),
            [=](const Known& known) { return value(a.value(known), b.value(known)); }};
  }

  /// An expression in which these names stand for further values.
  Expression inside(const std::vector<std::string>& names, int depth) {
    names_.insert(names_.end(), names.begin(), names.end());
    Expression made = expression(depth);
    names_.resize(names_.size() - names.size());
    return made;
  }

  std::string new_name() { return fmt::format("v{}", made_++); }

  /// Guards before and behind literals.
  Expression numbers(int depth) {
    const std::string name = new_name();
    const int bound = random_.between(-2, 2);
    const Expression of = expression(depth - 1);
    const Expression above = inside({name}, depth - 1);
    const Expression at_zero = expression(depth - 1);
    const Expression other = inside({name}, depth - 1);
    return {fmt::format("(match {0} % 5 {1} if {1} > {2} -> {3} 0 -> {4} {1} -> {5})", of.text, name, bound,
                        above.text, at_zero.text, other.text),
            [=](const Known& known) {
              const int64_t tested = of.value(known) % 5;
              if (tested > bound) return above.value(with(known, {tested}));
              return tested == 0 ? at_zero.value(known) : other.value(with(known, {tested}));
            }};
  }

  Expression pairs(int depth) {
    used_.insert("pair.hia");
    const std::string p = new_name();
    const std::string q = new_name();
    const Expression a = expression(depth - 1);
    const Expression b = expression(depth - 1);
    const Expression less = inside({p, q}, depth - 1);
    const Expression seven = inside({q}, depth - 1);
    const Expression rest = inside({p}, depth - 1);
    return {fmt::format("(match Pair({0}, ({1}, true)) Pair({2}, ({3}, true)) if {2} < {3} -> {4} "
                        "Pair(7, ({3}, _)) -> {5} Pair({2}, _) -> {6})",
                        a.text, b.text, p, q, less.text, seven.text, rest.text),
            [=](const Known& known) {
              const int64_t first = a.value(known);
              const int64_t second = b.value(known);
              if (first < second) return less.value(with(known, {first, second}));
              return first == 7 ? seven.value(with(known, {second})) : rest.value(with(known, {first}));
            }};
  }

  Expression taken_apart(int depth) {
    used_.insert("pair.hia");
    const std::string p = new_name();
    const std::string q = new_name();
    const Expression a = expression(depth - 1);
    const Expression b = expression(depth - 1);
    const Expression body = inside({p, q}, depth - 1);
    return {fmt::format("(let (Pair({2}, _), {3}) = (Pair({0}, 0.5), {1}) in {4})", a.text, b.text, p, q,
                        body.text),
            [=](const Known& known) {
              return body.value(with(known, {a.value(known), b.value(known)}));
            }};
  }

  Expression call(int depth) {
    const std::size_t number = random_.below(functions_.size());
    used_.insert(fmt::format("part{}.hia", number));
    const Meaning called = functions_[number];
    const Expression a = expression(depth - 1);
    const Expression b = expression(depth - 1);
    return {fmt::format("f{}({}, {})", number, a.text, b.text), [=](const Known& known) {
              return called({a.value(known), b.value(known)});
            }};
  }

  Random random_;
  std::filesystem::path folder_;
  std::string text_;  ///< the text of all files
  std::vector<Meaning> functions_;
  std::vector<std::string> names_;
  std::set<std::string> used_;  ///< the files that the function that is being written imports
  int made_ = 0;
};

TEST(RandomModulePrograms, GiveWhatTheirFunctionsGive) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "random_module_programs";
  const uint64_t first = from_environment("HIATON_SEED", 1);
  const uint64_t count = from_environment("HIATON_PROGRAMS", kModulePrograms);
  for (uint64_t seed = first; seed < first + count; ++seed) {
    std::filesystem::remove_all(folder);
    ModuleWriter writer(seed, folder);
    const std::string file = writer.write();
    SCOPED_TRACE("HIATON_SEED=" + std::to_string(seed) + " HIATON_PROGRAMS=1\n" + writer.text());
    CompileOptions how;
    if (seed % 8 == 0) how.simplify = passes::SimplifyOptions::none();
    const hiaton::Program program = hiaton::Program::from_file(file, how);
    const int64_t x = static_cast<int64_t>(seed % 23) - 11;
    const int64_t y = static_cast<int64_t>(seed % 7) - 3;
    const std::vector<Value> expected = {Value(writer.call_last(x, y)),
                                         Value(writer.call_last(sum(y, times(x, -1)), 3))};
    for (RunOptions way : all_ways()) {
      RunStats stats;
      way.stats = &stats;
      way.checks_counts = true;
      ASSERT_EQ(program.run({Value(x), Value(y)}, way).values, expected) << way.workers << " workers";
      EXPECT_EQ(stats.values_live_at_end, 0u);
      EXPECT_EQ(stats.frames_live_at_end, 0u);
    }
    if (::testing::Test::HasFailure()) break;
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace hiaton::properties::modules
