// What a module answers about its functions.
#include <fmt/format.h>

#include "hiaton/ir.h"
#include "ir/errors.h"

namespace hiaton::ir {

namespace {

Range range_of(const std::vector<Phase>& phases, std::size_t phase, std::size_t all,
               std::size_t Phase::*count) {
  if (phases.empty()) return {0, all};
  Range range{0, phases[phase].*count};
  for (std::size_t i = 0; i < phase; ++i) range.begin += phases[i].*count;
  return range;
}

}  // namespace

ProgramError error_in(const Module& module, const Function& function, const std::string& message) {
  if (module.source == nullptr || !function.span.known()) return ProgramError(message);
  return {module.source, {{function.span, message}}};
}

Range Function::params_of(std::size_t phase) const {
  return range_of(phases, phase, params.size(), &Phase::params);
}

Range Function::results_of(std::size_t phase) const {
  return range_of(phases, phase, results.size(), &Phase::results);
}

const GradientRequest* Module::gradient_request(FunctionId function) const {
  for (const GradientRequest& request : gradient_requests) {
    if (request.function == function) return &request;
  }
  return nullptr;
}

std::optional<FunctionId> Module::find(std::string_view name) const {
  for (std::size_t i = 0; i < functions.size(); ++i) {
    if (functions[i].name == name) return FunctionId(i);
  }
  return std::nullopt;
}

FunctionId Module::function_named(std::string_view name) const {
  if (const auto found = find(name)) return *found;
  constexpr std::size_t kShownNames = 10;
  std::string names;
  for (std::size_t i = 0; i < functions.size() && i < kShownNames; ++i) {
    names += (i > 0 ? ", " : "") + functions[i].name;
  }
  if (functions.size() > kShownNames) names += ", ...";
  throw ProgramError(fmt::format("expected a function '{}' to start at, found {}", name,
                                 names.empty() ? "no function" : "only: " + names));
}

}  // namespace hiaton::ir
