// BodyChecker: lists and other data values whose types differ in sizes of the tensors in them alone, as
// List[f64[3]] where List[f64[_]] is wanted. They are different types, so that the value is made anew.
#include <algorithm>
#include <set>
#include <utility>

#include "ir/names.h"
#include "lang/body_checker.h"

namespace hiaton::lang {
namespace {

using Pairs = std::set<std::pair<const DataType*, const DataType*>>;

/// Whether each value of the one type has the form of one of the other, apart from sizes of tensors.
/// `compared` are those that are being compared: types that contain themselves.
bool have_one_form(const Type& one, const Type& other, const FunctionTypes& functions, Pairs& compared) {
  if (!one.is_data() || !other.is_data()) return compatible(one, other);
  if (one == other) return true;
  const bool may_differ = functions.find(one) == nullptr && functions.find(other) == nullptr;
  const std::vector<Variant>& variants = one.data->variants;
  if (!may_differ || variants.size() != other.data->variants.size()) return false;
  if (!compared.emplace(one.data.get(), other.data.get()).second) return true;
  for (std::size_t v = 0; v < variants.size(); ++v) {
    const Variant& like = other.data->variants[v];
    if (variants[v].name != like.name || variants[v].fields.size() != like.fields.size()) return false;
    for (std::size_t i = 0; i < like.fields.size(); ++i) {
      if (!have_one_form(field_type(one, v, i), field_type(other, v, i), functions, compared)) return false;
    }
  }
  return true;
}

}  // namespace

bool BodyChecker::differs_in_sizes(const Type& found, const Type& wanted) const {
  Pairs compared;
  return found.is_data() && wanted.is_data() &&
         have_one_form(found, wanted, declarations_.function_types(), compared);
}

Var BodyChecker::resized(FunctionBuilder& f, Var value, const Type& wanted) {
  const Type found = value.type();
  if (!found.is_data() || found == wanted) return value;
  const FunctionRef made =
      generated_.function("resized_" + ir::as_name(to_string(wanted)), {{found, "x"}}, {wanted},
                          [&](FunctionBuilder& inner, FunctionRef) -> Vars {
                            std::vector<std::function<Vars(const Vars&)>> cases;
                            for (std::size_t v = 0; v < found.data->variants.size(); ++v) {
                              cases.emplace_back([&, v](const Vars& fields) -> Vars {
                                std::vector<Var> parts;
                                for (std::size_t i = 0; i < fields.size(); ++i)
                                  parts.push_back(resized(inner, fields[i], field_type(wanted, v, i)));
                                return inner.make(wanted, v, parts);
                              });
                            }
                            return inner.match(inner.param(0), cases);
                          });
  return f.call(made, {value})[0];
}

}  // namespace hiaton::lang
