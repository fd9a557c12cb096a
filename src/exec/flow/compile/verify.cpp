// What the passes promise, checked on a plan that is complete.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "exec/flow/compile/flow_passes.h"
#include "hiaton/error.h"

namespace hiaton::exec::flow {
namespace {

using Items = std::vector<uint32_t>;

class Verifier {
 public:
  Verifier(const graph::Graph& graph, const Plan& plan, const Function& function)
      : graph_(graph), plan_(plan), function_(function), live_(function.items.size()) {}

  void run() {
    for (const Item& item : function_.items) check_wakes(item);
    live_ = items_that_can_fire(function_);
    check_waits();
    for (uint32_t i = 0; i < function_.items.size(); ++i) {
      if (live_[i]) check_item(i);
    }
    check_counters();
    check_priorities();
    check_positions();
  }

 private:
  std::string place() const { return fmt::format("{}, item {}", graph_[function_.id].name, item_); }

  void expect(bool holds, std::string_view expected) const {
    if (!holds) throw InternalError(fmt::format("flow plan of {}: expected {}", place(), expected));
  }
  void expect_equal(uint64_t found, uint64_t expected, std::string_view what) const {
    if (found == expected) return;
    throw InternalError(
        fmt::format("flow plan of {}: expected {} {}, found {}", place(), expected, what, found));
  }
  /// `index` is that of one of `all`.
  template <class T>
  const T& at(const std::vector<T>& all, uint64_t index, std::string_view what) const {
    if (index < all.size()) return all[index];
    throw InternalError(fmt::format("flow plan of {}: expected one of {} {}, found number {}", place(),
                                    all.size(), what, index));
  }

  // Dependencies --------------------------------------------------------------------------------------------

  void check_wakes(const Item& item) {
    item_ = static_cast<uint32_t>(&item - function_.items.data());
    const std::set<uint32_t> woken(item.wakes.begin(), item.wakes.end());
    expect_equal(woken.size(), item.wakes.size(), "different items that it wakes");
    for (uint32_t reader : item.wakes) at(function_.items, reader, "items");
  }

  /// The two ends of a branch count as one, since only one of them fires.
  void check_waits() {
    std::vector<std::set<std::pair<bool, uint32_t>>> waited(function_.items.size());
    for (uint32_t i = 0; i < function_.items.size(); ++i) {
      const Item& item = function_.items[i];
      const bool is_end = item.kind == ItemKind::Join;
      for (uint32_t reader : item.wakes) waited[reader].emplace(is_end, is_end ? item.index / 2 : i);
    }
    for (item_ = 0; item_ < function_.items.size(); ++item_) {
      if (live_[item_])
        expect_equal(function_.items[item_].waits, waited[item_].size(), "items that it waits for");
    }
  }

  void check_counters() {
    std::set<uint16_t> taken;
    for (item_ = 0; item_ < function_.items.size(); ++item_) {
      const Item& item = function_.items[item_];
      expect((item.counter != kNoCounter) == (item.waits > 1),
             "a counter just where it waits for several items");
      expect(item.counter == kNoCounter || taken.insert(item.counter).second, "a counter of its own");
    }
  }

  // Items ---------------------------------------------------------------------------------------------------

  void check_item(uint32_t index) {
    item_ = index;
    const Item& item = function_.items[index];
    switch (item.kind) {
      case ItemKind::Params:
        expect_equal(at(function_.param_items, item.index, "phases"), index, "as the item of its phase");
        break;
      case ItemKind::Returned:
        break;
      case ItemKind::Side:
        at(function_.sides, item.index, "sides");
        break;
      case ItemKind::Region:
        check(at(plan_.regions, item.index, "regions"));
        break;
      case ItemKind::Branch:
        check(at(function_.branches, item.index, "branches"));
        break;
      case ItemKind::Call:
        check(at(function_.calls, item.index, "calls"));
        break;
      case ItemKind::Join:
        for (const Move& move : at(function_.joins, item.index, "joins").moves) check(move, function_);
        break;
      case ItemKind::Return:
        for (const Source& source : at(function_.returns, item.index, "returns").results) check(source);
        break;
    }
    const std::set<uint32_t> read = slots_read(item);
    for (uint32_t slot : item.releases) {
      expect(at(function_.slots, slot, "slots") == SlotKind::Tensor && read.contains(slot),
             "that it lets go of tensors that it reads");
    }
  }

  void check(const Source& source) const {
    expect(!source.last || source.from == Source::From::Slot, "that it takes nothing but slots");
    expect(source.from != Source::From::Step, "values from outside of regions");
    if (source.from == Source::From::Slot) at(function_.slots, source.index, "slots");
    if (source.from == Source::From::Constant) at(plan_.constants, source.index, "constants");
    if (source.from == Source::From::Parameter) at(graph_.parameters(), source.index, "parameters");
  }

  void check(const Move& move, const Function& to) const {
    check(move.from);
    at(to.slots, move.to, "slots that it moves to");
  }

  void check(const Branch& branch) const {
    check(branch.predicate);
    for (const std::optional<uint32_t>& side : branch.sides) {
      if (side) expect(at(function_.items, *side, "items").kind == ItemKind::Side, "sides of a branch");
    }
  }

  void check(const Call& call) const {
    const Function& callee = at(plan_.functions, call.callee, "functions");
    const Site& site = at(function_.sites, call.site, "call sites");
    expect(call.forwarded == 0 || (call.phase == 0 && site.phases.size() == 1 &&
                                   function_.param_items.size() == 1 && function_.id != graph_.main()),
           "tail calls between functions of one phase only, and none in the program");
    const bool may_be_given = call.forwarded == 0 && call.phase == 0 && !call.is_direct;
    expect(call.worth == Worth::Nothing || may_be_given,
           "no worth of a tail call, a direct call or a later phase");
    for (const SitePhase& phase : site.phases) {
      if (phase.returned)
        expect(at(function_.items, *phase.returned, "items").kind == ItemKind::Returned,
               "results of a phase");
      for (const std::optional<uint32_t>& slot : phase.slots) {
        if (slot) at(function_.slots, *slot, "slots of results");
      }
    }
    if (call.is_direct) {
      expect(callee.items.empty(), "a direct callee without items");
      for (const Move& move : call.arguments) check(move.from);
      return;
    }
    for (const Move& move : call.arguments) check(move, callee);
    expect(at(callee.items, call.params, "items of the callee").kind == ItemKind::Params,
           "arguments of a phase");
  }

  // Regions -------------------------------------------------------------------------------------------------

  void check(const Region& region) const {
    expect(&plan_.functions[region.function] == &function_ && region.item == item_, "a region of this item");
    std::set<uint32_t> inputs, gathered;
    for (uint32_t i = 0; i < region.steps.size(); ++i) {
      const Step& step = region.steps[i];
      for (const Source& operand : step.operands) {
        expect(!operand.last || (step.code == Step::Code::Make && reads_no_more(region, i, operand.index)),
               "that only steps that make data values take what no step reads behind them");
        if (operand.from == Source::From::Step) {
          expect(operand.index < i, "steps that read earlier ones");
        } else {
          check(operand);
        }
        if (operand.from == Source::From::Slot) inputs.insert(operand.index);
      }
      if (step.takes) {
        expect(step.operands[0].from == Source::From::Slot && step.slot, "a kept result in place of a slot");
        expect(reads_no_more(region, i, step.operands[0].index),
               "a slot that no step reads behind the one that takes it");
      }
      check(region, i);
      for (const Gather& input : step.gathers) {
        expect(gathered.insert(input.slot).second, "inputs that are gathered once");
        if (input.buffer) at(region.buffers, *input.buffer, "buffers");
      }
    }
    expect(std::ranges::equal(region.inputs, inputs), "the slots that its steps read as inputs, in order");
    expect(std::includes(inputs.begin(), inputs.end(), gathered.begin(), gathered.end()), "gathered inputs");
    expect(!region.batched || gathered == inputs, "inputs that are all gathered");
    expect(region.chunk > 0, "chunks of some frames");
    expect(!region.order || inputs.contains(*region.order), "an order by one of its inputs");
  }

  /// Whether the slot is none of the operands of the steps behind this one.
  static bool reads_no_more(const Region& region, uint32_t step, uint32_t slot) {
    return std::ranges::none_of(std::span(region.steps).subspan(step + 1), [&](const Step& later) {
      return std::ranges::any_of(later.operands, [&](const Source& operand) {
        return operand.from == Source::From::Slot && operand.index == slot;
      });
    });
  }

  void check(const Region& region, uint32_t index) const {
    const Step& step = region.steps[index];
    expect(step.together >= 1 && index + step.together <= region.steps.size(),
           "steps that run together in the region");
    expect(!step.row || (*step.row < region.steps.size() && region.steps[*step.row].code == Step::Code::Row),
           "a row that a result is a part of");
    expect(!step.buffer || !step.slot, "no buffer for what frames keep");
    if (step.buffer) at(region.buffers, *step.buffer, "buffers");
    if (step.slot) {
      at(function_.slots, *step.slot, "slots");
      expect(std::ranges::find(region.kept, index) != region.kept.end(),
             "that the results of steps are kept");
    }
    expect(!step.is_result || (function_.id == graph_.main() && region.batched && step.slot),
           "results in batches of the program");
  }

  /// What makes a region ready within its function has a priority that is not larger.
  void check_priorities() {
    for (uint32_t first = 0; first < function_.items.size(); ++first) {
      if (function_.items[first].kind != ItemKind::Region || !live_[first]) continue;
      const uint32_t before = plan_.regions[function_.items[first].index].priority;
      std::vector<bool> seen(function_.items.size());
      for (Items open{first}; !open.empty();) {
        item_ = open.back();
        open.pop_back();
        if (seen[item_]) continue;
        seen[item_] = true;
        const Item& item = function_.items[item_];
        if (item.kind == ItemKind::Region)
          expect(plan_.regions[item.index].priority >= before,
                 "a priority not before that of what it waits for");
        open.insert(open.end(), item.wakes.begin(), item.wakes.end());
      }
    }
  }

  // Slots ---------------------------------------------------------------------------------------------------

  std::set<uint32_t> slots_read(const Item& item) const {
    std::set<uint32_t> slots;
    const auto add = [&](const Source& source) {
      if (source.from == Source::From::Slot) slots.insert(source.index);
    };
    if (item.kind == ItemKind::Region) {
      const std::vector<uint32_t>& inputs = plan_.regions[item.index].inputs;
      slots.insert(inputs.begin(), inputs.end());
    }
    if (item.kind == ItemKind::Branch) add(function_.branches[item.index].predicate);
    if (item.kind == ItemKind::Call)
      for (const Move& move : function_.calls[item.index].arguments) add(move.from);
    if (item.kind == ItemKind::Join)
      for (const Move& move : function_.joins[item.index].moves) add(move.from);
    if (item.kind == ItemKind::Return)
      for (const Source& source : function_.returns[item.index].results) add(source);
    return slots;
  }

  /// Whether a frame that enters one of them may enter the other.
  bool may_meet(ScopeId a, ScopeId b) const {
    const auto outer = [&](ScopeId& scope) { scope = function_.scopes[scope].parent; };
    while (a != b) {
      const Scope& x = function_.scopes[a];
      const Scope& y = function_.scopes[b];
      if (x.depth == y.depth && x.parent == y.parent && x.predicate == y.predicate) return false;
      const bool both = x.depth == y.depth;
      if (both || x.depth > y.depth) outer(a);
      if (both || x.depth < y.depth) outer(b);
    }
    return true;
  }

  void check_positions() {
    std::map<std::pair<SlotKind, uint32_t>, Items> by_position;
    for (uint32_t slot = 0; slot < function_.slots.size(); ++slot) {
      const uint32_t position = function_.positions[slot];
      if (position == kNoPosition) continue;
      const auto kind = static_cast<std::size_t>(function_.slots[slot]);
      expect(position < function_.position_counts[kind], "positions inside of the frame");
      Items& others = by_position[{function_.slots[slot], position}];
      for (uint32_t other : others) {
        expect(!may_meet(function_.slot_scopes[slot], function_.slot_scopes[other]),
               "slots with a position of their own, or on different sides of a branch");
      }
      others.push_back(slot);
    }
    for (item_ = 0; item_ < function_.items.size(); ++item_) {
      if (!live_[item_]) continue;
      for (uint32_t slot : slots_read(function_.items[item_]))
        expect(function_.positions[slot] != kNoPosition, "positions for the slots that it reads");
    }
  }

  const graph::Graph& graph_;
  const Plan& plan_;
  const Function& function_;
  std::vector<bool> live_;  ///< by item
  uint32_t item_ = 0;       ///< the item that is checked
};

}  // namespace

void verify(const graph::Graph& graph, const Plan& plan) {
  for (const Function& function : plan.functions) {
    if (!function.items.empty()) Verifier(graph, plan, function).run();
  }
}

}  // namespace hiaton::exec::flow
