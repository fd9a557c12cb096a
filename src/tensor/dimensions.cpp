#include "tensor/dimensions.h"

namespace hiaton {

bool Dimensions::bind(const Type& param, const Type& argument) {
  const std::size_t number = arguments_++;
  if (!compatible(param, argument)) return false;
  for (std::size_t i = 0; i < param.shape.size(); ++i) {
    const Dim& wanted = param.shape[i];
    const Dim& found = argument.shape[i];
    if (wanted.size >= 0 || wanted == unknown_dim()) continue;
    Dim& known = known_.try_emplace(wanted.symbol, Known{found, {number, i}}).first->second.dim;
    if (known.size < 0 && found.size >= 0) known = found;
    if (found.size >= 0 && found.size != known.size) return false;
  }
  return true;
}

Type Dimensions::substitute(Type type) const {
  for (Dim& dim : type.shape) {
    if (dim.size >= 0) continue;
    const auto known = known_.find(dim.symbol);
    dim = known == known_.end() ? unknown_dim() : known->second.dim;
  }
  return type;
}

Type Dimensions::with_known(Type type) const {
  for (Dim& dim : type.shape) {
    const auto known = known_.find(dim.symbol);
    if (dim.size < 0 && known != known_.end() && known->second.dim.size >= 0) dim = known->second.dim;
  }
  return type;
}

}  // namespace hiaton
