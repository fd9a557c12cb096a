// What a way through a body has computed, and which counted values its frame knows: what verify(schedule)
// follows in place of values. See ownership.h and statements.h.
#pragma once

#include <fmt/format.h>

#include <map>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "exec/direct/compile/schedule.h"
#include "hiaton/error.h"

namespace hiaton::exec::direct {

/// The body that is verified, and what it is made of.
struct VerifiedBody {
  const Schedule& schedule;
  const graph::Graph& graph;
  const Structure& structure;
  const Ownership& ownership;
  const ScheduledBody& body;

  /// Throws InternalError, which says what was found, where this does not hold.
  template <class... Args>
  void expect(bool holds, fmt::format_string<Args...> found, Args&&... args) const {
    if (!holds) fail(fmt::format(found, std::forward<Args>(args)...));
  }
  [[noreturn]] void fail(const std::string& found) const;

  bool is_counted(graph::NodeId value) const { return ownership.is_data(value); }
  bool is_constant(graph::NodeId value) const { return graph[value].kind == graph::NodeKind::Const; }
};

/// All functions throw InternalError where the way may not do what they say.
class Way {
  using NodeId = graph::NodeId;
  using OutPort = graph::OutPort;

 public:
  explicit Way(const VerifiedBody& body) : body_(&body) {}

  /// Computes the value. Where it is counted, the frame has a reference of its own or borrows it, from the
  /// holder of `parent` or from one who outlives the frame.
  void define(NodeId value, bool owned = true, NodeId parent = {});
  /// The value is computed anew from here on; whoever had it keeps it.
  void forget(NodeId value);
  /// A loop's variable takes its next value, of which the frame has a reference of its own.
  void give_next_value(NodeId variable);

  void use(NodeId value) const;
  void use(OutPort port) const { use(body_->structure.origin(port)); }
  /// A branch reads what its condition is computed from.
  void look_at(const Condition& condition) const;

  /// Each of the outputs takes a reference along: one that the frame had, or a further one.
  void hand_over(const std::vector<OutPort>& ports, const Handover& handover);
  /// `block`: whose sides are known.
  void drop(const Drop& dropped, BlockId block);
  void drop(const std::vector<Drop>& drops, BlockId block);
  void leave(const std::vector<OutPort>& ports, const Leave& left, BlockId block);
  /// The frame's own reference goes; `how` says it for people.
  void let_go(NodeId value, std::string_view how);
  /// The field becomes the frame's own: the value that it was borrowed from goes.
  void take_over(NodeId field, NodeId from);

  bool owns_nothing() const;
  void expect_nothing_owned() const;
  /// This way and `other` come to the same point: from there on there is what both have.
  void meet(const Way& other, std::string_view where);
  /// What was computed since `before` is not there any more.
  void leave_scope(const Way& before) { computed_ = before.computed_; }
  /// What `other` has computed is there too: or anything, where the way was this one.
  void add_computed(const Way& other) { computed_.insert(other.computed_.begin(), other.computed_.end()); }

 private:
  /// A counted value: one of the frame's own, or one that it borrows.
  struct Known {
    bool owned;
    NodeId parent;
  };

  bool owns(NodeId value) const;
  std::vector<NodeId> owned() const;
  void use_in_branch(NodeId value) const;

  const VerifiedBody* body_;
  std::unordered_set<NodeId> computed_;
  std::map<NodeId, Known> held_;
};

}  // namespace hiaton::exec::direct
