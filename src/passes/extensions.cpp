// Extensions: which there are, and their parameters, results and phases.
#include "passes/extensions.h"

#include <fmt/format.h>

#include <algorithm>

namespace hiaton::passes {
namespace {

std::string unused_param(const std::vector<ir::ValueInfo>& params, std::size_t result) {
  std::string name = fmt::format("g{}", result + 1);
  const auto taken = [&] {
    return std::any_of(params.begin(), params.end(), [&](const ir::ValueInfo& p) { return p.name == name; });
  };
  while (taken()) name += "_";
  return name;
}

}  // namespace

Extensions::Extensions(ModuleBuilder& builder, const GradientRoot& root, bool module_parameters)
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

Mirror Extensions::mirror(ir::FunctionId id, std::size_t phase) const {
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
  // What begins the phase: the gradient of a result, be it zero.
  for (std::size_t i = results.begin; i < results.end() && mirror.needs_signal(); ++i) {
    if (holds_floats(f.results[i])) mirror.results.push_back(i);
  }
  const bool gives_any = std::any_of(f.results.begin() + static_cast<std::ptrdiff_t>(results.begin),
                                     f.results.end(), [](const Type& type) { return holds_floats(type); });
  if (!gives_any) mirror.params.clear();
  return mirror;
}

uint32_t Extensions::mirroring_phase(ir::FunctionId id, std::size_t phase) const {
  const std::size_t count = builder_.module()[id].phase_count();
  auto mirroring = static_cast<uint32_t>(count);
  for (std::size_t later = phase + 1; later < count; ++later) {
    if (!mirror(id, later).is_empty()) ++mirroring;
  }
  return mirroring;
}

void Extensions::declare(ir::FunctionId id) {
  const ir::Function& f = builder_.module()[id];
  std::vector<ir::ValueInfo> params = f.params;
  std::vector<Type> results = f.results;
  std::vector<Phase> phases = f.phases;
  if (phases.empty()) phases.push_back({f.params.size(), f.results.size()});
  for (std::size_t phase = f.phase_count(); phase-- > 0;) {
    const Mirror mirrored = mirror(id, phase);
    if (mirrored.is_empty()) continue;
    for (std::size_t i : mirrored.results)
      params.push_back({data_.type_of(f.results[i]), unused_param(params, i)});
    if (mirrored.needs_signal()) {
      const std::size_t first = mirrored.params[0];
      params.push_back({data_.type_of(f.params[first].type), unused_param(params, f.results.size())});
    }
    for (std::size_t i : mirrored.params) results.push_back(data_.type_of(f.params[i].type));
    phases.push_back({mirrored.results.size() + (mirrored.needs_signal() ? 1 : 0), mirrored.params.size()});
  }
  const Span span = f.span;
  const std::string placement = f.placement;
  const FunctionRef extension = builder_.declare(builder_.unused_name(f.name + std::string(kExtendedSuffix)),
                                                 std::move(params), std::move(results));
  builder_.module()[extension.id].phases = std::move(phases);
  builder_.module()[extension.id].span = span;
  builder_.module()[extension.id].placement = placement;
  extended_[id.index()] = extension;
}

void Extensions::define(ir::FunctionId id) {
  const ir::Function from = builder_.module()[id];
  builder_.define(extended_[id.index()],
                  [&](FunctionBuilder& f) { return build_extension(*this, id, from, f); });
}

}  // namespace hiaton::passes
