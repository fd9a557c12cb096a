// Tags as the papers have them: immutable lists `i : t` of call-site labels and iteration numbers.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "hiaton/graph.h"
#include "hiaton/value.h"
#include "tensor/memory.h"

namespace hiaton::exec {

class TagTable;

/// The `i` of `i : t`: the label of a call site, or an iteration number with the loop that it counts.
struct TagLabel {
  graph::CallSite site{};  ///< valid for calls
  graph::LoopId loop{};    ///< valid for iterations
  uint64_t iteration = 0;

  bool is_iteration_of(graph::LoopId of) const { return of.valid() && loop == of; }
  friend bool operator==(const TagLabel&, const TagLabel&) = default;
};

/// One element of the shared lists. Equal lists are one object.
struct TagCell {
  TagTable* table;
  const TagCell* outer;  ///< the tail of the list; null for the empty tag
  TagLabel label;
  mutable uint64_t references = 0;  ///< handles, and cells whose tail this is
  /// The arguments of a call that have come, for the chain of calls in messages.
  mutable std::vector<std::optional<Value>> arguments{};
};

/// A handle on a tag, which lives as long as a handle on it or on a tag that ends in it. Comparing handles
/// compares tags. The default one is the empty tag.
class Tag {
 public:
  Tag() = default;
  explicit Tag(const TagCell* cell) : cell_(cell) { acquire(); }
  Tag(const Tag& other) : cell_(other.cell_) { acquire(); }
  Tag(Tag&& other) noexcept : cell_(std::exchange(other.cell_, nullptr)) {}
  Tag& operator=(Tag other) noexcept {
    std::swap(cell_, other.cell_);
    return *this;
  }
  ~Tag() { release(); }

  bool empty() const { return cell_ == nullptr; }
  const TagCell* cell() const { return cell_; }
  /// The first element; the tag is not empty.
  const TagLabel& label() const { return cell_->label; }
  Tag outer() const { return Tag(cell_->outer); }
  bool is_call_from(graph::CallSite site) const { return !empty() && cell_->label.site == site; }
  bool is_iteration_of(graph::LoopId loop) const { return !empty() && cell_->label.is_iteration_of(loop); }

  friend bool operator==(const Tag& a, const Tag& b) { return a.cell_ == b.cell_; }

 private:
  void acquire() {
    if (cell_ != nullptr) ++cell_->references;
  }
  void release();

  const TagCell* cell_ = nullptr;
};

/// Its elements as numbers, innermost first.
std::vector<uint64_t> elements(const Tag& tag);

/// All tags that are alive. It outlives every handle.
class TagTable {
 public:
  /// `label : outer`. `made`, if given, says whether the tag was not alive before.
  Tag push(const Tag& outer, const TagLabel& label, bool* made = nullptr);

  /// The same, where it is alive.
  std::optional<Tag> find(const Tag& outer, const TagLabel& label);

  std::size_t alive() const { return cells_.size(); }
  uint64_t ever_made() const { return ever_made_; }
  uint64_t bytes() const { return table_bytes(cells_) + ended_iterations_.capacity() * sizeof(Iteration); }

  /// An iteration of a loop that was entered under a tag.
  struct Iteration {
    graph::LoopId loop;
    const TagCell* outer;
  };
  /// The iterations whose tags died since the last time it was asked.
  std::vector<Iteration> take_ended_iterations();
  bool has_ended_iterations() const { return !ended_iterations_.empty(); }

 private:
  friend class Tag;

  struct Hash {
    std::size_t operator()(const TagCell& cell) const;
  };
  struct Equal {
    bool operator()(const TagCell& a, const TagCell& b) const {
      return a.outer == b.outer && a.label == b.label;
    }
  };

  void make_room_for_iteration();
  void drop(const TagCell* cell);

  std::unordered_set<TagCell, Hash, Equal> cells_;
  std::vector<Iteration> ended_iterations_;  ///< has room for the iterations that are alive
  std::size_t iterations_alive_ = 0;
  uint64_t ever_made_ = 0;
};

inline void Tag::release() {
  if (cell_ != nullptr && --cell_->references == 0) cell_->table->drop(cell_);
}

}  // namespace hiaton::exec
