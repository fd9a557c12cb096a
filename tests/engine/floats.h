// The floats in a value, however deep, as one list: what finite differences move.
#pragma once

#include <cmath>
#include <vector>

#include "hiaton/value.h"

namespace hiaton {

inline void collect_floats(const Value& value, std::vector<double>& found) {
  if (value.is_data()) {
    const Data data = value.data();
    for (const Value field : data.fields()) collect_floats(field, found);
  } else if (value.dtype() == DType::F64) {
    if (value.is_scalar()) return found.push_back(value.as<double>());
    const Tensor tensor = value.tensor();
    found.insert(found.end(), tensor.data<double>(), tensor.data<double>() + tensor.size());
  }
}

inline std::vector<double> floats_of(const std::vector<Value>& values) {
  std::vector<double> found;
  for (const Value& value : values) collect_floats(value, found);
  return found;
}

/// The value with `by` added to its float number `index`, which is counted down; past it, the value itself.
inline Value moved(const Value& value, int64_t& index, double by) {
  if (value.is_data()) {
    std::vector<Value> fields;
    const Data data = value.data();
    for (const Value field : data.fields()) fields.push_back(moved(field, index, by));
    return Data(value.data().variant(), fields);
  }
  if (value.dtype() != DType::F64) return value;
  if (value.is_scalar()) return index-- == 0 ? Value(value.as<double>() + by) : value;
  const Tensor tensor = value.tensor();
  const int64_t at = index;
  index -= tensor.size();
  if (at < 0 || at >= tensor.size()) return value;
  Tensor copy(DType::F64, tensor.dims());
  std::copy_n(tensor.data<double>(), tensor.size(), copy.mutable_data<double>());
  copy.mutable_data<double>()[at] += by;
  return copy;
}

inline std::vector<Value> moved(const std::vector<Value>& values, int64_t index, double by) {
  std::vector<Value> result;
  for (const Value& value : values) result.push_back(moved(value, index, by));
  return result;
}

}  // namespace hiaton
