#include "passes/data_gradients.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/names.h"

namespace hiaton::passes {
namespace {

/// The variant of a gradient that is all zero, and the one of the gradient of a tensor that is not.
constexpr std::size_t kZero = 0;
constexpr std::size_t kTensor = 1;

/// "List[f64]" as a part of a name: "List_f64".
std::string in_name(const Type& type) {
  std::string name;
  for (const char c : to_string(type)) {
    if (ir::continues_name(c)) {
      name += c;
    } else if (!name.empty() && name.back() != '_') {
      name += '_';
    }
  }
  if (name.ends_with('_')) name.pop_back();
  return name;
}

/// What `side` makes for the variant of this number, of those from `begin` to `end`. Halves them, so that the
/// branches are nested no deeper than need be.
Var by_variant(Var number, std::size_t begin, std::size_t end, const std::function<Var(std::size_t)>& side) {
  if (end - begin == 1) return side(begin);
  const std::size_t middle = begin + (end - begin) / 2;
  return number.builder().if_else(
      number < static_cast<int64_t>(middle), [&] { return by_variant(number, begin, middle, side); },
      [&] { return by_variant(number, middle, end, side); });
}

}  // namespace

Var DataGradients::zero(Var value) {
  FunctionBuilder& f = value.builder();
  if (value.type().is_data()) return f.make(type_of(value.type()), kZero, {});
  return value.type().is_scalar() ? constant_like(value, 0.0) : f.op("zeros_like", {value});
}

std::size_t DataGradients::place_of(const Type& data, std::size_t variant, std::size_t field) {
  const std::vector<Field>& fields = data.data->variants[variant].fields;
  return static_cast<std::size_t>(std::count_if(fields.begin(),
                                                fields.begin() + static_cast<std::ptrdiff_t>(field),
                                                [](const Field& other) { return holds_floats(other.type); }));
}

Var DataGradients::make(FunctionBuilder& f, const Type& of, std::size_t variant, const Fields& fields) {
  const Type type = type_of(of);
  std::vector<Var> parts(type.data->variants[variant + 1].fields.size());
  for (const auto& [field, gradient] : fields) {
    const std::size_t place = place_of(of, variant, field);
    const Type part = field_type(type, variant + 1, place);
    parts[place] = gradient.type().is_tensor() ? f.make(part, kTensor, {gradient}) : gradient;
  }
  for (std::size_t place = 0; place < parts.size(); ++place) {
    if (parts[place].id().valid()) continue;
    const Type part = field_type(type, variant + 1, place);
    parts[place] = part.is_data() ? f.make(part, kZero, {}) : f.constant(zero_of(part.dtype));
  }
  return f.make(type, variant + 1, parts);
}

Var DataGradients::field(Var gradient, const Type& of, std::size_t variant, std::size_t field, Var value) {
  const std::vector<int64_t> place{static_cast<int64_t>(variant + 1),
                                   static_cast<int64_t>(place_of(of, variant, field))};
  std::vector<Var> operands{gradient};
  if (!value.type().is_data()) operands.push_back(value);
  return gradient.builder().op("field_or_zero", operands, place);
}

FunctionRef DataGradients::function(const std::string& wish, const std::vector<Type>& params,
                                    const Type& result, const std::function<Var(FunctionBuilder&)>& body) {
  const auto known = made_.find(wish);
  if (known != made_.end()) return known->second;
  std::vector<ir::ValueInfo> named;
  for (const Type& type : params) named.push_back({type, named.empty() ? "a" : "b"});
  std::string name = wish;
  for (int i = 2; builder_.has(name); ++i) {
    // Programs have no functions of such types: it was made for another gradient.
    const ir::FunctionId id = *builder_.module().find(name);
    const ir::Function& other = builder_.module()[id];
    const auto same_type = [](const ir::ValueInfo& a, const ir::ValueInfo& b) { return a.type == b.type; };
    if (std::equal(named.begin(), named.end(), other.params.begin(), other.params.end(), same_type)) {
      return made_.emplace(wish, FunctionRef{id}).first->second;
    }
    name = fmt::format("{}{}", wish, i);
  }
  const FunctionRef made = builder_.declare(name, std::move(named), {result});
  made_.emplace(wish, made);
  builder_.define(made, [&](FunctionBuilder& f) { return Vars(body(f)); });
  return made;
}

Var DataGradients::sum(Var a, Var b) {
  if (!a.type().is_data()) return a + b;
  Type type = a.type();  // copies: new nodes may move what they refer to
  const FunctionRef add =
      function("add_" + in_name(type), {type, type}, type, [&](FunctionBuilder& f) -> Var {
        const Var left = f.param(0);
        const Var right = f.param(1);
        const Var number = f.variant(left);
        return f.if_else(
            number == static_cast<int64_t>(kZero), [&] { return right; },
            [&] {
              return f.if_else(
                  f.variant(right) == static_cast<int64_t>(kZero), [&] { return left; },
                  [&] {
                    return by_variant(
                        number, kZero + 1, type.data->variants.size(),
                        [&](std::size_t variant) { return sum_of_variant(f, left, right, variant); });
                  });
            });
      });
  return a.builder().call(add, {a, b});
}

Var DataGradients::sum_of_variant(FunctionBuilder& f, Var a, Var b, std::size_t variant) {
  Type type = a.type();
  const std::size_t fields = type.data->variants[variant].fields.size();
  std::vector<Var> sums;
  for (std::size_t i = 0; i < fields; ++i)
    sums.push_back(sum(f.field(a, variant, i), f.field(b, variant, i)));
  return fields == 0 ? a : f.make(type, variant, sums);
}

Var DataGradients::as_value(Var value, Var gradient) {
  if (!value.type().is_data()) return gradient;
  Type type = value.type();
  const FunctionRef as =
      function("gradient_as_" + in_name(type), {type, gradient.type()}, type, [&](FunctionBuilder& f) {
        return by_variant(f.variant(f.param(0)), 0, type.data->variants.size(), [&](std::size_t variant) {
          return value_of_variant(f, f.param(0), f.param(1), variant);
        });
      });
  return value.builder().call(as, {value, gradient});
}

Var DataGradients::value_of_variant(FunctionBuilder& f, Var value, Var gradient, std::size_t variant) {
  Type type = value.type();
  const std::vector<Field>& fields = type.data->variants[variant].fields;
  const auto holds = [](const Field& field) { return holds_floats(field.type); };
  if (std::none_of(fields.begin(), fields.end(), holds)) return value;
  std::vector<Var> parts;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const Var old = f.field(value, variant, i);
    parts.push_back(holds(fields[i]) ? as_value(old, field(gradient, type, variant, i, old)) : old);
  }
  return f.make(type, variant, parts);
}

}  // namespace hiaton::passes
