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
    ++ever_made_;
    if (outer.cell() != nullptr) ++outer.cell()->references;
  }
  if (made != nullptr) *made = inserted;
  return Tag(&*place);
}

void TagTable::drop(const TagCell* cell) {
  // A loop, not a recursion: the last handle on a tag a million calls deep lets go of them all.
  while (cell != nullptr) {
    const TagCell* outer = cell->outer;
    if (cell->label.loop.valid()) ended_iterations_.push_back({cell->label.loop, outer});
    cells_.erase(cells_.find(*cell));
    cell = outer != nullptr && --outer->references == 0 ? outer : nullptr;
  }
}

}  // namespace hiaton::exec
