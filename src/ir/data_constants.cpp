// Data values with fields as constants of a function.
#include <map>
#include <utility>
#include <vector>

#include "hiaton/builder.h"

namespace hiaton {

/// A loop, not a recursion, for values may be as deep as memory allows.
Var FunctionBuilder::constant_data(const Value& value, const Type& type) {
  struct Part {
    DataObject* object;
    Type type;
  };
  using Key = std::pair<const DataObject*, const DataType*>;
  const auto key_of = [](const DataObject* object, const Type& of) { return Key(object, of.data.get()); };
  std::map<Key, Var> made;
  std::vector<Part> waiting{{value.slot().data, type}};
  const auto has_fields = [](const ValueView& view, const Type& of) {
    return view.is_data() && !is_string(of) && Data::has_object(view.slot.data);
  };
  while (!waiting.empty()) {
    const Part part = waiting.back();
    const DataFields fields(part.object);
    const std::size_t variant = part.object->variant();
    const std::size_t before = waiting.size();
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const Type of = field_type(part.type, variant, i);
      const ValueView field = fields.view(i);
      if (has_fields(field, of) && !made.contains(key_of(field.slot.data, of)))
        waiting.push_back({field.slot.data, of});
    }
    if (waiting.size() > before) continue;
    waiting.pop_back();
    if (made.contains(key_of(part.object, part.type))) continue;
    std::vector<Var> operands;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const Type of = field_type(part.type, variant, i);
      const ValueView field = fields.view(i);
      if (has_fields(field, of)) {
        operands.push_back(made.at(key_of(field.slot.data, of)));
      } else {
        operands.push_back(of.is_data() ? constant(field.value(), of) : constant(field.value()));
      }
    }
    made.emplace(key_of(part.object, part.type), make(part.type, variant, operands));
  }
  return made.at(key_of(value.slot().data, type));
}

}  // namespace hiaton
