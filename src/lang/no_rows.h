// Tensors of no rows: what `map` gives where there are none to go over.
#pragma once

#include <optional>
#include <span>

#include "hiaton/builder.h"

namespace hiaton::lang {

/// The size of one dimension: a number, or that of a tensor along an axis.
struct SizeOf {
  int64_t number = 0;
  std::optional<Var> like = std::nullopt;
  std::size_t axis = 0;
};

/// A tensor of 0 rows of these sizes.
Var no_rows(FunctionBuilder& f, DType dtype, std::span<const SizeOf> row);

}  // namespace hiaton::lang
