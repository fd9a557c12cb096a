#include "ir/differentiable.h"

#include <fmt/format.h>

#include "hiaton/error.h"
#include "ir/type_lists.h"

namespace hiaton::ir {

std::vector<Type> gradient_results(const Function& function, bool with_value) {
  const Type& first = function.results.at(0);
  if (!first.is_scalar() || !is_float(first.dtype)) {
    throw ProgramError(fmt::format(
        "the gradient of '{}': expected a function whose first result is f32 or f64, found results {}",
        function.name, list_types(function.results)));
  }
  std::vector<Type> results;
  if (with_value) results = function.results;
  const std::size_t values = results.size();
  for (const ValueInfo& param : function.params) {
    if (holds_floats(param.type)) results.push_back(param.type);
  }
  if (results.size() == values) {
    throw ProgramError(fmt::format("the gradient of '{}': expected a parameter that holds floats, found none",
                                   function.name));
  }
  return results;
}

}  // namespace hiaton::ir
