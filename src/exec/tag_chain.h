// The chain of calls of a tag.
#pragma once

#include <optional>
#include <vector>

#include "exec/fault.h"
#include "exec/graph_names.h"
#include "exec/tag.h"

namespace hiaton::exec {

/// The chain of calls that the labels of a tag name: the tag is the stack trace.
class TagChain : public CallChain {
 public:
  explicit TagChain(const Tag& tag) : start_(tag.cell()) { TagChain::rewind(); }

  void rewind() override {
    at_ = start_;
    skip_iterations();
  }
  bool at_call() const override { return at_ != nullptr; }
  void go_outward() override {
    at_ = at_->outer;
    skip_iterations();
  }
  CallSite site() const override { return at_->label.site; }
  std::vector<std::optional<Value>> arguments() const override { return at_->arguments; }

 protected:
  /// The label of the call that the chain stands at; what follows outward are the calls around it.
  const TagCell* at() const { return at_; }

 private:
  void skip_iterations() {
    while (at_ != nullptr && !at_->label.site.valid()) at_ = at_->outer;
  }

  const TagCell* start_;
  const TagCell* at_;
};

}  // namespace hiaton::exec
