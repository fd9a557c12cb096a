// Broadcasting makes the shape: zeros of [0, 1, 3] and of [n, 1] add up to those of [0, n, 3].
#include "lang/no_rows.h"

namespace hiaton::lang {
namespace {

/// Integer zeros of as many elements as `size` says, along one of `rank` dimensions.
Var line(FunctionBuilder& f, const SizeOf& size, std::size_t dimension, std::size_t rank) {
  Var zeros = f.cast(f.op("zeros_like", {*size.like}), DType::I64);
  std::vector<int64_t> others;
  for (std::size_t axis = 0; axis < size.like->type().shape.size(); ++axis) {
    if (axis != size.axis) others.push_back(static_cast<int64_t>(axis));
  }
  if (!others.empty()) zeros = f.op("sum", {zeros}, others);
  std::vector<int64_t> shape(rank, 1);
  shape[dimension] = -1;
  return f.op("reshape", {zeros}, shape);
}

}  // namespace

Var no_rows(FunctionBuilder& f, DType dtype, std::span<const SizeOf> row) {
  std::vector<int64_t> shape{0};
  for (const SizeOf& size : row) shape.push_back(size.like ? 1 : size.number);
  Var rows = f.op("broadcast_to", {f.constant(int64_t{0})}, shape);
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (row[i].like) rows = rows + line(f, row[i], i, row.size());
  }
  rows = dtype == DType::I64 ? rows : f.cast(rows, dtype);
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (!row[i].like) continue;
    rows = f.op("check_size", {rows, *row[i].like},
                {static_cast<int64_t>(i + 1), static_cast<int64_t>(row[i].axis)});
  }
  return rows;
}

}  // namespace hiaton::lang
