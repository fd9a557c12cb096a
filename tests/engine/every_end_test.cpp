// Runs that end by a fault or a budget at every point where they can: their counts are right there, for one
// worker and several.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "engine/all_ways.h"
#include "engine/checked_run.h"
#include "net/disordered.h"
#include "sized.h"

namespace hiaton {
namespace {

struct Ending {
  std::string name;
  /// A program whose main takes a size and a number; the run fails where that number is met, which it is
  /// where it is between 1 and the size.
  std::string text;
  int64_t size;

  friend std::ostream& operator<<(std::ostream& out, const Ending& ending) { return out << ending.name; }
};

const std::string kMade =
    "fn made(n: i64) -> List[i64] = if n == 0 then Nil else Cons(n * 5 % 11, made(n - 1))\n"
    "fn checked(x: i64, bad: i64) -> i64 = x + 100 / (x - bad)\n"
    "fn sum(xs: List[i64]) -> i64 = match xs Nil -> 0 Cons(x, rest) -> x + sum(rest)\n";

std::vector<Ending> endings() {
  return {
      {"sorted",
       kMade + "fn merged(a: List[i64], b: List[i64], bad: i64) -> List[i64] =\n"
               "  match a\n"
               "    Nil -> b\n"
               "    Cons(x, xs) ->\n"
               "      match b\n"
               "        Nil -> a\n"
               "        Cons(y, ys) ->\n"
               "          if checked(x, bad) <= checked(y, bad) then Cons(x, merged(xs, b, bad))\n"
               "          else Cons(y, merged(a, ys, bad))\n"
               "fn halves(xs: List[i64], a: List[i64], b: List[i64]) -> (List[i64], List[i64]) =\n"
               "  match xs Nil -> (a, b) Cons(x, rest) -> halves(rest, Cons(x, b), a)\n"
               "fn sorted(xs: List[i64], bad: i64) -> List[i64] =\n"
               "  match xs\n"
               "    Nil -> Nil\n"
               "    Cons(_, Nil) -> xs\n"
               "    _ -> let (a, b) = halves(xs, Nil, Nil) merged(sorted(a, bad), sorted(b, bad), bad)\n"
               "fn main(n: i64, bad: i64) -> i64 = let xs = made(n) sum(sorted(xs, bad)) + sum(xs)\n",
       10},
      {"trees",
       kMade + "data Tree = Empty | Node(left: Tree, key: i64, right: Tree)\n"
               "fn inserted(t: Tree, key: i64, bad: i64) -> Tree =\n"
               "  match t\n"
               "    Empty -> Node(Empty, checked(key, bad), Empty)\n"
               "    Node(left, here, right) ->\n"
               "      if key < here then Node(inserted(left, key, bad), here, right)\n"
               "      else if key > here then Node(left, here, inserted(right, key, bad))\n"
               "      else t\n"
               "fn filled(t: Tree, xs: List[i64], bad: i64) -> Tree =\n"
               "  match xs Nil -> t Cons(x, rest) -> filled(inserted(t, x, bad), rest, bad)\n"
               "fn doubled(t: Tree, bad: i64) -> Tree =\n"
               "  match t\n"
               "    Empty -> Empty\n"
               "    Node(left, key, right) -> Node(doubled(left, bad), checked(2 * key, 22 - bad), "
               "doubled(right, bad))\n"
               "fn total(t: Tree) -> i64 =\n"
               "  match t Empty -> 0 Node(left, key, right) -> total(left) + key + total(right)\n"
               "fn main(n: i64, bad: i64) -> i64 =\n"
               "  let first = filled(Empty, made(n), bad)\n"
               "  let second = inserted(first, 100, bad)\n"
               "  total(doubled(first, bad)) + total(second) + total(first)\n",
       10},
      {"loops",
       kMade +
           "fn joined(xs: List[i64], ys: List[i64]) -> List[i64] =\n"
           "  match xs Nil -> ys Cons(x, rest) -> Cons(x, joined(rest, ys))\n"
           "fn one(i: i64, bad: i64) -> List[i64] = Cons(checked(i, bad), made(i % 3))\n"
           "fn main(n: i64, bad: i64) -> i64 =\n"
           "  sum(with all = made(2) for i in 1..n + 1 do joined(one(i, bad), if i % 2 == 0 then all else "
           "joined(all, made(1))))\n",
       10},
      {"strings",
       kMade + "fn written(xs: List[i64], bad: i64) -> str =\n"
               "  match xs Nil -> \"\" Cons(x, rest) -> str(checked(x, bad)) + \", \" + written(rest, bad)\n"
               "data Named = Named(name: str, next: Named) | Last\n"
               "fn named(xs: List[i64], bad: i64) -> Named =\n"
               "  match xs Nil -> Last Cons(x, rest) -> let s = str(x) + str(checked(x, bad)) Named(s + s, "
               "named(rest, "
               "bad))\n"
               "fn lengths(n: Named) -> i64 = match n Last -> 0 Named(s, next) -> length(s) + lengths(next)\n"
               "fn main(n: i64, bad: i64) -> i64 = lengths(named(made(n), bad)) + length(written(made(n), "
               "bad))\n",
       10},
      {"tensors",
       kMade + "data Cell = Cell(h: f32[2], next: Cell) | Last\n"
               "fn cells(xs: List[i64], h: f32[2], bad: i64) -> Cell =\n"
               "  match xs\n"
               "    Nil -> Last\n"
               "    Cons(x, rest) ->\n"
               "      let more = tanh(h * 0.5 + h)\n"
               "      Cell(if checked(x, bad) > 3 then more else h, cells(rest, more, bad))\n"
               "fn added(c: Cell) -> f32[2] = match c Last -> [1, 2] Cell(h, next) -> h + "
               "reshape(added(next), shape=[2])\n"
               "fn split(n: i64, h: f32[2], bad: i64) -> f32[2] =\n"
               "  if n <= 1 then h * f32(checked(n, bad)) else split(n / 2, h + h, bad) + split(n - n / 2, "
               "h, bad)\n"
               "fn main(n: i64, bad: i64) -> f32[2] =\n"
               "  let h: f32[2] = [0.5, 1]\n"
               "  added(cells(made(n), h, bad)) + split(n, h, bad)\n",
       10},
      {"below_flow",
       kMade +
           "fn copied(xs: List[i64], bad: i64) -> List[i64] =\n"
           "  match xs Nil -> Nil Cons(x, rest) -> Cons(checked(x, bad), copied(rest, bad))\n"
           "data Tree = Leaf(xs: List[i64]) | Node(left: Tree, all: List[i64], right: Tree)\n"
           "fn grown(n: i64, xs: List[i64], bad: i64) -> Tree =\n"
           "  if n <= 0 then Leaf(copied(xs, bad))\n"
           "  else Node(grown(n - 3, Cons(checked(n, bad), xs), bad), xs, grown(n - 4, xs, bad))\n"
           "fn total(t: Tree) -> i64 =\n"
           "  match t Leaf(xs) -> sum(xs) Node(left, all, right) -> total(left) + sum(all) + total(right)\n"
           "fn main(n: i64, bad: i64) -> f32[1, 2] =\n"
           "  let row: f32[1, 2] = [[0.5, 2]]\n"
           "  let turned: f32[2, 2] = [[1, 2], [3, 4]]\n"
           "  let once = row @ turned\n"
           "  (once * f32(total(grown(n, made(n), bad)))) @ turned\n",
       10},
      {"fields",
       kMade +
           "data Wide = Wide(a: i64, b: List[i64], c: Wide, d: List[i64], e: f64, f: Wide, g: i64) | None\n"
           "fn wide(n: i64, xs: List[i64], bad: i64) -> Wide =\n"
           "  if n <= 0 then None\n"
           "  else Wide(n, xs, wide(n - 3, Cons(checked(n, bad), xs), bad), made(n % 3), 0.5, wide(n - 4, "
           "xs, bad), "
           "n)\n"
           "fn turned(w: Wide, bad: i64) -> Wide =\n"
           "  match w\n"
           "    None -> None\n"
           "    Wide(a, b, c, d, e, f, g) -> Wide(g, d, turned(f, bad), b, e, turned(c, bad), checked(a, 11 "
           "- bad))\n"
           "fn total(w: Wide) -> i64 =\n"
           "  match w None -> 0 Wide(a, b, c, d, _, f, _) -> a + sum(b) + sum(d) + total(c) + total(f)\n"
           "fn main(n: i64, bad: i64) -> i64 =\n"
           "  let w = wide(n, Nil, bad)\n"
           "  total(turned(w, bad)) + total(w)\n",
       10},
  };
}

std::vector<RunOptions> ways() {
  std::vector<RunOptions> ways;
  for (const RunOptions& workers : worker_ways()) {
    for (const bool batching : {true, false}) {
      ways.push_back(workers);
      ways.back().batching = batching;
    }
  }
  if (has_to_run(1)) ways.push_back({.executor = Executor::Flow});
  ways.push_back({.executor = Executor::Flow, .workers = 2, .share_every_call = true});
  return ways;
}

/// Builds that are slow look at every third place where a run can end, and the thread sanitizer, which has to
/// see threads end at some places and not what is left over at each, at every seventh. Each way begins at
/// another one.
constexpr uint64_t kStep = kSeesOnlyThreads ? 7 : sized(1, 3);

class EveryEnd : public ::testing::TestWithParam<Ending> {
 protected:
  Program program() const { return Program::from_text("end.hia", GetParam().text); }
  std::vector<Value> arguments(int64_t bad) const { return {Value(GetParam().size), Value(bad)}; }
};

INSTANTIATE_TEST_SUITE_P(Programs, EveryEnd, ::testing::ValuesIn(endings()),
                         [](const auto& info) { return info.param.name; });

TEST_P(EveryEnd, OfFaults) {
  const Program program = this->program();
  const std::vector<RunOptions> ways = hiaton::ways();
  int64_t faults = 0;
  for (int64_t bad = -1; bad <= 22; ++bad) {
    const Fault expected = fault_of(program, arguments(bad), expected_way());
    faults += expected == Fault::None ? 0 : 1;
    for (std::size_t i = 0; i < ways.size(); ++i) {
      if ((static_cast<uint64_t>(bad + 1) + i) % kStep != 0) continue;
      EXPECT_EQ(fault_of(program, arguments(bad), ways[i]), expected)
          << bad << ", " << ways[i].workers << " workers";
    }
  }
  EXPECT_GE(faults, 5);
  EXPECT_LT(faults, 24);
}

TEST_P(EveryEnd, OfFrames) {
  const Program program = this->program();
  uint64_t first = 0;
  for (RunOptions way : ways()) {
    Fault fault = Fault::MaxFrames;
    for (way.max_frames = 1 + first++ % kStep; fault == Fault::MaxFrames && way.max_frames < 1000;
         way.max_frames += kStep)
      fault = fault_of(program, arguments(-1), way);
    EXPECT_EQ(fault, Fault::None);
  }
}

TEST_P(EveryEnd, OfBytes) {
  const Program program = this->program();
  uint64_t first = 0;
  for (RunOptions way : ways()) {
    if (way.executor == Executor::Flow) continue;  // holds far more than these programs need
    constexpr uint64_t kBytes = uint64_t{2} << 10;
    Fault fault = Fault::MaxBytes;
    for (way.max_bytes = kBytes * (1 + first++ % kStep);
         fault == Fault::MaxBytes && way.max_bytes < (1 << 22);
         way.max_bytes += kStep * std::max(kBytes, way.max_bytes / 32)) {
      SCOPED_TRACE(std::to_string(way.workers) + " workers, " + std::to_string(way.max_bytes) + " bytes" +
                   (way.share_every_call ? ", each call shared" : "") + (way.batching ? ", batching" : ""));
      fault = fault_of(program, arguments(-1), way);
    }
    EXPECT_EQ(fault, Fault::None);
  }
}

/// How the run ends in process 0; in the others there is no error. Counts and frames are those of all.
Fault fault_in_processes(const Program& program, const std::vector<Value>& arguments, int processes,
                         const RunOptions& options, uint32_t seed) {
  constexpr net::Delivery kDeliveries[] = {net::Delivery::InOrder, net::Delivery::LastFirst,
                                           net::Delivery::Random};
  Fault fault = Fault::None;
  const auto links = net::disordered_links(processes, kDeliveries[seed % std::size(kDeliveries)], seed);
  net::act_in_processes(links, [&](net::Transport& transport) {
    RunOptions own = options;
    own.processes = &transport;
    const Fault found = fault_of(program, arguments, own);
    if (transport.self() == 0) fault = found;
  });
  return fault;
}

std::vector<RunOptions> ways_in_processes() {
  return {{.workers = 1, .batching = false, .share_every_call = true},
          {.workers = 2, .batching = false, .share_every_call = true}};
}

TEST_P(EveryEnd, OfFaultsInProcesses) {
  const Program program = this->program();
  uint32_t seed = 0;
  for (int64_t bad = 0; bad <= 12; ++bad) {
    const Fault expected = fault_of(program, arguments(bad), {.executor = Executor::Reference});
    for (const RunOptions& way : ways_in_processes()) {
      for (const int processes : {2, 3})
        EXPECT_EQ(fault_in_processes(program, arguments(bad), processes, way, ++seed), expected) << bad;
    }
  }
}

TEST_P(EveryEnd, OfFramesInProcesses) {
  const Program program = this->program();
  uint32_t seed = 0;
  for (RunOptions way : ways_in_processes()) {
    Fault fault = Fault::MaxFrames;
    for (way.max_frames = 1; fault == Fault::MaxFrames && way.max_frames < 1000; ++way.max_frames)
      fault = fault_in_processes(program, arguments(-1), 2, way, ++seed);
    EXPECT_EQ(fault, Fault::None);
  }
}

}  // namespace
}  // namespace hiaton
