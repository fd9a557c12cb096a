#include <algorithm>
#include <optional>
#include <type_traits>

#include "kernels/rows.h"
#include "kernels/scalar.h"
#include "ops/instances.h"
#include "ops/order_kernels.h"

namespace hiaton::ops {
namespace {

/// The row numbers of `count` instances from `instance` on.
std::span<const int64_t> numbers(const TensorArgument& rows, int64_t instance, int64_t count = 1) {
  return {rows.at<int64_t>(instance), static_cast<std::size_t>(count * rows.size())};
}

/// The number of elements of a row.
int64_t width_of(const TensorArgument& table) {
  return product(table.dims.subspan(1));
}

/// The first operand becomes the result, unless it stands there already.
void copy_first(const KernelCall& call) {
  for (int64_t i = 0; i < call.batch; ++i) {
    const std::byte* from = bytes_at(call.operands[0], i);
    if (from != bytes_at(call.result, i)) std::copy_n(from, bytes_of(call.result), bytes_at(call.result, i));
  }
}

template <class T>
void add_integers(std::span<const int64_t> rows, int64_t width, const T* values, T* table) {
  for (const int64_t row : rows) {
    for (int64_t i = 0; i < width; ++i) {
      T& sum = table[row * width + i];
      sum = kernels::Add{}(sum, *values++);
    }
  }
}

/// Whether all of these are rows of the result.
bool are_inside(const KernelCall& call, const TensorArgument& rows) {
  for (int64_t i = 0; i < call.batch; ++i) {
    if (kernels::first_outside(numbers(rows, i), call.result.dims[0]) >= 0) return false;
  }
  return true;
}

/// To the result, whose rows these are.
void add_rows(const KernelCall& call, const TensorArgument& rows, const TensorArgument& values) {
  for_number(call.result.dtype, [&]<class T>(T) {
    const int64_t width = width_of(call.result);
    for (int64_t i = 0; i < call.batch; ++i) {
      const std::span<const int64_t> indices = numbers(rows, i);
      if constexpr (std::is_floating_point_v<T>) {
        kernels::scatter_add_rows<T, int64_t>(indices, width, values.at<T>(i), width, call.result.at<T>(i));
      } else {
        add_integers(indices, width, values.at<T>(i), call.result.at<T>(i));
      }
    }
  });
}

/// What of a tensor of these dimensions stands at the place, counted in parts of its size; none: it has no
/// such place. `from_end`: negative numbers count from the end.
std::optional<int64_t> row_at(std::span<const int64_t> dims, std::span<const TensorArgument> place,
                              int64_t instance, bool from_end) {
  int64_t row = 0;
  for (std::size_t axis = 0; axis < place.size(); ++axis) {
    int64_t number = *place[axis].at<int64_t>(instance);
    if (from_end && number < 0) number += dims[axis];
    if (number < 0 || number >= dims[axis]) return std::nullopt;
    row = row * dims[axis] + number;
  }
  return row;
}

/// The first operand, changed by `change` at the place of each instance, which the operands behind the second
/// tell: that gets the number of the instance, and that of the part of the size of the second operand.
template <class Change>
Fault change_at(const KernelCall& call, const Change& change) {
  const auto row = [&](int64_t instance) {
    return row_at(call.result.dims, call.operands.subspan(2), instance, call.attributes[0] != 0);
  };
  for (int64_t i = 0; i < call.batch; ++i) {
    if (!row(i)) return Fault::Index;
  }
  copy_first(call);
  for (int64_t i = 0; i < call.batch; ++i) change(i, *row(i));
  return Fault::None;
}

}  // namespace

Fault gather_kernel(const KernelCall& call) {
  const TensorArgument& table = call.operands[0];
  const TensorArgument& rows = call.operands[1];
  const int64_t bytes = width_of(table) * static_cast<int64_t>(size_of(table.dtype));
  if (table.stride == 0 && is_dense(call, rows)) {
    const std::span<const int64_t> all = numbers(rows, 0, call.batch);
    if (kernels::first_outside(all, table.dims[0]) >= 0) return Fault::Index;
    kernels::gather_rows<int64_t>(all, bytes, table.elements, call.result.elements);
    return Fault::None;
  }
  for (int64_t i = 0; i < call.batch; ++i) {
    const std::span<const int64_t> own = numbers(rows, i);
    if (kernels::first_outside(own, table.dims[0]) >= 0) return Fault::Index;
    kernels::gather_rows<int64_t>(own, bytes, bytes_at(table, i), bytes_at(call.result, i));
  }
  return Fault::None;
}

Fault scatter_rows_kernel(const KernelCall& call) {
  if (!are_inside(call, call.operands[1])) return Fault::Index;
  std::fill_n(call.result.elements, call.batch * bytes_of(call.result), std::byte{0});
  add_rows(call, call.operands[1], call.operands[0]);
  return Fault::None;
}

Fault scatter_add_kernel(const KernelCall& call) {
  const TensorArgument& rows = call.operands[1];
  if (!are_inside(call, rows)) return Fault::Index;
  copy_first(call);
  add_rows(call, rows, call.operands[2]);
  return Fault::None;
}

Fault at_kernel(const KernelCall& call) {
  const TensorArgument& x = call.operands[0];
  const int64_t bytes = bytes_of(call.result);
  for (int64_t i = 0; i < call.batch; ++i) {
    const std::optional<int64_t> row = row_at(x.dims, call.operands.subspan(1), i, call.attributes[0] != 0);
    if (!row) return Fault::Index;
    std::copy_n(bytes_at(x, i) + *row * bytes, bytes, bytes_at(call.result, i));
  }
  return Fault::None;
}

Fault set_at_kernel(const KernelCall& call) {
  const int64_t bytes = bytes_of(call.operands[1]);
  return change_at(call, [&](int64_t instance, int64_t row) {
    std::copy_n(bytes_at(call.operands[1], instance), bytes, bytes_at(call.result, instance) + row * bytes);
  });
}

Fault add_at_kernel(const KernelCall& call) {
  const TensorArgument& value = call.operands[1];
  return change_at(call, [&](int64_t instance, int64_t row) {
    for_number(call.result.dtype, [&]<class T>(T) {
      T* sums = call.result.at<T>(instance) + row * value.size();
      const T* values = value.at<T>(instance);
      for (int64_t i = 0; i < value.size(); ++i) sums[i] = kernels::Add{}(sums[i], values[i]);
    });
  });
}

Fault append_row_kernel(const KernelCall& call) {
  for (int64_t i = 0; i < call.batch; ++i) {
    std::byte* to = bytes_at(call.result, i);
    for (const TensorArgument& part : call.operands) {
      to = std::copy_n(bytes_at(part, i), bytes_of(part), to);
    }
  }
  return Fault::None;
}

Fault drop_last_row_kernel(const KernelCall& call) {
  if (call.operands[0].dims[0] == 0) return Fault::Index;
  for (int64_t i = 0; i < call.batch; ++i) {
    std::copy_n(bytes_at(call.operands[0], i), bytes_of(call.result), bytes_at(call.result, i));
  }
  return Fault::None;
}

}  // namespace hiaton::ops
