// From the graph to items. Each body by itself:
//   - the value of each node has a slot in the frame, or is a constant, a parameter, or a step of a region
//   - operations in the same scope, on the same level and of the same class (batched or not) are one region
//   - each scope but that of the body has a Side item; what stands in it waits for that item too
//   - a Switch is nothing: its readers read its operand, in its scope
#include <algorithm>
#include <map>
#include <set>

#include "base/check.h"
#include "exec/fault.h"
#include "exec/firing.h"
#include "exec/flow/compile/flow_passes.h"
#include "exec/graph_names.h"

namespace hiaton::exec::flow {
namespace {

class BodyCompiler {
 public:
  BodyCompiler(const graph::Graph& graph, const Structure& structure, graph::FunctionId id,
               std::vector<NodeId> nodes, OverflowMode overflow, BodyTables& tables, Plan& plan)
      : graph_(graph),
        id_(id),
        function_(graph[id]),
        nodes_(std::move(nodes)),
        overflow_(overflow),
        scopes_(graph, structure, id, nodes_, tables.scopes),
        plan_(plan),
        out_(plan.functions[id.index()]),
        slots_(tables.slots),
        steps_(tables.steps),
        producers_(tables.producers) {}

  void run() {
    out_.id = id_;
    side_items_.resize(scopes_.all().size());
    declare_params();
    for (ScopeId scope = 1; scope < scopes_.all().size(); ++scope) {
      side_items_[scope] = add(ItemKind::Side, out_.sides.size());
      out_.sides.emplace_back();
    }
    declare_sites();
    declare_regions();
    declare_merges();
    fill_regions();
    fill_calls();
    fill_joins();
    fill_returns();
    fill_branches();
    list_kept();
    count_items();
    out_.scopes = scopes_.all();
  }

 private:
  struct Group {
    uint32_t item;
    uint32_t region;
    std::vector<NodeId> nodes;
  };
  /// Merges of one branch that are joined together.
  struct MergeGroup {
    ScopeId sides[2];
    std::vector<NodeId> merges;
    uint32_t items[2];
  };

  uint32_t add(ItemKind kind, std::size_t index) {
    out_.items.push_back({.kind = kind, .index = static_cast<uint32_t>(index), .wakes = {}});
    waits_.emplace_back();
    return static_cast<uint32_t>(out_.items.size() - 1);
  }

  uint32_t add_slot(const Type& type, ScopeId scope) {
    out_.slots.push_back(slot_kind(type));
    out_.slot_scopes.push_back(scope);
    out_.slot_types.push_back(type);
    return static_cast<uint32_t>(out_.slots.size() - 1);
  }

  void wait_for(uint32_t item, const ItemWait& wait) {
    std::vector<ItemWait>& waits = waits_[item];
    const auto place = std::ranges::lower_bound(waits, wait);
    if (place != waits.end() && *place == wait) return;
    waits.insert(place, wait);
    ++out_.items[item].waits;
    if (!wait.merges) {
      out_.items[wait.item].wakes.push_back(item);
    } else {
      for (uint32_t join : merge_groups_[*wait.merges].items) out_.items[join].wakes.push_back(item);
    }
  }

  void wait_in_scope(uint32_t item, ScopeId scope) {
    wait_for(item, {scope == kRoot ? out_.param_items[0] : side_items_[scope], std::nullopt});
  }

  void wait_for_value(uint32_t item, OutPort port) {
    const OutPort origin = scopes_.origin(port);
    const ItemWait* const found = producers_.find(origin.node);
    if (found != nullptr && *found != ItemWait{item, std::nullopt}) wait_for(item, *found);
  }

  // Declarations: slots, and what gives each value ----------------------------------------------------------

  void declare_params() {
    std::size_t param = 0;
    const std::size_t phases = std::max<std::size_t>(1, function_.phases.size());
    for (std::size_t phase = 0; phase < phases; ++phase) {
      const uint32_t item = add(ItemKind::Params, phase);
      out_.param_items.push_back(item);
      const std::size_t end =
          function_.phases.empty() ? function_.params.size() : param + function_.phases[phase].params;
      for (; param < end; ++param) {
        const NodeId node = function_.params[param].node;
        const uint32_t slot = add_slot(graph_[node].type, kRoot);
        out_.params.push_back(slot);
        slots_.set(node, slot);
        producers_.set(node, {item, std::nullopt});
      }
    }
  }

  void declare_sites() {
    for (NodeId id : nodes_) {
      const graph::Node& node = graph_[id];
      if (node.kind != NodeKind::Call || sites_.contains(node.site)) continue;
      sites_[node.site] = static_cast<uint32_t>(out_.sites.size());
      Site& site = out_.sites.emplace_back();
      site.site = node.site;
      declare_site_results(site);
    }
  }

  void declare_site_results(Site& site) {
    const graph::Site& from = graph_[site.site];
    const graph::Function& callee = graph_[from.callee];
    const ScopeId scope = scope_of_results(from);
    std::size_t result = 0;
    for (std::size_t phase = 0; phase < std::max<std::size_t>(1, callee.phases.size()); ++phase) {
      SitePhase& part = site.phases.emplace_back();
      const std::size_t count = callee.phases.empty() ? callee.results.size() : callee.phases[phase].results;
      for (const std::size_t end = result + count; result < end && result < from.returns.size(); ++result) {
        const NodeId node = from.returns[result];
        if (!part.returned) part.returned = add(ItemKind::Returned, phase);
        const bool used = !graph_.consumers({node}).empty() || is_result(node);
        part.slots.push_back(used ? std::optional(add_slot(graph_[node].type, scope)) : std::nullopt);
        if (used) slots_.set(node, *part.slots.back());
        producers_.set(node, {*part.returned, std::nullopt});
      }
    }
  }

  /// The outermost in which a phase is called: there its results may come.
  ScopeId scope_of_results(const graph::Site& site) const {
    ScopeId outermost = site.calls.empty() ? kRoot : scopes_.scope_of(site.calls[0]);
    for (NodeId call : site.calls) {
      const ScopeId scope = scopes_.scope_of(call);
      if (scopes_.all()[scope].depth < scopes_.all()[outermost].depth) outermost = scope;
    }
    return outermost;
  }

  bool is_result(NodeId node) const {
    return std::find(function_.results.begin(), function_.results.end(), OutPort{node}) !=
           function_.results.end();
  }

  void declare_regions() {
    std::map<std::tuple<ScopeId, uint32_t, bool>, std::size_t> group_at;
    for (NodeId id : nodes_) {
      const NodeKind kind = graph_[id].kind;
      if (kind != NodeKind::Op && kind != NodeKind::Accumulate) continue;
      const bool batched = scopes_.is_batched(id);
      const auto [entry, first] =
          group_at.try_emplace({scopes_.scope_of(id), scopes_.level_of(id), batched}, groups_.size());
      if (first) declare_region(id, batched);
      groups_[entry->second].nodes.push_back(id);
      producers_.set(id, {groups_[entry->second].item, std::nullopt});
    }
  }

  void declare_region(NodeId first, bool batched) {
    const auto region = static_cast<uint32_t>(plan_.regions.size());
    const uint32_t item = add(ItemKind::Region, region);
    Region& made = plan_.regions.emplace_back();
    made.function = static_cast<uint32_t>(id_.index());
    made.item = item;
    made.batched = batched;
    made.name = describe(graph_, first);
    groups_.push_back({item, region, {}});
  }

  void declare_merges() {
    std::map<std::tuple<ScopeId, ScopeId, uint32_t>, std::size_t> group_at;
    for (NodeId id : nodes_) {
      const graph::Node& node = graph_[id];
      if (node.kind != NodeKind::Merge || slots_.contains(id)) continue;
      const ScopeId first = *scopes_.scope_of(node.inputs[0]);
      const ScopeId second = *scopes_.scope_of(node.inputs[1]);
      const auto [entry, is_new] =
          group_at.try_emplace({first, second, scopes_.level_of(id)}, merge_groups_.size());
      if (is_new) {
        MergeGroup& group = merge_groups_.emplace_back(MergeGroup{{first, second}, {}, {}});
        for (std::size_t side = 0; side < 2; ++side) {
          const ScopeId scope = group.sides[side];
          group.items[side] = add(ItemKind::Join, out_.joins.size());
          out_.joins.push_back({scope, scopes_.all()[scope].parent, {}});
        }
      }
      merge_groups_[entry->second].merges.push_back(id);
      slots_.set(id, add_slot(node.type, scopes_.scope_of(id)));
      producers_.set(id, {0, entry->second});
    }
  }

  // Sources -----------------------------------------------------------------------------------------------

  Source constant(const Value& value) {
    plan_.constants.push_back(value);
    return {Source::From::Constant, static_cast<uint32_t>(plan_.constants.size() - 1)};
  }

  /// The slot of an operation's result is made when somebody outside its region asks for it.
  Source source(OutPort port) {
    const OutPort origin = scopes_.origin(port);
    const graph::Node& node = graph_[origin.node];
    if (node.kind == NodeKind::Const) {
      if (node.parameter >= 0) return {Source::From::Parameter, static_cast<uint32_t>(node.parameter)};
      return constant(node.constant);
    }
    if (const uint32_t* found = slots_.find(origin.node)) return {Source::From::Slot, *found};
    HIATON_CHECK(node.kind == NodeKind::Op);
    const uint32_t slot = add_slot(node.type, scopes_.scope_of(origin.node));
    slots_.set(origin.node, slot);
    if (const StepPlace* step = steps_.find(origin.node))
      plan_.regions[step->region].steps[step->step].slot = slot;
    return {Source::From::Slot, slot};
  }

  // Regions -----------------------------------------------------------------------------------------------

  /// Operations that may change a tensor in place stand behind those of the group that read it.
  void place_updates(std::vector<NodeId>& nodes) const {
    std::map<OutPort, std::size_t> readers;
    for (const NodeId node : nodes) {
      for (const OutPort input : graph_[node].inputs) ++readers[scopes_.origin(input)];
    }
    for (const NodeId update : std::vector<NodeId>(nodes)) {
      if (graph_[update].kind != NodeKind::Op || !graph_[update].op->may_be_in_place()) continue;
      if (readers[scopes_.origin(graph_[update].inputs[0])] < 2) continue;
      std::set<OutPort> behind{{update}};
      const auto needs_it = [&](NodeId node) {
        return node == update || std::ranges::any_of(graph_[node].inputs, [&](OutPort input) {
                 return behind.contains(scopes_.origin(input));
               });
      };
      const auto begin = std::ranges::find(nodes, update);
      std::vector<NodeId> needing;
      std::vector<NodeId> others;
      for (const NodeId node : std::span(begin, nodes.end())) {
        const bool needs = needs_it(node);
        if (needs) behind.insert({node});
        (needs ? needing : others).push_back(node);
      }
      std::ranges::copy(needing, std::ranges::copy(others, begin).out);
    }
  }

  void fill_regions() {
    for (Group& group : groups_) {
      place_updates(group.nodes);
      Region& region = plan_.regions[group.region];
      for (std::size_t i = 0; i < group.nodes.size(); ++i) {
        steps_.set(group.nodes[i], {group.region, static_cast<uint32_t>(i)});
        region.steps.push_back(step_of(graph_, group.nodes[i], region.batched, overflow_));
      }
    }
    for (const Group& group : groups_) fill_region(group);
  }

  void fill_region(const Group& group) {
    Region& region = plan_.regions[group.region];
    wait_in_scope(group.item, scopes_.scope_of(group.nodes[0]));
    for (Step& step : region.steps) {
      const graph::Node& node = graph_[step.node];
      if (const uint32_t* own = slots_.find(step.node)) step.slot = *own;
      bool shared = node.kind == NodeKind::Op && region.batched;
      for (OutPort input : node.inputs) {
        step.operands.push_back(operand(input, group));
        const Source& from = step.operands.back();
        shared = shared && (from.from == Source::From::Constant || from.from == Source::From::Parameter ||
                            (from.from == Source::From::Step && region.steps[from.index].shared));
        if (from.from == Source::From::Slot) region.inputs.push_back(from.index);
        step.fixed_shapes = step.fixed_shapes && is_fixed(type_of(input));
      }
      step.shared = shared;
      step.fixed_shapes = step.fixed_shapes && is_fixed(node.type);
      region.fixed_shapes = region.fixed_shapes && step.fixed_shapes;
    }
    std::sort(region.inputs.begin(), region.inputs.end());
    region.inputs.erase(std::unique(region.inputs.begin(), region.inputs.end()), region.inputs.end());
  }

  void list_kept() {
    for (const Group& group : groups_) {
      Region& region = plan_.regions[group.region];
      for (uint32_t i = 0; i < region.steps.size(); ++i) {
        const Step& step = region.steps[i];
        if (step.slot) {
          region.kept.push_back(i);
        } else if (step.kind != SlotKind::Scalar) {
          region.held.push_back(i);
        }
      }
    }
  }

  Source operand(OutPort input, const Group& group) {
    const OutPort origin = scopes_.origin(input);
    const StepPlace* const step = steps_.find(origin.node);
    if (step != nullptr && step->region == group.region) return {Source::From::Step, step->step};
    wait_for_value(group.item, input);
    return source(input);
  }

  const Type& type_of(OutPort port) const { return graph_[scopes_.origin(port).node].type; }

  // Calls, joins, returns, branches -------------------------------------------------------------------------

  void fill_calls() {
    for (const auto& [site, index] : sites_) {
      std::optional<uint32_t> before;
      std::size_t param = 0;
      const graph::Site& from = graph_[site];
      const graph::Function& callee = graph_[from.callee];
      for (std::size_t phase = 0; phase < std::max<std::size_t>(1, callee.phases.size()); ++phase) {
        const std::size_t count = callee.phases.empty() ? callee.params.size() : callee.phases[phase].params;
        const std::size_t end = std::min(param + count, from.calls.size());
        if (param == end) break;
        const uint32_t item = add(ItemKind::Call, out_.calls.size());
        Call call{.site = index,
                  .phase = static_cast<uint32_t>(phase),
                  .callee = static_cast<uint32_t>(from.callee.index()),
                  .arguments = {},
                  .params = static_cast<uint32_t>(phase)};
        for (; param < end; ++param) {
          const NodeId node = from.calls[param];
          const ScopeId scope = scopes_.scope_of(node);
          const bool is_deeper = scopes_.all()[scope].depth > scopes_.all()[call.scope].depth;
          if (is_deeper) call.scope = scope;
          wait_in_scope(item, scope);
          wait_for_value(item, graph_[node].inputs[0]);
          call.arguments.push_back({source(graph_[node].inputs[0]), static_cast<uint32_t>(param)});
        }
        if (before) wait_for(item, {*before, std::nullopt});
        before = item;
        out_.calls.push_back(std::move(call));
      }
    }
  }

  void fill_joins() {
    for (const MergeGroup& group : merge_groups_) {
      for (std::size_t side = 0; side < 2; ++side) {
        const uint32_t item = group.items[side];
        wait_in_scope(item, group.sides[side]);
        for (NodeId merge : group.merges) {
          const OutPort from = graph_[merge].inputs[side];
          wait_for_value(item, from);
          out_.joins[out_.items[item].index].moves.push_back({source(from), slots_.at(merge)});
        }
      }
    }
  }

  void fill_returns() {
    std::size_t result = 0;
    for (std::size_t phase = 0; phase < out_.param_items.size(); ++phase) {
      const std::size_t count =
          function_.phases.empty() ? function_.results.size() : function_.phases[phase].results;
      if (count == 0) continue;
      const uint32_t item = add(ItemKind::Return, out_.returns.size());
      Return made{.phase = static_cast<uint32_t>(phase), .scope = kRoot, .results = {}};
      wait_in_scope(item, kRoot);
      for (const std::size_t end = result + count; result < end; ++result) {
        wait_for_value(item, function_.results[result]);
        made.results.push_back(source(function_.results[result]));
      }
      out_.returns.push_back(std::move(made));
    }
  }

  void fill_branches() {
    std::map<std::pair<ScopeId, OutPort>, uint32_t> by_predicate;
    for (ScopeId scope = 1; scope < scopes_.all().size(); ++scope) {
      const Scope& side = scopes_.all()[scope];
      const auto [entry, first] = by_predicate.try_emplace({side.parent, side.predicate}, 0);
      if (first) {
        entry->second = static_cast<uint32_t>(out_.branches.size());
        const uint32_t item = add(ItemKind::Branch, out_.branches.size());
        branch_scopes_[item] = side.parent;
        wait_in_scope(item, side.parent);
        wait_for_value(item, side.predicate);
        out_.branches.push_back({.predicate = source(side.predicate), .sides = {}});
      }
      out_.branches[entry->second].sides[side.side ? 0 : 1] = side_items_[scope];
    }
  }

  /// How many items fire when a scope is entered.
  void count_items() {
    const auto count = [&](ScopeId scope) {
      if (scope == kRoot) {
        ++out_.root_items;
      } else {
        ++out_.sides[out_.items[side_items_[scope]].index].items;
      }
    };
    for (const Group& group : groups_) count(scopes_.scope_of(group.nodes[0]));
    for (const auto& [item, scope] : branch_scopes_) count(scope);
    for (const Call& call : out_.calls) count(call.scope);
    for (const MergeGroup& group : merge_groups_) {
      for (ScopeId side : group.sides) count(side);
    }
    out_.root_items += static_cast<uint32_t>(out_.returns.size() + out_.param_items.size() - 1);
  }

  const graph::Graph& graph_;
  const graph::FunctionId id_;
  const graph::Function& function_;
  const std::vector<NodeId> nodes_;
  const OverflowMode overflow_;
  const Scopes scopes_;
  Plan& plan_;
  Function& out_;
  NodeTable<uint32_t>& slots_;
  NodeTable<StepPlace>& steps_;
  NodeTable<ItemWait>& producers_;
  std::vector<std::vector<ItemWait>> waits_;  ///< by item, in order
  std::vector<uint32_t> side_items_;          ///< by scope
  std::map<graph::CallSite, uint32_t> sites_;
  std::map<uint32_t, ScopeId> branch_scopes_;
  std::vector<Group> groups_;
  std::vector<MergeGroup> merge_groups_;
};

}  // namespace

void compile_body(const graph::Graph& graph, const Structure& structure, graph::FunctionId id,
                  std::vector<NodeId> nodes, OverflowMode overflow, BodyTables& tables, Plan& plan) {
  BodyCompiler(graph, structure, id, std::move(nodes), overflow, tables, plan).run();
}

}  // namespace hiaton::exec::flow
