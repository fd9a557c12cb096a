#include "exec/tag.h"

namespace hiaton::exec {

std::vector<uint64_t> elements(const Tag& tag) {
  std::vector<uint64_t> list;
  for (const TagCell* cell = tag.cell(); cell != nullptr; cell = cell->outer) {
    list.push_back(cell->label.site.valid() ? cell->label.site.index() : cell->label.iteration);
  }
  return list;
}

std::size_t TagTable::Hash::operator()(const TagCell& cell) const {
  constexpr uint64_t kOddMultiplier = 0x9E3779B97F4A7C15;
  uint64_t hash = reinterpret_cast<uintptr_t>(cell.outer);
  for (uint64_t part :
       {uint64_t{cell.label.site.value}, uint64_t{cell.label.loop.value}, cell.label.iteration}) {
    hash = (hash ^ part) * kOddMultiplier;
    hash ^= hash >> 29;
  }
  return hash;
}

Tag TagTable::push(const Tag& outer, const TagLabel& label, bool* made) {
  const auto [place, inserted] = cells_.insert(TagCell{this, outer.cell(), label});
  if (inserted) {
    try {
      if (label.loop.valid()) make_room_for_iteration();
    } catch (...) {
      cells_.erase(place);
      throw;
    }
    ++ever_made_;
    if (outer.cell() != nullptr) ++outer.cell()->references;
  }
  if (made != nullptr) *made = inserted;
  return Tag(&*place);
}

std::optional<Tag> TagTable::find(const Tag& outer, const TagLabel& label) {
  const auto place = cells_.find(TagCell{this, outer.cell(), label});
  if (place == cells_.end()) return std::nullopt;
  return Tag(&*place);
}

/// Dropping a tag takes no memory: it happens in destructors.
void TagTable::make_room_for_iteration() {
  const std::size_t needed = ended_iterations_.size() + iterations_alive_ + 1;
  if (needed > ended_iterations_.capacity()) ended_iterations_.reserve(2 * needed);
  ++iterations_alive_;
}

std::vector<TagTable::Iteration> TagTable::take_ended_iterations() {
  std::vector<Iteration> ended = ended_iterations_;
  ended_iterations_.clear();
  return ended;
}

void TagTable::drop(const TagCell* cell) {
  // A loop, not a recursion: the last handle on a tag a million calls deep lets go of them all.
  while (cell != nullptr) {
    const TagCell* outer = cell->outer;
    if (cell->label.loop.valid()) {
      --iterations_alive_;
      ended_iterations_.push_back({cell->label.loop, outer});
    }
    cells_.erase(cells_.find(*cell));
    cell = outer != nullptr && --outer->references == 0 ? outer : nullptr;
  }
}

}  // namespace hiaton::exec
