// The chain of calls of a tag.
#pragma once

#include <optional>
#include <vector>

#include "exec/frame_chain.h"
#include "exec/graph_names.h"
#include "exec/tag.h"

namespace hiaton::exec {

/// The chain of calls that the labels of a tag name: the tag is the stack trace.
class TagChain : public FrameChain<const TagCell*> {
 public:
  explicit TagChain(const Tag& tag) : FrameChain(tag.cell()) { TagChain::rewind(); }

  bool at_call() const override { return at() != nullptr; }
  CallSite site() const override { return at()->label.site; }
  std::vector<std::optional<Value>> arguments() const override { return at()->arguments; }

 protected:
  const TagCell* around(const TagCell* const& cell) const override { return cell->outer; }
  bool is_part(const TagCell* const& cell) const override {
    return cell != nullptr && !cell->label.site.valid();
  }
};

}  // namespace hiaton::exec
