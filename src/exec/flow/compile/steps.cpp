#include <algorithm>
#include <set>

#include "exec/flow/compile/flow_passes.h"

namespace hiaton::exec::flow {
namespace {

Step::Code code_of(const graph::Node& node, bool is_batched) {
  if (node.kind == graph::NodeKind::Accumulate) return Step::Code::Accumulate;
  const Role role = node.op->role;
  if (role == Role::Variant) return Step::Code::Variant;
  if (role == Role::Field) return Step::Code::Field;
  if (role == Role::FieldOrZero) return Step::Code::FieldOrZero;
  if (role == Role::Make) return Step::Code::Make;
  if (role == Role::String) return Step::Code::Values;
  if (role == Role::Print) return Step::Code::Print;
  if (role == Role::PassAfter || (role == Role::Identity && !node.type.is_tensor())) return Step::Code::Copy;
  return is_batched ? Step::Code::Tensor : Step::Code::Kernel;
}

Kernel kernel_of(const graph::Graph& graph, const graph::Node& node, OverflowMode overflow) {
  const KernelVariant* variant =
      node.inputs.empty() ? nullptr : node.op->find_kernel(graph[node.inputs[0].node].type.dtype);
  if (variant == nullptr) throw Unsupported{"an operation has no kernel for scalars"};
  return overflow == OverflowMode::Trap ? variant->trap : variant->wrap;
}

class FastSteps {
 public:
  FastSteps(const graph::Graph& graph, const Plan& plan, Region& region)
      : graph_(graph),
        function_(plan.functions[region.function]),
        region_(region),
        uses_(region.steps.size()) {
    for (const Step& step : region.steps) {
      for (const Source& operand : step.operands) {
        if (operand.from == Source::From::Step) ++uses_[operand.index];
      }
    }
  }

  void choose() {
    for (Step& step : region_.steps) {
      if (step.code != Step::Code::Tensor || step.shared) continue;
      const Role role = op(step).role;
      if (role == Role::Product || role == Role::ProductTransposed)
        choose_product(step, role == Role::ProductTransposed);
      if (role == Role::Slice) choose_view(step);
      if (role == Role::Sum) choose_bias(step);
      if (role == Role::Join) choose_gather_together(step);
      if (step.code == Step::Code::Tensor) choose_elementwise(step);
    }
    for (std::size_t i = 0; i < region_.steps.size(); i += region_.steps[i].together) choose_together(i);
  }

 private:
  const OpDef& op(const Step& step) const { return *graph_[step.node].op; }
  const Type& type(const Step& step) const { return graph_[step.node].type; }

  /// nullptr for constants.
  const Type* type(const Source& source) const {
    switch (source.from) {
      case Source::From::Slot:
        return &function_.slot_types[source.index];
      case Source::From::Parameter:
        return &graph_.parameters()[source.index].type;
      case Source::From::Step:
        return &type(region_.steps[source.index]);
      case Source::From::Constant:
        break;
    }
    return nullptr;
  }

  void choose_product(Step& step, bool transposed) const {
    const Type* left = type(step.operands[0]);
    const bool fits = step.operands[1].from == Source::From::Parameter &&
                      type(step.operands[1])->shape.size() == 2 && left != nullptr && left->shape.size() <= 2;
    if (!fits) return;
    step.code = Step::Code::Product;
    step.transposed = transposed;
  }

  void choose_view(Step& step) const {
    const graph::Node& node = graph_[step.node];
    const Type* whole = type(step.operands[0]);
    if (step.slot || node.attributes[0] != 0) return;
    if (whole == nullptr || !is_fixed(*whole) || !is_fixed(node.type)) return;
    step.code = Step::Code::View;
    step.offset = node.attributes[1];
    for (const Dim& dim : std::span(node.type.shape).subspan(1)) step.offset *= dim.size;
  }

  /// Whether its result is its operands, contiguous.
  bool is_row_of_operands(const Step& step) const {
    if (step.code != Step::Code::Tensor || step.shared || !step.fixed_shapes) return false;
    if (op(step).role != Role::Join) return false;
    const int64_t axis = graph_[step.node].attributes[0];
    return axis == 0 || axis == -static_cast<int64_t>(type(step).shape.size());
  }

  /// A row of inputs that nothing has read yet is gathered as one: they are contiguous then.
  void choose_gather_together(Step& step) const {
    if (!is_row_of_operands(step)) return;
    std::set<uint32_t> inputs;
    for (const Source& operand : step.operands) {
      const bool is_tensor =
          operand.from == Source::From::Slot && function_.slots[operand.index] == SlotKind::Tensor;
      if (!is_tensor || !inputs.insert(operand.index).second) return;
    }
    for (const Step& before : region_.steps) {
      if (&before == &step) break;
      for (const Source& operand : before.operands) {
        if (operand.from == Source::From::Slot && inputs.contains(operand.index)) return;
      }
    }
    step.code = Step::Code::GatherTogether;
  }

  /// Lines of one type in a row, views between them, and what stands behind them and is a row of
  /// results that nothing else reads.
  void choose_together(std::size_t first) const {
    Step& begin = region_.steps[first];
    if (begin.elementwise == nullptr) return;
    std::size_t end = first + 1;
    for (std::size_t i = end; i < region_.steps.size(); ++i) {
      Step& step = region_.steps[i];
      if (step.elementwise != nullptr && type(step) == type(begin)) {
        end = i + 1;
      } else if (is_row_of_elementwise_steps(step, first, end)) {
        step.code = Step::Code::Row;
        for (std::size_t k = 0; k < step.operands.size(); ++k) {
          Step& part = region_.steps[step.operands[k].index];
          part.row = static_cast<uint32_t>(i);
          part.offset = static_cast<int64_t>(k);
        }
        end = i + 1;
      } else if (step.code != Step::Code::View) {
        break;
      }
    }
    begin.together = static_cast<uint32_t>(end - first);
  }

  bool is_row_of_elementwise_steps(const Step& step, std::size_t begin, std::size_t end) const {
    return is_row_of_operands(step) && std::ranges::all_of(step.operands, [&](const Source& operand) {
             if (operand.from != Source::From::Step || operand.index < begin || operand.index >= end)
               return false;
             const Step& part = region_.steps[operand.index];
             return part.elementwise != nullptr && !part.slot && uses_[operand.index] == 1;
           });
  }

  void choose_elementwise(Step& step) const {
    const OpDef& op = this->op(step);
    if (op.line_kernel == nullptr || type(step).shape.empty() || !step.fixed_shapes) return;
    const bool same = std::ranges::all_of(step.operands, [&](const Source& operand) {
      const Type* of = type(operand);
      return of != nullptr && *of == type(step);
    });
    if (same) step.elementwise = op.line_kernel(type(step).dtype);
  }

  /// A product takes one bias.
  void choose_bias(Step& step) const {
    for (const std::size_t at : {0u, 1u}) {
      const Source& bias = step.operands[1 - at];
      if (bias.from != Source::From::Parameter || step.operands[at].from != Source::From::Step) continue;
      const uint32_t index = step.operands[at].index;
      Step& product = region_.steps[index];
      const bool fits = product.code == Step::Code::Product && product.operands.size() == 2 &&
                        !product.slot && uses_[index] == 1 && product.fixed_shapes && step.fixed_shapes &&
                        type(bias)->shape.size() == 1 && type(product) == type(step) &&
                        type(step).shape.back() == type(bias)->shape[0];
      if (!fits) continue;
      step.operands = {product.operands[0], product.operands[1], bias};
      step.code = Step::Code::Product;
      step.transposed = product.transposed;
      product.code = Step::Code::Nothing;
      return;
    }
  }

  const graph::Graph& graph_;
  const Function& function_;
  Region& region_;
  std::vector<int> uses_;  ///< by step: how many operands of steps it is
};

}  // namespace

Step step_of(const graph::Graph& graph, graph::NodeId id, bool is_batched, OverflowMode overflow) {
  const graph::Node& node = graph[id];
  Step step{.code = code_of(node, is_batched), .node = id, .kind = slot_kind(node.type)};
  const auto attribute = [&](std::size_t index) { return static_cast<uint32_t>(node.attributes[index]); };
  switch (step.code) {
    case Step::Code::Kernel:
      step.kernel = kernel_of(graph, node, overflow);
      break;
    case Step::Code::Field:
    case Step::Code::FieldOrZero:
      step.field = attribute(1);
      step.variant = attribute(0);
      break;
    case Step::Code::Make:
      step.variant = attribute(0);
      step.layout = FieldLayout(field_kinds(node.type.data->variants[step.variant]));
      break;
    default:
      break;
  }
  return step;
}

void choose_fast_steps(const graph::Graph& graph, Plan& plan) {
  for (Region& region : plan.regions) {
    if (region.batched) FastSteps(graph, plan, region).choose();
  }
}

}  // namespace hiaton::exec::flow
