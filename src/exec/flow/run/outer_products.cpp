#include "exec/flow/run/outer_products.h"

#include "kernels/gemm.h"

namespace hiaton::exec::flow {
namespace {

/// Whether all instances are contiguous.
bool is_dense(const TensorArgument& from, int64_t batch) {
  return batch == 1 || from.stride == from.size();
}

template <class T>
void append(const TensorArgument& from, int64_t batch, std::vector<T>& to) {
  const bool dense = is_dense(from, batch);
  const int64_t size = from.size() * (dense ? batch : 1);
  for (int64_t i = 0; i < (dense ? 1 : batch); ++i) to.insert(to.end(), from.at<T>(i), from.at<T>(i) + size);
}

}  // namespace

void OuterProducts::begin(Tensor& sum) {
  sum_ = &sum;
  depth_ = sum.dims()[0];
  columns_ = sum.dims()[1];
}

void OuterProducts::end() {
  sum_ = nullptr;
  floats_.clear();
  doubles_.clear();
}

void OuterProducts::add(const TensorArgument& x, const TensorArgument& g, int64_t batch) {
  if (sum_->dtype() == DType::F64) {
    add(x, g, batch, doubles_);
  } else {
    add(x, g, batch, floats_);
  }
}

template <class T>
void OuterProducts::add(const TensorArgument& x, const TensorArgument& g, int64_t batch,
                        Waiting<T>& waiting) {
  const int64_t rows = x.rows() * batch;
  if (rows >= kEnoughRows && is_dense(x, batch) && is_dense(g, batch)) {
    return multiply(x.at<T>(0), g.at<T>(0), rows);
  }
  append(x, batch, waiting.x);
  append(g, batch, waiting.g);
  waiting.rows += rows;
  if (waiting.rows >= kEnoughRows) flush(waiting);
}

template <class T>
void OuterProducts::multiply(const T* x, const T* g, int64_t rows) {
  kernels::accumulate_outer<T>(x, depth_, g, columns_, rows, depth_, columns_, sum_->mutable_data<T>(),
                               columns_);
}

template <class T>
void OuterProducts::flush(Waiting<T>& waiting) {
  if (waiting.rows == 0) return;
  multiply(waiting.x.data(), waiting.g.data(), waiting.rows);
  waiting.clear();
}

void OuterProducts::flush() {
  flush(floats_);
  flush(doubles_);
}

}  // namespace hiaton::exec::flow
