// Programs with their schedules, which tests damage to see what the verifiers find.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include "exec/direct/compile/direct_passes.h"
#include "exec/direct/compile/schedule.h"
#include "exec/programs.h"
#include "hiaton/error.h"

namespace hiaton::exec::direct {

inline constexpr std::string_view kTrees =
    "data Tree = Leaf | Node(left: Tree, key: i64, right: Tree)\n"
    "fn insert(t: Tree, key: i64) -> Tree =\n"
    "  match t\n"
    "    Leaf -> Node(Leaf, key, Leaf)\n"
    "    Node(left, at, right) ->\n"
    "      if key < at then Node(insert(left, key), at, right)\n"
    "      else Node(left, at, insert(right, key))\n"
    "fn count(t: Tree) -> i64 =\n"
    "  match t\n"
    "    Leaf -> 0\n"
    "    Node(left, _, right) -> count(left) + count(right) + 1\n"
    "fn grown(n: i64) -> Tree = with t = Leaf for i in 0..n do insert(t, i * 7 % n)\n"
    "fn main(n: i64) -> i64 = count(grown(n)) + count(insert(grown(n), n))\n";

inline constexpr std::string_view kLists =
    "fn append(xs: List[i64], ys: List[i64]) -> List[i64] =\n"
    "  match xs\n"
    "    Nil -> ys\n"
    "    Cons(x, rest) -> Cons(x, append(rest, ys))\n"
    "fn main(n: i64) -> (List[i64], List[i64]) =\n"
    "  let xs = Cons(n, Cons(n + 1, Nil))\n"
    "  (append(append(xs, xs), xs), xs)\n";

inline constexpr std::string_view kBranches =
    "fn count(low: i64, high: i64) -> i64 =\n"
    "  let middle = (low + high) / 2\n"
    "  let left = if low < middle then count(low, middle) else 0\n"
    "  let right = if middle + 1 < high then count(middle + 1, high) else 0\n"
    "  left + right + 1\n"
    "fn main(n: i64) -> i64 = count(0, n)\n";

inline constexpr std::string_view kWindows =
    "fn f(n: i64) -> List[i64] = Cons(n, Nil)\n"
    "fn append(xs: List[i64], ys: List[i64]) -> List[i64] =\n"
    "  match xs\n"
    "    Nil -> ys\n"
    "    Cons(x, rest) -> Cons(x, append(rest, ys))\n"
    "fn main(n: i64) -> List[i64] =\n"
    "  let once = with all = Nil[i64] for i in 0..n do append(f(i), all)\n"
    "  with all = once for i in 0..n do append(f(i), all)\n";

/// A program with its schedule, which tests damage.
struct Scheduled {
  explicit Scheduled(std::string_view text) : graph(testing::graph_of(text)) {
    std::string reason;
    std::optional<Structure> found = find_structure(graph, reason);
    if (!found) throw InternalError(reason);
    structure = *std::move(found);
    sink_fields(graph, structure);
    lifetimes = measure(graph, structure);
    ownership.emplace(graph, structure);
    schedule =
        make_schedule(graph, structure, *lifetimes, *ownership, {.forking = true, .parallel_iterations = 4});
  }
  Scheduled(const Scheduled&) = delete;
  Scheduled& operator=(const Scheduled&) = delete;

  ScheduledBody& body(std::string_view function, bool forking = false, bool to_hole = false) {
    for (ScheduledBody& each : schedule.bodies) {
      if (graph[each.function].name == function && each.forking == forking && each.to_hole == to_hole)
        return each;
    }
    throw InternalError("no such body");
  }
  /// What verify says; nothing: it is content.
  std::string message() const {
    try {
      verify(schedule, graph, structure, *ownership);
    } catch (const InternalError& error) {
      return error.what();
    }
    return "";
  }

  graph::Graph graph;
  Structure structure;
  std::optional<Lifetimes> lifetimes;
  std::optional<Ownership> ownership;
  Schedule schedule;
};

/// Calls `visit` with each list of statements, outer ones first.
inline void for_each_list(Statements& list, const std::function<void(Statements&)>& visit) {
  visit(list);
  for (Statement& statement : list) {
    std::visit(
        [&](auto& what) {
          using What = std::remove_reference_t<decltype(what)>;
          if constexpr (std::is_same_v<What, statements::If>) {
            for (statements::If::Side& side : what.sides) for_each_list(side.statements, visit);
          } else if constexpr (std::is_same_v<What, statements::TailIf> ||
                               std::is_same_v<What, statements::SplitIf>) {
            for (Statements& side : what.sides) for_each_list(side, visit);
          } else if constexpr (std::is_same_v<What, statements::Fork>) {
            for_each_list(what.alone, visit);
          } else if constexpr (std::is_same_v<What, statements::Loop>) {
            if (what.window) {
              for (Statements* part : {&what.window->condition, &what.window->ahead, &what.window->rest})
                for_each_list(*part, visit);
            }
            for_each_list(what.condition, visit);
            for_each_list(what.body, visit);
          }
        },
        statement.what);
  }
}

/// The first statement of the kind that `fits`, wherever it stands.
template <class What>
Statement& first_statement(
    Statements& in, const std::function<bool(const What&)>& fits = [](const What&) { return true; }) {
  Statement* found = nullptr;
  for_each_list(in, [&](Statements& list) {
    for (Statement& statement : list) {
      const What* const what = std::get_if<What>(&statement.what);
      if (found == nullptr && what != nullptr && fits(*what)) found = &statement;
    }
  });
  if (found == nullptr) throw InternalError("no such statement");
  return *found;
}
template <class What>
What& first(
    Statements& in, const std::function<bool(const What&)>& fits = [](const What&) { return true; }) {
  return std::get<What>(first_statement<What>(in, fits).what);
}

}  // namespace hiaton::exec::direct
