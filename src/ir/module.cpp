#include "hiaton/ir.h"

namespace hiaton::ir {

std::optional<FunctionId> Module::find(std::string_view name) const {
  for (std::size_t i = 0; i < functions.size(); ++i) {
    if (functions[i].name == name) return FunctionId(i);
  }
  return std::nullopt;
}

}  // namespace hiaton::ir
