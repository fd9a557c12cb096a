#include <algorithm>
#include <cstring>

#include "hiaton/run.h"
#include "kernels/elementwise.h"

namespace hiaton {
namespace {

int64_t width_of(const Tensor& tensor) {
  return tensor.dims()[0] == 0 ? 0 : tensor.size() / tensor.dims()[0];
}

template <class T>
void add_rows(Gradients::Sum& to, const Gradients::Sum& from) {
  const int64_t width = width_of(to.values);
  T* sum = to.values.mutable_data<T>();
  const T* part = from.values.data<T>();
  const kernels::BinaryKernel<T> add = kernels::binary_kernel<T>(kernels::BinaryFunction::Add);
  if (from.dense) return add(to.values.size(), sum, part, sum);
  for (int64_t row : from.rows) add(width, sum + row * width, part + row * width, sum + row * width);
}

void zero(Tensor& tensor, int64_t begin, int64_t count) {
  const auto bytes = static_cast<int64_t>(size_of(tensor.dtype()));
  std::memset(tensor.mutable_data<std::byte>() + begin * bytes, 0, static_cast<std::size_t>(count * bytes));
}

}  // namespace

Gradients::Gradients(std::span<const graph::Parameter> parameters) {
  for (const graph::Parameter& parameter : parameters) {
    std::vector<int64_t> dims;
    for (const Dim& dim : parameter.type.shape) dims.push_back(dim.size);
    Sum& sum = sums_.emplace_back();
    sum.values = Tensor(parameter.type.dtype, dims);
    sum.touched.resize(static_cast<std::size_t>(dims[0]));
  }
}

Tensor& Gradients::dense(std::size_t parameter) {
  sums_[parameter].dense = true;
  return sums_[parameter].values;
}

void Gradients::touch(std::size_t parameter, int64_t row) {
  Sum& sum = sums_[parameter];
  uint8_t& touched = sum.touched[static_cast<std::size_t>(row)];
  if (touched == 0) sum.rows.push_back(row);
  touched = 1;
}

void Gradients::clear() {
  for (Sum& sum : sums_) {
    const int64_t width = width_of(sum.values);
    if (sum.dense) {
      zero(sum.values, 0, sum.values.size());
    } else {
      for (int64_t row : sum.rows) zero(sum.values, row * width, width);
    }
    for (int64_t row : sum.rows) sum.touched[static_cast<std::size_t>(row)] = 0;
    sum.rows.clear();
    sum.dense = false;
  }
}

void Gradients::add(const Gradients& other) {
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    const Sum& from = other.sums_[i];
    for (int64_t row : from.rows) touch(i, row);
    sums_[i].dense = sums_[i].dense || from.dense;
    if (sums_[i].values.dtype() == DType::F64) {
      add_rows<double>(sums_[i], from);
    } else {
      add_rows<float>(sums_[i], from);
    }
  }
}

}  // namespace hiaton
