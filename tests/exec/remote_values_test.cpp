// Calls with data values and tensors that processes give each other: values and errors are those of one
// process, and nothing is left over in any of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "exec/in_processes.h"
#include "exec/stealing.h"
#include "sized.h"

namespace hiaton::exec::testing {
namespace {

using ::testing::HasSubstr;

/// Sorts a list by merging, so that whole lists go and come back; sums it up with weights, so that the order
/// counts.
constexpr std::string_view kSort =
    "fn make(n: i64, x: i64) -> List[i64] = if n == 0 then Nil else Cons(x % 1000, make(n - 1, (x * 75 + 74) "
    "% "
    "65537))\n"
    "fn halves(xs: List[i64], a: List[i64], b: List[i64]) -> (List[i64], List[i64]) =\n"
    "  match xs\n"
    "    Nil -> (a, b)\n"
    "    Cons(x, rest) -> halves(rest, b, Cons(x, a))\n"
    "fn merge(a: List[i64], b: List[i64]) -> List[i64] =\n"
    "  match a\n"
    "    Nil -> b\n"
    "    Cons(x, xs) -> match b\n"
    "      Nil -> a\n"
    "      Cons(y, ys) -> if x <= y then Cons(x, merge(xs, b)) else Cons(y, merge(a, ys))\n"
    "fn sort(xs: List[i64]) -> List[i64] =\n"
    "  match xs\n"
    "    Nil -> Nil\n"
    "    Cons(_, rest) -> match rest\n"
    "      Nil -> xs\n"
    "      Cons(_, _) ->\n"
    "        let (a, b) = halves(xs, Nil, Nil)\n"
    "        merge(sort(a), sort(b))\n"
    "fn weighed(xs: List[i64], weight: i64, sum: i64) -> i64 =\n"
    "  match xs\n"
    "    Nil -> sum\n"
    "    Cons(x, rest) -> weighed(rest, weight + 1, sum + weight * x)\n"
    "fn main(n: i64) -> i64 = weighed(sort(make(n, 1)), 1, 0)\n";

/// Trees with numbers and tensors, tuples and a shared subtree as arguments and results.
constexpr std::string_view kTrees =
    "data Tree = Leaf(value: i64, row: f32[2]) | Node(left: Tree, both: (i64, f64), right: Tree)\n"
    "fn grown(n: i64, x: i64) -> Tree =\n"
    "  if n == 0 then Leaf(x, [f32(x), 1])\n"
    "  else if n % 3 == 0 then (let below = grown(n - 1, x) in Node(below, (n, 0.5), below))\n"
    "  else Node(grown(n - 1, 2 * x), (n, f64(x)), grown(n - 1, 2 * x + 1))\n"
    "fn mirrored(tree: Tree) -> Tree =\n"
    "  match tree\n"
    "    Leaf(_, _) -> tree\n"
    "    Node(left, both, right) -> Node(mirrored(right), both, mirrored(left))\n"
    "fn scaled(row: f32[2], by: f32) -> (f32[2], bool) = (row * by, by > 2)\n"
    "fn summed(tree: Tree, by: f32) -> (i64, f64, f32[2]) =\n"
    "  match tree\n"
    "    Leaf(value, row) -> (let (row, _) = scaled(row, by) in (value, 1, row))\n"
    "    Node(left, both, right) ->\n"
    "      let (n, x) = both\n"
    "      let (a, p, u) = summed(left, by + 1)\n"
    "      let (b, q, v) = summed(right, by)\n"
    "      (a - 3 * b + n, p - q / 2 + x, u - 0.5 * v)\n"
    "fn main(n: i64) -> (i64, f64, f32[2], Tree) =\n"
    "  let tree = mirrored(grown(n, 1))\n"
    "  let (a, p, u) = summed(tree, 1)\n"
    "  (a, p, u, mirrored(tree))\n";

class RemoteValuesTest : public ::testing::TestWithParam<net::Delivery> {};

/// All that can be given is, in every number of processes and workers.
void expect_as_the_reference(std::string_view text, int64_t argument, net::Delivery delivery) {
  const graph::Graph graph = graph_of(text);
  const std::vector<Value> expected = run(Mode{Executor::Reference}, graph, {argument}).values;
  RunOptions options;
  options.share_every_call = true;
  options.batching = false;
  for (int processes = 1; processes <= 4; ++processes) {
    for (const int workers : {1, 2}) {
      options.workers = workers;
      uint64_t given = 0;  // a run may be over before the others have asked
      for (int turn = 0; turn < (processes > 1 ? 100 : 1) && given == 0; ++turn) {
        const Shared shared = run_shared(graph, {argument}, processes, delivery, options);
        EXPECT_EQ(shared.values, expected) << shared.error;
        given = shared.stats.remote_calls;
      }
      EXPECT_EQ(given > 0, processes > 1);
    }
  }
}

TEST_P(RemoteValuesTest, ListsGoAndComeBack) {
  expect_as_the_reference(kSort, 200, GetParam());
}

TEST_P(RemoteValuesTest, TreesTuplesAndTensorsGoAndComeBack) {
  expect_as_the_reference(kTrees, 7, GetParam());
}

TEST_P(RemoteValuesTest, AnErrorSaysWhatItSaysInOneProcessAndNamesTheProcess) {
  constexpr std::string_view kSearch =
      "fn last(path: List[i64]) -> i64 =\n"
      "  match path\n"
      "    Nil -> 0\n"
      "    Cons(x, _) -> x\n"
      "fn search(path: List[i64], kept: List[i64], low: i64, high: i64, wrong: i64) -> i64 =\n"
      "  if high - low == 1 then (last(path) + last(kept)) / (low - wrong)\n"
      "  else\n"
      "    let middle = (low + high) / 2\n"
      "    search(Cons(low, path), kept, low, middle, wrong) + search(Cons(high, path), kept, middle, high, "
      "wrong)\n"
      "fn main(wrong: i64) -> i64 = 1 + search(Nil, Cons(1, Nil), 0, 128, wrong)\n";
  const Value wrong = int64_t{93};
  const std::string expected = run_shared(kSearch, {wrong}, 1, GetParam()).error;
  EXPECT_THAT(expected, HasSubstr("division by zero: 95 / 0"));
  EXPECT_THAT(expected, HasSubstr("in search(path = ?, kept = Cons(...), low = 92, high = 94, wrong = 93)"));
  RunOptions options;
  options.share_every_call = true;
  for (int processes = 2; processes <= 4; ++processes)
    EXPECT_EQ(without_process(run_shared(kSearch, {wrong}, processes, GetParam(), options).error), expected);
}

TEST_P(RemoteValuesTest, LongListsNeedNoStack) {
  constexpr int64_t kLength = sized<int64_t>(1'000'000, 20'000);
  constexpr std::string_view kTwo =
      "fn made(n: i64, xs: List[i64]) -> List[i64] = if n == 0 then xs else made(n - 1, Cons(n, xs))\n"
      "fn sum(xs: List[i64], so_far: i64) -> i64 =\n"
      "  match xs\n"
      "    Nil -> so_far\n"
      "    Cons(x, rest) -> sum(rest, so_far + x)\n"
      "fn both(xs: List[i64], ys: List[i64]) -> i64 = sum(xs, 0) + sum(ys, 1)\n"
      "fn two(n: i64) -> (List[i64], List[i64]) =\n"
      "  let xs = made(n, Nil)\n"
      "  let ys = made(n + 1, Nil)\n"
      "  (xs, ys)\n"
      "fn main(n: i64) -> i64 =\n"
      "  let (xs, ys) = two(n)\n"
      "  both(xs, ys)\n";
  RunOptions options;
  options.share_every_call = true;
  const Shared shared = run_shared(kTwo, {kLength}, 2, GetParam(), options);
  ASSERT_EQ(shared.values.size(), 1u) << shared.error;
  EXPECT_EQ(shared.values[0].as<int64_t>(), kLength * (kLength + 1) + kLength + 2);
  EXPECT_GT(shared.stats.remote_bytes, static_cast<uint64_t>(kLength) * 9);
}

TEST_P(RemoteValuesTest, WhatCostsMoreToSendThanItBringsIsNotGivenAnyMore) {
  constexpr std::string_view kSums =
      "data Tree = Leaf(value: i64) | Node(left: Tree, right: Tree)\n"
      "fn grown(n: i64) -> Tree = if n == 0 then Leaf(n) else Node(grown(n - 1), grown(n - 1))\n"
      "fn sum(tree: Tree) -> i64 =\n"
      "  match tree\n"
      "    Leaf(value) -> value + 1\n"
      "    Node(left, right) -> sum(left) + sum(right)\n"
      "fn main(n: i64) -> i64 =\n"
      "  let tree = grown(n)\n"
      "  with all = 0 for i in 0..300 do all + sum(tree)\n";
  EXPECT_TRUE(gives_fewer_calls(kSums, int64_t{13}, int64_t{300 * 8192}, GetParam(), 60));
}

/// Damages arguments and results under way.
class DamagingLink : public net::DisorderedLink {
 public:
  DamagingLink(std::unique_ptr<net::Link> link, uint32_t seed)
      : DisorderedLink(std::move(link), net::Delivery::InOrder, seed), random_(seed) {}

  bool receive(net::Arrival& arrival) override {
    if (!DisorderedLink::receive(arrival)) return false;
    constexpr std::size_t kPacketHeader = 16;
    constexpr std::size_t kMessageHeader = 24;
    constexpr std::size_t kKind = 6;
    constexpr auto kMessages = std::byte{2};
    std::byte* bytes = arrival.packet.data();
    if (bytes[kKind] != kMessages || random_() % 3 != 0) return true;
    uint64_t size = 0;
    for (std::size_t at = kPacketHeader; at < arrival.packet.size(); at += kMessageHeader + size) {
      std::memcpy(&size, bytes + at + 16, sizeof size);
      const auto kind = std::to_integer<unsigned>(bytes[at + 4]) % 16;
      constexpr unsigned kGift = 2;
      constexpr unsigned kReturn = 3;
      if ((kind == kGift || kind == kReturn) && size > 0)
        bytes[at + kMessageHeader + random_() % size] ^= static_cast<std::byte>(1 << random_() % 8);
    }
    return true;
  }

 private:
  std::mt19937 random_;
};

TEST(MalformedMessages, AreErrorsAndNeverCrash) {
  constexpr std::string_view kMirror =
      "data Tree = Leaf(value: i64, row: f32[2]) | Node(left: Tree, right: Tree) | None\n"
      "fn mirrored(tree: Tree) -> Tree =\n"
      "  match tree\n"
      "    Leaf(value, row) -> Leaf(value + 1, row)\n"
      "    Node(left, right) -> Node(mirrored(right), mirrored(left))\n"
      "    None -> None\n"
      "fn grown(n: i64) -> Tree =\n"
      "  if n <= 0 or n > 10 then (if n == 0 then None else Leaf(n, [1, 2]))\n"
      "  else Node(grown(n - 1), grown(n - 2))\n"
      "fn main(n: i64) -> Tree = mirrored(mirrored(grown(n)))\n";
  const graph::Graph graph = graph_of(kMirror);
  RunOptions options;
  options.share_every_call = true;
  options.batching = false;
  int errors = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    std::vector<std::unique_ptr<net::Link>> links;
    for (std::unique_ptr<net::Link>& link : net::in_process_links(2 + static_cast<int>(seed % 2)))
      links.push_back(std::make_unique<DamagingLink>(std::move(link), seed + 100 * links.size()));
    try {
      net::act_in_processes(links, [&](net::Transport& transport) {
        RunOptions own = options;
        own.processes = &transport;
        PlanCache plans;
        exec::run(graph, {{int64_t{7}}}, own, plans);
      });
    } catch (const Error& error) {
      ++errors;
      EXPECT_THAT(error.what(), HasSubstr("expected"));
    }
  }
  EXPECT_GT(errors, 5);
}

INSTANTIATE_TEST_SUITE_P(, RemoteValuesTest, ::testing::ValuesIn(kDeliveries),
                         [](const auto& delivery) { return name_of(delivery.param); });

}  // namespace
}  // namespace hiaton::exec::testing
