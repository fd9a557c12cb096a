// What training draws beside its runs: steps, and in them what is not the model's work.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "hiaton/trace.h"

namespace hiaton::train {

class Timeline {
 public:
  /// Null: nothing is drawn.
  explicit Timeline(Trace* trace) : trace_(trace) {
    if (trace_ != nullptr) track_ = &trace_->track("training");
  }

  /// Ends with this object.
  class Slice {
   public:
    explicit Slice(Trace::Track* track) : track_(track) {}
    Slice(const Slice&) = delete;
    Slice& operator=(const Slice&) = delete;
    ~Slice() {
      if (track_ != nullptr) track_->end();
    }

   private:
    Trace::Track* track_;
  };

  Slice slice(const std::string& name) {
    if (track_ != nullptr) track_->begin(trace_->kind({name, "training"}));
    return Slice(track_);
  }

  Slice step(uint64_t step, std::size_t trees) {
    if (track_ != nullptr) {
      const Trace::Kind kind{"step", "training", {{"trees", DType::I64}, {"step", DType::I64}}, 1};
      Slot* fields = track_->begin(trace_->kind(kind));
      fields[0].i64 = static_cast<int64_t>(trees);
      fields[1].i64 = static_cast<int64_t>(step);
    }
    return Slice(track_);
  }

 private:
  Trace* trace_;
  Trace::Track* track_ = nullptr;
};

}  // namespace hiaton::train
