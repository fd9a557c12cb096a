#include "lang/generated.h"

#include <fmt/format.h>

namespace hiaton::lang {

FunctionRef Generated::gradient(FunctionRef of, const ir::GradientForm& form) {
  const std::string_view word = ir::name_of(form.kind);
  std::string key = fmt::format("{} {}", word, of.id.index());
  for (const ir::GradientForm::By& by : form.wrt) key += fmt::format(" {} {}", by.is_learned, by.number);
  const auto known = made_.find(key);
  if (known != made_.end()) return known->second;
  const std::string name = builder_.name_for_helper(fmt::format("{}_{}", word, (*this)[of].name));
  return made_.emplace(key, builder_.declare_gradient(name, of, form)).first->second;
}

FunctionRef Generated::function_with_any_results(const std::string& wanted, std::vector<ir::ValueInfo> params,
                                                 const std::function<Vars(FunctionBuilder&)>& body) {
  const FunctionRef made =
      builder_.declare(builder_.name_for_helper(wanted), std::move(params), {DType::I64});
  builder_.define(made, [&](FunctionBuilder& f) {
    const Vars results = body(f);
    std::vector<Type>& types = builder_.module()[made.id].results;
    types.clear();
    for (const Var result : results) types.push_back(result.type());
    return results;
  });
  return made;
}

void Generated::let_go_of_unfinished(std::size_t first) {
  const std::vector<ir::Function>& functions = builder_.module().functions;
  for (std::size_t i = first; i < functions.size(); ++i) {
    const ir::Function& function = functions[i];
    if (!function.body.valid() || !function[function.body].results.empty()) continue;
    const FunctionRef made{ir::FunctionId(i)};
    builder_.redefine(made, [&](FunctionBuilder& f) {
      std::vector<Var> same;
      for (std::size_t k = 0; k < f.function().params.size(); ++k) same.push_back(f.param(k));
      return f.call(made, same);
    });
  }
}

}  // namespace hiaton::lang
