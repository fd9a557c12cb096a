// How many things are cut into parts, and in which order sums of parts are added up: along a binary tree over
// the parts that their number alone decides. Whoever has whole subtrees of it can add up their parts without
// the others, to the same bits.
#pragma once

#include <bit>
#include <cstddef>
#include <functional>
#include <vector>

namespace hiaton {

struct PartRange {
  std::size_t begin = 0;
  std::size_t end = 0;

  std::size_t size() const { return end - begin; }
  friend bool operator==(const PartRange&, const PartRange&) = default;
};

/// How many of the parts of a subtree are on its left side: the largest power of two below their number,
/// which is at least 2.
inline std::size_t parts_on_left(std::size_t parts) {
  return std::bit_floor(parts - 1);
}

/// Goes through the inner nodes of the tree over the parts, children before parents: `join` is given the
/// first part of the left side, whose sum becomes that of both, and the first of the right side.
template <class Join>
void join_parts(PartRange parts, const Join& join) {
  if (parts.size() < 2) return;
  const std::size_t middle = parts.begin + parts_on_left(parts.size());
  join_parts({parts.begin, middle}, join);
  join_parts({middle, parts.end}, join);
  join(parts.begin, middle);
}

/// Where each part of `things` things begins, and their number behind that. A subtree is cut as if it were
/// all.
inline std::vector<std::size_t> cut_into_parts(std::size_t things, std::size_t parts) {
  std::vector<std::size_t> begins(parts + 1);
  begins[parts] = things;
  const std::function<void(PartRange)> cut = [&](PartRange range) {
    if (range.size() < 2) return;
    const std::size_t left = parts_on_left(range.size());
    const std::size_t count = begins[range.end] - begins[range.begin];
    begins[range.begin + left] = begins[range.begin] + count * left / range.size();
    cut({range.begin, range.begin + left});
    cut({range.begin + left, range.end});
  };
  cut({0, parts});
  return begins;
}

/// The largest whole subtrees of the tree over `parts` parts that the range consists of, in order.
inline std::vector<PartRange> whole_subtrees(std::size_t parts, PartRange range) {
  std::vector<PartRange> found;
  const std::function<void(PartRange)> look = [&](PartRange subtree) {
    if (subtree.end <= range.begin || range.end <= subtree.begin || subtree.size() == 0) return;
    if (range.begin <= subtree.begin && subtree.end <= range.end) return found.push_back(subtree);
    const std::size_t middle = subtree.begin + parts_on_left(subtree.size());
    look({subtree.begin, middle});
    look({middle, subtree.end});
  };
  look({0, parts});
  return found;
}

/// The parts of one of `owners` owners, who have consecutive ones.
inline PartRange parts_of(std::size_t owner, std::size_t owners, std::size_t parts) {
  return {parts * owner / owners, parts * (owner + 1) / owners};
}

/// The same where of each `group` consecutive owners only the first has any.
inline PartRange owned_parts(std::size_t owner, std::size_t owners, std::size_t group, std::size_t parts) {
  return owner % group == 0 ? parts_of(owner / group, owners / group, parts) : PartRange();
}

}  // namespace hiaton
