// The chain of calls as frames tell it, whatever a machine calls a frame.
#pragma once

#include "exec/fault.h"

namespace hiaton::exec {

/// The calls around a frame, read off the frames, each of which knows the one around it. `Position` is a
/// pointer to a frame, or what else it takes to find the next one; it is cheap to copy. Constructors of
/// derived classes call rewind().
template <class Position>
class FrameChain : public CallChain {
 public:
  void rewind() override {
    at_ = start_;
    skip_parts();
  }
  void go_outward() override {
    at_ = around(at_);
    skip_parts();
  }

 protected:
  explicit FrameChain(Position start) : start_(start), at_(start) {}

  /// Gives the frame around this one.
  virtual Position around(const Position& frame) const = 0;
  /// Whether the frame is but a part of the call that the frame around it stands for: an iteration, or an
  /// outlined task.
  virtual bool is_part(const Position& /*frame*/) const { return false; }
  /// The frame whose call the chain stands at.
  const Position& at() const { return at_; }

 private:
  void skip_parts() {
    while (is_part(at_)) at_ = around(at_);
  }

  Position start_;
  Position at_;
};

}  // namespace hiaton::exec
