// The extended functions of the paper (001, section 4), which gradients are made of.
//
// The extension of f is the body of f with its backward path, in one body under one tag. Its first phases are
// those of f; then come the same in reverse: the parameters of a mirrored phase are the gradients of the
// results of the phase it mirrors, its results the gradients of the parameters. So
//   - a call of f becomes a call of its extension, and its gradient is the next phase of the same call: one
//     call site, one label, one frame. The backward nodes read the forward values where they are.
//   - the gradient of an If is another If that takes the same side and sees the values of that side.
//   - an operation's rule makes the gradients of its operands; those of one value are added up
//     (contributions.h). What passes between a data value and its fields is in data_gradients.h.
//   - what reaches a parameter of the module goes to an accumulator of the run (Accumulate), and not up
//     through the returns; a row of a gathered table and the product x^T g are never made dense before.
// A call whose results carry no gradient stays as it is. So does one of a function that is to be computed
// again: its extension is called in the backward path.
#pragma once

#include <string>
#include <vector>

#include "passes/activity.h"
#include "passes/data_gradients.h"

namespace hiaton::passes {

/// Indices of the mirrored phases: which results of f bring a gradient, which parameters get one.
struct Mirror {
  std::vector<std::size_t> results;
  std::vector<std::size_t> params;

  bool is_empty() const { return results.empty() && params.empty(); }
  /// Whether no gradient comes in, though some go out: where a phase has no results, but later ones depend on
  /// its parameters. The mirrored phase then has one parameter, of the type of its first result, whose value
  /// does not count: something must come in for the phase to begin.
  bool needs_signal() const { return results.empty() && !params.empty(); }
};

/// The functions of a module and their extensions.
class Extensions {
 public:
  /// Makes the extensions of all functions that gradients from the root pass through.
  Extensions(ModuleBuilder& builder, const GradientRoot& root, bool module_parameters);

  const Activity& activity() const { return activity_; }
  DataGradients& data() { return data_; }
  FunctionRef extension_of(ir::FunctionId f) const { return extended_[f.index()]; }
  bool has_extension(ir::FunctionId f) const {
    return f.index() < extended_.size() && extended_[f.index()].id.valid();
  }
  Mirror mirror(ir::FunctionId id, std::size_t phase) const;
  /// Which phase of the extension mirrors that of the function. Empty ones are none.
  uint32_t mirroring_phase(ir::FunctionId id, std::size_t phase) const;

 private:
  void declare(ir::FunctionId id);
  void define(ir::FunctionId id);

  ModuleBuilder& builder_;
  Activity activity_;
  DataGradients data_;
  std::vector<FunctionRef> extended_;  ///< by function; invalid where no gradient passes
};

/// The results of the extension `to` of the function `from`, whose number is `id`.
Vars build_extension(Extensions& extensions, ir::FunctionId id, const ir::Function& from,
                     FunctionBuilder& to);

}  // namespace hiaton::passes
