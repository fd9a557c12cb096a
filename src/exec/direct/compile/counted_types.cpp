#include "exec/direct/compile/counted_types.h"

#include <utility>
#include <vector>

namespace hiaton::exec::direct {
namespace {

/// Calls `visit` with the type and with the types of what its values may refer to, as far as it returns true.
template <class Visit>
void for_each_below(const Type& type, Visit visit) {
  std::vector<Type> open{type};
  while (!open.empty()) {
    const Type next = std::move(open.back());
    open.pop_back();
    if (!visit(next) || !next.is_data()) continue;
    for (std::size_t v = 0; v < next.data->variants.size(); ++v) {
      for (std::size_t f = 0; f < next.data->variants[v].fields.size(); ++f) {
        Type field = field_type(next, v, f);
        if (!field.is_scalar()) open.push_back(std::move(field));
      }
    }
  }
}

}  // namespace

void CountedTypes::add(const Type& type) {
  for_each_below(
      type, [&](const Type& below) { return below.is_data() && names_.insert(below.data->name).second; });
}

bool CountedTypes::contain(const Type& type) const {
  bool found = false;
  std::unordered_set<std::string> seen;
  for_each_below(type, [&](const Type& below) {
    found = found || below.is_tensor() || names_.contains(below.data->name);
    return !found && seen.insert(below.data->name).second;
  });
  return found;
}

}  // namespace hiaton::exec::direct
