// What gradients pass through: which values depend on what they are asked for, and which of these count.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "hiaton/ir.h"

namespace hiaton::passes {

/// Where differentiation starts.
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
  /// Throws ProgramError where a gradient would have to pass through a data value: floats that count are
  /// taken out of one of a type that active floats are put into.
  void require_no_way_through_data() const;
  /// Whether any result of the call, in any of its phases, carries a gradient.
  bool passes_gradient(ir::FunctionId f, ir::NodeId call) const;
  /// Whether the function passes gradients at all.
  bool differentiable(ir::FunctionId f) const { return functions_[f.index()].differentiable; }
  bool active_param(ir::FunctionId f, std::size_t param) const { return functions_[f.index()].params[param]; }
  bool needed_result(ir::FunctionId f, std::size_t result) const {
    return functions_[f.index()].results[result];
  }

 private:
  struct OfFunction {
    std::vector<bool> active;   ///< by value
    std::vector<bool> needed;   ///< by value
    std::vector<bool> params;   ///< active ones
    std::vector<bool> outputs;  ///< results that are active
    std::vector<bool> results;  ///< results whose gradient comes in
    bool has_sources = false;   ///< it, or what it calls, reads active parameters of the module
    bool differentiable = false;
  };

  void spread_activity(ir::FunctionId id);
  void spread_through_data(const ir::Function& f, OfFunction& of, const ir::Node& node);
  void spread_need(ir::FunctionId id);
  void activate(OfFunction& of, ir::ValueId value);
  void need(OfFunction& of, ir::ValueId value);
  void set(std::vector<bool>& flags, std::size_t index);

  const ir::Module& module_;
  const bool module_parameters_;
  std::vector<OfFunction> functions_;
  std::set<std::string> active_data_;  ///< data types that hold active floats
  bool changed_ = false;
};

/// Whether values of the type have gradients.
inline bool has_gradient(const Type& type) {
  return !type.is_data() && is_float(type.dtype);
}

}  // namespace hiaton::passes
