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

}  // namespace hiaton::lang
