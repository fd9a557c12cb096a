#include "exec/flow/run/gradient_sums.h"

#include "kernels/elementwise.h"
#include "kernels/reduce.h"

namespace hiaton::exec::flow {
namespace {

template <class T>
void add_instances(const TensorArgument& part, int64_t batch, Tensor& sum) {
  kernels::add_rows<T>(batch, part.size(), part.at<T>(0), part.stride, sum.mutable_data<T>());
}

/// A number that is none of the table's rows is passed over: the gather of it ends the run.
template <class T>
void add_rows(const TensorArgument& numbers, const TensorArgument& values, int64_t batch,
              std::size_t parameter, Gradients& gradients) {
  Tensor& sum = gradients.values(parameter);
  const int64_t row_count = sum.dims()[0];
  const int64_t width = row_count == 0 ? 0 : sum.size() / row_count;
  T* const table = sum.mutable_data<T>();
  const int64_t count = numbers.size();
  const kernels::BinaryKernel<T> add = kernels::binary_kernel<T>(kernels::BinaryFunction::Add);
  for (int64_t instance = 0; instance < batch; ++instance) {
    const int64_t* const rows = numbers.at<int64_t>(instance);
    const T* value = values.at<T>(instance);
    for (int64_t i = 0; i < count; ++i, value += width) {
      if (rows[i] < 0 || rows[i] >= row_count) continue;
      gradients.touch(parameter, rows[i]);
      T* const row = table + rows[i] * width;
      add(width, row, value, row);
    }
  }
}

}  // namespace

void GradientSums::begin(Gradients* gradients) {
  gradients_ = gradients;
  for (const std::size_t parameter : begun_) products_[parameter].end();
  begun_.clear();
}

void GradientSums::add(const graph::Node& node, std::span<const TensorArgument* const> operands,
                       int64_t batch) {
  if (gradients_ == nullptr) return;
  const auto parameter = static_cast<std::size_t>(node.parameter);
  const TensorArgument& first = *operands[0];
  const bool is_double = node.type.dtype == DType::F64;
  switch (static_cast<Accumulation>(node.attributes[0])) {
    case Accumulation::Dense:
      if (is_double) return add_instances<double>(first, batch, gradients_->dense(parameter));
      return add_instances<float>(first, batch, gradients_->dense(parameter));
    case Accumulation::Rows:
      if (is_double) return add_rows<double>(first, *operands[1], batch, parameter, *gradients_);
      return add_rows<float>(first, *operands[1], batch, parameter, *gradients_);
    case Accumulation::Outer:
      return products(parameter).add(first, *operands[1], batch);
  }
}

void GradientSums::flush() {
  for (const std::size_t parameter : begun_) products_[parameter].flush();
}

void GradientSums::flush(std::size_t parameter) {
  if (products_[parameter].has_begun()) products_[parameter].flush();
}

OuterProducts& GradientSums::products(std::size_t parameter) {
  OuterProducts& products = products_[parameter];
  if (!products.has_begun()) {
    begun_.push_back(parameter);
    products.begin(gradients_->dense(parameter));
  }
  return products;
}

}  // namespace hiaton::exec::flow
