// What gradients pass through: which values depend on what they are asked for, and which of these count.
#pragma once

#include <vector>

#include "hiaton/ir.h"

namespace hiaton::passes {

/// A value at which differentiation starts.
struct GradientRoot {
  ir::FunctionId function;
  std::vector<std::size_t> results;  ///< whose gradients come in
  std::vector<std::size_t> params;   ///< whose gradients are asked for
};

/// A value is active where it depends on a parameter (of the root, or of the module) through operations that
/// pass gradients; needed where a result with a gradient depends on it likewise. Both are found for all
/// functions at once, over every call that leads there.
class Activity {
 public:
  /// `module_parameters`: they count as active.
  Activity(const ir::Module& module, const GradientRoot& root, bool module_parameters);

  bool active(ir::FunctionId f, ir::ValueId value) const {
    return functions_[f.index()].active[value.index()];
  }
  /// Active, and its gradient counts.
  bool carries(ir::FunctionId f, ir::ValueId value) const {
    return active(f, value) && functions_[f.index()].needed[value.index()];
  }
  /// Whether any result of the call, in any of its phases, carries a gradient.
  bool passes_gradient(ir::FunctionId f, ir::NodeId call) const;
  /// Whether the function passes gradients at all.
  bool differentiable(ir::FunctionId f) const { return functions_[f.index()].differentiable; }
  bool needed_result(ir::FunctionId f, std::size_t result) const {
    return functions_[f.index()].results[result];
  }

 private:
  struct OfFunction {
    std::vector<bool> floats;   ///< by value: whether it holds any
    std::vector<bool> active;   ///< by value
    std::vector<bool> needed;   ///< by value
    std::vector<bool> params;   ///< active ones
    std::vector<bool> outputs;  ///< results that are active
    std::vector<bool> results;  ///< results whose gradient comes in
    std::vector<bool> calls;    ///< by node: calls with active operands in any phase
    bool has_sources = false;   ///< it, or what it calls, reads active parameters of the module
    bool differentiable = false;
  };

  void spread_activity(ir::FunctionId id);
  void spread_need(ir::FunctionId id);
  void activate(OfFunction& of, ir::ValueId value);
  void need(OfFunction& of, ir::ValueId value);
  void set(std::vector<bool>& flags, std::size_t index);

  const ir::Module& module_;
  const bool module_parameters_;
  std::vector<OfFunction> functions_;
  bool changed_ = false;
};

}  // namespace hiaton::passes
