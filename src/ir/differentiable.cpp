#include "ir/differentiable.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "hiaton/error.h"
#include "ir/type_lists.h"

namespace hiaton::ir {

bool holds_floats(const Type& type) {
  if (!type.is_data()) return is_float(type.dtype);
  std::set<const DataType*> seen{type.data.get()};
  std::vector<const DataType*> waiting{type.data.get()};
  while (!waiting.empty()) {
    const DataType* data = waiting.back();
    waiting.pop_back();
    for (const Variant& variant : data->variants) {
      for (const Field& field : variant.fields) {
        if (!field.type.is_data() && is_float(field.type.dtype)) return true;
        if (field.type.is_data() && seen.insert(field.type.data.get()).second) {
          waiting.push_back(field.type.data.get());
        }
      }
    }
  }
  return false;
}

std::vector<Type> gradient_results(const Function& function, bool with_value) {
  const Type& first = function.results.at(0);
  const bool other_floats = std::any_of(function.results.begin() + 1, function.results.end(), holds_floats);
  if (!first.is_scalar() || !is_float(first.dtype) || other_floats) {
    throw ProgramError(
        fmt::format("the gradient of '{}': expected a function whose first result is f32 or f64 and whose "
                    "others hold no floats, found results {}",
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
