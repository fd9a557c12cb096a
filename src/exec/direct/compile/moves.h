// Moves that happen all at once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "hiaton/value.h"

namespace hiaton::exec::direct {

/// What an instruction reads: a slot, or a constant.
struct Operand {
  bool is_constant = false;
  Slot constant;
  uint32_t slot = UINT32_MAX;
};

struct Move {
  uint32_t to;
  Operand from;
};

/// Makes the moves one after the other, so that a slot is overwritten only when nobody needs its old value:
/// calls `make(to, from)` for each. Moves that would wait for each other in a circle get a slot from
/// `take_aside()`, which keeps an old value until the end.
template <class TakeAside, class Make>
void make_moves(std::vector<Move> moves, TakeAside take_aside, Make make) {
  std::erase_if(moves, [](const Move& move) { return !move.from.is_constant && move.from.slot == move.to; });
  std::unordered_map<uint32_t, std::vector<std::size_t>> readers;  ///< by slot: moves that still need it
  std::unordered_map<uint32_t, std::size_t> writer;                ///< by slot: the move into it
  for (std::size_t i = 0; i < moves.size(); ++i) {
    if (!moves[i].from.is_constant) readers[moves[i].from.slot].push_back(i);
    writer[moves[i].to] = i;
  }
  std::vector<bool> done(moves.size(), false);
  std::vector<std::size_t> ready;
  for (std::size_t i = 0; i < moves.size(); ++i) {
    if (!readers.contains(moves[i].to)) ready.push_back(i);
  }
  for (std::size_t first = 0; first < moves.size(); ++first) {
    if (ready.empty() && !done[first]) {  // only circles are left
      const uint32_t aside = take_aside();
      const uint32_t broken = moves[first].to;
      make(aside, Operand{false, Slot(), broken});
      for (std::size_t reader : readers[broken]) moves[reader].from.slot = aside;
      readers.erase(broken);
      ready.push_back(first);
    }
    while (!ready.empty()) {
      const std::size_t i = ready.back();
      ready.pop_back();
      make(moves[i].to, moves[i].from);
      done[i] = true;
      if (moves[i].from.is_constant) continue;
      const auto found = readers.find(moves[i].from.slot);
      if (found == readers.end()) continue;
      std::erase(found->second, i);
      if (!found->second.empty()) continue;
      readers.erase(found);
      if (const auto next = writer.find(moves[i].from.slot); next != writer.end())
        ready.push_back(next->second);
    }
  }
}

}  // namespace hiaton::exec::direct
