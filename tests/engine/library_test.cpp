// The standard library against that of C++, on random values, in every executor.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <random>
#include <set>

#include "engine/all_ways.h"
#include "sized.h"

namespace hiaton {
namespace {

std::vector<int64_t> random_numbers(std::mt19937_64& random, std::size_t count, int64_t below) {
  std::vector<int64_t> numbers(count);
  for (int64_t& number : numbers) number = static_cast<int64_t>(random() % static_cast<uint64_t>(below));
  return numbers;
}

/// Acts on lists of several lengths of random numbers below 50.
void for_random_lists(uint64_t seed, const std::function<void(const std::vector<int64_t>&)>& act) {
  std::mt19937_64 random(seed);
  for (const std::size_t count : {0, 1, 2, 40}) act(random_numbers(random, count, 50));
}

Value list_of(const std::vector<int64_t>& numbers) {
  return parse_value(DataTypes().list_of(DType::I64), fmt::format("[{}]", fmt::join(numbers, ",")));
}

TEST(Library, SortsLists) {
  std::mt19937_64 random(1);
  for (const std::size_t count : {0, 1, 2, 3, 10, 100}) {
    const std::vector<int64_t> numbers = random_numbers(random, count, 20);
    std::vector<int64_t> sorted = numbers;
    std::sort(sorted.begin(), sorted.end());
    expect_in_all_ways("import \"std/list\"\nfn main(xs: List[i64]) -> List[i64] = sort(xs)\n",
                       {list_of(numbers)}, {list_of(sorted)});
  }
}

/// Odd numbers remove the key half as large, even ones put it, with their position as the value.
constexpr const char* kMaps =
    "import \"std/map\"\nimport \"std/list\"\n"
    "fn change(m: Map[i64, i64], step: (i64, i64)) -> Map[i64, i64] =\n"
    "  let (i, n) = step\n"
    "  if n % 2 == 1 then remove(m, n / 2) else put(m, n / 2, i)\n"
    "fn is_balanced(m: Map[i64, i64]) -> bool =\n"
    "  match m\n"
    "    MapTip -> true\n"
    "    MapNode(size, l, _, _, r) ->\n"
    "      let (a, b) = (map_size(l), map_size(r))\n"
    "      let in_balance = a + b < 2 or (a <= 3 * b and b <= 3 * a)\n"
    "      in_balance and size == a + b + 1 and is_balanced(l) and is_balanced(r)\n"
    "fn main(xs: List[i64]) -> (List[i64], List[i64], i64, bool) =\n"
    "  let m = fold(change, MapTip[i64, i64], enumerate(xs))\n"
    "  (keys(m), seconds(entries(m)), map_size(m), is_balanced(m))\n";

TEST(Library, KeepsMapsBalanced) {
  std::mt19937_64 random(2);
  for (const std::size_t count : {0, 1, 5, 30, sized(300, 60)}) {
    const std::vector<int64_t> numbers = random_numbers(random, count, 60);
    std::map<int64_t, int64_t> expected;
    for (std::size_t i = 0; i < count; ++i) {
      if (numbers[i] % 2 == 1) {
        expected.erase(numbers[i] / 2);
      } else {
        expected[numbers[i] / 2] = static_cast<int64_t>(i);
      }
    }
    std::vector<int64_t> keys;
    std::vector<int64_t> values;
    for (const auto& [key, value] : expected) {
      keys.push_back(key);
      values.push_back(value);
    }
    expect_in_all_ways(kMaps, {list_of(numbers)},
                       {list_of(keys), list_of(values), static_cast<int64_t>(expected.size()), true});
  }
}

TEST(Library, FindsTheEndsOfMaps) {
  const char* text =
      "import \"std/map\"\n"
      "fn keyed(x: i64) -> (i64, i64) = (x, x * x)\n"
      "fn main(xs: List[i64]) -> (List[i64], Option[(i64, i64)], Option[(i64, i64)]) =\n"
      "  let m = map_of(map(keyed, xs))\n"
      "  (values(m), first_entry(m), last_entry(m))\n";
  const Program program = Program::from_text("test.hia", text);
  const ir::Module& module = *program.module();
  const std::vector<Type>& types = module[*module.start()].results;
  const auto pair = [&](std::string_view entry) { return parse_value(types[1], entry); };
  expect_in_all_ways(text, {list_of({3, -2, 5, 3})},
                     {list_of({4, 9, 25}), pair("Some((-2,4))"), pair("Some((5,25))")});
  expect_in_all_ways(text, {list_of({})}, {list_of({}), pair("None"), pair("None")});
}

TEST(Library, GathersTheValuesOfKeys) {
  const char* text =
      "import \"std/map\"\nimport \"std/list\"\n"
      "fn main(xs: List[i64]) -> (List[i64], List[i64], List[i64], bool) =\n"
      "  let counts = fold(fn(m, x) -> put_with(add, m, x % 7, 1), MapTip, xs)\n"
      "  let groups = groups_of(map(fn(x) -> (x % 7, x), xs))\n"
      "  (keys(counts), values(counts), flatten(values(groups)), values(map_values(length, groups)) == "
      "values(counts))\n";
  for_random_lists(6, [&](const std::vector<int64_t>& numbers) {
    std::map<int64_t, std::vector<int64_t>> groups;
    for (const int64_t number : numbers) groups[number % 7].push_back(number);
    std::vector<int64_t> keys, counts, all;
    for (const auto& [key, group] : groups) {
      keys.push_back(key);
      counts.push_back(static_cast<int64_t>(group.size()));
      all.insert(all.end(), group.begin(), group.end());
    }
    expect_in_all_ways(text, {list_of(numbers)}, {list_of(keys), list_of(counts), list_of(all), true});
  });
}

TEST(Library, FindsFirstAndLastInAnOrder) {
  const char* text =
      "import \"std/list\"\n"
      "fn main(xs: List[i64]) -> (List[i64], List[i64], i64, i64) =\n"
      "  let (small, large) = partition(fn(x) -> x < 20, xs)\n"
      "  (small, large, value_or(min_by(rem(_, 9), xs), -1), value_or(max_by(rem(_, 9), xs), -1))\n";
  for_random_lists(7, [&](const std::vector<int64_t>& numbers) {
    std::vector<int64_t> small, large;
    for (const int64_t number : numbers) (number < 20 ? small : large).push_back(number);
    const auto first = [&](auto found) { return found == numbers.end() ? int64_t{-1} : *found; };
    const auto less = [](int64_t a, int64_t b) { return a % 9 < b % 9; };
    expect_in_all_ways(text, {list_of(numbers)},
                       {list_of(small), list_of(large), first(std::ranges::min_element(numbers, less)),
                        first(std::ranges::max_element(numbers, less))});
  });
}

constexpr const char* kSets =
    "import \"std/set\"\n"
    "fn main(xs: List[i64], ys: List[i64]) -> (List[i64], List[i64], List[i64], List[i64], i64, List[bool]) "
    "=\n"
    "  let (a, b) = (set_of(xs), set_of(ys))\n"
    "  (members(a), members(union(a, b)), members(intersection(a, b)), members(difference(a, b)), "
    "set_size(b),\n"
    "   [is_subset(a, b), is_subset(intersection(a, b), b), is_member(b, 3)])\n";

TEST(Library, HasTheOperationsOfSets) {
  std::mt19937_64 random(4);
  for (const std::size_t count : {0, 1, 4, 20}) {
    const std::vector<int64_t> xs = random_numbers(random, count, 12);
    const std::vector<int64_t> ys = random_numbers(random, count + 3, 12);
    const std::set<int64_t> a(xs.begin(), xs.end());
    const std::set<int64_t> b(ys.begin(), ys.end());
    std::vector<int64_t> both, either, only;
    std::ranges::set_intersection(a, b, std::back_inserter(both));
    std::ranges::set_union(a, b, std::back_inserter(either));
    std::ranges::set_difference(a, b, std::back_inserter(only));
    const Value truths = parse_value(DataTypes().list_of(DType::Bool),
                                     fmt::format("[{},true,{}]", only.empty(), b.contains(3)));
    expect_in_all_ways(kSets, {list_of(xs), list_of(ys)},
                       {list_of({a.begin(), a.end()}), list_of(either), list_of(both), list_of(only),
                        static_cast<int64_t>(b.size()), truths});
  }
}

/// Every third number takes out the least one instead.
constexpr const char* kHeaps =
    "import \"std/heap\"\nimport \"std/list\"\n"
    "fn change(h: Heap[i64, i64], step: (i64, i64)) -> Heap[i64, i64] =\n"
    "  let (i, n) = step\n"
    "  match take_least(h)\n"
    "    Some((_, _, rest)) if i % 3 == 2 -> rest\n"
    "    _ -> add_entry(h, n, n * n)\n"
    "fn is_leftist(h: Heap[i64, i64]) -> bool =\n"
    "  match h\n"
    "    HeapTip -> true\n"
    "    HeapNode(rank, _, _, a, b) ->\n"
    "      heap_rank(b) <= heap_rank(a) and rank == heap_rank(b) + 1 and is_leftist(a) and is_leftist(b)\n"
    "fn main(xs: List[i64], ys: List[i64]) -> (List[i64], List[i64], bool) =\n"
    "  let h = heap_join(fold(change, HeapTip[i64, i64], enumerate(xs)), heap_of(map(fn(y) -> (y, y * y), "
    "ys)))\n"
    "  (firsts(heap_entries(h)), seconds(heap_entries(h)), is_leftist(h))\n";

TEST(Library, KeepsHeapsInOrder) {
  std::mt19937_64 random(5);
  for (const std::size_t count : {0, 1, 5, 30, sized(300, 60)}) {
    const std::vector<int64_t> xs = random_numbers(random, count, 60);
    const std::vector<int64_t> ys = random_numbers(random, count / 2, 60);
    std::multiset<int64_t> left;
    for (std::size_t i = 0; i < count; ++i) {
      if (i % 3 == 2 && !left.empty()) {
        left.erase(left.begin());
      } else {
        left.insert(xs[i]);
      }
    }
    left.insert(ys.begin(), ys.end());
    std::vector<int64_t> squares;
    for (int64_t number : left) squares.push_back(number * number);
    expect_in_all_ways(kHeaps, {list_of(xs), list_of(ys)},
                       {list_of({left.begin(), left.end()}), list_of(squares), true});
  }
}

TEST(Library, FindsElementsThatAreNotZero) {
  std::mt19937_64 random(3);
  for (const std::size_t count : {0, 1, 2, 7, 64}) {
    Tensor numbers(DType::F32, {static_cast<int64_t>(count)});
    std::vector<int64_t> places;
    for (std::size_t i = 0; i < count; ++i) {
      numbers.mutable_data<float>()[i] = static_cast<float>(random() % 3) - 1.0F;
      if (numbers.data<float>()[i] != 0) places.push_back(static_cast<int64_t>(i));
    }
    Tensor expected(DType::I64, {static_cast<int64_t>(places.size())});
    std::ranges::copy(places, expected.mutable_data<int64_t>());
    expect_in_all_ways(
        "import \"std/tensor\"\nfn main(x: f32[n]) -> (i64[_], i64[_]) = (nonzero(x), nonzero(x != 0.0))\n",
        {Value(numbers)}, {Value(expected), Value(expected)});
  }
}

TEST(Library, MakesTensorsOfListsAndListsOfTensors) {
  for (const int64_t count : {0, 1, 2, 7, 64}) {
    Tensor numbers(DType::I64, {count});
    for (int64_t i = 0; i < count; ++i) numbers.mutable_data<int64_t>()[i] = i * i;
    const std::vector<int64_t> listed(numbers.data<int64_t>(), numbers.data<int64_t>() + count);
    expect_in_all_ways(
        "import \"std/list\"\nimport \"std/tensor\"\n"
        "fn main(xs: List[i64]) -> (i64[_], List[i64]) =\n"
        "  let x: i64[_] = with_list(zeros(length(xs)), 0, xs)\n  (x, to_list(x, xs))\n",
        {list_of(listed)}, {Value(numbers), list_of([&] {
                              std::vector<int64_t> twice = listed;
                              twice.insert(twice.end(), listed.begin(), listed.end());
                              return twice;
                            }())});
  }
}

TEST(Library, OnlyWhatAProgramUsesIsPartOfIt) {
  const Program program = Program::from_text(
      "test.hia", "import \"std/map\"\nimport \"std/queue\"\nfn main(n: i64) -> List[i64] = range(0, n)\n");
  ASSERT_EQ(program.module()->functions.size(), 2U);
  EXPECT_EQ(program.module()->functions[1].name, "range");
}

TEST(Library, MessagesNameItsFiles) {
  try {
    Program::from_text("test.hia",
                       "import \"std/list\"\nfn main(n: i64) -> i64 = length(sort([Nil[i64]]))\n");
    FAIL() << "expected an error";
  } catch (const ProgramError& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("std/list:")) << error.what();
    EXPECT_NE(std::string(error.what()).find("(where T = List[i64], used at test.hia:2:33)"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace hiaton
