#include <algorithm>
#include <utility>
#include <vector>

#include "kernels/gemm.h"
#include "ops/contraction_kernels.h"
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
  /// Which matrix of each operand the products are of; empty: they have the numbers of the products.
  std::vector<int64_t> a_numbers{};
  std::vector<int64_t> b_numbers{};

  int64_t a_at(int64_t i) const { return (a_numbers.empty() ? i : number(a_numbers, i)) * rows * depth; }
  int64_t b_at(int64_t i) const { return (b_numbers.empty() ? i : number(b_numbers, i)) * depth * columns; }
  int64_t result_at(int64_t i) const { return i * rows * columns; }

 private:
  static int64_t number(const std::vector<int64_t>& of, int64_t i) { return of[static_cast<std::size_t>(i)]; }
};

bool is_vector(const TensorArgument& argument) {
  return argument.dims.size() == 1;
}

/// The number of elements in front of the last `kept` dimensions.
int64_t leading(const TensorArgument& argument, std::size_t kept) {
  return product(argument.dims.first(argument.dims.size() - kept));
}

std::span<const int64_t> batch_dims(const TensorArgument& argument) {
  return argument.dims.first(argument.dims.size() - 2);
}

/// The numbers of the matrices of an operand for those of the result, to which its batch is broadcast.
std::vector<int64_t> broadcast_numbers(std::span<const int64_t> own, std::span<const int64_t> result) {
  if (std::ranges::equal(own, result)) return {};
  std::vector<int64_t> numbers{0};
  int64_t before = 1;  // matrices of the operand in the dimensions so far, from the last
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::size_t from_end = result.size() - 1 - i;
    const bool moves = i < own.size() && own[own.size() - 1 - i] != 1;
    std::vector<int64_t> all;
    all.reserve(numbers.size() * static_cast<std::size_t>(result[from_end]));
    for (int64_t k = 0; k < result[from_end]; ++k) {
      for (const int64_t number : numbers) all.push_back(number + (moves ? k * before : 0));
    }
    numbers = std::move(all);
    if (moves) before *= own[own.size() - 1 - i];
  }
  return numbers;
}

void set_batch(Product& p, const KernelCall& call) {
  const std::span<const int64_t> batch = batch_dims(call.result);
  p.count = product(batch);
  p.a_numbers = broadcast_numbers(batch_dims(call.operands[0]), batch);
  p.b_numbers = broadcast_numbers(batch_dims(call.operands[1]), batch);
}

/// The product of a [.., rows, depth] with one matrix for all of it, or of two batches of matrices.
Product product_of(const KernelCall& call) {
  const TensorArgument& a = call.operands[0];
  Product p{.depth = a.dims.back(), .columns = call.result.dims.back()};
  if (call.operands[1].dims.size() > 2) {
    p.rows = a.dims[a.dims.size() - 2];
    set_batch(p, call);
  } else {
    p.rows = leading(a, 1);
  }
  return p;
}

template <class T>
void multiply(const Product& p, Transpose transpose_b, const T* a, const T* b, T* out) {
  const int64_t b_stride = transpose_b == Transpose::Yes ? p.depth : p.columns;
  for (int64_t i = 0; i < p.count; ++i) {
    kernels::gemm<T>(Transpose::No, transpose_b, p.rows, p.columns, p.depth, T{1}, a + p.a_at(i), p.depth,
                     b + p.b_at(i), b_stride, T{0}, out + p.result_at(i), p.columns);
  }
}

/// Where all instances have one right-hand side, their rows are the rows of one large product.
Fault multiply_all(const KernelCall& call, Transpose transpose_b) {
  const TensorArgument& a = call.operands[0];
  const TensorArgument& b = call.operands[1];
  Product p = product_of(call);
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
  if (is_vector(call.operands[1])) return dot_kernel(call);
  return multiply_all(call, Transpose::No);
}

Fault matmul_nt_kernel(const KernelCall& call) {
  return multiply_all(call, Transpose::Yes);
}

Fault matmul_tn_kernel(const KernelCall& call) {
  const TensorArgument& a = call.operands[0];
  const TensorArgument& b = call.operands[1];
  Product p{.rows = a.dims.back(), .columns = b.dims.back()};
  if (!is_vector(a)) {
    p.depth = a.dims[a.dims.size() - 2];
    set_batch(p, call);
  }
  return for_float(a.dtype, [&]<class T>(T) {
    for (int64_t instance = 0; instance < call.batch; ++instance) {
      for (int64_t i = 0; i < p.count; ++i) {
        kernels::gemm<T>(Transpose::Yes, Transpose::No, p.rows, p.columns, p.depth, T{1},
                         a.at<T>(instance) + p.a_at(i), p.rows, b.at<T>(instance) + p.b_at(i), p.columns,
                         T{0}, call.result.at<T>(instance) + p.result_at(i), p.columns);
      }
    }
    return Fault::None;
  });
}

}  // namespace hiaton::ops
