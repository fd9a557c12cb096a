#include "ops/matmul.h"

#include "kernels/dot.h"
#include "kernels/gemm.h"
#include "ops/instances.h"

namespace hiaton::ops {
namespace {

using kernels::Transpose;

/// `count` products of matrices [rows, depth] and [depth, columns].
struct Product {
  int64_t count = 1;
  int64_t rows = 1;
  int64_t depth = 1;
  int64_t columns = 1;
};

bool is_vector(const TensorArgument& argument) {
  return argument.dims.size() == 1;
}

/// The number of elements in front of the last `kept` dimensions.
int64_t leading(const TensorArgument& argument, std::size_t kept) {
  return product(argument.dims.first(argument.dims.size() - kept));
}

/// The product of a [.., rows, depth] with one matrix for all of it, or with as many matrices as it has.
Product product_of(const TensorArgument& a, const TensorArgument& b, int64_t columns) {
  Product p{.depth = a.dims.back(), .columns = columns};
  if (b.dims.size() > 2) {
    p.count = leading(b, 2);
    p.rows = a.dims[a.dims.size() - 2];
  } else {
    p.rows = leading(a, 1);
  }
  return p;
}

template <class T>
void multiply(const Product& p, Transpose transpose_b, const T* a, const T* b, T* out) {
  const int64_t b_stride = transpose_b == Transpose::Yes ? p.depth : p.columns;
  for (int64_t i = 0; i < p.count; ++i) {
    kernels::gemm<T>(Transpose::No, transpose_b, p.rows, p.columns, p.depth, T{1}, a + i * p.rows * p.depth,
                     p.depth, b + i * p.depth * p.columns, b_stride, T{0}, out + i * p.rows * p.columns,
                     p.columns);
  }
}

/// Where all instances have one right-hand side, their rows are the rows of one large product.
Fault multiply_all(const KernelCall& call, Product p, Transpose transpose_b) {
  const TensorArgument& a = call.operands[0];
  const TensorArgument& b = call.operands[1];
  return for_float(a.dtype, [&]<class T>(T) {
    if (call.batch > 1 && p.count == 1 && b.stride == 0 && is_dense(call, a)) {
      p.rows *= call.batch;
      multiply<T>(p, transpose_b, a.at<T>(0), b.at<T>(0), call.result.at<T>(0));
      return Fault::None;
    }
    for (int64_t i = 0; i < call.batch; ++i) {
      multiply<T>(p, transpose_b, a.at<T>(i), b.at<T>(i), call.result.at<T>(i));
    }
    return Fault::None;
  });
}

}  // namespace

Fault dot_kernel(const KernelCall& call) {
  const TensorArgument& a = call.operands[0];
  const TensorArgument& b = call.operands[1];
  return for_float(a.dtype, [&]<class T>(T) {
    const int64_t depth = b.size();
    const int64_t rows = call.result.size();
    for (int64_t i = 0; i < call.batch; ++i) {
      T* out = call.result.at<T>(i);
      for (int64_t r = 0; r < rows; ++r) {
        out[r] = kernels::dot<T>(depth, a.at<T>(i) + r * depth, b.at<T>(i));
      }
    }
    return Fault::None;
  });
}

Fault matmul_kernel(const KernelCall& call) {
  const TensorArgument& a = call.operands[0];
  const TensorArgument& b = call.operands[1];
  if (is_vector(b)) return dot_kernel(call);
  return multiply_all(call, product_of(a, b, b.dims.back()), Transpose::No);
}

Fault matmul_nt_kernel(const KernelCall& call) {
  const TensorArgument& a = call.operands[0];
  const TensorArgument& b = call.operands[1];
  return multiply_all(call, product_of(a, b, b.dims[b.dims.size() - 2]), Transpose::Yes);
}

Fault matmul_tn_kernel(const KernelCall& call) {
  const TensorArgument& a = call.operands[0];
  const TensorArgument& b = call.operands[1];
  Product p{.rows = a.dims.back(), .columns = b.dims.back()};
  if (!is_vector(a)) {
    p.count = leading(a, 2);
    p.depth = a.dims[a.dims.size() - 2];
  }
  return for_float(a.dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < call.batch * p.count; ++i) {
      const int64_t instance = i / p.count;
      const int64_t matrix = i % p.count;
      kernels::gemm<T>(Transpose::Yes, Transpose::No, p.rows, p.columns, p.depth, T{1},
                       a.at<T>(instance) + matrix * p.depth * p.rows, p.rows,
                       b.at<T>(instance) + matrix * p.depth * p.columns, p.columns, T{0},
                       call.result.at<T>(instance) + matrix * p.rows * p.columns, p.columns);
    }
    return Fault::None;
  });
}

}  // namespace hiaton::ops
