// Operations on tensors by their definitions: what stands at each place of the result, computed by itself.
#pragma once

#include <functional>
#include <map>
#include <string_view>
#include <vector>

#include "hiaton/value.h"

namespace hiaton {

using Index = std::vector<int64_t>;

/// A number or tensor, whatever its elements are, as numbers of f64.
struct Array {
  Index dims;
  std::vector<double> elements;

  int64_t rank() const { return static_cast<int64_t>(dims.size()); }
  int64_t axis(int64_t number) const { return number < 0 ? number + rank() : number; }
  int64_t size(int64_t number) const { return dims[static_cast<std::size_t>(axis(number))]; }
  double at(const Index& index) const {
    int64_t place = 0;
    for (std::size_t i = 0; i < dims.size(); ++i) place = place * dims[i] + index[i];
    return elements[static_cast<std::size_t>(place)];
  }
};

Array array_of(const Value& value);

/// Calls `visit` for each index of a tensor of these sizes, in the order of its elements.
void for_each_index(const Index& dims, const std::function<void(const Index&)>& visit);

double logsumexp(const std::vector<double>& of);

/// What stands at `index` of the result.
struct Call {
  const std::vector<Array>& in;
  const Index& attributes;
  const Index& index;

  const Array& x() const { return in[0]; }
  int64_t axis(std::size_t attribute) const { return x().axis(attributes[attribute]); }
  int64_t place(int64_t axis) const { return index[static_cast<std::size_t>(axis)]; }
};
using Definition = std::function<double(const Call&)>;

/// By the name of the operation.
const std::map<std::string_view, Definition>& definitions();

}  // namespace hiaton
