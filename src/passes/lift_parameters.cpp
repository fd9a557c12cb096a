#include "passes/lift_parameters.h"

#include <fmt/format.h>

#include <algorithm>

#include "passes/body_copier.h"
#include "passes/call_graph.h"

namespace hiaton::passes {
namespace {

/// By function, the learned parameters that its copy takes.
using Taken = std::vector<std::vector<std::size_t>>;

std::vector<std::size_t> read_in(const ir::Function& function, const std::vector<std::size_t>& parameters) {
  std::vector<std::size_t> read;
  for (const std::size_t parameter : parameters) {
    const auto reads = [&](const ir::Node& node) {
      return node.kind == ir::NodeKind::Param && static_cast<std::size_t>(node.attributes[0]) == parameter;
    };
    if (std::any_of(function.nodes.begin(), function.nodes.end(), reads)) read.push_back(parameter);
  }
  return read;
}

bool add_all(std::vector<std::size_t>& to, const std::vector<std::size_t>& more) {
  const std::size_t before = to.size();
  for (const std::size_t one : more) {
    if (std::find(to.begin(), to.end(), one) == to.end()) to.push_back(one);
  }
  std::sort(to.begin(), to.end());
  return to.size() > before;
}

Taken taken_by_functions(const ir::Module& module, const std::vector<std::size_t>& parameters) {
  const CallGraph calls = call_graph(module);
  Taken taken;
  for (const ir::Function& function : module.functions) taken.push_back(read_in(function, parameters));
  bool changed = true;
  while (changed) {
    changed = false;
    for (const ir::FunctionId id : calls.bottom_up) {
      for (const ir::FunctionId callee : calls.callees[id.index()]) {
        changed = add_all(taken[id.index()], taken[callee.index()]) || changed;
      }
    }
  }
  return taken;
}

class LiftedBody : public BodyCopier {
 public:
  LiftedBody(const ir::Function& from, FunctionBuilder& to, const Taken& taken,
             const std::vector<FunctionRef>& copies, const std::vector<std::size_t>& own)
      : BodyCopier(from, to), taken_(taken), copies_(copies), own_(own) {}

  Vars build() {
    const ir::ValueIds& params = from_[from_.body].params;
    const std::size_t first = from_.params_of(0).count;
    for (std::size_t i = 0; i < params.size(); ++i) {
      map(params[i], to_.param(i < first ? i : i + own_.size()));
    }
    copy_nodes(from_.body);
    return Vars(mapped(from_[from_.body].results));
  }

 protected:
  void visit(ir::NodeId id) override {
    const ir::Node& node = from_[id];
    const auto found = node.kind == ir::NodeKind::Param
                           ? std::find(own_.begin(), own_.end(), static_cast<std::size_t>(node.attributes[0]))
                           : own_.end();
    if (found == own_.end()) return copy(id);
    map(node.results[0], argument(*found));
  }

  FunctionRef callee_of(ir::NodeId id) override {
    const ir::FunctionId callee = from_[id].callee;
    return taken_[callee.index()].empty() ? FunctionRef{callee} : copies_[callee.index()];
  }

  std::vector<Var> arguments_of(ir::NodeId id) override {
    std::vector<Var> arguments = BodyCopier::arguments_of(id);
    for (const std::size_t parameter : taken_[from_[id].callee.index()]) {
      arguments.push_back(argument(parameter));
    }
    return arguments;
  }

 private:
  Var argument(std::size_t parameter) const {
    const auto place = std::find(own_.begin(), own_.end(), parameter) - own_.begin();
    return to_.param(from_.params_of(0).count + static_cast<std::size_t>(place));
  }

  const Taken& taken_;
  const std::vector<FunctionRef>& copies_;
  const std::vector<std::size_t>& own_;
};

std::string unused_among(const std::vector<ir::ValueInfo>& params, std::string name) {
  const auto is_taken = [&](const ir::ValueInfo& param) { return param.name == name; };
  while (std::any_of(params.begin(), params.end(), is_taken)) name += "_";
  return name;
}

/// "loss_by_W"
FunctionRef declare_copy(ModuleBuilder& builder, ir::FunctionId id, const std::vector<std::size_t>& taken) {
  const ir::Function from = builder.module()[id];
  std::string name = from.name + "_by";
  std::vector<ir::ValueInfo> params = from.params;
  std::size_t place = from.params_of(0).count;
  for (const std::size_t number : taken) {
    const ir::Parameter& parameter = builder.module().parameters[number];
    name += "_" + parameter.name;
    params.insert(params.begin() + static_cast<std::ptrdiff_t>(place++),
                  {parameter.type, unused_among(params, parameter.name)});
  }
  const FunctionRef made = builder.declare(builder.unused_name(name), std::move(params), from.results);
  ir::Function& copy = builder.module()[made.id];
  copy.phases = from.phases;
  if (!copy.phases.empty()) copy.phases[0].params += taken.size();
  copy.span = from.span;
  copy.placement = from.placement;
  copy.recompute = from.recompute;
  return made;
}

}  // namespace

Lifted lift_parameters(ModuleBuilder& builder, ir::FunctionId function,
                       const std::vector<std::size_t>& parameters) {
  if (parameters.empty()) return {{function}, {}};
  const Taken taken = taken_by_functions(builder.module(), parameters);
  if (taken[function.index()].empty()) return {{function}, {}};
  const std::vector<bool> reached = reachable(call_graph(builder.module()), function);
  std::vector<FunctionRef> copies(taken.size());
  for (std::size_t i = 0; i < taken.size(); ++i) {
    if (reached[i] && !taken[i].empty()) copies[i] = declare_copy(builder, ir::FunctionId(i), taken[i]);
  }
  for (std::size_t i = 0; i < taken.size(); ++i) {
    if (!copies[i].id.valid()) continue;
    const ir::Function from = builder.module()[ir::FunctionId(i)];
    builder.define(copies[i],
                   [&](FunctionBuilder& f) { return LiftedBody(from, f, taken, copies, taken[i]).build(); });
  }
  return {copies[function.index()], taken[function.index()]};
}

}  // namespace hiaton::passes
