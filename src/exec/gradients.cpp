#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <optional>

#include "base/product_of_sizes.h"
#include "hiaton/error.h"
#include "hiaton/run.h"
#include "hiaton/thread_pool.h"
#include "kernels/elementwise.h"
#include "tensor/scalar_or_tensor.h"

namespace hiaton {
namespace {

int64_t width_of(const Tensor& tensor) {
  const int64_t rows = row_count(tensor);
  return rows == 0 ? 0 : tensor.size() / rows;
}

/// Elements that a thread takes at once.
constexpr int64_t kRange = 16384;

/// Calls work(begin, end) for ranges of the elements that may differ from zero.
void for_elements(const Gradients::Sum& sum, ThreadPool* pool,
                  const std::function<void(int64_t, int64_t)>& work) {
  const auto in_ranges = [pool](std::size_t size, int64_t range, const auto& of) {
    run_in_ranges(pool, size, static_cast<std::size_t>(range), [&](std::size_t begin, std::size_t end) {
      of(static_cast<int64_t>(begin), static_cast<int64_t>(end));
    });
  };
  if (sum.dense) return in_ranges(static_cast<std::size_t>(sum.values.size()), kRange, work);
  const int64_t width = width_of(sum.values);
  const int64_t rows_a_range = kRange / std::max<int64_t>(width, 1) + 1;
  in_ranges(sum.rows.size(), rows_a_range, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row = sum.rows[static_cast<std::size_t>(i)];
      work(row * width, (row + 1) * width);
    }
  });
}

template <class T>
void add_elements(Gradients::Sum& to, const Gradients::Sum& from, ThreadPool* pool) {
  T* sum = to.values.mutable_data<T>();
  const T* part = from.values.data<T>();
  const kernels::BinaryKernel<T> add = kernels::binary_kernel<T>(kernels::BinaryFunction::Add);
  for_elements(from, pool,
               [&](int64_t begin, int64_t end) { add(end - begin, sum + begin, part + begin, sum + begin); });
}

/// Zeros. A large table of which a run adds to few rows takes no memory for the others.
Tensor zeros(DType dtype, const std::vector<int64_t>& dims) {
  constexpr std::size_t kLarge = std::size_t{4} << 20;
  const std::size_t bytes = product_of_sizes(size_of(dtype), dims).value_or(0);
  if (bytes < kLarge) return Tensor(dtype, dims);
  void* const address =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) throw std::bad_alloc();
  const std::shared_ptr<const void> owner(
      address, [bytes](const void* memory) { ::munmap(const_cast<void*>(memory), bytes); });
  return Tensor(dtype, dims, static_cast<std::byte*>(address), owner);
}

void zero(Gradients::Sum& sum, ThreadPool* pool) {
  const auto bytes = static_cast<int64_t>(size_of(sum.values.dtype()));
  std::byte* elements = sum.values.mutable_data<std::byte>();
  for_elements(sum, pool, [&](int64_t begin, int64_t end) {
    std::memset(elements + begin * bytes, 0, static_cast<std::size_t>((end - begin) * bytes));
  });
}

}  // namespace

Gradients::Gradients(std::span<const graph::Parameter> parameters) {
  for (const graph::Parameter& parameter : parameters) {
    std::vector<int64_t> dims;
    for (const Dim& dim : parameter.type.shape) dims.push_back(dim.size);
    Sum& sum = sums_.emplace_back();
    sum.values = zeros(parameter.type.dtype, dims);
    sum.touched.resize(static_cast<std::size_t>(row_count(sum.values)));
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

void Gradients::clear(ThreadPool* pool) {
  for (Sum& sum : sums_) zero(sum, pool);
  unmark();
}

void Gradients::unmark() {
  for (Sum& sum : sums_) {
    for (int64_t row : sum.rows) sum.touched[static_cast<std::size_t>(row)] = 0;
    sum.rows.clear();
    sum.dense = false;
  }
}

void Gradients::add(const Gradients& other, ThreadPool* pool) {
  const bool are_alike = std::ranges::equal(
      sums_, other.sums_, {}, [](const Sum& sum) { return sum.values.type(); },
      [](const Sum& sum) { return sum.values.type(); });
  if (!are_alike) throw ProgramError("expected gradients of the same parameters, found those of others");
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    const Sum& from = other.sums_[i];
    for (int64_t row : from.rows) touch(i, row);
    sums_[i].dense = sums_[i].dense || from.dense;
    if (sums_[i].values.dtype() == DType::F64) {
      add_elements<double>(sums_[i], from, pool);
    } else {
      add_elements<float>(sums_[i], from, pool);
    }
  }
}

}  // namespace hiaton
