// Frames that wait for a batch.
#pragma once

#include <unordered_map>
#include <vector>

#include "exec/flow/run/flow_frame.h"

namespace hiaton::exec::flow {

/// Frames in which one region is ready. Frames that one batch of another region ran, Region::order, go on
/// together and in its order: their tensors are contiguous then, and need not be gathered. So the
/// backward path runs the batches of the forward path again, the last one first.
class Waiting {
 public:
  void push(Frame* frame) { fresh_.push_back(frame); }
  /// Frames that came since the last take().
  std::size_t fresh() const { return fresh_.size(); }
  std::size_t size() const { return fresh_.size() + held_; }
  /// Gives the frames to run now, perhaps none: a frame stays while others of its batch are to come.
  void take(const Region& region, const FrameLayout& layout, std::vector<Frame*>& now);
  /// Gives all frames: no others can come before some have run.
  void take_all(std::vector<Frame*>& all);
  void clear();
  /// How much memory it holds.
  std::size_t bytes() const {
    return fresh_.capacity() * sizeof(Frame*) + groups_.capacity() * sizeof(Group) + group_bytes_;
  }

 private:
  /// What one batch ran.
  struct Group {
    std::vector<Frame*> frames;  ///< by instance; null: to come
    std::size_t to_come;
  };

  /// Puts the frame with its group, and all of the group into `complete` where it was the last.
  void hold(Frame* frame, const Cell& cell, std::vector<Frame*>& complete);

  std::vector<Frame*> fresh_;
  std::vector<Group> groups_;  ///< in the order in which their first frames came; without frames: all ran
  std::unordered_map<const TensorObject*, std::size_t> group_of_;  ///< by block: groups that are not complete
  std::size_t held_ = 0;
  std::size_t group_bytes_ = 0;  ///< the memory of the frames of groups
};

}  // namespace hiaton::exec::flow
