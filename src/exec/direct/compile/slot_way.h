// What stands in which slot on a way through a body: what verify_slots() follows in place of values.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <iterator>
#include <unordered_map>
#include <utility>
#include <vector>

#include "exec/direct/compile/assign_slots.h"
#include "exec/direct/compile/held_constants.h"
#include "exec/direct/compile/schedule.h"
#include "hiaton/error.h"

namespace hiaton::exec::direct {

/// What stands in the slots, on one way. A slot holds several values where they are the same one: in a
/// window, a loop variable and its next value of the iteration before.
class SlotContents {
 public:
  struct Held {
    uint32_t slot;
    graph::NodeId value;
    friend auto operator<=>(const Held&, const Held&) = default;
  };

  void put(uint32_t slot, graph::NodeId value) {
    overwrite(slot);
    put_same(slot, value);
  }
  void put_same(uint32_t slot, graph::NodeId value) {
    const Held held{slot, value};
    const auto place = std::lower_bound(held_.begin(), held_.end(), held);
    if (place == held_.end() || *place != held) held_.insert(place, held);
  }
  void overwrite(uint32_t slot) {
    const auto first = first_at(slot);
    held_.erase(first,
                std::find_if(first, held_.cend(), [&](const Held& held) { return held.slot != slot; }));
  }
  bool has(uint32_t slot, graph::NodeId value) const {
    return std::binary_search(held_.begin(), held_.end(), Held{slot, value});
  }
  /// From here on there is what both ways have.
  void meet(const SlotContents& other) {
    std::vector<Held> both;
    std::set_intersection(held_.begin(), held_.end(), other.held_.begin(), other.held_.end(),
                          std::back_inserter(both));
    held_ = std::move(both);
  }
  /// What only one way has put somewhere is there, or anything, where the other one was gone.
  void join(const SlotContents& other) {
    const SlotContents before = *this;
    for (const Held& held : other.held_) {
      const auto found = before.first_at(held.slot);
      if (found == before.held_.end() || found->slot != held.slot) put_same(held.slot, held.value);
    }
  }
  const std::vector<Held>& held() const { return held_; }

  friend bool operator==(const SlotContents&, const SlotContents&) = default;

 private:
  std::vector<Held>::const_iterator first_at(uint32_t slot) const {
    return std::lower_bound(held_.begin(), held_.end(), slot,
                            [](const Held& held, uint32_t number) { return held.slot < number; });
  }

  std::vector<Held> held_;  ///< by slot, and by value; it is copied for each way
};

/// A way through a body. All functions throw InternalError where a slot is wrong.
class SlotWay {
 protected:
  SlotWay(const Schedule& schedule, const graph::Graph& graph, const Structure& structure,
          const ScheduledBody& body)
      : schedule_(schedule), graph_(graph), structure_(structure), body_(body) {}

  using SlotMap = std::unordered_map<graph::NodeId, uint32_t>;

  template <class... Args>
  void expect(bool holds, fmt::format_string<Args...> found, Args&&... args) const {
    if (holds) return;
    throw InternalError(fmt::format(
        "slots of {} ({}{}): {}", graph_[body_.function].name, body_.forking ? "forking" : "sequential",
        body_.to_hole ? ", to a hole" : "", fmt::format(found, std::forward<Args>(args)...)));
  }
  graph::NodeId origin(graph::OutPort port) const { return structure_.origin(port); }
  bool is_known(graph::OutPort port) const { return direct::is_known(graph_[origin(port)]); }

  void begin(const BodySlots& slots) {
    slots_ = &slots;
    in_ = {};
    slot_of_.clear();
    for (std::size_t n = 0; n < graph_.nodes().size() && !slots.loaded.empty(); ++n) {
      const graph::Node& node = graph_.nodes()[n];
      const bool is_loaded =
          node.function == body_.function && node.kind == graph::NodeKind::Const && node.parameter >= 0;
      if (!is_loaded) continue;
      slot_of_[graph::NodeId(n)] = slots.loaded.at(node.parameter);
      in_.put_same(slot_of_[graph::NodeId(n)], graph::NodeId(n));
    }
  }
  uint32_t checked(uint32_t slot) const {
    expect(slot < slots_->count, "slot {} is not of the frame, which has {}", slot, slots_->count);
    expect(slot != slots_->hole && slot != slots_->join, "slot {} is not for values", slot);
    return slot;
  }
  void put(graph::NodeId value, uint32_t slot) {
    slot_of_[value] = checked(slot);
    in_.put(slot, value);
  }
  void define(graph::NodeId value) { put(value, reader_.next_value()); }
  /// Something that is no value of the graph is put into the next temporary.
  uint32_t overwrite() {
    const uint32_t slot = checked(reader_.next_temporary());
    in_.overwrite(slot);
    return slot;
  }
  /// An instruction reads the operand, unless it is a constant.
  void read(graph::NodeId value) const {
    if (direct::is_known(graph_[value])) return;
    const auto slot = slot_of_.find(value);
    expect(slot != slot_of_.end(), "reads %{}, which has no slot", value.index());
    expect(in_.has(slot->second, value), "reads %{} from slot {}, which holds something else", value.index(),
           slot->second);
  }
  void read(graph::OutPort port) const { read(origin(port)); }
  void read_all(const graph::OutPorts& ports) const {
    for (graph::OutPort port : ports) read(port);
  }
  void read_all(const std::vector<graph::NodeId>& values) const {
    for (graph::NodeId value : values) read(value);
  }
  /// A constant that no instruction holds is put into a slot.
  void put_constant(graph::OutPort port) {
    if (is_known(port)) overwrite();
  }
  /// The same for the fields of a new value, and for the arguments of a call.
  void put_fields(const graph::Node& make) {
    const std::optional<std::size_t> held = held_field(graph_, structure_, make);
    for (std::size_t i = 0; i < make.inputs.size(); ++i) {
      if (i != held) put_constant(make.inputs[i]);
    }
  }

  void put_arguments(const ScheduledCall& call) {
    const std::vector<bool> held = held_arguments(graph_, structure_, call);
    for (std::size_t i = 0; i < held.size(); ++i) {
      if (!call.arguments[i].sum.valid() && !held[i]) put_constant(call.arguments[i].port);
    }
  }
  void read_arguments(const ScheduledCall& call) const {
    for (const PassedValue& passed : call.arguments) read(passed.port);
  }
  std::size_t result_count(const ScheduledCall& call) const {
    return results_of(schedule_, graph_, call).size();
  }
  void put_results(const ScheduledCall& call, uint32_t first) {
    for (graph::NodeId result : results_of(schedule_, graph_, call)) put(result, first++);
  }

  const Schedule& schedule_;
  const graph::Graph& graph_;
  const Structure& structure_;
  const ScheduledBody& body_;
  SlotContents in_;
  SlotMap slot_of_;
  SlotReader reader_;  ///< reads the slots of the statement that is followed

 private:
  const BodySlots* slots_ = nullptr;
};

}  // namespace hiaton::exec::direct
