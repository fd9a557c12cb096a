#include "lang/generated.h"

#include <fmt/format.h>

#include "ir/names.h"

namespace hiaton::lang {

std::string as_name(std::string_view type) {
  std::string name;
  for (const char c : type) {
    if (ir::continues_name(c)) {
      name += c;
    } else if (!name.empty() && name.back() != '_') {
      name += '_';
    }
  }
  if (!name.empty() && name.back() == '_') name.pop_back();
  return name;
}

FunctionRef Generated::gradient(FunctionRef of, const ir::GradientForm& form) {
  const std::string_view word = ir::name_of(form.kind);
  std::string key = fmt::format("{} {}", word, of.id.index());
  for (const ir::GradientForm::By& by : form.wrt) key += fmt::format(" {} {}", by.is_learned, by.number);
  const auto known = made_.find(key);
  if (known != made_.end()) return known->second;
  const std::string name = free_name(fmt::format("{}_{}", word, (*this)[of].name));
  return made_.emplace(key, builder_.declare_gradient(name, of, form)).first->second;
}

FunctionRef Generated::function(const std::string& wanted, std::vector<ir::ValueInfo> params,
                                std::vector<Type> results, const Body& body) {
  std::string key = wanted;
  for (const ir::ValueInfo& param : params) key += ", " + to_string(param.type);
  const auto known = made_.find(key);
  if (known != made_.end()) return known->second;
  const FunctionRef made = builder_.declare(free_name(wanted), std::move(params), std::move(results));
  made_.emplace(key, made);
  builder_.define(made, [&](FunctionBuilder& f) { return body(f, made); });
  return made;
}

FunctionRef Generated::function_with_any_results(const std::string& wanted, std::vector<ir::ValueInfo> params,
                                                 const std::function<Vars(FunctionBuilder&)>& body) {
  const FunctionRef made = builder_.declare(free_name(wanted), std::move(params), {DType::I64});
  builder_.define(made, [&](FunctionBuilder& f) {
    const Vars results = body(f);
    std::vector<Type>& types = builder_.module()[made.id].results;
    types.clear();
    for (const Var result : results) types.push_back(result.type());
    return results;
  });
  return made;
}

std::string Generated::free_name(const std::string& wanted) const {
  const auto is_free = [&](const std::string& name) {
    return ir::is_name_for_made(name) && !builder_.has(name);
  };
  if (is_free(wanted)) return wanted;
  std::size_t number = 2;
  while (!is_free(fmt::format("{}_{}", wanted, number))) ++number;
  return fmt::format("{}_{}", wanted, number);
}

}  // namespace hiaton::lang
