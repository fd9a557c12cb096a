#include "lang/functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "hiaton/error.h"
#include "ir/differentiable.h"
#include "ir/errors.h"
#include "ir/names.h"
#include "lang/generated.h"
#include "lang/heads.h"
#include "lang/library.h"
#include "lang/suggest.h"
#include "lang/type_inference.h"

namespace hiaton::lang {
namespace {

/// Where a type is unknown, any will do: no module comes of it.
Type known_or_any(const std::optional<Type>& type) {
  return type.value_or(DType::I64);
}

std::vector<Type> results_of(const FunctionHead& head) {
  std::vector<Type> results;
  for (const std::optional<Type>& type : head.results) results.push_back(known_or_any(type));
  if (results.empty()) results.emplace_back(DType::I64);
  return results;
}

}  // namespace

bool require_distinct(std::span<const Pattern> patterns, std::string_view what, const Symbols& symbols,
                      Diagnostics& diagnostics) {
  if (patterns.size() < 2) return true;
  std::vector<Symbol> names;
  for (const Pattern& pattern : patterns) {
    if (pattern.name) names.push_back(*pattern.name);
  }
  std::sort(names.begin(), names.end());
  if (std::adjacent_find(names.begin(), names.end()) == names.end()) return true;
  std::unordered_set<Symbol> seen;
  for (const Pattern& pattern : patterns) {
    if (pattern.name && !seen.insert(*pattern.name).second) {
      diagnostics.add(pattern.span, fmt::format("{} '{}' is defined twice", what, symbols[*pattern.name]));
    }
  }
  return false;
}

std::unordered_set<Symbol> generic_names(const std::vector<FunctionHead>& heads) {
  std::unordered_set<Symbol> names;
  for (const FunctionHead& head : heads) {
    if (!head.type_params.empty()) names.insert(head.name);
  }
  return names;
}

Functions::Functions(const Source& source, const TokenList& tokens, const Symbols& symbols,
                     const Operations& operations, const std::vector<FunctionHead>& heads,
                     Declarations& declarations, ModuleBuilder& builder, Diagnostics& diagnostics)
    : source_(source),
      tokens_(tokens),
      symbols_(symbols),
      operations_(operations),
      heads_(heads),
      declarations_(declarations),
      builder_(builder),
      diagnostics_(diagnostics),
      by_symbol_(symbols.size(), nullptr) {
  references_.reserve(heads.size());
  for (const FunctionHead& head : heads) {
    if (head.on_demand) continue;
    if (!head.is_generic()) {
      references_.emplace(&head, declare(head));
    } else if (name_is_free(head)) {
      by_symbol_[head.name] = &head;
    }
  }
  for (const FunctionHead& head : heads) {
    if (!head.on_demand) continue;
    if (find(head.name) != nullptr && !find(head.name)->on_demand) {
      hidden_.emplace(head.name, &head);
    } else if (name_is_free(head)) {
      by_symbol_[head.name] = &head;
    }
  }
}

std::vector<ir::ValueInfo> Functions::params_of(const FunctionHead& head) const {
  std::vector<ir::ValueInfo> params;
  params.reserve(head.params.size());
  for (const Pattern& param : head.params) {
    params.push_back({known_or_any(param.type), std::string(symbols_[*param.name])});
  }
  for (const Type& captured : head.captured) {
    std::string name = fmt::format("captured{}", params.size());
    const auto is_taken = [&](const ir::ValueInfo& other) { return other.name == name; };
    while (std::any_of(params.begin(), params.end(), is_taken)) name += '_';
    params.push_back({captured, name});
  }
  return params;
}

void Functions::require_names_of_params(const FunctionHead& head) {
  for (const Pattern& param : head.params) {
    if (declarations_.is_variant(*param.name)) {
      diagnostics_.add(param.span,
                       fmt::format("expected the name of a parameter, found '{}', which is a variant",
                                   symbols_[*param.name]));
    }
  }
}

/// A function whose name or parameters are refused stands in the module too, so that its body is checked.
FunctionRef Functions::declare(const FunctionHead& head) {
  const bool has_name = name_is_free(head);
  if (has_name) by_symbol_[head.name] = &head;
  require_names_of_params(head);
  const bool distinct = require_distinct(head.params, "parameter", symbols_, diagnostics_);
  if (has_name && distinct) return declare_as(std::string(symbols_[head.name]), head);
  std::vector<ir::Function>& functions = builder_.module().functions;
  ir::Function& refused = functions.emplace_back();
  refused.params = params_of(head);
  refused.results = results_of(head);
  return {ir::FunctionId(functions.size() - 1)};
}

FunctionRef Functions::declare_as(const std::string& name, const FunctionHead& head) {
  const FunctionRef declared = builder_.declare(name, params_of(head), results_of(head));
  ir::Function& function = builder_.module()[declared.id];
  function.span = head.span;
  function.recompute = head.recompute;
  if (head.placement) function.placement = tokens_.strings[*head.placement];
  return declared;
}

/// What is wrong with the names of parameters is reported once, with the first use.
const FunctionHead* Functions::instance(const FunctionHead& generic, const TypeArguments& arguments,
                                        const FunctionHead& made_for,
                                        const std::vector<FunctionArgument>& given, Span used_at) {
  std::string name(symbols_[generic.name]);
  std::string key = name;
  for (const TypeArgument& argument : arguments) {
    const std::string type = to_string(*argument.type);
    key += ", " + type;
    name += '_' + ir::as_name(type);
  }
  for (const FunctionArgument& function : given) {
    key += function.function != nullptr
               ? fmt::format(", function {}", references_.at(function.function).id.index())
               : fmt::format(", operation {}", function.text);
    for (const Type& captured : function.captured) key += " with " + to_string(captured);
    name += '_' + function.text;
  }
  const auto known = instances_by_types_.find(key);
  if (known != instances_by_types_.end()) {
    if (known->second != nullptr) need(*known->second);
    return known->second;
  }
  FunctionHead head =
      read_head_for(generic, arguments, source_, tokens_, symbols_, declarations_, diagnostics_);
  const std::size_t findings = diagnostics_.count();
  require_names_of_params(generic);
  const bool is_right = require_distinct(generic.params, "parameter", symbols_, diagnostics_) &&
                        diagnostics_.count() == findings && head.readable;
  for (const FunctionArgument& function : given) {
    head.captured.insert(head.captured.end(), function.captured.begin(), function.captured.end());
  }
  head.functions = given;
  for (std::size_t i = 0; i < head.params.size(); ++i) {
    if (head.params[i].is_function) head.function_places.push_back(i);
  }
  std::erase_if(head.params, [](const Pattern& param) { return param.is_function; });
  head.made_for = &made_for;
  head.used_at = used_at;
  head.depth = made_for.depth + 1;
  const FunctionHead* made = nullptr;
  if (is_right) {
    made = &instances_.emplace_back(std::move(head));
    need(*made);
    references_.emplace(made, declare_as(builder_.unused_name(name), *made));
  }
  instances_by_types_.emplace(std::move(key), made);
  return made;
}

void Functions::take_back(const FunctionHead& instance) {
  const auto last = std::find(asked_.rbegin(), asked_.rend(), &instance);
  if (last == asked_.rend()) return;
  asked_.erase(std::next(last).base());
  --times_needed_.at(&instance);
}

void Functions::take_back_since(std::size_t time) {
  for (std::size_t i = time; i < asked_.size(); ++i) --times_needed_.at(asked_[i]);
  asked_.resize(time);
}

const FunctionHead* Functions::add_lambda(FunctionHead head, FunctionRef made) {
  const FunctionHead* lambda = &lambdas_.emplace_back(std::move(head));
  references_.emplace(lambda, made);
  return lambda;
}

void Functions::enter(const FunctionHead& head) {
  if (!hidden_.empty()) in_library_ = is_of_library(source_.file_at(head.name_span.begin).key);
}

bool Functions::name_is_free(const FunctionHead& head) {
  const std::string_view name = symbols_[head.name];
  if (operations_.find(head.name) != nullptr || name == "str") {
    diagnostics_.add(head.name_span,
                     fmt::format("expected a new name for a function, found '{}', which is a type", name));
    return false;
  }
  if (declarations_.is_variant(head.name)) {
    diagnostics_.add(head.name_span,
                     fmt::format("expected a new name for a function, found '{}', which is a variant", name));
    return false;
  }
  if (const FunctionHead* first = find(head.name)) {
    const uint32_t begin = first->name_span.begin;
    const Source::File& file = source_.file_at(begin);
    const bool is_here = &file == &source_.file_at(head.name_span.begin);
    diagnostics_.add(head.name_span,
                     fmt::format("{} '{}' is defined twice; the first definition is in line {}{}",
                                 head.is_constant ? "constant" : "function", name, source_.locate(begin).line,
                                 is_here ? "" : fmt::format(" of {}", file.name)));
    return false;
  }
  const bool is_size = declarations_.size(head.name) != nullptr;
  if (head.is_constant && (is_size || declarations_.parameter(head.name) != nullptr)) {
    diagnostics_.add(head.name_span,
                     fmt::format("expected a new name for a constant, found '{}', which is a {}", name,
                                 is_size ? "size" : "learned parameter"));
    return false;
  }
  return true;
}

/// What the generic function is for the parameters of another; nullptr where these do not tell, which is
/// reported.
const FunctionHead* Functions::instance_like(const FunctionHead& generic, const FunctionHead& like) {
  TypeInference types(generic.type_params, source_, tokens_, declarations_, diagnostics_);
  for (std::size_t i = 0; i < std::min(generic.param_types.size(), like.params.size()); ++i) {
    if (like.params[i].type) types.match(generic.param_types[i], *like.params[i].type);
  }
  if (types.missing().empty()) return instance(generic, types.arguments(), like);
  diagnostics_.add(like.name_span, fmt::format("the gradient of '{}' takes what '{}' takes",
                                               symbols_[generic.name], signature(generic)));
  return nullptr;
}

void Functions::define_gradient(const FunctionHead& head) {
  const GradientOf& gradient = *head.gradient;
  const FunctionHead* of = find(gradient.function);
  if (of == nullptr || !of->readable) {
    if (of == nullptr) report_unknown(gradient);
    return;
  }
  if (of->is_generic()) of = instance_like(*of, head);
  if (of == nullptr) return;
  ir::Module& module = builder_.module();
  const ir::Function& function = module[reference(head).id];
  const ir::Function& derived = module[reference(*of).id];
  const std::optional<ir::GradientForm> form = form_of(gradient.steps[0], *of);
  if (!form) return;
  try {
    const ir::GradientSignature wanted = ir::gradient_signature(module, derived, *form);
    const auto same = [](const ir::ValueInfo& a, const ir::ValueInfo& b) { return a.type == b.type; };
    if (!std::equal(wanted.params.begin(), wanted.params.end(), function.params.begin(),
                    function.params.end(), same)) {
      const bool is_vjp = ir::is_vjp(form->kind);
      diagnostics_.add(head.name_span,
                       fmt::format("the {} of '{}' takes what '{}' takes{}", is_vjp ? "vjp" : "gradient",
                                   symbols_[of->name], signature(*of),
                                   is_vjp ? ", then a gradient for each float result" : ""));
    } else if (wanted.results != function.results) {
      diagnostics_.add(head.name_span,
                       fmt::format("the gradient of '{}' gives {}, found {}", symbols_[of->name],
                                   list_types(wanted.results), list_types(function.results)));
    }
    module.gradient_requests.push_back({reference(head).id, reference(*of).id, *form});
  } catch (const ProgramError& error) {
    diagnostics_.add(gradient.span, error.what());
  }
}

/// Where nothing is said and the function takes values along, only what it declares counts.
std::optional<ir::GradientForm> Functions::form_of(const GradientOf::Step& step,
                                                   const FunctionHead& of) const {
  ir::GradientForm form{step.kind, {}};
  for (const GradientOf::Wrt& wrt : step.wrt) {
    const std::optional<ir::GradientForm::By> by = derived_by(wrt, of);
    if (!by) return std::nullopt;
    if (std::find(form.wrt.begin(), form.wrt.end(), *by) != form.wrt.end()) {
      diagnostics_.add(wrt.span, "expected each parameter once, found one twice");
      return std::nullopt;
    }
    form.wrt.push_back(*by);
  }
  const FunctionTypes& types = declarations_.function_types();
  const bool takes_functions = std::any_of(of.params.begin(), of.params.end(), [&](const Pattern& param) {
    return param.type && types.is_inside(*param.type);
  });
  if (!step.wrt.empty() || (of.captured.empty() && !takes_functions)) return form;
  for (std::size_t i = 0; i < of.params.size(); ++i) {
    if (of.params[i].type && types.holds_floats_beside(*of.params[i].type)) form.wrt.push_back({.number = i});
  }
  if (form.wrt.empty()) form.wrt.push_back({.number = 0});  // which holds none: that is reported
  return form;
}

std::optional<ir::GradientForm::By> Functions::derived_by(const GradientOf::Wrt& wrt,
                                                          const FunctionHead& of) const {
  std::optional<std::size_t> number = wrt.number;
  for (std::size_t i = 0; !number && !wrt.is_learned && i < of.params.size(); ++i) {
    if (of.params[i].name == wrt.name) return ir::GradientForm::By{.number = i};
  }
  if (!number) {
    if (const std::size_t* learned = declarations_.parameter(wrt.name))
      return ir::GradientForm::By{.is_learned = true, .number = *learned};
    if (!declarations_.is_broken(wrt.name)) {
      diagnostics_.add(wrt.span, fmt::format("expected a parameter of '{0}' or a learned parameter, found "
                                             "'{1}': {2}",
                                             symbols_[of.name], symbols_[wrt.name], signature(of)));
    }
    return std::nullopt;
  }
  const std::vector<std::size_t>& functions = of.function_places;
  const bool is_function = std::find(functions.begin(), functions.end(), *number) != functions.end();
  const std::size_t count = of.params.size() + functions.size();
  if (is_function || *number >= count) {
    diagnostics_.add(
        wrt.span, is_function ? fmt::format("expected a parameter that holds floats, found parameter {} of "
                                            "'{}', which is a function",
                                            *number, symbols_[of.name])
                              : fmt::format("expected a number less than {}, which is how many parameters "
                                            "'{}' has, found {}",
                                            count, symbols_[of.name], *number));
    return std::nullopt;
  }
  const auto before =
      std::count_if(functions.begin(), functions.end(), [&](std::size_t place) { return place < *number; });
  return ir::GradientForm::By{.number = *number - static_cast<std::size_t>(before)};
}

void Functions::report_unknown(const GradientOf& gradient) const {
  const std::string_view name = symbols_[gradient.function];
  if (operations_.find(gradient.function) != nullptr) {
    diagnostics_.add(
        gradient.span,
        fmt::format("expected a function of the program, found '{}', which is an operation", name));
    return;
  }
  Suggestion similar(name);
  if (diagnostics_.wants_suggestions()) {
    for (const FunctionHead& head : heads_) similar.offer(symbols_[head.name]);
  }
  diagnostics_.add(gradient.span, fmt::format("unknown function '{}'{}", name, similar.text()));
}

std::string Functions::signature(const FunctionHead& head) const {
  if (head.is_generic()) {
    const std::string_view text = source_.text({head.name_span.begin, head.span.end - 1});
    return std::string(text.substr(0, text.find_last_not_of(" \t\r\n") + 1));
  }
  std::string text = fmt::format("{}(", symbols_[head.name]);
  std::string_view separator;
  const std::vector<Type> types = written_params(head, source_);
  for (std::size_t i = 0; i < head.params.size(); ++i) {
    const Pattern& param = head.params[i];
    text += fmt::format("{}{}: {}", separator, param.name ? symbols_[*param.name] : "_",
                        param.type ? to_string(types[i]) : "?");
    separator = ", ";
  }
  return text + ")";
}

}  // namespace hiaton::lang
