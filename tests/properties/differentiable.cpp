#include "properties/differentiable.h"

#include <fmt/format.h>

#include <algorithm>

namespace hiaton::properties {
namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

Value random_value(const Type& type, Random& random, int depth) {
  const auto number = [&] { return 0.01 * random.between(-150, 150) + 0.003; };
  if (type.is_scalar()) return is_float(type.dtype) ? Value(number()) : Value(int64_t{random.between(0, 2)});
  if (type.is_tensor()) {
    Tensor tensor(DType::F64, {type.shape[0].size});
    for (int64_t i = 0; i < tensor.size(); ++i) tensor.mutable_data<double>()[i] = number();
    return tensor;
  }
  const std::vector<Variant>& variants = type.data->variants;
  const auto is_deep = [&](const Variant& variant) {
    return std::any_of(variant.fields.begin(), variant.fields.end(),
                       [&](const Field& field) { return field.type == type; });
  };
  std::size_t chosen = random.below(variants.size());
  while (is_deep(variants[chosen]) != (depth > 0)) chosen = random.below(variants.size());
  std::vector<Value> fields;
  for (std::size_t i = 0; i < variants[chosen].fields.size(); ++i) {
    const int below = depth - 1 - static_cast<int>(random.below(2));
    fields.push_back(random_value(field_type(type, chosen, i), random, std::max(0, below)));
  }
  return Data(static_cast<uint32_t>(chosen), fields);
}

}  // namespace

std::string Differentiable::program(bool recompute) const {
  return replaced(text, kMark, recompute ? " recompute" : "");
}

std::string Differentiable::with_main(bool recompute, int order) const {
  std::string main = program(recompute);
  if (order == 2) {
    main += fmt::format(
        "fn curved({}) -> f64 =\n"
        "  let (by_x, by_v, by_xs, by_vs, by_t) = grad(loss)({})\n"
        "  sin(by_x) + dot(by_v, v) + fold(add_number, x, by_xs) + fold(add_vector, 0, by_vs) + "
        "total(by_t)\n",
        params, names);
  }
  const char* derived = order == 2 ? "curved" : "loss";
  return main + fmt::format("fn main({}) -> (f64, {}) = value_and_grad({})({})\n", params, gradients, derived,
                            names);
}

std::vector<Value> random_arguments(const std::vector<Type>& types, uint64_t seed) {
  Random random(seed);
  std::vector<Value> values;
  for (const Type& type : types) values.push_back(random_value(type, random, random.between(0, 2)));
  return values;
}

}  // namespace hiaton::properties
