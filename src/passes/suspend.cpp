// suspend. A function computes at once what its result is sure to ask for, and what neither fails nor takes
// long. Anything else becomes a suspension: a data value that says which function computes it, and has what
// that one needs. Where it is asked for, a generated function tells the suspensions apart, calls what
// computes the value, and leaves the value in the suspension.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <set>

#include "base/check.h"
#include "hiaton/passes.h"
#include "passes/call_graph.h"
#include "passes/effects.h"
#include "passes/needs.h"
#include "passes/source_function.h"
#include "passes/suspended_types.h"
#include "passes/value_states.h"

namespace hiaton::passes {
namespace {

using ir::NodeKind;
using Nodes = std::vector<ir::NodeId>;

/// A function, and what the body that is made from its nodes right now knows of its values.
struct Source : SourceFunction {
  Source(const ir::Function& function, ir::FunctionId id)
      : SourceFunction(function, id), values(function.values.size()) {}
  ValueStates values;
};

/// A body that is being made from nodes of a function: its own, or those behind a suspension.
struct Body {
  std::shared_ptr<Source> source;
  FunctionBuilder* f = nullptr;  ///< null: only what must be suspended is found out
  std::size_t depth = 0;         ///< how many branches are around the nodes

  ValueStates& values() const { return source->values; }
};

/// A body behind a suspension, which is still to be made.
struct Delayed {
  std::shared_ptr<Source> source;
  Nodes nodes;
  ir::ValueId result;
  std::vector<std::pair<ir::ValueId, State>> captured;
  FunctionRef function{};
};

class Suspender {
 public:
  Suspender(const ir::Module& module, OverflowMode overflow)
      : module_(module), overflow_(overflow), needs_(module), builder_(module.source) {
    for (const ir::Function& function : module.functions)
      computed_.emplace_back(function.params.size(), true);
  }

  ir::Module run() {
    do {
      changed_ = false;
      for (std::size_t i = 0; i < module_.functions.size(); ++i) look_at(ir::FunctionId(i));
    } while (changed_);
    types_ = std::make_unique<SuspendedTypes>(builder_, fields_);
    for (std::size_t i = 0; i < module_.functions.size(); ++i) declare(ir::FunctionId(i));
    for (std::size_t i = 0; i < module_.functions.size(); ++i) define(ir::FunctionId(i));
    types_->finish();
    ir::Module made = builder_.finish();
    made.entry = functions_[module_.entry.index()].id;
    return made;
  }

 private:
  // --- Functions -----------------------------------------------------------------------------------------

  bool is_entry(ir::FunctionId id) const { return id == module_.entry; }
  State state_of_param(ir::FunctionId id, std::size_t param) const {
    const bool is_computed = computed_[id.index()][param] || needs_.is_strict(id, param) || is_entry(id);
    return is_computed ? State::Computed : State::Suspended;
  }

  Body body_of(ir::FunctionId id) const {
    const ir::Function& function = module_[id];
    Body body{std::make_shared<Source>(function, id)};
    const ir::Block& block = function[function.body];
    for (std::size_t i = 0; i < block.params.size(); ++i)
      body.values().set(block.params[i], state_of_param(id, i));
    return body;
  }

  void look_at(ir::FunctionId id) {
    Body body = body_of(id);
    make_body(body, id);
    finish_delayed();
  }

  void declare(ir::FunctionId id) {
    const ir::Function& function = module_[id];
    std::vector<ir::ValueInfo> params;
    for (std::size_t i = 0; i < function.params.size(); ++i) {
      const Type& type = function.params[i].type;
      if (is_entry(id))
        params.push_back({types_->own(type), function.params[i].name});
      else
        params.push_back({type_of(type, state_of_param(id, i)), function.params[i].name});
    }
    std::vector<Type> results;
    for (const Type& type : function.results)
      results.push_back(is_entry(id) ? types_->own(type) : types_->computed(type));
    functions_.push_back(builder_.declare(function.name, std::move(params), std::move(results)));
    builder_.module()[functions_.back().id].span = function.span;
  }

  void define(ir::FunctionId id) {
    const ir::Function& function = module_[id];
    builder_.define(functions_[id.index()], [&](FunctionBuilder& f) -> Vars {
      Body body = body_of(id);
      body.f = &f;
      const ir::Block& block = function[function.body];
      for (std::size_t i = 0; i < block.params.size(); ++i) {
        Var param = f.param(i);
        if (is_entry(id)) param = types_->from_outside(f, param, function.params[i].type);
        body.values().set(block.params[i], param);
      }
      make_body(body, id);
      std::vector<Var> results;
      for (const ir::ValueId result : block.results) {
        const Var value = var(body, result);
        results.push_back(is_entry(id) ? types_->to_outside(f, value, function[result].type) : value);
      }
      return Vars(results);
    });
    finish_delayed();
  }

  void make_body(Body& body, ir::FunctionId id) {
    const ir::Function& function = module_[id];
    make_nodes(body, body.source->nodes_of(function.body), function[function.body].results);
  }

  void finish_delayed() {
    while (!delayed_.empty()) {
      const Delayed delayed = std::move(delayed_.front());
      delayed_.pop_front();
      Body body{delayed.source};
      body.values().undo_to(0);
      for (const auto& [value, state] : delayed.captured) body.values().set(value, state);
      const ir::ValueId results[] = {delayed.result};
      if (!delayed.function.id.valid()) {
        make_nodes(body, delayed.nodes, results);
        continue;
      }
      builder_.define(delayed.function, [&](FunctionBuilder& f) -> Vars {
        body.f = &f;
        for (std::size_t i = 0; i < delayed.captured.size(); ++i)
          body.values().set(delayed.captured[i].first, f.param(i));
        make_nodes(body, delayed.nodes, results);
        return var(body, delayed.result);
      });
    }
  }

  // --- Nodes ---------------------------------------------------------------------------------------------

  Type type_of(const Type& type, State state) {
    return state == State::Suspended ? types_->suspended(type) : types_->computed(type);
  }

  Var var(Body& body, ir::ValueId value) {
    const Value* const constant = body.source->definitions.constant(value);
    if (constant == nullptr) return body.values().var(value);
    return body.f->constant(*constant, types_->computed(body.source->function[value].type));
  }

  State state(const Body& body, ir::ValueId value) const {
    return body.source->is_constant(value) ? State::Computed : body.values().state(value);
  }

  /// Makes nodes whose results are asked for.
  void make_nodes(Body& body, const Nodes& nodes, std::span<const ir::ValueId> results) {
    const SourceFunction& source = *body.source;
    const std::set<ir::ValueId> needed = needs_.of(source.id, nodes, results);
    if (body.f != nullptr && !nodes.empty()) body.f->set_span(source[nodes.back()].span);
    for (const ir::ValueId value : needed) {
      if (body.values().state(value) == State::Suspended) demand(body, value);
    }
    std::vector<bool> at_once(nodes.size());
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      const ir::Node& node = source[nodes[n]];
      if (node.kind == NodeKind::Const) continue;
      const ir::ValueId result = node.results[0];
      const bool is_needed = needed.contains(result);
      at_once[n] = is_needed || is_cheap(body, nodes[n]);
      body.values().set(result, state_after(source, node, at_once[n], is_needed));
    }
    const std::vector<std::size_t> leaders = find_leaders(body, nodes, needed, at_once);
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      const ir::Node& node = source[nodes[n]];
      if (node.kind == NodeKind::Const) continue;
      // What was moved into a branch is not here.
      if (!at_once[n] && leaders[n] != n) body.values().set(node.results[0], State::Unknown);
      if (at_once[n])
        make_node(body, nodes[n], needed.contains(node.results[0]));
      else if (leaders[n] == n)
        suspend(body, nodes, leaders, n);
    }
  }

  State state_after(const SourceFunction& source, const ir::Node& node, bool at_once, bool is_needed) const {
    if (!at_once) return State::Suspended;
    return !is_needed && reads_suspended_field(source, node) ? State::Suspended : State::Computed;
  }

  bool reads_suspended_field(const SourceFunction& source, const ir::Node& node) const {
    if (node.kind != NodeKind::Op || node.op->role != Role::Field) return false;
    return fields_.is_suspended(source.function[node.operands[0]].type,
                                static_cast<std::size_t>(node.attributes[0]),
                                static_cast<std::size_t>(node.attributes[1]));
  }

  /// Whether it neither fails nor takes longer than to make a suspension of it.
  bool is_cheap(const Body& body, ir::NodeId id) const {
    const ir::Node& node = (*body.source)[id];
    if (node.kind != NodeKind::Op) return false;
    if (node.op->role == Role::Make) return true;
    const auto is_computed = [&](ir::ValueId operand) { return state(body, operand) == State::Computed; };
    if (!std::ranges::all_of(node.operands, is_computed)) return false;
    switch (node.op->role) {
      case Role::Variant:
      case Role::Field:
      case Role::Identity:
      case Role::PassAfter:
        return true;
      case Role::Print:
      case Role::String:
        return false;
      default:
        return !may_fail(body.source->definitions, node, overflow_);
    }
  }

  /// By node: the one whose suspension computes it, where only that one needs it; itself, where it has a
  /// suspension of its own; kNone, where nobody asks for it. Nodes that one side of a branch alone uses are
  /// moved there.
  std::vector<std::size_t> find_leaders(Body& body, const Nodes& nodes, const std::set<ir::ValueId>& needed,
                                        std::vector<bool>& at_once) {
    SourceFunction& source = *body.source;
    std::vector<std::size_t> leaders(nodes.size(), kNone);
    std::map<ir::ValueId, std::set<std::size_t>> users;
    for (std::size_t n = nodes.size(); n-- > 0;) {
      const ir::Node& node = source[nodes[n]];
      if (node.kind == NodeKind::Const) continue;
      const std::set<ir::ValueId> uses = source.uses(nodes[n]);
      const auto used_by = [&](std::size_t user) {
        for (const ir::ValueId value : uses) users[value].insert(user);
      };
      const std::set<std::size_t>& its_users = users[node.results[0]];
      if (its_users.empty() && !needed.contains(node.results[0])) at_once[n] = false;
      if (at_once[n]) {
        used_by(n);
        continue;
      }
      if (its_users.empty()) continue;  // nobody asks for it
      const std::size_t leader = leaders[*its_users.begin()];
      const bool have_one = std::ranges::all_of(its_users, [&](std::size_t user) {
        return !at_once[user] && leaders[user] == leader && asks_for(source, nodes[user], node.results[0]);
      });
      if (have_one) {
        leaders[n] = leader;
        used_by(n);
      } else if (its_users.size() == 1 && move_inside(body, nodes[n], nodes[*its_users.begin()])) {
        used_by(*its_users.begin());
      } else {
        leaders[n] = n;
        used_by(n);
      }
    }
    return leaders;
  }

  /// Whether the value of the user cannot be computed without this one.
  bool asks_for(const SourceFunction& source, ir::NodeId user, ir::ValueId value) const {
    const ir::Node& node = source[user];
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      const bool is_strict = node.kind != NodeKind::Call || needs_.is_strict(node.callee, i);
      if (node.operands[i] == value && is_strict) return true;
    }
    return false;
  }

  /// Where one side of the branch `user` alone uses what the node gives, that is where it belongs.
  static bool move_inside(Body& body, ir::NodeId id, ir::NodeId user) {
    constexpr std::size_t kDeepest = 16;  // branches that are moved must not become a tower
    SourceFunction& source = *body.source;
    if (body.depth >= kDeepest && !source[id].blocks.empty()) return false;
    const ir::ValueId value = source[id].results[0];
    const ir::Node& branch = source[user];
    if (branch.kind != NodeKind::If || branch.operands[0] == value) return false;
    const bool in_first = source.outside[branch.blocks[0].index()].contains(value);
    const bool in_second = source.outside[branch.blocks[1].index()].contains(value);
    if (in_first == in_second) return false;
    const std::size_t side = branch.blocks[in_first ? 0 : 1].index();
    source.extra[side].insert(source.extra[side].begin(), id);
    source.outside[side].erase(value);
    const std::set<ir::ValueId> uses = source.uses(id);
    source.outside[side].insert(uses.begin(), uses.end());
    return true;
  }

  void demand(Body& body, ir::ValueId value) {
    body.values().set(value, State::Computed);
    if (body.f == nullptr) return;
    const Type& type = body.source->function[value].type;
    body.values().set(value, types_->demand(*body.f, body.values().var(value), type));
  }

  /// The value as a parameter or field takes it.
  Var as(Body& body, ir::ValueId value, State wanted) {
    const Var given = var(body, value);
    if (wanted == state(body, value)) return given;
    HIATON_CHECK(wanted == State::Suspended);
    return types_->hold(*body.f, given, body.source->function[value].type);
  }

  void make_node(Body& body, ir::NodeId id, bool is_needed) {
    const ir::Node& node = (*body.source)[id];
    if (body.f != nullptr) body.f->set_span(node.span);
    Var made;
    if (node.kind == NodeKind::Call)
      made = make_call(body, node);
    else if (node.kind == NodeKind::If)
      made = make_branch(body, node);
    else if (node.op->role == Role::Make)
      made = make_data(body, node);
    else if (body.f != nullptr)
      made = make_op(body, node, is_needed);
    if (body.f == nullptr) return;
    const SharedString& name = body.source->function[node.results[0]].name;
    body.values().set(node.results[0], name.empty() ? made : body.f->named(made, name));
  }

  Var make_op(Body& body, const ir::Node& node, bool is_needed) {
    std::vector<Var> operands;
    for (const ir::ValueId operand : node.operands) operands.push_back(as(body, operand, State::Computed));
    const Type& type = body.source->function[node.results[0]].type;
    if (reads_suspended_field(*body.source, node)) {
      const Var field = body.f->op(*node.op, operands, node.attributes);
      return is_needed ? types_->demand(*body.f, field, type) : field;
    }
    const Type declared = types_->computed(type);
    return body.f->op(*node.op, operands, node.attributes, &declared);
  }

  Var make_call(Body& body, const ir::Node& node) {
    std::vector<Var> arguments;
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      const State wanted = state_of_param(node.callee, i);
      if (body.f != nullptr) {
        arguments.push_back(as(body, node.operands[i], wanted));
      } else if (wanted == State::Computed && state(body, node.operands[i]) != State::Computed) {
        computed_[node.callee.index()][i] = false;
        changed_ = true;
      }
    }
    return body.f == nullptr ? Var() : Var(body.f->call(functions_[node.callee.index()], arguments));
  }

  Var make_data(Body& body, const ir::Node& node) {
    const Type& type = body.source->function[node.results[0]].type;
    const auto variant = static_cast<std::size_t>(node.attributes[0]);
    std::vector<Var> fields;
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      if (body.f != nullptr) {
        const bool is_suspended = fields_.is_suspended(type, variant, i);
        fields.push_back(as(body, node.operands[i], is_suspended ? State::Suspended : State::Computed));
      } else if (state(body, node.operands[i]) != State::Computed) {
        changed_ = fields_.add(type, variant, i) || changed_;
      }
    }
    return body.f == nullptr ? Var() : body.f->make(types_->computed(type), variant, fields);
  }

  Var make_branch(Body& body, const ir::Node& node) {
    ir::BlockId sides[2];
    for (int side = 0; side < 2; ++side) {
      const ir::BlockId block = node.blocks[side];
      if (body.f != nullptr) sides[side] = body.f->begin_block({});
      Body inside{body.source, body.f, body.depth + 1};
      const std::size_t before = body.values().changes();
      make_nodes(inside, body.source->nodes_of(block), body.source->function[block].results);
      if (body.f != nullptr)
        body.f->end_block(sides[side], var(inside, body.source->function[block].results[0]));
      body.values().undo_to(before);  // what is asked for there is not computed outside
    }
    if (body.f == nullptr) return {};
    body.f->set_span(node.span);
    return body.f->finish_if(var(body, node.operands[0]), sides[0], sides[1]);
  }

  void suspend(Body& body, const Nodes& nodes, const std::vector<std::size_t>& leaders, std::size_t leader) {
    const SourceFunction& source = *body.source;
    Delayed delayed{body.source, {}, source[nodes[leader]].results[0], {}};
    std::set<ir::ValueId> captured;
    for (std::size_t n = 0; n <= leader; ++n) {
      const bool is_constant = source[nodes[n]].kind == NodeKind::Const;
      if (is_constant || leaders[n] != leader) continue;
      delayed.nodes.push_back(nodes[n]);
      const std::set<ir::ValueId> uses = source.uses(nodes[n]);
      captured.insert(uses.begin(), uses.end());
    }
    for (const ir::NodeId node : delayed.nodes) captured.erase(source[node].results[0]);
    for (const ir::ValueId value : captured) delayed.captured.emplace_back(value, state(body, value));
    if (body.f != nullptr) {
      const Type& type = source.function[delayed.result].type;
      std::vector<ir::ValueInfo> params;
      std::vector<Var> arguments;
      for (const auto& [value, its_state] : delayed.captured) {
        arguments.push_back(var(body, value));
        params.push_back({arguments.back().type(), fmt::format("v{}", params.size() + 1)});
      }
      const std::string name = fmt::format("{}_later{}", source.function.name, ++names_[source.id.index()]);
      delayed.function =
          builder_.declare(builder_.unused_name(name), std::move(params), {types_->computed(type)});
      builder_.module()[delayed.function.id].span = source[nodes[leader]].span;
      body.f->set_span(source[nodes[leader]].span);
      body.values().set(delayed.result, types_->suspend(*body.f, delayed.function, arguments, type));
    }
    delayed_.push_back(std::move(delayed));
  }

  static constexpr std::size_t kNone = SIZE_MAX;

  const ir::Module& module_;
  const OverflowMode overflow_;
  const Needs needs_;
  ModuleBuilder builder_;
  /// By function and parameter: whether all calls give it something computed.
  std::vector<std::vector<bool>> computed_;
  SuspendedFields fields_;
  bool changed_ = false;
  std::unique_ptr<SuspendedTypes> types_;
  std::vector<FunctionRef> functions_;
  std::map<std::size_t, int> names_;  ///< by function: how many suspensions it has
  std::deque<Delayed> delayed_;
};

/// Why direct code cannot run the functions; empty: it can.
std::string reason_against(const ir::Module& module, const std::vector<bool>& reached) {
  for (std::size_t i = 0; i < module.functions.size(); ++i) {
    const ir::Function& function = module.functions[i];
    if (!reached[i]) continue;
    if (!function.body.valid()) return "derives gradients";
    for (const ir::Node& node : function.nodes) {
      if (node.kind == NodeKind::Param) return "has learned parameters";
      const bool has_phases = node.kind == NodeKind::Resume || node.kind == NodeKind::Accumulate;
      if (has_phases || node.of.valid()) return "derives gradients";
      for (const ir::ValueId result : node.results) {
        if (function[result].type.is_tensor()) return "has tensors";
      }
    }
    for (const ir::ValueInfo& param : function.params) {
      if (param.type.is_tensor()) return "has tensors";
    }
  }
  return {};
}

}  // namespace

OnDemand suspend(ir::Module module, OverflowMode overflow) {
  if (!module.start()) throw ProgramError("expected a program with an entry, found none");
  std::string reason = reason_against(module, reachable(call_graph(module), *module.start()));
  if (!reason.empty()) return {{}, "it is demand-driven and " + reason};
  const ir::Module single = single_results(loops_to_calls(std::move(module)));
  return {Suspender(single, overflow).run(), {}};
}

}  // namespace hiaton::passes
