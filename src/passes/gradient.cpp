// Gradients: the extended functions of the paper (001, section 4).
//
// The extension of f is the body of f with its backward path, in one body under one tag. Its first phases are
// those of f; then come the same in reverse: the parameters of a mirrored phase are the gradients of the
// results of the phase it mirrors, its results the gradients of the parameters. So
//   - a call of f becomes a call of its extension, and its gradient is the next phase of the same call: one
//     call site, one label, one frame. The backward nodes read the forward values where they are.
//   - the gradient of an If is another If that takes the same side and sees the values of that side.
//   - an operation's rule makes the gradients of its operands; those of one value are added up
//     (contributions.h). What passes between a data value and its fields is in data_gradients.h.
//   - what reaches a parameter of the module goes to an accumulator of the run (Accumulate) and not up
//   through
//     the returns; a row of a gathered table and the product x^T g are never made dense before.
// A call whose results carry no gradient stays as it is.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "base/check.h"
#include "hiaton/passes.h"
#include "passes/activity.h"
#include "passes/body_copier.h"
#include "passes/call_graph.h"
#include "passes/captures.h"
#include "passes/contributions.h"
#include "passes/effects.h"

namespace hiaton::passes {
namespace {

using ir::NodeKind;

/// Indices of the mirrored phases: which results of f bring a gradient, which parameters get one.
struct Mirror {
  std::vector<std::size_t> results;
  std::vector<std::size_t> params;
};

/// The functions of a module and their extensions.
class Extensions {
 public:
  Extensions(ModuleBuilder& builder, const GradientRoot& root, bool module_parameters)
      : builder_(builder),
        activity_(builder.module(), root, module_parameters),
        data_(builder),
        extended_(builder.module().functions.size()) {
    const std::size_t count = extended_.size();
    for (std::size_t i = 0; i < count; ++i) {
      if (activity_.differentiable(ir::FunctionId(i))) declare(ir::FunctionId(i));
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (activity_.differentiable(ir::FunctionId(i))) define(ir::FunctionId(i));
    }
  }

  const Activity& activity() const { return activity_; }
  DataGradients& data() { return data_; }
  FunctionRef extension_of(ir::FunctionId f) const { return extended_[f.index()]; }
  bool has_extension(ir::FunctionId f) const {
    return f.index() < extended_.size() && extended_[f.index()].id.valid();
  }

  Mirror mirror(ir::FunctionId id, std::size_t phase) const {
    const ir::Function& f = builder_.module()[id];
    Mirror mirror;
    const Range results = f.results_of(phase);
    for (std::size_t i = results.begin; i < results.end(); ++i) {
      if (activity_.needed_result(id, i)) mirror.results.push_back(i);
    }
    const Range params = f.params_of(phase);
    for (std::size_t i = params.begin; i < params.end(); ++i) {
      if (activity_.carries(id, f[f.body].params[i])) mirror.params.push_back(i);
    }
    // Something must come in for the phase to begin.
    for (std::size_t i = results.begin; i < results.end() && needs_a_start(mirror); ++i) {
      if (holds_floats(f.results[i])) mirror.results.push_back(i);
    }
    return mirror;
  }

 private:
  static bool needs_a_start(const Mirror& mirror) { return mirror.results.empty() && !mirror.params.empty(); }

  std::string unused_name(const std::string& wish) const {
    std::string name = wish;
    for (int i = 2; builder_.has(name); ++i) name = fmt::format("{}{}", wish, i);
    return name;
  }

  void declare(ir::FunctionId id) {
    const ir::Function& f = builder_.module()[id];
    std::vector<ir::ValueInfo> params = f.params;
    std::vector<Type> results = f.results;
    std::vector<Phase> phases = f.phases;
    if (phases.empty()) phases.push_back({f.params.size(), f.results.size()});
    for (std::size_t phase = f.phase_count(); phase-- > 0;) {
      const Mirror mirrored = mirror(id, phase);
      for (std::size_t i : mirrored.results)
        params.push_back({data_.type_of(f.results[i]), unused_param(params, i)});
      for (std::size_t i : mirrored.params) results.push_back(data_.type_of(f.params[i].type));
      phases.push_back({mirrored.results.size(), mirrored.params.size()});
    }
    const Span span = f.span;
    const FunctionRef extension =
        builder_.declare(unused_name(f.name + "_extended"), std::move(params), std::move(results));
    builder_.module()[extension.id].phases = std::move(phases);
    builder_.module()[extension.id].span = span;
    extended_[id.index()] = extension;
  }

  static std::string unused_param(const std::vector<ir::ValueInfo>& params, std::size_t result) {
    std::string name = fmt::format("g{}", result + 1);
    const auto taken = [&] {
      return std::any_of(params.begin(), params.end(),
                         [&](const ir::ValueInfo& p) { return p.name == name; });
    };
    while (taken()) name += "_";
    return name;
  }

  void define(ir::FunctionId id);

  ModuleBuilder& builder_;
  Activity activity_;
  DataGradients data_;
  std::vector<FunctionRef> extended_;  ///< by function; invalid where no gradient passes
};

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
    std::vector<Var> results = mapped(body.results);
    std::size_t param = body.params.size();
    for (std::size_t phase = from_.phase_count(); phase-- > 0;) {
      for (std::size_t i : extensions_.mirror(id_, phase).results) {
        contribute(body.results[i], {to_.param(param++)});
      }
    }
    reverse(from_.body);
    for (std::size_t phase = from_.phase_count(); phase-- > 0;) {
      for (std::size_t i : extensions_.mirror(id_, phase).params) {
        results.push_back(gradient_or_zero(body.params[i]));
      }
    }
    return Vars(std::move(results));
  }

 protected:
  FunctionRef callee_of(ir::NodeId id) override {
    return passes_gradient(id) ? extensions_.extension_of(from_[id].callee) : FunctionRef{from_[id].callee};
  }

 private:
  bool carries(ir::ValueId value) const { return activity_.carries(id_, value); }

  bool passes_gradient(ir::NodeId call) const {
    return extensions_.has_extension(from_[call].callee) && activity_.passes_gradient(id_, call);
  }

  // Gradients of values -------------------------------------------------------------------------------------

  bool has_gradient_parts(ir::ValueId value) const { return !contributions_[value.index()].empty(); }

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
    const std::vector<ir::NodeId>& nodes = from_[block].nodes;
    for (std::size_t i = nodes.size(); i-- > 0;) {
      to_.set_span(from_[nodes[i]].span);
      to_.set_placement(from_[nodes[i]].placement);
      reverse_node(nodes[i]);
    }
  }

  void reverse_node(ir::NodeId id) {
    const ir::Node& node = from_[id];
    switch (node.kind) {
      case NodeKind::Op:
        return reverse_op(node);
      case NodeKind::Call:
        if (passes_gradient(id)) reverse_call(node, id);
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
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (!carries(node.operands[i]) || accumulate_directly(node, i, operands, g)) continue;
      if (const std::optional<int64_t> axis = sliced_axis(node)) {
        contribute(node.operands[i], {g, {{*axis, node.attributes[1], node.attributes[2]}}});
        continue;
      }
      const GradientQuestion question{to_, operands, forward, g, node.attributes};
      contribute(node.operands[i], {node.op->gradient.value.rule(question, i)});
    }
  }

  /// Between a data value and its fields.
  void reverse_data(const ir::Node& node, Var g) {
    const auto variant = static_cast<std::size_t>(node.attributes[0]);
    if (node.op->name.value == "make") {
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
    if (node.op->name.value != "slice") return std::nullopt;
    const std::vector<Dim>& shape = from_[node.operands[0]].type.shape;
    int64_t axis = node.attributes[0];
    if (axis < 0) axis += static_cast<int64_t>(shape.size());
    if (shape[static_cast<std::size_t>(axis)].size < 0) return std::nullopt;
    return axis;
  }

  /// Gradients of parameters that are never made dense: rows of a table, and products x^T g.
  bool accumulate_directly(const ir::Node& node, std::size_t operand, const std::vector<Var>& operands,
                           Var g) {
    const ir::Node* definition = definitions_.node(node.operands[operand]);
    if (definition == nullptr || definition->kind != NodeKind::Param) return false;
    const auto parameter = static_cast<std::size_t>(definition->attributes[0]);
    const std::string_view name = node.op->name.value;
    if (name == "gather" && operand == 0 && operands[1].type().is_scalar()) {
      to_.accumulate(parameter, Accumulation::Rows, {operands[1], g});
      return true;
    }
    const bool is_product = name == "matmul" && operand == 1 && operands[1].type().shape.size() == 2 &&
                            operands[0].type().shape.size() <= 2;
    if (is_product) to_.accumulate(parameter, Accumulation::Outer, {operands[0], g});
    return is_product;
  }

  /// The mirrored phase of a phase of a call.
  void reverse_call(const ir::Node& node, ir::NodeId call) {
    const Mirror mirror = extensions_.mirror(node.callee, node.phase);
    const ir::Function& callee = to_callee(node.callee);
    std::vector<Var> gradients;
    for (std::size_t i : mirror.results) {
      gradients.push_back(gradient_or_zero(node.results[i - callee.results_of(node.phase).begin]));
    }
    const auto phase = static_cast<uint32_t>(2 * callee.phase_count() - 1 - node.phase);
    const std::size_t first_param = callee.params_of(node.phase).begin;
    if (gradients.empty()) return;
    const Vars results = to_.resume(mapped(call), phase, gradients);
    for (std::size_t i = 0; i < mirror.params.size(); ++i) {
      contribute(node.operands[mirror.params[i] - first_param], {results[i]});
    }
  }

  const ir::Function& to_callee(ir::FunctionId id) const { return to_.module()[id]; }

  /// Whether anything in the blocks of an If has a gradient to pass on. A call that passes gradients must get
  /// all its phases, be it with zeros.
  bool has_work(const ir::Node& node) const {
    const auto any = [&](const std::vector<ir::ValueId>& values) {
      return std::any_of(values.begin(), values.end(), [&](ir::ValueId v) { return has_gradient_parts(v); });
    };
    if (any(node.results)) return true;
    for (ir::BlockId block : node.blocks) {
      for (ir::NodeId id : from_[block].nodes) {
        const ir::Node& inner = from_[id];
        const bool is_call = inner.kind == NodeKind::Call || inner.kind == NodeKind::Resume;
        if (is_call && passes_gradient(inner.kind == NodeKind::Call ? id : inner.of)) return true;
        if (any(inner.results) || has_work(inner)) return true;
      }
    }
    return false;
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
    std::vector<std::vector<Contribution>> outside;
    for (ir::ValueId value : captured) outside.push_back(std::exchange(contributions_[value.index()], {}));
    const auto reverse_side = [&](std::size_t side) {
      const ir::BlockId block = to_.begin_block({});
      for (const auto& [i, g] : incoming) contribute(from_[node.blocks[side]].results[i], {g});
      reverse(node.blocks[side]);
      std::vector<Var> results;
      for (ir::ValueId value : captured) results.push_back(gradient_or_zero(value));
      for (ir::ValueId value : captured) contributions_[value.index()].clear();
      to_.end_block(block, Vars(std::move(results)));
      return block;
    };
    const ir::BlockId then = reverse_side(0);
    const ir::BlockId otherwise = reverse_side(1);
    to_.set_span(node.span);
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

void Extensions::define(ir::FunctionId id) {
  const ir::Function from = builder_.module()[id];
  builder_.define(extended_[id.index()],
                  [&](FunctionBuilder& f) { return ExtensionBody(*this, id, from, f).build(); });
}

std::vector<std::size_t> params_with_floats(const ir::Function& function) {
  std::vector<std::size_t> params;
  for (std::size_t i = 0; i < function.params.size(); ++i) {
    if (holds_floats(function.params[i].type)) params.push_back(i);
  }
  return params;
}

void require_float_scalar(const ir::Function& function) {
  const Type& type = function.results[0];
  if (type.is_scalar() && is_float(type.dtype)) return;
  throw ProgramError(fmt::format(
      "expected the first result of '{}', of which gradients are asked, to be f32 or f64, found {}",
      function.name, to_string(type)));
}

/// Calls the function, then its mirrored phase with a gradient of 1 for the first result.
struct ValueAndGradients {
  Vars values;
  Vars gradients;
};
ValueAndGradients call_with_gradient(FunctionBuilder& f, Extensions& extensions, ir::FunctionId function) {
  const ir::Function& of = f.module()[function];
  std::vector<Var> arguments;
  for (std::size_t i = 0; i < of.params.size(); ++i) arguments.push_back(f.param(i));
  const bool active = extensions.has_extension(function);
  const Vars values = f.call(active ? extensions.extension_of(function) : FunctionRef{function}, arguments);
  if (!active) return {values, Vars(std::vector<Var>())};
  const ir::NodeId call = f.last_node();
  std::vector<Var> gradients;
  for (std::size_t result : extensions.mirror(function, 0).results) {
    const Var value = values[result];
    gradients.push_back(result == 0 ? constant_like(value, 1.0) : extensions.data().zero(value));
  }
  return {values, f.resume(call, 1, gradients)};
}

}  // namespace

ir::Module add_training_step(ir::Module module, std::string_view function, std::string_view name) {
  const std::optional<ir::FunctionId> id = module.find(function);
  if (!id) throw ProgramError(fmt::format("expected a function '{}', found none", function));
  require_float_scalar(module[*id]);
  ModuleBuilder builder(std::move(module));
  Extensions extensions(builder, {*id, {0}, {}}, true);
  const ir::Function& of = builder.module()[*id];
  const FunctionRef step = builder.declare(std::string(name), of.params, of.results);
  builder.define(step, [&](FunctionBuilder& f) { return call_with_gradient(f, extensions, *id).values; });
  return builder.finish();
}

ir::Module add_gradient(ir::Module module, const ir::GradientRequest& request) {
  require_float_scalar(module[request.of]);
  const std::vector<std::size_t> params = params_with_floats(module[request.of]);
  ModuleBuilder builder(std::move(module));
  Extensions extensions(builder, {request.of, {0}, params}, false);
  builder.define({request.function}, [&](FunctionBuilder& f) {
    const ValueAndGradients found = call_with_gradient(f, extensions, request.of);
    std::vector<Var> results;
    if (request.with_value) results.assign(found.values.begin(), found.values.end());
    std::vector<std::size_t> given;
    if (extensions.has_extension(request.of)) given = extensions.mirror(request.of, 0).params;
    for (std::size_t param : params) {
      const auto at = std::find(given.begin(), given.end(), param);
      const Var forward = f.param(param);
      const Var gradient = at != given.end() ? found.gradients[static_cast<std::size_t>(at - given.begin())]
                                             : extensions.data().zero(forward);
      results.push_back(extensions.data().as_value(forward, gradient));
    }
    return Vars(std::move(results));
  });
  return std::move(builder.module());
}

ir::Module add_gradients(ir::Module module) {
  std::vector<ir::GradientRequest> requests = std::exchange(module.gradient_requests, {});
  while (!requests.empty()) {
    // Those whose function, and all it calls, have bodies.
    const CallGraph calls = call_graph(module);
    const auto is_ready = [&](const ir::GradientRequest& request) {
      const std::vector<bool> needed = reachable(calls, request.of);
      return std::none_of(requests.begin(), requests.end(),
                          [&](const ir::GradientRequest& other) { return needed[other.function.index()]; });
    };
    const auto ready = std::find_if(requests.begin(), requests.end(), is_ready);
    if (ready == requests.end()) {
      throw ProgramError(fmt::format("the gradient of '{}' depends on itself", module[requests[0].of].name));
    }
    const ir::GradientRequest request = *ready;
    requests.erase(ready);
    module = add_gradient(std::move(module), request);
  }
  return module;
}

}  // namespace hiaton::passes
