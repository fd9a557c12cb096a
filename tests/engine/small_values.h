// Small values of any type, drawn at random.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "hiaton/value.h"

namespace hiaton {

/// Values that go together: a symbol in their types stands for one size in all of them.
class SmallValues {
 public:
  explicit SmallValues(std::mt19937_64& random) : random_(random) {}

  /// Numbers from -3 to 6, strings of up to two letters, lists of up to a few elements. Empty where the type
  /// asks for a large tensor, or for deep data values.
  std::optional<Value> of(const Type& type, int depth = 5) {
    if (is_string(type)) return Value(std::string("ab").substr(0, below(3)));
    if (type.is_data()) return data_of(type, depth);
    if (type.is_scalar()) return scalar_of(type.dtype);
    std::vector<int64_t> dims;
    int64_t size = 1;
    for (const Dim& dim : type.shape) {
      dims.push_back(size_of_dim(dim));
      size *= dims.back();
      if (size > kMostElements) return std::nullopt;
    }
    Tensor tensor(type.dtype, dims);
    for (int64_t i = 0; i < size; ++i) {
      const Value element = scalar_of(type.dtype);
      const std::size_t bytes = hiaton::size_of(type.dtype);
      std::memcpy(tensor.mutable_data<std::byte>() + static_cast<std::size_t>(i) * bytes, &element.slot(),
                  bytes);
    }
    return Value(std::move(tensor));
  }

 private:
  static constexpr int64_t kMostElements = 10'000;

  uint64_t below(uint64_t limit) { return random_() % limit; }

  Value scalar_of(DType dtype) {
    const auto number = static_cast<int64_t>(below(10)) - 3;
    switch (dtype) {
      case DType::Bool:
        return Value(number > 1);
      case DType::U8:
        return Value(static_cast<uint8_t>(number));
      case DType::I32:
        return Value(static_cast<int32_t>(number));
      case DType::I64:
        return Value(number);
      case DType::F32:
        return Value(static_cast<float>(number) / 2);
      case DType::F64:
        return Value(static_cast<double>(number) / 2);
    }
    return Value(number);
  }

  int64_t size_of_dim(const Dim& dim) {
    if (dim.size >= 0) return dim.size;
    const auto size = static_cast<int64_t>(below(4));
    return dim == unknown_dim() ? size : sizes_.emplace(std::string(dim.symbol), size).first->second;
  }

  /// Tries one variant, and where that goes too deep, each from the one with the fewest fields on.
  std::optional<Value> data_of(const Type& type, int depth) {
    const std::vector<Variant>& variants = type.data->variants;
    if (depth == 0 || variants.empty()) return std::nullopt;
    std::vector<std::size_t> order(variants.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return variants[a].fields.size() < variants[b].fields.size();
    });
    order.insert(order.begin(), below(variants.size()));
    for (const std::size_t variant : order) {
      std::vector<Value> fields;
      for (std::size_t i = 0; i < variants[variant].fields.size(); ++i) {
        std::optional<Value> field = of(field_type(type, variant, i), depth - 1);
        if (!field) break;
        fields.push_back(std::move(*field));
      }
      if (fields.size() == variants[variant].fields.size())
        return Value(Data::take(static_cast<uint32_t>(variant), fields));
    }
    return std::nullopt;
  }

  std::mt19937_64& random_;
  std::map<std::string, int64_t> sizes_;
};

}  // namespace hiaton
