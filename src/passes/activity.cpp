#include "passes/activity.h"

#include <algorithm>
#include <unordered_map>

namespace hiaton::passes {
namespace {

using ir::NodeKind;

/// Where the operands and results of a Call or Resume stand among those of its callee.
std::size_t first_param(const ir::Module& module, const ir::Node& call) {
  return module[call.callee].params_of(call.phase).begin;
}
std::size_t first_result(const ir::Module& module, const ir::Node& call) {
  return module[call.callee].results_of(call.phase).begin;
}

bool is_call(const ir::Node& node) {
  return node.kind == NodeKind::Call || node.kind == NodeKind::Resume;
}

}  // namespace

Activity::Activity(const ir::Module& module, const GradientRoot& root, bool module_parameters)
    : module_(module), module_parameters_(module_parameters) {
  std::unordered_map<const DataType*, bool> data_with_floats;
  const auto has_floats = [&](const ir::ValueInfo& value) {
    if (!value.type.is_data()) return holds_floats(value.type);
    const auto [known, added] = data_with_floats.emplace(value.type.data.get(), false);
    if (added) known->second = holds_floats(value.type);
    return known->second;
  };
  for (const ir::Function& function : module.functions) {
    OfFunction& of = functions_.emplace_back();
    for (const ir::ValueInfo& value : function.values) of.floats.push_back(has_floats(value));
    of.active.resize(function.values.size());
    of.needed.resize(function.values.size());
    of.calls.resize(function.nodes.size());
    of.params.resize(function.params.size());
    of.outputs.resize(function.results.size());
    of.results.resize(function.results.size());
  }
  OfFunction& start = functions_[root.function.index()];
  for (std::size_t param : root.params) start.params[param] = true;
  for (std::size_t result : root.results) start.results[result] = true;
  do {
    changed_ = false;
    for (std::size_t i = 0; i < functions_.size(); ++i) {
      if (module[ir::FunctionId(i)].body.valid()) spread_activity(ir::FunctionId(i));
    }
  } while (changed_);
  do {
    changed_ = false;
    for (std::size_t i = 0; i < functions_.size(); ++i) {
      if (module[ir::FunctionId(i)].body.valid()) spread_need(ir::FunctionId(i));
    }
  } while (changed_);
  for (OfFunction& of : functions_) {
    bool any_result = false;
    for (bool result : of.results) any_result = any_result || result;
    of.differentiable = any_result;
  }
}

void Activity::set(std::vector<bool>& flags, std::size_t index) {
  if (flags[index]) return;
  flags[index] = true;
  changed_ = true;
}

void Activity::activate(OfFunction& of, ir::ValueId value) {
  set(of.active, value.index());
}

void Activity::need(OfFunction& of, ir::ValueId value) {
  set(of.needed, value.index());
}

void Activity::spread_activity(ir::FunctionId id) {
  const ir::Function& f = module_[id];
  OfFunction& of = functions_[id.index()];
  const ir::ValueIds& params = f[f.body].params;
  for (std::size_t i = 0; i < params.size(); ++i) {
    if (of.params[i] && of.floats[params[i].index()]) activate(of, params[i]);
  }
  for (std::size_t n = 0; n < f.nodes.size(); ++n) {
    const ir::Node& node = f.nodes[n];
    const auto activate_results = [&] {
      for (ir::ValueId result : node.results) {
        if (of.floats[result.index()]) activate(of, result);
      }
    };
    if (node.kind == NodeKind::Param) {
      if (!module_parameters_) continue;
      activate_results();
      changed_ = changed_ || !of.has_sources;
      of.has_sources = true;
    } else if (node.kind == NodeKind::Op) {
      if (!node.op->gradient.value.passes()) continue;
      for (ir::ValueId operand : node.operands) {
        if (of.active[operand.index()]) activate_results();
      }
    } else if (is_call(node)) {
      OfFunction& callee = functions_[node.callee.index()];
      const std::size_t call = node.kind == NodeKind::Call ? n : node.of.index();
      for (std::size_t i = 0; i < node.operands.size(); ++i) {
        if (!of.active[node.operands[i].index()]) continue;
        set(callee.params, first_param(module_, node) + i);
        set(of.calls, call);
      }
      if (callee.has_sources && !of.has_sources) of.has_sources = changed_ = true;
      // Another call may have made the results active.
      if (!of.calls[call] && !callee.has_sources) continue;
      for (std::size_t i = 0; i < node.results.size(); ++i) {
        if (callee.outputs[first_result(module_, node) + i]) activate(of, node.results[i]);
      }
    } else if (node.kind == NodeKind::If) {
      for (ir::BlockId block : node.blocks) {
        for (std::size_t i = 0; i < node.results.size(); ++i) {
          if (of.active[f[block].results[i].index()]) activate(of, node.results[i]);
        }
      }
    }
  }
  for (std::size_t i = 0; i < f.results.size(); ++i) {
    if (of.active[f[f.body].results[i].index()]) set(of.outputs, i);
  }
}

bool Activity::passes_gradient(ir::FunctionId id, ir::NodeId call) const {
  const ir::Function& f = module_[id];
  const auto any = [&](const ir::Node& node) {
    return std::any_of(node.results.begin(), node.results.end(),
                       [&](ir::ValueId value) { return carries(id, value); });
  };
  if (any(f[call])) return true;
  if (module_[f[call].callee].phase_count() == 1) return false;
  return std::any_of(f.nodes.begin(), f.nodes.end(), [&](const ir::Node& node) {
    return node.kind == NodeKind::Resume && node.of == call && any(node);
  });
}

void Activity::spread_need(ir::FunctionId id) {
  const ir::Function& f = module_[id];
  OfFunction& of = functions_[id.index()];
  for (std::size_t i = 0; i < f.results.size(); ++i) {
    if (of.results[i]) need(of, f[f.body].results[i]);
  }
  for (std::size_t n = f.nodes.size(); n-- > 0;) {
    const ir::Node& node = f.nodes[n];
    const auto counts = [&](std::size_t i) {
      return of.active[node.results[i].index()] && of.needed[node.results[i].index()];
    };
    if (node.kind == NodeKind::Op) {
      if (!counts(0)) continue;
      for (ir::ValueId operand : node.operands) need(of, operand);
    } else if (is_call(node)) {
      OfFunction& callee = functions_[node.callee.index()];
      for (std::size_t i = 0; i < node.results.size(); ++i) {
        if (counts(i)) set(callee.results, first_result(module_, node) + i);
      }
      const ir::NodeId call = node.kind == NodeKind::Call ? ir::NodeId(n) : node.of;
      if (!passes_gradient(id, call)) continue;
      for (std::size_t i = 0; i < node.operands.size(); ++i) {
        const std::size_t param = first_param(module_, node) + i;
        const ir::Function& target = module_[node.callee];
        if (!target.body.valid()) continue;  // a gradient that is still to be derived
        if (callee.needed[target[target.body].params[param].index()]) need(of, node.operands[i]);
      }
    } else if (node.kind == NodeKind::If) {
      for (std::size_t i = 0; i < node.results.size(); ++i) {
        if (!counts(i)) continue;
        for (ir::BlockId block : node.blocks) need(of, f[block].results[i]);
      }
    }
  }
}

}  // namespace hiaton::passes
