// FunctionBuilder: sizes that types claim and that only the run knows.
#include <algorithm>

#include "hiaton/builder.h"
#include "tensor/dimensions.h"

namespace hiaton {

Var FunctionBuilder::checked(Var value, const Type& type) {
  Attributes shape;
  bool says_more = false;
  for (std::size_t i = 0; i < type.shape.size(); ++i) {
    shape.push_back(type.shape[i].size);
    says_more = says_more || (type.shape[i].size >= 0 && value.type().shape[i].size < 0);
  }
  return says_more ? op("check_shape", {value}, std::move(shape)) : value;
}

Var FunctionBuilder::checked_like(Var value, Var like) {
  Type type = like.type();  // a copy: new nodes may move what it refers to
  value = checked(value, type);
  for (std::size_t axis = 0; axis < type.shape.size(); ++axis) {
    const Dim& wanted = type.shape[axis];
    if (wanted.size >= 0 || wanted == unknown_dim() || value.type().shape[axis] == wanted) continue;
    const auto number = static_cast<int64_t>(axis);
    value = op("check_size", {value, like}, {number, number});
  }
  return value;
}

/// A value that was checked just so before is not checked again: so a program that writes its checks out
/// means what it meant without.
Var FunctionBuilder::checked_size(Var value, std::size_t axis, Var like, std::size_t like_axis) {
  const OpDef& check = *catalog().find("check_size");
  const Attributes axes = {static_cast<int64_t>(axis), static_cast<int64_t>(like_axis)};
  const std::vector<ir::Node>& nodes = function().nodes;
  const auto made = std::find_if(nodes.rbegin(), nodes.rend(), [&](const ir::Node& node) {
    return !node.results.empty() && node.results[0] == value.id();
  });
  const bool is_checked = made != nodes.rend() && made->op == &check && made->operands[1] == like.id() &&
                          made->attributes == axes;
  return is_checked ? value : op(check, std::vector{value, like}, axes);
}

/// A symbol stands for one size: what gave it its size first is the measure for the others.
std::vector<Var> FunctionBuilder::checked_arguments(const ir::Function& callee,
                                                    const std::vector<Var>& arguments,
                                                    const Dimensions& dimensions) {
  std::vector<Var> given = arguments;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const Type& param = callee.params[i].type;
    if (param.is_scalar() || param.is_data()) continue;
    given[i] = checked(given[i], dimensions.substitute(param));
    for (std::size_t axis = 0; axis < param.shape.size(); ++axis) {
      if (param.shape[axis].size >= 0 || param.shape[axis] == unknown_dim()) continue;
      const Dimensions::ArgumentAxis first = dimensions.first_of(param.shape[axis].symbol);
      const Dim dim = given[i].type().shape[axis];
      const Dim measure = arguments[first.argument].type().shape[first.axis];
      const bool itself = first.axis == axis && arguments[first.argument].id() == arguments[i].id();
      if (dim.size >= 0 || itself || (dim == measure && dim != unknown_dim())) continue;
      given[i] = checked_size(given[i], axis, arguments[first.argument], first.axis);
    }
  }
  return given;
}

/// The first dimension that a symbol stands for: of one of the first `params` parameters, or of a value that
/// was claimed to have it.
std::optional<FunctionBuilder::Measure> FunctionBuilder::measure_of(const Dim& symbol, std::size_t params) {
  for (std::size_t p = 0; p < params; ++p) {
    const Shape& shape = function().params[p].type.shape;
    const auto found = std::find(shape.begin(), shape.end(), symbol);
    if (found != shape.end())
      return Measure{symbol, param(p), static_cast<std::size_t>(found - shape.begin())};
  }
  for (const Measure& measure : measures_) {
    if (measure.symbol == symbol) return measure;
  }
  return std::nullopt;
}

Var FunctionBuilder::claimed(Var value, const Type& type, std::size_t params) {
  value = checked(value, type);
  for (std::size_t axis = 0; axis < type.shape.size(); ++axis) {
    const Dim& wanted = type.shape[axis];
    if (wanted.size >= 0 || wanted == unknown_dim() || value.type().shape[axis] == wanted) continue;
    if (const std::optional<Measure> measure = measure_of(wanted, params)) {
      value = op("check_size", {value, measure->of},
                 {static_cast<int64_t>(axis), static_cast<int64_t>(measure->axis)});
    } else {
      measures_.push_back({wanted, value, axis, open_blocks_.size()});
    }
  }
  return value;
}

Var FunctionBuilder::claimed(Var value, const Type& type) {
  return claimed(value, type, function().params.size());
}

/// As the results are declared. Those of a phase come before the parameters of later ones.
Vars FunctionBuilder::checked_results(const Vars& results) {
  const ir::Function& f = function();
  std::vector<Phase> phases = f.phases;
  if (phases.empty()) phases.push_back({f.params.size(), f.results.size()});
  std::vector<Var> given;
  std::size_t params = 0;
  for (const Phase& phase : phases) {
    params += phase.params;
    for (std::size_t i = 0; i < phase.results; ++i) {
      const Type declared = function().results[given.size()];
      given.push_back(claimed(results[given.size()], declared, params));
    }
  }
  return Vars(std::move(given));
}

}  // namespace hiaton
