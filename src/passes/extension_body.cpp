#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "base/check.h"
#include "passes/body_copier.h"
#include "passes/captures.h"
#include "passes/contributions.h"
#include "passes/effects.h"
#include "passes/extensions.h"

namespace hiaton::passes {
namespace {

using ir::NodeKind;

class ExtensionBody : public BodyCopier {
 public:
  ExtensionBody(Extensions& extensions, ir::FunctionId id, const ir::Function& from, FunctionBuilder& to)
      : BodyCopier(from, to),
        extensions_(extensions),
        activity_(extensions.activity()),
        data_(extensions.data()),
        id_(id),
        definitions_(from),
        captures_(from),
        contributions_(from.values.size()) {}

  Vars build() {
    const ir::Block& body = from_[from_.body];
    for (std::size_t i = 0; i < body.params.size(); ++i) map(body.params[i], to_.param(i));
    copy_nodes(from_.body);
    to_.set_placement({});
    std::vector<Var> results = mapped(body.results);
    std::size_t param = body.params.size();
    for (std::size_t phase = from_.phase_count(); phase-- > 0;) {
      const Mirror mirror = extensions_.mirror(id_, phase);
      for (std::size_t i : mirror.results) contribute(body.results[i], {to_.param(param++)});
      if (mirror.needs_signal()) ++param;
    }
    reverse(from_.body);
    to_.set_placement({});
    for (std::size_t phase = from_.phase_count(); phase-- > 0;) {
      for (std::size_t i : extensions_.mirror(id_, phase).params) {
        results.push_back(gradient_or_zero(body.params[i]));
      }
    }
    return Vars(std::move(results));
  }

 protected:
  FunctionRef callee_of(ir::NodeId id) override {
    const bool extends = passes_gradient(id) && !recomputes(from_[id]);
    return extends ? extensions_.extension_of(from_[id].callee) : FunctionRef{from_[id].callee};
  }

 private:
  bool carries(ir::ValueId value) const { return activity_.carries(id_, value); }

  bool passes_gradient(ir::NodeId call) const {
    return extensions_.has_extension(from_[call].callee) && activity_.passes_gradient(id_, call);
  }

  /// Whether the call keeps its arguments only. Without arguments there is nothing that could wait.
  bool recomputes(const ir::Node& call) const {
    const ir::Function& callee = to_callee(call.callee);
    return callee.recompute && callee.phase_count() == 1 && !call.operands.empty();
  }

  // Gradients of values -------------------------------------------------------------------------------------

  bool has_gradient_parts(ir::ValueId value) const { return !contributions_[value.index()].empty(); }

  bool any_has_parts(std::span<const ir::ValueId> values) const {
    return std::any_of(values.begin(), values.end(), [&](ir::ValueId v) { return has_gradient_parts(v); });
  }

  void contribute(ir::ValueId value, const Contribution& part) {
    if (!carries(value)) return;
    const ir::Node* definition = definitions_.node(value);
    if (definition != nullptr && definition->kind == NodeKind::Param) {
      return to_.accumulate(static_cast<std::size_t>(definition->attributes[0]), Accumulation::Dense,
                            {sum_of({part}, from_[value].type, data_)});
    }
    contributions_[value.index()].push_back(part);
  }

  Var gradient(ir::ValueId value) {
    std::vector<Contribution>& parts = contributions_[value.index()];
    parts = {{sum_of(std::move(parts), from_[value].type, data_)}};
    return parts[0].gradient;
  }

  Var gradient_or_zero(ir::ValueId value) {
    return has_gradient_parts(value) ? gradient(value) : data_.zero(mapped(value));
  }

  // The backward path ---------------------------------------------------------------------------------------

  void reverse(ir::BlockId block) {
    const auto& nodes = from_[block].nodes;
    for (std::size_t i = nodes.size(); i-- > 0;) {
      begin(from_[nodes[i]]);
      reverse_node(nodes[i]);
    }
  }

  void reverse_node(ir::NodeId id) {
    const ir::Node& node = from_[id];
    switch (node.kind) {
      case NodeKind::Op:
        return reverse_op(node);
      case NodeKind::Call:
        if (passes_gradient(id) && !(recomputes(node) && !any_has_parts(node.results)))
          reverse_call(node, id);
        return;
      case NodeKind::Resume:
        if (passes_gradient(node.of)) reverse_call(node, node.of);
        return;
      case NodeKind::If:
        return reverse_if(id);
      case NodeKind::Const:
      case NodeKind::Param:
      case NodeKind::Accumulate:
        return;
      case NodeKind::While:
        HIATON_CHECK(!"a function without loops");
    }
  }

  void reverse_op(const ir::Node& node) {
    const ir::ValueId result = node.results[0];
    if (!carries(result) || !has_gradient_parts(result)) return;
    const Var g = gradient(result);
    if (node.op->gradient.value.through_data) return reverse_data(node, g);
    const std::vector<Var> operands = mapped(node.operands);
    const Var forward = mapped(result);
    for (std::size_t n = 0; n < operands.size(); ++n) {
      // What changes the gradient in place comes after what reads it.
      const std::size_t i = node.op->may_be_in_place() ? operands.size() - 1 - n : n;
      if (!carries(node.operands[i]) || accumulate_directly(node, i, operands, g)) continue;
      if (const std::optional<int64_t> axis = sliced_axis(node)) {
        contribute(node.operands[i], {g, {{*axis, node.attributes[1], node.attributes[2]}}});
        continue;
      }
      if (i == 0 && node.op->gradient.value.add_to != nullptr) {
        contribute(node.operands[0], {g, {}, {}, {{node.op, operands, forward, node.attributes}}});
        continue;
      }
      const GradientQuestion question{to_, operands, forward, g, node.attributes};
      contribute(node.operands[i], {node.op->gradient.value.rule(question, i)});
    }
  }

  /// Between a data value and its fields.
  void reverse_data(const ir::Node& node, Var g) {
    const auto variant = static_cast<std::size_t>(node.attributes[0]);
    if (node.op->role == Role::Make) {
      const Type& type = from_[node.results[0]].type;
      for (std::size_t i = 0; i < node.operands.size(); ++i) {
        if (!carries(node.operands[i])) continue;
        contribute(node.operands[i], {data_.field(g, type, variant, i, mapped(node.operands[i]))});
      }
      return;
    }
    const auto field = static_cast<std::size_t>(node.attributes[1]);
    const Type part = field_type(from_[node.operands[0]].type, variant, field);
    // field_or_zero has looked into the gradient of a tensor.
    const bool is_inside = part.is_data() && g.type().is_tensor();
    contribute(node.operands[0],
               {is_inside ? data_.make(to_, part, 1, {{0, g}}) : g, {}, {{variant, field}}});
  }

  /// The axis along which a slice is taken from a value whose size along it is known.
  std::optional<int64_t> sliced_axis(const ir::Node& node) const {
    if (node.op->role != Role::Slice) return std::nullopt;
    const Shape& shape = from_[node.operands[0]].type.shape;
    int64_t axis = node.attributes[0];
    if (axis < 0) axis += static_cast<int64_t>(shape.size());
    if (shape[static_cast<std::size_t>(axis)].size < 0) return std::nullopt;
    return axis;
  }

  /// The gradient of the row in which a place stands, from the gradient of what stands there.
  Var gradient_of_row(const std::vector<Var>& operands, Var g) {
    if (operands.size() == 2) return g;
    std::vector<Var> in_row{to_.op("zeros_like", {to_.op("gather", {operands[0], operands[1]})}), g};
    in_row.insert(in_row.end(), operands.begin() + 2, operands.end());
    return to_.op("set_at", in_row, {0});
  }

  /// Gradients of parameters that are never made dense: rows of a table, and products x^T g.
  bool accumulate_directly(const ir::Node& node, std::size_t operand, const std::vector<Var>& operands,
                           Var g) {
    const ir::Node* definition = definitions_.node(node.operands[operand]);
    if (definition == nullptr || definition->kind != NodeKind::Param) return false;
    const auto parameter = static_cast<std::size_t>(definition->attributes[0]);
    const Role role = node.op->role;
    if (role == Role::Gather && operand == 0) {
      to_.accumulate(parameter, Accumulation::Rows, {operands[1], g});
      return true;
    }
    if (role == Role::At && operand == 0 && node.attributes[0] == 0) {
      to_.accumulate(parameter, Accumulation::Rows, {operands[1], gradient_of_row(operands, g)});
      return true;
    }
    const bool is_product = role == Role::Product && operand == 1 && operands[1].type().shape.size() == 2 &&
                            operands[0].type().shape.size() <= 2;
    if (is_product) to_.accumulate(parameter, Accumulation::Outer, {operands[0], g});
    return is_product;
  }

  /// The mirrored phase of a phase of a call.
  void reverse_call(const ir::Node& node, ir::NodeId call) {
    const Mirror mirror = extensions_.mirror(node.callee, node.phase);
    // Sums may add functions to the module, so nothing refers to the callee for long.
    const std::size_t first_result = to_callee(node.callee).results_of(node.phase).begin;
    const std::size_t first_param = to_callee(node.callee).params_of(node.phase).begin;
    const uint32_t phase = extensions_.mirroring_phase(node.callee, node.phase);
    std::vector<Var> gradients;
    for (std::size_t i : mirror.results)
      gradients.push_back(gradient_or_zero(node.results[i - first_result]));
    if (mirror.needs_signal())
      gradients.push_back(data_.zero(mapped(node.operands[mirror.params[0] - first_param])));
    if (gradients.empty()) return;
    const bool again = recomputes(node);
    const Vars results = to_.resume(again ? call_again(node, gradients) : mapped(call), phase, gradients);
    for (std::size_t i = 0; i < mirror.params.size(); ++i) {
      contribute(node.operands[mirror.params[i] - first_param], {results[i]});
    }
  }

  /// The call of the extension instead of which the function itself was called: in the backward path, once
  /// there is a gradient for it.
  ir::NodeId call_again(const ir::Node& node, const std::vector<Var>& gradients) {
    std::vector<Var> signals;
    for (const Var g : gradients) signals.push_back(g.type().is_data() ? to_.variant(g) : g);
    std::vector<Var> arguments;
    for (const Var argument : mapped(node.operands)) {
      std::vector<Var> operands{argument};
      operands.insert(operands.end(), signals.begin(), signals.end());
      arguments.push_back(to_.op("pass_after", operands));
    }
    to_.call(extensions_.extension_of(node.callee), arguments);
    return to_.last_node();
  }

  const ir::Function& to_callee(ir::FunctionId id) const { return to_.module()[id]; }

  /// Whether anything in the blocks of an If has a gradient to pass on. A call that passes gradients must get
  /// all its phases, be it with zeros.
  bool has_work(const ir::Node& node) const {
    if (any_has_parts(node.results)) return true;
    for (ir::BlockId block : node.blocks) {
      for (ir::NodeId id : from_[block].nodes) {
        const ir::Node& inner = from_[id];
        const bool is_call = inner.kind == NodeKind::Call || inner.kind == NodeKind::Resume;
        if (is_call && passes_gradient(inner.kind == NodeKind::Call ? id : inner.of)) return true;
        if (any_has_parts(inner.results) || has_work(inner)) return true;
      }
    }
    return false;
  }

  /// The values of which operations in the block read parts, and pass gradients on.
  void add_values_read_in_parts(ir::BlockId block, std::set<ir::ValueId>& found) const {
    for (ir::NodeId id : from_[block].nodes) {
      const ir::Node& node = from_[id];
      const bool reads = node.kind == NodeKind::Op && node.op->gradient.value.add_to != nullptr;
      if (reads && carries(node.results[0])) found.insert(node.operands[0]);
      for (ir::BlockId inner : node.blocks) add_values_read_in_parts(inner, found);
    }
  }

  void reverse_if(ir::NodeId id) {
    const ir::Node& node = from_[id];
    if (!has_work(node)) return;
    std::vector<std::pair<std::size_t, Var>> incoming;
    for (std::size_t i = 0; i < node.results.size(); ++i) {
      if (has_gradient_parts(node.results[i])) incoming.emplace_back(i, gradient(node.results[i]));
    }
    std::vector<ir::ValueId> captured;
    for (ir::ValueId value : captures_.of(node.blocks[0])) {
      if (carries(value)) captured.push_back(value);
    }
    // Where a side adds to a part of a sum, the sum passes through the If, and the other side gives it as it
    // is.
    std::set<ir::ValueId> read;
    for (ir::BlockId block : node.blocks) add_values_read_in_parts(block, read);
    std::vector<std::vector<Contribution>> outside;
    std::vector<std::vector<Contribution>> within;
    for (ir::ValueId value : captured) {
      const bool passes = has_gradient_parts(value) && read.contains(value);
      if (passes) gradient(value);
      std::vector<Contribution> parts = std::exchange(contributions_[value.index()], {});
      (passes ? within : outside).push_back(std::move(parts));
      (passes ? outside : within).emplace_back();
    }
    const auto reverse_side = [&](std::size_t side) {
      begin(node);
      const ir::BlockId block = to_.begin_block({});
      for (std::size_t i = 0; i < captured.size(); ++i) contributions_[captured[i].index()] = within[i];
      for (const auto& [i, g] : incoming) contribute(from_[node.blocks[side]].results[i], {g});
      reverse(node.blocks[side]);
      begin(node);
      std::vector<Var> results;
      for (ir::ValueId value : captured) results.push_back(gradient_or_zero(value));
      for (ir::ValueId value : captured) contributions_[value.index()].clear();
      to_.end_block(block, Vars(std::move(results)));
      return block;
    };
    const ir::BlockId then = reverse_side(0);
    const ir::BlockId otherwise = reverse_side(1);
    const Vars results = to_.finish_if_again(mapped(node.of.valid() ? node.of : id), then, otherwise);
    for (std::size_t i = 0; i < captured.size(); ++i) {
      contributions_[captured[i].index()] = std::move(outside[i]);
      contribute(captured[i], {results[i]});
    }
  }

  Extensions& extensions_;
  const Activity& activity_;
  DataGradients& data_;
  const ir::FunctionId id_;
  const Definitions definitions_;
  const Captures captures_;
  std::vector<std::vector<Contribution>> contributions_;  ///< by value of the function
};

}  // namespace

Vars build_extension(Extensions& extensions, ir::FunctionId id, const ir::Function& from,
                     FunctionBuilder& to) {
  return ExtensionBody(extensions, id, from, to).build();
}

}  // namespace hiaton::passes
