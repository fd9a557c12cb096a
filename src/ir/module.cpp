// What a module answers about its functions.
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <vector>

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

/// Whether the function stands in the program's own file, and not in one that it imports or in none. All
/// functions of a module without a text count.
bool is_in_own_file(const Module& module, const Function& function) {
  if (module.source == nullptr) return true;
  return function.span.known() &&
         &module.source->file_at(function.span.begin) == &module.source->files().front();
}

/// The instances of a generic function stand at one place.
std::vector<std::string_view> written_names(const Module& module) {
  std::vector<std::string_view> names;
  std::vector<uint32_t> places;
  for (const Function& function : module.functions) {
    if (!is_in_own_file(module, function)) continue;
    const bool is_instance =
        module.source != nullptr && std::ranges::find(places, function.span.begin) != places.end();
    if (is_instance) continue;
    names.emplace_back(function.name);
    places.push_back(function.span.begin);
  }
  return names;
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
  const std::vector<std::string_view> written = written_names(*this);
  const auto shown = std::span(written).first(std::min(written.size(), kShownNames));
  std::string names = fmt::format("{}", fmt::join(shown, ", "));
  if (written.size() > kShownNames) names += ", ...";
  const std::string file = source != nullptr ? source->name() + ": " : "";
  throw ProgramError(fmt::format("{}expected a function '{}' to start at, found {}", file, name,
                                 names.empty() ? "no function" : "only: " + names));
}

}  // namespace hiaton::ir
