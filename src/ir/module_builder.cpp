#include <fmt/format.h>

#include <algorithm>

#include "hiaton/builder.h"
#include "hiaton/error.h"
#include "ir/differentiable.h"
#include "ir/errors.h"
#include "ir/names.h"

namespace hiaton {
namespace {

/// Sizes are 0 or more; -1 stands for one that only the run knows, and has a symbol.
void require_sizes(const std::string& function, const Type& type) {
  for (const Dim& dim : type.shape) {
    if (dim.size >= 0 || (dim.size == -1 && !dim.symbol.empty())) continue;
    throw ProgramError(fmt::format(
        "function '{}': expected dimensions of 0 or more, or -1 and a symbol, found {}", function, dim.size));
  }
}

void require_names(const std::string& function, const std::vector<ir::ValueInfo>& params) {
  if (!ir::is_function_name(function)) {
    throw ProgramError(fmt::format("expected a name for a function, found '{}'", function));
  }
  std::unordered_set<std::string_view> seen;
  for (const ir::ValueInfo& param : params) {
    if (!ir::is_name(param.name)) {
      throw ProgramError(
          fmt::format("function '{}': expected a name for a parameter, found '{}'", function, param.name));
    }
    if (!seen.insert(param.name).second) {
      throw ProgramError(fmt::format("function '{}': two parameters are named '{}'", function, param.name));
    }
  }
}

}  // namespace

ModuleBuilder::ModuleBuilder(std::shared_ptr<const Source> source) {
  module_.source = std::move(source);
}

ModuleBuilder::ModuleBuilder(ir::Module module) : module_(std::move(module)) {
  for (const ir::Function& function : module_.functions) names_.insert(function.name);
  for (const ir::Parameter& parameter : module_.parameters) parameter_names_.insert(parameter.name);
}

std::size_t ModuleBuilder::add_parameter(std::string name, Type type, Span span,
                                         std::optional<Initializer> initial, std::string placement) {
  if (!ir::is_name(name)) {
    throw ProgramError(fmt::format("expected a name for a learned parameter, found '{}'", name));
  }
  const bool fixed =
      std::all_of(type.shape.begin(), type.shape.end(), [](const Dim& d) { return d.size >= 0; });
  if (type.is_data() || !fixed || !is_float(type.dtype)) {
    throw ProgramError(fmt::format(
        "parameter '{}': expected a number or a tensor of f32 or f64 with fixed dimensions, found {}", name,
        to_string(type)));
  }
  if (!initial) initial = default_initializer(type.shape.size());
  if (!parameter_names_.insert(name).second)
    throw ProgramError(fmt::format("parameter '{}' is declared twice", name));
  module().parameters.push_back({std::move(name), std::move(type), span, *initial, std::move(placement)});
  return module_.parameters.size() - 1;
}

FunctionRef ModuleBuilder::declare(std::string name, std::vector<ir::ValueInfo> params,
                                   std::vector<Type> results) {
  require_names(name, params);
  if (results.empty()) throw ProgramError(fmt::format("function '{}': expected at least one result", name));
  for (const ir::ValueInfo& param : params) require_sizes(name, param.type);
  for (const Type& result : results) require_sizes(name, result);
  if (!names_.insert(name).second) {
    throw ProgramError(fmt::format("function '{}' is declared twice", name));
  }
  ir::Function function;
  function.name = std::move(name);
  function.params = std::move(params);
  function.results = std::move(results);
  const FunctionRef ref{ir::FunctionId(module().functions.size())};
  module_.functions.push_back(std::move(function));
  return ref;
}

FunctionRef ModuleBuilder::declare_gradient(std::string name, FunctionRef of, const ir::GradientForm& form) {
  ir::GradientSignature signature = ir::gradient_signature(module_, declared(of), form);
  const FunctionRef ref = declare(std::move(name), std::move(signature.params), std::move(signature.results));
  module_.gradient_requests.push_back({ref.id, of.id, form});
  return ref;
}

void ModuleBuilder::define(FunctionRef ref, const std::function<Vars(FunctionBuilder&)>& body) {
  if (declared(ref).body.valid()) {
    throw ProgramError(fmt::format("function '{}' is defined twice", module_[ref.id].name));
  }
  build(ref, body);
}

void ModuleBuilder::redefine(FunctionRef ref, const std::function<Vars(FunctionBuilder&)>& body) {
  ir::Function& function = declared(ref);
  function.body = ir::BlockId();
  function.nodes.clear();
  function.blocks.clear();
  function.values.clear();
  build(ref, body);
}

ir::Module& ModuleBuilder::module() {
  if (is_finished_) throw ProgramError("the module is finished");
  return module_;
}

ir::Function& ModuleBuilder::declared(FunctionRef ref) {
  if (ref.id.index() >= module().functions.size()) throw ProgramError("expected a function that is declared");
  return module_[ref.id];
}

void ModuleBuilder::build(FunctionRef ref, const std::function<Vars(FunctionBuilder&)>& body) {
  std::unique_ptr<FunctionBuilder> made(new FunctionBuilder(*this, module_, ref.id));
  FunctionBuilder& builder = *builders_.emplace_back(std::move(made));
  std::vector<Type> param_types;
  for (const ir::ValueInfo& param : module_[ref.id].params) param_types.push_back(param.type);
  const ir::BlockId block = builder.begin_block(param_types);
  ir::Function& function = module_[ref.id];
  function.body = block;
  for (std::size_t i = 0; i < function.params.size(); ++i) {
    function[function[block].params[i]].name = function.params[i].name;
  }
  const Vars results = body(builder);
  require_types(module_[ref.id].results, builder.types_of(results),
                fmt::format("results of '{}'", module_[ref.id].name));
  builder.end_block(block, builder.checked_results(results));
}

FunctionRef ModuleBuilder::helper(const std::string& wanted, std::vector<ir::ValueInfo> params,
                                  std::vector<Type> results,
                                  const std::function<Vars(FunctionBuilder&, FunctionRef)>& body) {
  std::string key = wanted;
  for (const ir::ValueInfo& param : params) key += ", " + to_string(param.type);
  const auto known = helpers_.find(key);
  if (known != helpers_.end()) return known->second;
  const FunctionRef made = declare(name_for_helper(wanted), std::move(params), std::move(results));
  helpers_.emplace(std::move(key), made);
  define(made, [&](FunctionBuilder& f) { return body(f, made); });
  return made;
}

std::string ModuleBuilder::name_for_helper(const std::string& wanted) const {
  const auto is_free = [&](const std::string& name) { return ir::is_name_for_made(name) && !has(name); };
  if (is_free(wanted)) return wanted;
  std::size_t number = 2;
  while (!is_free(fmt::format("{}_{}", wanted, number))) ++number;
  return fmt::format("{}_{}", wanted, number);
}

std::string ModuleBuilder::unused_name(const std::string& wish) const {
  std::string name = wish;
  for (int i = 2; has(name); ++i) name = fmt::format("{}{}", wish, i);
  return name;
}

ir::Module ModuleBuilder::finish() {
  for (std::size_t i = 0; i < module().functions.size(); ++i) {
    const ir::Function& function = module_.functions[i];
    if (!function.body.valid() && module_.gradient_request(ir::FunctionId(i)) == nullptr)
      throw ProgramError(fmt::format("function '{}' is declared but not defined", function.name));
  }
  ir::verify(module_);
  is_finished_ = true;
  return std::move(module_);
}

}  // namespace hiaton
