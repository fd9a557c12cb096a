// Walks every interleaving of a protocol: all states that can be reached from the first one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace hiaton::net {

/// A state of a protocol has an order, and
///   std::vector<State> next() const;             each state that one step leads to
///   std::string wrong() const;                   what must never be; empty: nothing is wrong
///   bool may_rest() const;                       whether nothing need happen any more
struct Walked {
  std::size_t states = 0;
  std::size_t ends = 0;  ///< states in which nothing can happen any more
  std::string wrong;     ///< the first thing found
};

/// Calls `on_step` for each step, with the numbers of the states before and after it; that of `first` is 0.
template <class State, class OnStep>
Walked walk(const State& first, OnStep on_step) {
  Walked walked;
  std::map<State, std::size_t> known{{first, 0}};
  std::deque<const std::pair<const State, std::size_t>*> open{&*known.begin()};
  for (; !open.empty() && walked.wrong.empty(); open.pop_front()) {
    const auto& [state, number] = *open.front();
    ++walked.states;
    walked.wrong = state.wrong();
    const std::vector<State> next = state.next();
    if (next.empty()) {
      ++walked.ends;
      if (walked.wrong.empty() && !state.may_rest()) walked.wrong = "nothing can happen any more";
    }
    for (const State& one : next) {
      const auto [place, is_new] = known.try_emplace(one, known.size());
      if (is_new) open.push_back(&*place);
      on_step(number, place->second);
    }
  }
  return walked;
}

template <class State>
Walked walk(const State& first) {
  return walk(first, [](std::size_t /*from*/, std::size_t /*to*/) {});
}

/// The same, and from each state an end can be reached: a protocol that repeats itself for ever is wrong.
template <class State>
Walked walk_to_ends(const State& first) {
  std::vector<std::vector<std::size_t>> before(1);
  std::vector<bool> goes_on(1, false);
  Walked walked = walk(first, [&](std::size_t from, std::size_t to) {
    const std::size_t count = std::max({before.size(), from + 1, to + 1});
    before.resize(count);
    goes_on.resize(count, false);
    before[to].push_back(from);
    goes_on[from] = true;
  });
  if (!walked.wrong.empty()) return walked;
  std::vector<bool> can_end(before.size(), false);
  std::vector<std::size_t> open;
  for (std::size_t state = 0; state < before.size(); ++state) {
    if (!goes_on[state]) open.push_back(state);
  }
  std::size_t count = 0;
  while (!open.empty()) {
    const std::size_t state = open.back();
    open.pop_back();
    if (can_end[state]) continue;
    can_end[state] = true;
    ++count;
    open.insert(open.end(), before[state].begin(), before[state].end());
  }
  if (count < before.size()) walked.wrong = "it may go on for ever";
  return walked;
}

}  // namespace hiaton::net
