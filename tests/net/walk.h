// Walks every interleaving of a protocol: all states that can be reached from the first one.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <set>
#include <string>
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

template <class State>
Walked walk(const State& first) {
  Walked walked;
  std::set<State> known{first};
  std::deque<const State*> open{&*known.begin()};
  for (; !open.empty() && walked.wrong.empty(); open.pop_front()) {
    const State& state = *open.front();
    ++walked.states;
    walked.wrong = state.wrong();
    const std::vector<State> next = state.next();
    if (next.empty()) {
      ++walked.ends;
      if (walked.wrong.empty() && !state.may_rest()) walked.wrong = "nothing can happen any more";
    }
    for (const State& one : next) {
      const auto [place, is_new] = known.insert(one);
      if (is_new) open.push_back(&*place);
    }
  }
  return walked;
}

/// The same, and from each state an end can be reached: a protocol that repeats itself for ever is wrong.
template <class State>
Walked walk_to_ends(const State& first) {
  Walked walked = walk(first);
  if (!walked.wrong.empty()) return walked;
  std::map<State, std::vector<const State*>> before{{first, {}}};
  std::deque<const State*> open{&before.begin()->first};
  std::deque<const State*> ending;
  for (; !open.empty(); open.pop_front()) {
    const std::vector<State> next = open.front()->next();
    if (next.empty()) ending.push_back(open.front());
    for (const State& one : next) {
      const auto [place, is_new] = before.try_emplace(one);
      place->second.push_back(open.front());
      if (is_new) open.push_back(&place->first);
    }
  }
  std::set<const State*> can_end(ending.begin(), ending.end());
  for (; !ending.empty(); ending.pop_front()) {
    for (const State* state : before.at(*ending.front())) {
      if (can_end.insert(state).second) ending.push_back(state);
    }
  }
  if (can_end.size() < before.size()) walked.wrong = "it may go on for ever";
  return walked;
}

}  // namespace hiaton::net
