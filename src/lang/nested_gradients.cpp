#include <algorithm>

#include "base/components.h"
#include "hiaton/op.h"
#include "ir/differentiable.h"
#include "lang/function_types.h"

namespace hiaton::lang {
namespace {

/// Which functions are needed to make a function: those that it calls, and what it is the gradient of.
std::vector<std::vector<std::size_t>> needs_of(const ir::Module& module) {
  std::vector<std::vector<std::size_t>> needs(module.functions.size());
  for (std::size_t i = 0; i < needs.size(); ++i) {
    for (const ir::Node& node : module.functions[i].nodes) {
      if (node.kind == ir::NodeKind::Call) needs[i].push_back(node.callee.index());
    }
  }
  for (const ir::GradientRequest& request : module.gradient_requests)
    needs[request.function.index()].push_back(request.of.index());
  return needs;
}

/// Functions that need each other, gradients of functions among them.
class Nested {
 public:
  using Places = std::unordered_map<std::size_t, Span>;
  Nested(ModuleBuilder& builder, const Places& places, std::vector<std::size_t> functions)
      : builder_(builder), places_(places), copies_{std::move(functions)} {}

  void separate() {
    std::vector<ir::GradientRequest> inside;
    for (const ir::GradientRequest& request : builder_.module().gradient_requests) {
      if (is_one(request.function) && is_one(request.of)) inside.push_back(request);
    }
    for (int64_t level = 1; level <= kMostNestedGradients; ++level) copy();
    std::vector<ir::GradientRequest>& requests = builder_.module().gradient_requests;
    for (ir::GradientRequest& request : requests) {
      if (is_one(request.function) && is_one(request.of)) request.of = copy_of(request.of, 1);
    }
    for (int64_t level = 1; level <= kMostNestedGradients; ++level) {
      for (const ir::GradientRequest& request : inside) {
        const ir::FunctionId made = copy_of(request.function, level);
        if (level == kMostNestedGradients) {
          define_failing(request, made);
        } else {
          builder_.module().gradient_requests.push_back({made, copy_of(request.of, level + 1), request.form});
        }
      }
    }
  }

 private:
  std::size_t place_of(ir::FunctionId function) const {
    const std::vector<std::size_t>& all = copies_[0];
    return static_cast<std::size_t>(std::ranges::find(all, function.index()) - all.begin());
  }
  bool is_one(ir::FunctionId function) const { return place_of(function) < copies_[0].size(); }
  ir::FunctionId copy_of(ir::FunctionId function, int64_t level) const {
    return ir::FunctionId(copies_[static_cast<std::size_t>(level)][place_of(function)]);
  }

  /// Adds copies of all functions that call each other.
  void copy() {
    std::vector<ir::Function>& functions = builder_.module().functions;
    std::vector<std::size_t> made;
    for (const std::size_t i : copies_[0]) {
      const ir::Function& original = functions[i];
      const FunctionRef ref =
          builder_.declare(builder_.name_for_helper(original.name), original.params, original.results);
      made.push_back(ref.id.index());
      ir::Function copied = functions[i];
      copied.name = functions[made.back()].name;
      functions[made.back()] = std::move(copied);
    }
    copies_.push_back(made);
    const int64_t level = static_cast<int64_t>(copies_.size()) - 1;
    for (const std::size_t i : made) {
      for (ir::Node& node : functions[i].nodes) {
        if (node.kind == ir::NodeKind::Call && is_one(node.callee)) node.callee = copy_of(node.callee, level);
      }
    }
  }

  /// Ends the run. The results have the types of the gradients.
  void define_failing(const ir::GradientRequest& request, ir::FunctionId made) {
    const ir::Function of = builder_.module()[request.of];
    builder_.define({made}, [&](FunctionBuilder& f) {
      std::vector<Var> arguments;
      for (std::size_t i = 0; i < of.params.size(); ++i) arguments.push_back(f.param(i));
      const auto place = places_.find(request.function.index());
      if (place != places_.end()) f.set_span(place->second);
      const Var failed = f.op("assume", {f.constant(false)}, {kTooDeepGradient});
      std::vector<Var> results;
      if (ir::gives_values(request.form.kind)) {
        for (const Var value : f.call({copy_of(request.of, kMostNestedGradients)}, arguments))
          results.push_back(value);
      }
      for (const ir::GradientForm::By& by : ir::derived_by(of, request.form)) {
        const Var like = by.is_learned ? f.parameter(by.number) : arguments[by.number];
        results.push_back(f.op("pass_after", {like, failed}));
      }
      return Vars(std::move(results));
    });
  }

  ModuleBuilder& builder_;
  const Places& places_;
  std::vector<std::vector<std::size_t>> copies_;  ///< by level; at 0 the functions themselves
};

}  // namespace

void separate_nested_gradients(ModuleBuilder& builder, FunctionTypes& types,
                               const std::unordered_map<std::size_t, Span>& places) {
  const ir::Module& module = builder.module();
  if (types.all().empty() || module.gradient_requests.empty()) return;
  const Components components = strongly_connected_components(needs_of(module));
  std::vector<std::size_t> nested;  // by their components
  for (const ir::GradientRequest& request : module.gradient_requests) {
    const std::size_t component = components.of[request.function.index()];
    const auto is_called_there = [&](const FunctionType& type) {
      return type.caller && components.of[type.caller->id.index()] == component;
    };
    const bool is_nested =
        component == components.of[request.of.index()] && std::ranges::any_of(types.all(), is_called_there);
    if (is_nested && std::ranges::find(nested, component) == nested.end()) nested.push_back(component);
  }
  for (const std::size_t component : nested) {
    std::vector<std::size_t> functions;
    for (std::size_t i = 0; i < components.of.size(); ++i) {
      if (components.of[i] == component) functions.push_back(i);
    }
    Nested(builder, places, std::move(functions)).separate();
  }
}

}  // namespace hiaton::lang
